package pages

import "time"

// Delete asks for the name of a workspace before it is deleted.
type Delete struct {
	Layout
	Days    int    // until the workspace goes for good
	Problem string // what was wrong with the name that was typed
}

// DeletionRequested says what happens to a workspace that is being deleted, to a browser that is signed out.
type DeletionRequested struct {
	SignIn string // path
	Days   int
}

// Deletion is the only page of a member whose workspace is being deleted.
type Deletion struct {
	Workspace, Email string
	DeletesAt        time.Time
	Admin            bool // the member may keep the workspace
}

func (Delete) template() string            { return "delete.html" }
func (DeletionRequested) template() string { return "deletion-requested.html" }
func (Deletion) template() string          { return "deletion.html" }
