package main

import (
	"net/http"
	"time"

	"vitrine/shared/platform/contract"
)

// routeAccount serves the deletion of the workspace to people.
func (p *fakeServer) routeAccount(api *http.ServeMux) {
	const path = "/v1/web/workspace/deletion"
	p.route(api, "GET "+path, "deletion", p.deletion)
	p.route(api, "POST "+path, "request-deletion", p.requestDeletion)
	p.route(api, "DELETE "+path, "cancel-deletion", p.cancelDeletion)
}

const workspaceName = "Team \x1b[31m"

func (p *fakeServer) deletion(w http.ResponseWriter, r *http.Request) {
	if p.member(w, r) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.answerDeletion(w)
	}
}

func (p *fakeServer) answerDeletion(w http.ResponseWriter) {
	d := contract.WorkspaceDeletion{
		Workspace: contract.WorkspaceSummary{ID: workspace, Name: workspaceName, CreatedAt: contract.At(epoch)},
		Status:    contract.WorkspaceActive,
	}
	if p.people.leaving {
		at := contract.At(epoch.Add(14 * 24 * time.Hour))
		d.Status, d.DeletesAt = contract.WorkspaceDeleting, &at
	}
	answer(w, 200, d)
}

// requestDeletion ends every login, as the server does.
func (p *fakeServer) requestDeletion(w http.ResponseWriter, r *http.Request) {
	if !p.member(w, r) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var in contract.RequestDeletion
	if p.decode(r, &in); in.Confirm != workspaceName {
		p.violation("request-deletion: it confirms %q", in.Confirm)
	}
	p.people.leaving = true
	p.people.access, p.people.refresh = map[string]bool{}, map[string]bool{}
	p.answerDeletion(w)
}

func (p *fakeServer) cancelDeletion(w http.ResponseWriter, r *http.Request) {
	if !p.member(w, r) {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.people.leaving = false
	p.answerDeletion(w)
}
