package contract

// The values of WorkspaceDeletion.Status.
const (
	WorkspaceActive   = "active"
	WorkspaceDeleting = "deleting"
)

// WorkspaceDeletion answers web.workspace.deletion.get, .request and .cancel.
type WorkspaceDeletion struct {
	Workspace WorkspaceSummary `json:"workspace"`
	Status    string           `json:"status" enum:"active,deleting"`
	DeletesAt *Time            `json:"deletes_at" format:"date-time" doc:"when it goes for good; null: it stays"`
}

// RequestDeletion asks to delete the workspace.
type RequestDeletion struct {
	Confirm string `json:"confirm" minLength:"1" maxLength:"500" doc:"the name of the workspace"`
}
