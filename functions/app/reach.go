package app

import (
	"context"
	"net/http"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sharing"
)

// visibilityRoutes change who sees an artifact without an account.
func (h *Host) visibilityRoutes() []route {
	const (
		private = oneArtifact + "/private"
		lock    = oneArtifact + "/lockdown"
		unlock  = lock + "/lift"
		admin   = credential.Admin
	)
	return append(noReferrer(
		route{method: "POST", path: oneArtifact + "/unlisted", handle: changeArtifacts(admin, h.makeUnlisted)},
	), []route{
		question(private, oneArtifact, members{page: h.confirm(askMakePrivate), right: admin}),
		{method: "POST", path: private, handle: changeArtifacts(admin, h.makePrivate)},
		question(lock, oneArtifact, members{page: h.confirm(askLock), right: admin}),
		{method: "POST", path: lock, handle: changeArtifacts(admin, h.lock)},
		question(unlock, oneArtifact, members{page: h.confirm(askUnlock), right: admin}),
		{method: "POST", path: unlock, handle: changeArtifacts(admin, h.unlock)},
	}...)
}

func (h *Host) makeUnlisted(w http.ResponseWriter, r *http.Request, v browserSession, _ web.Form) error {
	done, err := h.Links.SetVisibility(r.Context(), v.Actor, sharing.Target{RequestedID: pathArtifact(r)}, sharing.Unlisted)
	if err != nil {
		return err
	}
	return h.showAddress(w, r, v, done.Link, false)
}

// copied warns of URLs that work without a link. An agent view makes them with a token that lives as long as that of a
// file, hence the factor of two.
var copied = "Links straight to its files, where somebody copied them, work until the artifact ends, for about " +
	pages.Span(2*limits.TokenLife) + " at most; deleting it ends them at once."

var askMakePrivate = confirmation{"Make it private?", "Make it private", "/private",
	"Every link of this artifact ends at once and for good, those to one revision too. " +
		"Only members can open it then. " + copied}

func (h *Host) makePrivate(w http.ResponseWriter, r *http.Request, v browserSession, _ web.Form) error {
	t := sharing.Target{RequestedID: pathArtifact(r)}
	if _, err := h.Links.SetVisibility(r.Context(), v.Actor, t, sharing.Private); err != nil {
		return err
	}
	redirect(w, artifactPath(pathArtifact(r))+"#links")
	return nil
}

var askLock = confirmation{"Turn off the links?", "Turn them off", "/lockdown",
	"From then on no link opens this artifact, and none can be made, until you turn them back on. Nothing " +
		"is lost: links that work now will work again."}

var askUnlock = confirmation{"Turn the links back on?", "Turn them on", "/lockdown/lift",
	"The links of this artifact that are neither revoked nor expired open it again for anyone who has " +
		"them."}

func (h *Host) lock(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	return h.changeArtifact(w, r, v, form, change{operation: idempotency.LockLinks, run: lockLinks}, "#links")
}

func (h *Host) unlock(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	return h.changeArtifact(w, r, v, form, change{operation: idempotency.UnlockLinks, run: unlockLinks}, "#links")
}

func lockLinks(h *Host, ctx context.Context, by credential.Actor, t artifact.Target) error {
	return h.Links.Lock(ctx, by, t)
}

func unlockLinks(h *Host, ctx context.Context, by credential.Actor, t artifact.Target) error {
	return h.Links.Unlock(ctx, by, t)
}
