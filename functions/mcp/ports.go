package mcp

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/comparison"
	"vitrine/shared/publishing/edit"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/sharing"
	"vitrine/shared/publishing/upload"
	"vitrine/shared/publishing/view"
)

// Account tells a client for whom it acts.
type Account interface {
	Delegate(by credential.Actor, m member.Member) contract.MCPWhoami
}

// Artifacts lists and changes artifacts. a is an artifact as it was read with the token, nil if there is none.
type Artifacts interface {
	// List is one page of the live artifacts, newest first; invalid_cursor for a cursor that is a day old or of another
	// workspace.
	List(ctx context.Context, by credential.Actor, p artifact.Page) (_ []artifact.Artifact, next string, _ error)
	// Revisions lists the revisions of an artifact in any status, drafts first, then newest first; artifact_not_found.
	Revisions(ctx context.Context, by credential.Actor, a *artifact.Artifact) ([]artifact.Revision, error)
	// Rename gives an artifact another title and answers it as it was stored; artifact_not_found, invalid_request for a
	// bad title.
	Rename(ctx context.Context, by credential.Actor, a *artifact.Artifact, title string) (string, error)
	// Delete ends an artifact for good and answers when; artifact_not_found.
	Delete(ctx context.Context, by credential.Actor, t artifact.Target) (time.Time, error)
}

// Edits publishes text and changes files in place. Faults are those of upload sessions and of publishing.
type Edits interface {
	// Publish makes a new artifact of one text.
	Publish(ctx context.Context, by credential.Actor, r edit.Request, title string, t edit.Text) (edit.Result, error)
	// Revise replaces the file that a text of its kind is, and keeps the others; artifact_not_found.
	Revise(
		ctx context.Context, by credential.Actor, r edit.Request, a *artifact.Artifact, named id.Artifact, t edit.Text,
	) (edit.Result, error)
	// Edit replaces passages of one file; invalid_request with the reason, artifact_not_found, patch_conflict.
	Edit(
		ctx context.Context, by credential.Actor, r edit.Request, a *artifact.Artifact, named id.Artifact, path string,
		edits []edit.Replacement,
	) (edit.Result, error)
	// Finish verifies the files of an upload session and publishes them.
	Finish(ctx context.Context, by credential.Actor, r edit.Request, s *upload.Session, e []upload.Entry) (edit.Result, error)
}

// Uploads opens upload sessions.
type Uploads interface {
	// Create opens a session for declared files, after permit has allowed it.
	Create(
		ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, s contract.CreateSession,
		permit func() error,
	) (upload.Created, error)
}

// Views shows artifacts and their files; not_found for what cannot be seen.
type Views interface {
	// Latest is the view of the current revision.
	Latest(ctx context.Context, by credential.Actor, a *artifact.Artifact) (view.View, error)
	// File is one file with its text. An empty revision is the current one.
	File(
		ctx context.Context, by credential.Actor, a *artifact.Artifact, r id.Revision, path string,
	) (view.FileText, error)
	// FileURL is the signed URL of a file that File answers.
	FileURL(
		ctx context.Context, by credential.Actor, a *artifact.Artifact, r id.Revision, path string,
	) (string, error)
	// Content is the bytes of a file of the current revision, nil if they are more than most.
	Content(
		ctx context.Context, by credential.Actor, a *artifact.Artifact, path string, most int64,
	) ([]byte, error)
}

// Links keeps access links; not_found for links, artifact_not_found for artifacts that the workspace does not have.
type Links interface {
	LinkChanges
	// List answers the links of an artifact, revoked ones included.
	List(ctx context.Context, by credential.Actor, t sharing.Target) ([]link.Link, error)
}

// LinkChanges makes and ends access links.
type LinkChanges interface {
	// SetVisibility makes an artifact unlisted, with a share link, or private, which ends all its links.
	SetVisibility(ctx context.Context, by credential.Actor, t sharing.Target, word string) (sharing.Visibility, error)
	Create(ctx context.Context, by credential.Actor, t sharing.Target, r sharing.Request) (link.Record, error)
	// Address makes a fresh URL of a link; not_found for a link that opens nothing.
	Address(ctx context.Context, by credential.Actor, l id.Link) (sharing.Address, error)
	// Revoke answers when the link was revoked first.
	Revoke(ctx context.Context, by credential.Actor, l id.Link) (time.Time, error)
}

// Comparisons tells what changed between two revisions; not_found, revision_retained, invalid_cursor.
type Comparisons interface {
	Compare(
		ctx context.Context, by credential.Actor, a *artifact.Artifact, q comparison.Query,
	) (contract.Comparison, error)
}

// page is one page of a list of limits.DefaultPage rows.
func page(after string) cursor.Page { return cursor.Page{Cursor: after} }
