package feedback

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

// maxListed is how many threads a page has, and how many messages.
const maxListed = 50

// Selection selects threads for a caller.
type Selection struct {
	Since  *int64 // nil: all; otherwise those that were changed after it, tombstones too
	State  State  // empty: every state but Deleted
	Cursor string
	// Counts are those of the artifact as they were read with it; nil: List reads them.
	Counts *Counts
	// Known returns the error with which List ends if the caller has the answer at a change. It is asked where Counts are
	// given; nil: the caller has no answer.
	Known func(seq int64) error
}

// List returns a page of threads of an artifact by their last change, and the cursor of the next page; empty: there is none.
// A reader who goes on from Listing.Until misses no change. Errors: artifact_not_found, invalid_request, invalid_cursor,
// database_unavailable.
func (s *Service) List(
	ctx context.Context, by credential.Actor, a *artifact.Artifact, sel Selection,
) (out Listing, next string, err error) {
	if err := by.Require(credential.Read); err != nil {
		return out, "", err
	}
	since := int64(0)
	switch {
	case !slices.Contains([]State{"", Open, Addressed, Resolved}, sel.State):
		return out, "", fault.New(fault.InvalidRequest, "state is open, addressed or resolved")
	case sel.Since != nil && sel.State != "":
		return out, "", fault.New(fault.InvalidRequest,
			"leave state out with since: a thread that left the state would not be told")
	case sel.Since != nil && *sel.Since < 0:
		return out, "", fault.New(fault.InvalidRequest, "since must not be negative")
	case sel.Since != nil:
		since = *sel.Since
	}
	if err := s.readable(by, a); err != nil {
		return out, "", err
	}
	if sel.Known != nil && sel.Counts != nil {
		if err := sel.Known(sel.Counts.Seq); err != nil {
			return out, "", err
		}
	}
	list := cursor.List{Workspace: by.Workspace.ID, Name: "feedback." + string(a.ID) + "." + string(sel.State), Now: s.Now()}
	page := cursor.Page{Cursor: sel.Cursor, Limit: maxListed}
	_, next, err = cursor.Read(s.Cursors, list, page, func(after string, limit int) ([]Thread, string, error) {
		at, _ := strconv.ParseInt(after, 10, 64) // sealed by this service, or empty
		out, err = s.Store.List(ctx, Query{
			Artifact: a.ID,
			After:    max(at, since),
			State:    sel.State,
			Limit:    limit,
			Deleted:  sel.Since != nil,
			Counts:   sel.Counts,
		})
		if err != nil || !out.More {
			return out.Threads, "", err
		}
		return out.Threads, strconv.FormatInt(out.Until, 10), nil
	})
	return out, next, err
}

// Thread returns a thread of an artifact with a page of its messages, and the cursor of the next page. Errors:
// artifact_not_found, not_found, invalid_cursor.
func (s *Service) Thread(
	ctx context.Context, by credential.Actor, a *artifact.Artifact, t id.Thread, at string,
) (thread Thread, messages []Message, next string, err error) {
	if err := by.Require(credential.Read); err != nil {
		return thread, nil, "", err
	}
	if err := s.readable(by, a); err != nil {
		return thread, nil, "", err
	}
	_, found, err := s.Store.Thread(ctx, a.ID, t)
	if err == nil && (found == nil || found.State == Deleted) {
		err = NotFound()
	}
	if err != nil {
		return thread, nil, "", err
	}
	list := cursor.List{Workspace: by.Workspace.ID, Name: "messages." + string(t), Now: s.Now()}
	page := cursor.Page{Cursor: at, Limit: maxListed}
	messages, next, err = cursor.Read(s.Cursors, list, page, func(after string, limit int) ([]Message, string, error) {
		n, _ := strconv.Atoi(cmp.Or(after, "0"))
		some, err := s.Store.Messages(ctx, a.ID, t, n, limit)
		if err != nil || n+len(some) >= found.Messages {
			return some, "", err
		}
		return some, strconv.Itoa(n + len(some)), nil
	})
	return *found, messages, next, err
}
