package export

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/token"
)

// Store keeps the newest export of each workspace.
type Store interface {
	// Export reads the export of a workspace strongly, nil if there is none.
	Export(ctx context.Context, w id.Workspace) (*Export, error)
	// Create stores a new export with its event and the command's record, and makes the archives of the replaced one due
	// for deletion, in one transaction. Errors: ErrMoved (the stored export is not c.Replaces, or is pending),
	// *idempotency.AlreadyDone, not_authenticated (the workspace closed), database_unavailable.
	Create(ctx context.Context, c Creation) error
	// RecordNoop records that a command was answered with a pending export. It fails with ErrMoved if the export is no
	// longer pending.
	RecordNoop(ctx context.Context, c Creation) error
}

// ErrMoved means that another export was created, or that the export ended, since it was read.
var ErrMoved = errors.New("the export changed since it was read")

// Creation is everything that a new export writes.
type Creation struct {
	Command  idempotency.Command
	Result   []byte
	Export   Export
	Replaces *Export // nil: none
	At       time.Time
	Event    event.Event
}

// Service lets members request exports and read them.
type Service struct {
	Store   Store
	Limiter *rate.Limiter
	URLs    *address.URLBuilder
	Limits  *limits.Limits
	Now     func() time.Time
}

// Request requests an export of the caller's workspace. It returns the pending export if there is one. Otherwise the
// new export replaces the one before, whose archives are deleted. Refusals: forbidden without the scope admin or
// without a fresh sign-in, rate_limited_actor after too many exports on a day.
func (s *Service) Request(
	ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record,
) (Export, error) {
	now := s.Now().UTC().Truncate(time.Millisecond)
	if err := requireFresh(by, now); err != nil {
		return Export{}, err
	}
	return idempotency.DoWith(c, r, now, func() (Export, error) {
		counted := false
		return conflict.Retry(races, func() (Export, error) { return s.request(ctx, by, c, now, &counted) })
	}, func(first requested) (Export, error) { return s.find(ctx, by, first) })
}

// races bounds optimistic retries of requests.
var races = conflict.Policy{Lost: ErrMoved, Attempts: 5, Exhausted: func() error {
	return fault.New(fault.DatabaseUnavailable, "too many requests for exports at once; repeat the request in a moment")
}}

func (s *Service) request(
	ctx context.Context, by credential.Actor, c idempotency.Command, now time.Time, counted *bool,
) (Export, error) {
	was, err := s.Store.Export(ctx, by.Workspace.ID)
	if err != nil {
		return Export{}, err
	}
	if was != nil && was.Status == Pending {
		return *was, s.Store.RecordNoop(ctx, creation(c, *was, now))
	}
	if !*counted { // once, although a lost race repeats the attempt
		if err := s.Limiter.Take(ctx, s.Limits.Exports, string(by.Workspace.ID)); err != nil {
			return Export{}, err
		}
		*counted = true
	}
	e := Export{
		ID:        id.NewExport(),
		Workspace: by.Workspace.ID,
		Status:    Pending,
		Member:    by.Member,
		CreatedAt: now,
	}
	made := creation(c, e, now)
	made.Replaces = was
	made.Event = by.Record(now, event.ExportCreated, event.OnExport, string(e.ID), "")
	return e, s.Store.Create(ctx, made)
}

// requested is the stored result of a request.
type requested struct {
	ID        id.Export
	CreatedAt time.Time
}

func creation(c idempotency.Command, e Export, now time.Time) Creation {
	return Creation{
		Command: c,
		Result:  idempotency.Encode(requested{ID: e.ID, CreatedAt: e.CreatedAt}),
		Export:  e,
		At:      now,
	}
}

// find returns the export of a first attempt as it is now. One that was replaced is reported as expired.
func (s *Service) find(ctx context.Context, by credential.Actor, first requested) (Export, error) {
	e, err := s.Store.Export(ctx, by.Workspace.ID)
	if err != nil {
		return Export{}, err
	}
	if e == nil || e.ID != first.ID {
		return Export{
			ID:        first.ID,
			Workspace: by.Workspace.ID,
			Status:    Expired,
			CreatedAt: first.CreatedAt,
		}, nil
	}
	return e.At(s.Now()), nil
}

// Find returns the export of the caller's workspace, nil if there is none. It requires the scope admin.
func (s *Service) Find(ctx context.Context, by credential.Actor) (*Export, error) {
	if err := by.Require(credential.Admin); err != nil {
		return nil, err
	}
	e, err := s.Store.Export(ctx, by.Workspace.ID)
	if err != nil || e == nil {
		return nil, err
	}
	now := e.At(s.Now())
	return &now, nil
}

// URL returns a signed URL of an archive of a ready export. It is empty for an export in another state, and for a
// caller without a fresh sign-in.
// urlLife is how long the signed URL of an archive is valid.
const urlLife = time.Hour

func (s *Service) URL(by credential.Actor, e Export, volume int) (string, error) {
	now := s.Now()
	if e.At(now).Status != Ready || requireFresh(by, now) != nil {
		return "", nil
	}
	end := now.Add(urlLife)
	if e.ExpiresAt.Before(end) {
		end = e.ExpiresAt
	}
	return s.URLs.Export(token.ExportClaims{
		Expires:   end,
		Workspace: e.Workspace,
		Export:    e.ID,
		Volume:    volume,
	})
}

// View returns the wire form of an export for a caller. It holds null if there is no export.
// retryAfter is when a client asks again for an export that is made.
const retryAfter = 5 * time.Second

func (s *Service) View(by credential.Actor, e *Export) (contract.ExportStatus, error) {
	if e == nil {
		return contract.ExportStatus{}, nil
	}
	view := contract.Export{
		ID:             e.ID,
		Status:         string(e.Status),
		CreatedAt:      contract.At(e.CreatedAt),
		ArtifactsDone:  e.Next.Artifact,
		ArtifactsTotal: e.Artifacts,
		Skipped:        e.Skipped,
		ReadyAt:        contract.AtOrNull(e.readyAt()),
		ExpiresAt:      contract.AtOrNull(e.ExpiresAt),
		Volumes:        []contract.ExportVolume{},
	}
	if e.Reason != "" {
		view.FailureReason = &e.Reason
	}
	if e.Status == Pending {
		view.RetryAfterSeconds = contract.Seconds(retryAfter)
	}
	if e.Status == Ready {
		var err error
		if view.Volumes, err = s.volumes(by, *e); err != nil {
			return contract.ExportStatus{}, err
		}
	}
	return contract.ExportStatus{Export: &view}, nil
}

func (e Export) readyAt() time.Time {
	if e.Status == Ready || e.Status == Expired {
		return e.EndedAt
	}
	return time.Time{}
}

func (s *Service) volumes(by credential.Actor, e Export) ([]contract.ExportVolume, error) {
	out := make([]contract.ExportVolume, len(e.Volumes))
	for n, v := range e.Volumes {
		url, err := s.URL(by, e, n+1)
		if err != nil {
			return nil, err
		}
		out[n] = contract.ExportVolume{
			Number:    n + 1,
			FileName:  e.FileName(n + 1),
			SizeBytes: v.Size,
			SHA256:    v.SHA256.String(),
		}
		if url != "" {
			out[n].URL = &url
		}
	}
	return out, nil
}

// requireFresh refuses a caller without the scope admin or without a fresh sign-in.
func requireFresh(by credential.Actor, now time.Time) error {
	if err := by.Require(credential.Admin); err != nil {
		return err
	}
	return by.SignedInLately(now)
}
