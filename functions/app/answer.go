package app

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// answer adapts a handler. It writes a failure as an envelope under /api, and as a page elsewhere.
func (h *Host) answer(handle handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := handle(w, r); err != nil {
			h.fail(w, r, err)
		}
	}
}

func (h *Host) fail(w http.ResponseWriter, r *http.Request, err error) {
	f, status := classify(err)
	web.Failed(r.Context(), f.Code, err)
	if m, ok := errors.AsType[methodNotAllowed](err); ok {
		w.Header().Set("Allow", string(m))
	}
	web.RetryAfter(w.Header(), f.RetryAfter)
	// Browsers walk through /api/auth/, so that its failures are pages although the path is below /api/.
	if wantsJSON(r) || strings.HasPrefix(r.URL.Path, "/api/") && !strings.HasPrefix(r.URL.Path, "/api/auth/") {
		h.problem(w, r, status, f)
		return
	}
	m := words[status]
	if status == http.StatusTooManyRequests {
		m.Text += " Try again in " + pages.Wait(f.RetryAfter) + "."
	}
	if e, ok := errors.AsType[explained](err); ok {
		m = e.words
	}
	// Only for these two can the operator find out more than the page says.
	if status == http.StatusInternalServerError || status == http.StatusServiceUnavailable {
		m.RequestID = web.RequestID(r.Context())
	}
	var p pages.Page = m
	if refused, ok := workspace.NotAllowed(err); ok {
		p = pages.NotAllowed{Contact: refused.Contact}
	}
	if err := h.page(w, status, p); err != nil {
		panic(err) // a page of three strings cannot fail, and there is none left to show
	}
}

// explained is a failure with a page that says more than the one for its status.
type explained struct {
	error
	words pages.Message
}

// Unwrap returns the failure itself.
func (e explained) Unwrap() error { return e.error }

// explainNotChanged explains why a form about an artifact changed nothing, and links back to the artifact.
func explainNotChanged(handle formHandler) formHandler {
	return func(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
		err := handle(w, r, v, form)
		if kind := fault.KindOf(err); kind != fault.KindNotFound && kind != fault.KindGone {
			return err
		}
		if _, told := errors.AsType[explained](err); told {
			return err
		}
		why := "it may have ended or been deleted meanwhile"
		if f := fault.Of(err); f.Message != string(f.Code) {
			why = f.Message
		}
		return explained{err, pages.Message{
			Heading: "That did not work", Text: "Nothing was changed: " + why + ".",
			Links: []pages.Link{{Path: artifactPath(pathArtifact(r)), Text: "Back to the artifact"}, {Path: "/artifacts", Text: "Artifacts"}},
		}}
	}
}

// words are the pages for failures, by status.
var words = map[int]pages.Message{
	http.StatusForbidden:           {Heading: "You may not do this", Text: "You are signed in, but you do not have the right to do this in the workspace. Ask somebody who manages it."},
	http.StatusUnauthorized:        {Heading: "Sign in first", Text: "This page is for members.", Links: []pages.Link{{Path: "/", Text: "Front page"}}},
	http.StatusConflict:            {Heading: "Already in progress", Text: "The same request is being carried out right now. Go back in a moment and look before you send it again."},
	http.StatusNotFound:            {Heading: "Nothing on show here", Text: "There is no page at this address. Check it for a missing or an extra character."},
	http.StatusMethodNotAllowed:    {Heading: "This does not work here", Text: "There is a page at this address, but it does not take requests of this kind."},
	http.StatusBadRequest:          {Heading: "That was not understood", Text: "The request was not complete. Go back, reload the page and try again."},
	http.StatusTooManyRequests:     {Heading: "Too many requests", Text: "You sent more requests than are allowed."},
	http.StatusServiceUnavailable:  {Heading: "Not available right now", Text: "A part of this service does not answer. Try again in a moment."},
	http.StatusInternalServerError: {Heading: "Something broke", Text: "That was our fault, not yours. Try again; if it happens again, tell the operator the number below."},
}

// classify reduces a failure to what this host may reveal. All reasons why a link does not open look the same.
func classify(err error) (*fault.Fault, int) {
	if _, ok := errors.AsType[methodNotAllowed](err); ok {
		return fault.New(fault.InvalidRequest, "This path takes other methods; see Allow."), http.StatusMethodNotAllowed
	}
	f := fault.Of(err)
	switch f.Code.Kind() {
	case fault.KindInvalid, fault.KindUnprocessable:
		return f, http.StatusBadRequest
	case fault.KindUnauthenticated:
		return f, http.StatusUnauthorized
	case fault.KindForbidden:
		return f, http.StatusForbidden
	case fault.KindConflict:
		return f, http.StatusConflict
	case fault.KindNotFound, fault.KindGone:
		return fault.NewCode(fault.NotFound), http.StatusNotFound
	case fault.KindLimited:
		// Clients may rely on Retry-After, also where the limit does not know when it ends.
		return f.After(cmp.Or(f.RetryAfter, time.Minute)), http.StatusTooManyRequests
	case fault.KindUnavailable:
		return fault.NewCode(f.Code), http.StatusServiceUnavailable
	}
	return fault.NewCode(fault.Internal), http.StatusInternalServerError
}

func (h *Host) problem(w http.ResponseWriter, r *http.Request, status int, f *fault.Fault) {
	body := contract.Envelope{Error: contract.Problem{Code: string(f.Code), Message: f.Message, RequestID: web.RequestID(r.Context())}}
	if err := writeJSON(w, status, body); err != nil {
		panic(err) // strings always marshal
	}
}

func writeJSON(w http.ResponseWriter, status int, body any) error {
	b, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("encode an answer: %w", err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(b) // a failure means that the client left
	return nil
}

// page renders p before it writes anything, so that a template that fails is answered with 500. It keeps the CSP and
// the Cache-Control that the handler has set.
func (h *Host) page(w http.ResponseWriter, status int, p pages.Page) error {
	body, err := pages.Render(p, h.site, h.Now())
	if err != nil {
		return err
	}
	writePage(w, status, body)
	return nil
}

// cachedPage is page for one that holds nothing of a session or of the time. Browsers may keep it, and ask each time
// whether it is still the same. Its ETag depends on the policy, too, because they keep the policy that they got with it.
func (h *Host) cachedPage(w http.ResponseWriter, r *http.Request, p pages.Page) error {
	body, err := pages.Render(p, h.site, h.Now())
	if err != nil {
		return err
	}
	header := w.Header()
	tag := web.ETag(header.Get(policyHeader), string(body))
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-cache")
	header.Set("ETag", tag)
	if known := web.Unchanged(r, tag); known != "" {
		header.Set("ETag", known)
		w.WriteHeader(http.StatusNotModified)
		return nil
	}
	writePage(w, http.StatusOK, body)
	return nil
}

func writePage(w http.ResponseWriter, status int, body []byte) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	if header.Get("Cache-Control") == "" {
		header.Set("Cache-Control", "no-store")
	}
	if header.Get(policyHeader) == policyNone {
		header.Set(policyHeader, policyPage)
	}
	w.WriteHeader(status)
	w.Write(body)
}
