package main

import (
	"net/http"
	"time"

	"vitrine/shared/platform/contract"
)

const workspaceName = "Team \x1b[31m"

func (server *fakeServer) deletion(w http.ResponseWriter, _ *http.Request) {
	d := contract.WorkspaceDeletion{
		Workspace: contract.WorkspaceSummary{ID: workspace, Name: workspaceName, CreatedAt: contract.At(epoch)},
		Status:    contract.WorkspaceActive,
	}
	if server.people.leaving {
		at := contract.At(epoch.Add(14 * 24 * time.Hour))
		d.Status, d.DeletesAt = contract.WorkspaceDeleting, &at
	}
	answer(w, 200, d)
}

// requestDeletion ends every login, as the server does.
func (server *fakeServer) requestDeletion(w http.ResponseWriter, r *http.Request) {
	var in contract.RequestDeletion
	if server.decode(r, &in); in.Confirm != workspaceName {
		server.wrong = append(server.wrong, "request-deletion: it confirms "+in.Confirm)
	}
	server.people.leaving = true
	server.people.access, server.people.refresh = map[string]bool{}, map[string]bool{}
	server.deletion(w, r)
}

func (server *fakeServer) cancelDeletion(w http.ResponseWriter, r *http.Request) {
	server.people.leaving = false
	server.deletion(w, r)
}
