package app

import (
	"context"
	"errors"
	"net/http"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// Deletions deletes workspaces, or keeps them as long as that is possible.
type Deletions interface {
	// AuthenticateDeleting is Sessions.Authenticate for members whose workspace is being deleted, too.
	AuthenticateDeleting(ctx context.Context, secret, requestID string) (session.Authenticated, error)
	// Request closes the workspace at once; forbidden without the right admin or a fresh sign-in, invalid_request if
	// confirm is not its name.
	Request(ctx context.Context, by credential.Actor, confirm string) (contract.WorkspaceDeletion, error)
	// Cancel keeps the workspace; forbidden without the right admin.
	Cancel(ctx context.Context, by credential.Actor) (contract.WorkspaceDeletion, error)
}

// The pages about deleting a workspace.
const (
	deletePath    = "/settings/delete"
	deletionPath  = "/deletion"
	requestedPath = deletionPath + "/requested"
)

// deletionRoutes ask whether to delete a workspace, and show the one page that is left while it is being deleted.
func (h *Host) deletionRoutes() []route {
	const admin = credential.Admin
	request := members{
		form:  h.requestDeletion,
		back:  "/settings",
		right: admin,
		fresh: deletePath,
	}
	cancel := members{
		form:     h.cancelDeletion,
		back:     deletionPath,
		right:    admin,
		deleting: true,
	}
	return []route{
		question(deletePath, "/settings", members{page: h.askDelete, right: admin, fresh: deletePath}),
		{method: "POST", path: deletePath, handle: request},
		{method: "GET", path: requestedPath, handle: timed(h.deletionRequested)},
		{method: "GET", path: deletionPath, handle: members{page: h.deletion, deleting: true}},
		{method: "POST", path: deletionPath + "/cancel", handle: cancel},
	}
}

// beingDeleted reports whether a visitor was refused because the workspace is being deleted.
func beingDeleted(err error) bool { return errors.Is(err, workspace.ErrDeleting) }

func (h *Host) askDelete(w http.ResponseWriter, r *http.Request, v browserSession) error {
	return h.showDelete(w, r, v, http.StatusOK, "")
}

// showDelete asks for the name of the workspace. problem says what was wrong with the name that was typed.
func (h *Host) showDelete(
	w http.ResponseWriter, _ *http.Request, v browserSession, status int, problem string,
) error {
	return h.page(w, status, pages.Delete{
		Layout:  v.layout("/settings"),
		Days:    int(limits.DeletionGrace / limits.Day),
		Problem: problem,
	})
}

func (h *Host) requestDeletion(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	_, err := h.Deletions.Request(r.Context(), v.Actor, form["confirm"])
	if fault.CodeOf(err) == fault.InvalidRequest {
		web.Failed(r.Context(), fault.InvalidRequest, err)
		return h.showDelete(w, r, v, http.StatusBadRequest,
			"Nothing was deleted: type the name of the workspace exactly as it stands above.")
	}
	if err != nil {
		return err
	}
	dropCookie(w, sessionCookie) // its session has ended
	redirect(w, requestedPath)
	return nil
}

func (h *Host) deletionRequested(w http.ResponseWriter, _ *http.Request) error {
	return h.page(w, http.StatusOK, pages.DeletionRequested{
		SignIn: signInPath(deletionPath),
		Days:   int(limits.DeletionGrace / limits.Day),
	})
}

// deletion is the page of members whose workspace is being deleted. Others are sent to theirs.
func (h *Host) deletion(w http.ResponseWriter, _ *http.Request, v browserSession) error {
	of := v.Actor.Workspace
	if !of.Deleting() {
		redirect(w, "/dashboard")
		return nil
	}
	return h.page(w, http.StatusOK, pages.Deletion{
		Workspace: of.Name,
		Email:     v.Member.Email,
		DeletesAt: of.DeletesAt,
		Admin:     v.Actor.Require(credential.Admin) == nil,
	})
}

func (h *Host) cancelDeletion(w http.ResponseWriter, r *http.Request, v browserSession, _ web.Form) error {
	if _, err := h.Deletions.Cancel(r.Context(), v.Actor); err != nil {
		return err
	}
	redirect(w, "/dashboard")
	return nil
}
