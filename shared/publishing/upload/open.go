package upload

import (
	"context"
	"encoding/json"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
)

// Opened is a session that was opened, by this attempt or an earlier one, and the stored result of the command. A
// command that made no revision has no session, and Revision is the one that it found.
type Opened struct {
	ID       id.Session  `json:"s,omitempty"`
	Artifact id.Artifact `json:"a,omitempty"` // empty: stored by older code
	Revision id.Revision `json:"r,omitempty"` // likewise
	Files    int         `json:"n,omitempty"` // to be uploaded
	Bytes    int64       `json:"b,omitempty"` // of these files

	Session *Session `json:"-"` // nil: an earlier attempt opened it, and Reopen reads it
	Entries []Entry  `json:"-"`
}

// Result returns what a repetition goes on from.
func (o Opened) Result() []byte {
	result, _ := json.Marshal(o)
	return result
}

// OpenedWith returns what opening a session gives.
func OpenedWith(s *Session, entries []Entry) Opened {
	o := Opened{
		ID:       s.ID,
		Artifact: s.Artifact,
		Revision: s.Revision,
		Session:  s,
		Entries:  entries,
	}
	for _, e := range entries {
		if !e.Reused && !e.Deleted {
			o.Files++
			o.Bytes += e.Size
		}
	}
	return o
}

// Open opens a session for the declared files, for a caller in this process that stores the bytes itself. Refusals in
// order: invalid_request (shape), artifact_not_found, revision_ceiling_exceeded, draft_revision_conflict,
// file_count_cap_exceeded, file_size_cap_exceeded, revision_size_cap_exceeded, entrypoint_not_in_revision, the error of
// permit, write_allowance_exceeded. It calls permit before it writes and only reads until then, so that a rate limit
// can be counted meanwhile. A repetition makes no call.
func (s *Service) Open(
	ctx context.Context, by credential.Actor, cmd idempotency.Command, record *idempotency.Record,
	r contract.CreateSession, permit func() error,
) (Opened, error) {
	now := s.Now().Truncate(time.Millisecond) // as it is stored: the session remembers when its artifact ends
	return idempotency.Do(cmd, record, now, func() (Opened, error) {
		made, err := s.plan(ctx, by, cmd, r, now)
		if err != nil {
			return Opened{}, err
		}
		if err := permit(); err != nil {
			return Opened{}, err
		}
		err = s.Store.Create(ctx, made)
		if fault.CodeOf(err) == fault.WriteAllowanceExceeded {
			err = artifact.AllowanceSpent(now, "this workspace may declare %d bytes of uploads a day, of which files "+
				"that it has already and that are declared with their sha256 take nothing", made.BytesADay)
		}
		return OpenedWith(&made.Session, made.Entries), err
	})
}

// Reopen reads a session that an earlier attempt opened. One that is over is refused.
func (s *Service) Reopen(ctx context.Context, o Opened) (Opened, error) {
	var err error
	o.Session, o.Entries, err = s.Store.Session(ctx, o.ID)
	switch {
	case err != nil:
		return Opened{}, err
	case o.Session == nil:
		return Opened{}, fault.New(fault.UploadSessionNotFound,
			"the session of this Idempotency-Key is gone; create a new one")
	case !s.Now().Before(o.Session.ExpiresAt): // its URLs would have expired
		return Opened{}, fault.New(fault.UploadSessionExpired,
			"the session of this Idempotency-Key expired; create a new one")
	}
	return o, nil
}
