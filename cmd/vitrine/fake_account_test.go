package main

import (
	"fmt"
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

func (server *fakeServer) settings(w http.ResponseWriter, _ *http.Request) {
	answer(w, 200, contract.Settings{
		WorkspaceName:      workspaceName,
		AutoDeletionDays:   server.people.life,
		AutoDeletionBounds: contract.AutoDeletionBounds{MinDays: 1, MaxDays: server.people.longest},
	})
}

func (server *fakeServer) changeSettings(w http.ResponseWriter, r *http.Request) {
	var in contract.UpdateSettings
	if server.decode(r, &in); in.WorkspaceName != workspaceName || in.AutoDeletionDays < 1 ||
		in.AutoDeletionDays > server.people.longest {
		server.wrong = append(server.wrong, fmt.Sprintf("change-settings: it asks for %+v", in))
	}
	server.people.life = in.AutoDeletionDays
	server.settings(w, r)
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
