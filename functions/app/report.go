package app

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/pow"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/abuse"
)

// reasons are the reasons of a report in plain words.
var reasons = []pages.Choice{
	{Code: string(abuse.Phishing), Name: "Phishing or fraud"},
	{Code: string(abuse.Malware), Name: "Malware or another attack on visitors"},
	{Code: string(abuse.Abuse), Name: "Harassment, threats or hate"},
	{Code: string(abuse.Illegal), Name: "Illegal content, or stolen data"},
	{Code: string(abuse.Other), Name: "Something else"},
}

// thanks answers every complete report, so that it does not reveal whether the artifact exists.
var thanks = pages.Message{
	Heading: "Thank you",
	Text: "If there is such an artifact here, the operators of this service will read your report and decide what " +
		"happens. They write to you only if they have a question and you left an address.",
}

// reportRoutes let anybody report an artifact, unless the deployment takes no reports.
func (h *Host) reportRoutes() []route {
	if h.NoReports {
		return nil
	}
	return noReferrer(
		route{method: "GET", path: "/report", handle: handler(h.reportPage)},
		route{method: "POST", path: "/report", handle: timed(h.report)},
	)
}

// reportPage shows the form. Links to it name what they are about: the public id of an access link, or the id of an
// artifact.
func (h *Host) reportPage(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	var f abuse.Form
	if public := q.Get("link"); valid(id.Public(public).Bits()) {
		f.Target = public
	} else if shown := q.Get("artifact"); valid(id.Artifact(shown).Bits()) {
		f.Target = shown
	}
	return h.page(w, http.StatusOK, reportForm(f))
}

func valid[T any](_ T, err error) bool { return err == nil }

func reportForm(f abuse.Form) pages.Report {
	return pages.Report{
		Target:   f.Target,
		Reason:   string(f.Reason),
		Text:     f.Text,
		Email:    f.Email,
		Reasons:  reasons,
		MostText: limits.ReportRunes,
		Kept:     limits.ReportLife,
	}
}

// report files a report. The pasted address may hold secrets, so it is shown to its sender again and nowhere else.
func (h *Host) report(w http.ResponseWriter, r *http.Request) error {
	sent, err := readForm(r)
	if err != nil {
		return err
	}
	web.RedactSecret(r.Context(), sent["target"])
	form := abuse.Form{
		Target: sent["target"],
		Reason: abuse.Reason(sent["reason"]),
		Text:   sent["text"],
		Email:  sent["email"],
	}
	err = h.Reports.File(r.Context(), abuse.Request{
		Form:      form,
		Proof:     proofIn(sent),
		From:      web.ClientAddress(r),
		RequestID: web.RequestID(r.Context()),
	})
	if err == nil {
		return h.page(w, http.StatusOK, thanks)
	}
	return h.unreported(w, r, form, err)
}

// proofIn returns the solved challenge in a form, nil if there is none.
func proofIn(sent web.Form) *pow.Proof {
	var p pow.Proof
	counter, err := strconv.ParseUint(sent["counter"], 10, 64)
	if err != nil || json.Unmarshal([]byte(sent["challenge"]), &p.Challenge) != nil {
		return nil
	}
	p.Solution = contract.Solution{Nonce: p.Challenge.Nonce, Counter: counter}
	return &p
}

// unreported shows the form again as it was filled in, and says what to do.
func (h *Host) unreported(w http.ResponseWriter, r *http.Request, form abuse.Form, err error) error {
	f, status := classify(err)
	page := reportForm(form)
	page.Wrong = "form"
	switch invalid, required := (*abuse.Invalid)(nil), (*pow.Required)(nil); {
	case errors.As(err, &invalid):
		page.Wrong, page.Error = string(invalid.Field), invalid.Message
	case errors.As(err, &required):
		challenge, err := json.Marshal(required.Challenge)
		if err != nil {
			return err
		}
		status = http.StatusTooManyRequests
		page.Wrong = ""
		page.Challenge = string(challenge)
		if f.RetryAfter > 0 {
			page.Wait = pages.Wait(f.RetryAfter)
		}
	case f.Code == fault.PowInvalid:
		page.Error = "The check by your browser took too long, so the report was not sent. Send it again."
	case status == http.StatusTooManyRequests:
		page.Error = "There were too many reports, so this one was not sent. Send it again in " +
			pages.Wait(f.RetryAfter) + "."
	case status == http.StatusServiceUnavailable:
		page.Error = "A part of this service does not answer, so the report was not sent. Send it again in a moment."
	default:
		return err
	}
	web.Failed(r.Context(), f.Code, err)
	web.RetryAfter(w.Header(), f.RetryAfter)
	return h.page(w, status, page)
}
