package main

import (
	"net/http"
	"time"

	"vitrine/shared/platform/contract"
)

const workspaceName = "Team \x1b[31m"

func (p *fakeServer) deletion(w http.ResponseWriter, _ *http.Request) {
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
	var in contract.RequestDeletion
	if p.decode(r, &in); in.Confirm != workspaceName {
		p.wrong = append(p.wrong, "request-deletion: it confirms "+in.Confirm)
	}
	p.people.leaving = true
	p.people.access, p.people.refresh = map[string]bool{}, map[string]bool{}
	p.deletion(w, r)
}

func (p *fakeServer) cancelDeletion(w http.ResponseWriter, r *http.Request) {
	p.people.leaving = false
	p.deletion(w, r)
}
