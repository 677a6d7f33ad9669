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

// Account tells a client on whose behalf it acts.
type Account interface {
	Delegate(by credential.Actor, m member.Member) contract.MCPWhoami
}

// Artifacts lists and changes artifacts. a is an artifact as it was read with the token; nil if there is none.
type Artifacts interface {
	// List returns one page of the live artifacts, newest first. It fails with invalid_cursor for a cursor that is a
	// day old or of another workspace.
	List(ctx context.Context, by credential.Actor, p artifact.Page) (_ []artifact.Artifact, next string, _ error)
	// Revisions returns one page of the revisions of an artifact in any status: drafts first, then the newest first. It
	// fails with artifact_not_found, or with invalid_cursor for a cursor that is a day old or of another list.
	Revisions(
		ctx context.Context, by credential.Actor, a *artifact.Artifact, p cursor.Page,
	) (_ []artifact.Revision, next string, _ error)
	// Rename changes the title of an artifact and returns it as stored. It fails with artifact_not_found, or with
	// invalid_request for a bad title.
	Rename(ctx context.Context, by credential.Actor, a *artifact.Artifact, title string) (string, error)
	// Delete ends an artifact for good and returns when. It fails with artifact_not_found.
	Delete(ctx context.Context, by credential.Actor, t artifact.Target) (time.Time, error)
}

// Edits publishes text and changes files in place. It fails as upload sessions and publishing do.
type Edits interface {
	// Publish makes a new artifact from one text.
	Publish(ctx context.Context, by credential.Actor, r edit.Request, title string, t edit.Text) (edit.Result, error)
	// Revise replaces the file for texts of this kind, and keeps the others. It fails with artifact_not_found.
	Revise(
		ctx context.Context, by credential.Actor, r edit.Request, a *artifact.Artifact, named id.Artifact, t edit.Text,
	) (edit.Result, error)
	// Edit replaces passages of one file. It fails with invalid_request and the reason, artifact_not_found or
	// patch_conflict.
	Edit(
		ctx context.Context, by credential.Actor, r edit.Request, a *artifact.Artifact, named id.Artifact, path string,
		edits []edit.Replacement,
	) (edit.Result, error)
	// Finish verifies the files of an upload session and publishes them.
	Finish(ctx context.Context, by credential.Actor, r edit.Request, s *upload.Session, e []upload.Entry) (edit.Result, error)
}

// Uploads opens upload sessions.
type Uploads interface {
	// Create opens a session for declared files, once permit has returned nil.
	Create(
		ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, s contract.CreateSession,
		permit func() error, size func(upload.Created) int,
	) (upload.Created, error)
}

// Views reads artifacts and their files. It fails with not_found for what the caller cannot see.
type Views interface {
	// Latest returns the view of the current revision with a page of its files.
	Latest(ctx context.Context, by credential.Actor, a *artifact.Artifact, p cursor.Page) (view.View, error)
	// File returns one file with its text. An empty revision is the current one.
	File(
		ctx context.Context, by credential.Actor, a *artifact.Artifact, r id.Revision, path string,
	) (view.FileText, error)
	// FileURL returns the signed URL of a file that File returned.
	FileURL(
		ctx context.Context, by credential.Actor, a *artifact.Artifact, r id.Revision, path string,
	) (string, error)
	// Content returns the bytes of a file of the current revision; nil if there are more than most.
	Content(
		ctx context.Context, by credential.Actor, a *artifact.Artifact, path string, most int64,
	) ([]byte, error)
}

// Links manages access links. It fails with not_found for links, and with artifact_not_found for artifacts that the
// workspace does not have.
type Links interface {
	LinkChanges
	// List returns the links of an artifact, including revoked ones.
	List(ctx context.Context, by credential.Actor, t sharing.Target) ([]link.Link, error)
}

// LinkChanges makes and ends access links.
type LinkChanges interface {
	// SetVisibility makes an artifact unlisted, with a share link, or private, which ends all of its links.
	SetVisibility(ctx context.Context, by credential.Actor, t sharing.Target, word string) (sharing.Visibility, error)
	Create(ctx context.Context, by credential.Actor, t sharing.Target, r sharing.Request) (link.Record, error)
	// Address returns the URL of a link. It fails with not_found for a link that has ended.
	Address(ctx context.Context, by credential.Actor, l id.Link) (sharing.Address, error)
	// Revoke ends a link and returns when it was first revoked.
	Revoke(ctx context.Context, by credential.Actor, l id.Link) (time.Time, error)
}

// Comparisons compares two revisions. It fails with not_found, revision_retained or invalid_cursor.
type Comparisons interface {
	Compare(
		ctx context.Context, by credential.Actor, a *artifact.Artifact, q comparison.Query,
	) (contract.Comparison, error)
}

// page returns the request for one page of limits.DefaultPage rows.
func page(after string) cursor.Page { return cursor.Page{Cursor: after} }
