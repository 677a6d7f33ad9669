package app

import (
	"net/http"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/feedback"
)

// policyOf returns the form of the settings of an artifact's threads, nil for a member who may not change them.
func policyOf(v browserSession, s feedback.Settings) *pages.FeedbackPolicy {
	if v.Actor.Require(credential.Admin) != nil {
		return nil
	}
	p := &pages.FeedbackPolicy{
		Who:           pages.MembersWrite,
		AtOnce:        s.AtOnce,
		AgentsResolve: s.AgentsResolve,
	}
	switch {
	case s.Off:
		p.Who = pages.NobodyWrites
	case s.Links:
		p.Who = pages.LinksWrite
	}
	return p
}

// setFeedback changes who may write about an artifact. What was chosen is shown again if it cannot be had.
func (h *Host) setFeedback(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	chosen := &pages.FeedbackPolicy{
		Who:           form["who"],
		AtOnce:        form["guests"] == pages.AtOnce,
		AgentsResolve: form["agents_resolve"] == "yes",
	}
	if !chosen.Known() {
		return fault.New(fault.InvalidRequest, "the form offers other choices")
	}
	off, links := chosen.Who == pages.NobodyWrites, chosen.Who == pages.LinksWrite
	change := feedback.SettingsChange{
		Off:           &off,
		Links:         &links,
		AtOnce:        &chosen.AtOnce,
		AgentsResolve: &chosen.AgentsResolve,
	}
	a, err := h.Artifacts.Find(r.Context(), v.Actor, pathArtifact(r))
	if err != nil {
		return err
	}
	t := feedback.Target{RequestedID: a.ID, Artifact: a}
	if t.Command, err = commandOf(v, idempotency.SetFeedback, string(a.ID), form["once"], chosen); err != nil {
		return err
	}
	_, err = h.Feedback.Set(r.Context(), v.Actor, t, change)
	switch fault.KindOf(err) {
	case fault.KindForbidden, fault.KindInvalid, fault.KindConflict: // the right was checked before
		f, status := classify(err)
		web.Failed(r.Context(), f.Code, err)
		chosen.Error = sentenceOf(f.Message)
		return h.showArtifact(w, r, v, status, pages.ArtifactPage{Feedback: pages.Feedback{Policy: chosen}})
	}
	if err != nil {
		return err
	}
	redirect(w, artifactPath(a.ID)+"#feedback")
	return nil
}
