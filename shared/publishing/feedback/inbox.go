package feedback

import (
	"context"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/publishing/artifact"
)

// InboxRow is an artifact with open threads, or with what waits for a member.
type InboxRow struct {
	Artifact artifact.Artifact // as the workspace has it
	Counts
	UpdatedAt time.Time // when a thread was last changed
}

// InboxQuery selects rows of the inbox of a workspace.
type InboxQuery struct {
	cursor.Query[InboxRow]
	Claimed bool // the workspace may have claimed others, whose artifacts are still being moved
}

// Inbox returns a page of the artifacts of the caller's workspace that have open threads or what waits, the last change first, and the
// cursor of the next page; empty: there is none. Errors: forbidden, invalid_cursor.
func (s *Service) Inbox(ctx context.Context, by credential.Actor, p cursor.Page) ([]InboxRow, string, error) {
	if err := by.Require(credential.Read); err != nil {
		return nil, "", err
	}
	list := cursor.List{Workspace: by.Workspace.ID, Name: "feedback.inbox", Now: s.Now()}
	return cursor.Read(s.Cursors, list, p, func(after string, limit int) ([]InboxRow, string, error) {
		return s.Store.Inbox(ctx, InboxQuery{
			Query: cursor.Query[InboxRow]{
				Workspace: by.Workspace.ID,
				After:     after,
				Limit:     limit,
				Live:      func(r InboxRow) bool { return r.Open+r.Held > 0 && s.readable(by, &r.Artifact) == nil },
			},
			Claimed: !by.Workspace.ClaimedAt.IsZero(),
		})
	})
}
