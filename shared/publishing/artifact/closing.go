package artifact

import (
	"context"
	"errors"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// Address asks a publication to say that it has dealt with a thread.
type Address struct {
	Thread id.Thread
	Seq    int64 // of the last change that the publisher has read
	Note   string
}

// Reason is why a publication left a thread as it was.
type Reason string

// The reasons.
const (
	Gone          Reason = "gone"            // there is no such thread
	Resolved      Reason = "resolved"        // a person agreed already
	Changed       Reason = "changed"         // it has words that the publisher has not read
	NoNewRevision Reason = "no_new_revision" // the revision was published already, or is as the one before
	Busy          Reason = "busy"            // others kept writing about the artifact
)

// Skip is a thread that a publication left as it was.
type Skip struct {
	Thread id.Thread `json:"t"`
	Reason Reason    `json:"r"`
}

// Closed is what a publication did to the threads that it was to address.
type Closed struct {
	Addressed []id.Thread `json:"a,omitempty"`
	Skipped   []Skip      `json:"s,omitempty"`
	Open      int         `json:"o,omitempty"` // threads of the artifact that are open after it, where they were counted
}

// skipAll returns threads that a publication left as they were.
func skipAll(addresses []Address, why Reason) *Closed {
	c := &Closed{}
	for _, a := range addresses {
		c.Skipped = append(c.Skipped, Skip{a.Thread, why})
	}
	return c
}

// Closing is what a publication does to threads.
type Closing struct {
	Closed
	// Changes is what the store writes with the publication. It is of the package that decides it; nil: none.
	Changes any
}

// Threads decides what publications do to threads. feedback.Closer implements it.
type Threads interface {
	Close(ctx context.Context, by credential.Actor, p Publication, addresses []Address) (Closing, error)
}

// ErrThreads means that threads changed since a publication decided about them.
var ErrThreads = errors.New("the threads changed meanwhile")

// closeTries is how often a publication tries to take threads along.
const closeTries = 3

// commitClosing commits a publication together with what it does to threads. It goes without them where others keep
// changing them, because no thread keeps a publication from its place.
func (s *Service) commitClosing(
	ctx context.Context, by credential.Actor, p Publication, result publicationResult, addresses []Address,
) (publicationResult, error) {
	for range closeTries {
		c, err := s.Threads.Close(ctx, by, p, addresses)
		if err != nil {
			break
		}
		p.Threads, result.Closed = c.Changes, &c.Closed
		p.Result = idempotency.Encode(result)
		if err = s.commit(ctx, by, p); !errors.Is(err, ErrThreads) && !errors.Is(err, conflict.ErrHeld) {
			return result, err
		}
	}
	p.Threads, result.Closed = nil, skipAll(addresses, Busy)
	p.Result = idempotency.Encode(result)
	return result, s.commit(ctx, by, p)
}
