package abuse

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// InboxStore is the inbox's view of the tables.
type InboxStore interface {
	// Reports returns up to limit reports after a position, newest first, of one artifact or of all if a is empty. next is
	// the position of the last one if others follow.
	Reports(ctx context.Context, a id.Artifact, after string, limit int) (rows []Report, next string, err error)
	// Report reads a report strongly, nil if there is none.
	Report(ctx context.Context, a id.Artifact, place string) (*Report, error)
	// Handle marks a report as handled and records the event, in one transaction. Condition: the report exists and is not
	// handled. Errors: ErrHandled, database_unavailable.
	Handle(ctx context.Context, r Report, e event.Event) error
}

// ErrHandled means that a report is gone, or was marked as handled meanwhile.
var ErrHandled = errors.New("the report was handled meanwhile")

// Inbox shows reports to operators. Other callers get not_found.
type Inbox struct {
	Store   InboxStore
	Cursors *cursor.Codec
	Now     func() time.Time
}

// List returns one page of the reports of an artifact, or of all artifacts if of is empty, newest first.
func (i *Inbox) List(
	ctx context.Context, by credential.Actor, of id.Artifact, p cursor.Page,
) (_ []Report, next string, _ error) {
	now := i.Now()
	if err := by.Operates(now); err != nil {
		return nil, "", err
	}
	if _, err := of.Bits(); of != "" && err != nil {
		return nil, "", fault.NewCode(fault.NotFound)
	}
	list := cursor.List{Workspace: by.Workspace.ID, Name: "reports/" + string(of), Now: now}
	return cursor.Read(i.Cursors, list, p, func(after string, limit int) ([]Report, string, error) {
		return i.Store.Reports(ctx, of, after, limit)
	})
}

// Handle marks a report as handled. It changes no state if the report already is. A missing report is not_found.
func (i *Inbox) Handle(ctx context.Context, by credential.Actor, a id.Artifact, place string) error {
	now := i.Now().UTC().Truncate(time.Millisecond) // the precision that is stored
	if err := by.Operates(now); err != nil {
		return err
	}
	if _, err := a.Bits(); err != nil || place == "" {
		return fault.NewCode(fault.NotFound)
	}
	r, err := i.Store.Report(ctx, a, place)
	switch {
	case err != nil:
		return err
	case r == nil:
		return fault.New(fault.NotFound, "no such report")
	case !r.HandledAt.IsZero():
		return nil
	}
	r.HandledAt, r.HandledBy = now, by.Member
	err = i.Store.Handle(ctx, *r, event.Event{
		ID:        id.NewEvent(),
		Workspace: r.Workspace,
		At:        now,
		Action:    event.ReportHandled,
		Actor:     event.ByOperator(by.Member),
		Target:    event.Target{Type: event.OnArtifact, ID: string(r.Artifact)},
		Detail:    string(r.ID),
		RequestID: by.RequestID,
	})
	if errors.Is(err, ErrHandled) {
		return nil
	}
	return err
}
