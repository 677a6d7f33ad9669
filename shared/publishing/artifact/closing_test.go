package artifact

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// fakeThreads addresses all, or fails.
type fakeThreads struct{ err error }

func (f fakeThreads) Close(_ context.Context, _ credential.Actor, _ Publication, all []Address) (Closing, error) {
	c := Closing{Changes: len(all)}
	for _, a := range all {
		c.Addressed = append(c.Addressed, a.Thread)
	}
	return c, f.err
}

func TestNoThreadKeepsAPublicationFromItsPlace(t *testing.T) {
	one := id.NewThread()
	addressed, busy := &Closed{Addressed: []id.Thread{one}}, &Closed{Skipped: []Skip{{one, Busy}}}
	held := fault.Wrap(fault.DatabaseUnavailable, conflict.ErrHeld, "repeat the request")
	for name, c := range map[string]struct {
		refuses []error
		close   error
		commits int
		want    *Closed // nil: the publication fails
	}{
		"at once":                        {nil, nil, 1, addressed},
		"after two races":                {times(closeTries-1, ErrThreads), nil, closeTries, addressed},
		"after a transaction held it up": {times(1, held), nil, 2, addressed},
		"after a race for the artifact":  {times(1, ErrMoved), nil, 2, addressed},
		"not while others keep writing":  {times(closeTries, ErrThreads), nil, closeTries + 1, busy},
		"not while the store is busy":    {times(closeTries, held), nil, closeTries + 1, busy},
		"not where threads are not read": {nil, errors.New("not read"), 1, busy},
		"unless it fails itself":         {times(1, fault.NewCode(fault.DatabaseUnavailable)), nil, 1, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.draft()
			e.store.refuses = c.refuses
			e.Threads = fakeThreads{c.close}
			target := e.target()
			target.Addresses = []Address{{Thread: one, Seq: 1}}
			got, err := e.Publish(t.Context(), e.by, target)
			if !cmp.Equal(got.Closed, c.want) || (err == nil) != (c.want != nil) || len(e.store.commits) != c.commits {
				t.Fatalf("%d commits, %+v, %v", len(e.store.commits), got.Closed, err)
			}
			last := e.store.commits[c.commits-1].(Publication)
			recorded := &idempotency.Record{Done: true, Result: last.Result, Expires: e.now.Add(time.Hour)}
			first, err := idempotency.First[publicationResult](recorded, target.Command)
			if (last.Threads == nil) != (c.want == busy) || err != nil || c.want != nil && !cmp.Equal(first.Closed, c.want) {
				t.Errorf("it commits threads %v and records %+v, %v", last.Threads, first.Closed, err)
			}
		})
	}
}

func TestWhatIsPublishedAlreadyAddressesNoThread(t *testing.T) {
	e := newEnv(t)
	target := e.target()
	target.Addresses = []Address{{Thread: "thr_1", Seq: 1}}
	got, err := e.Publish(t.Context(), e.by, target)
	if want := (&Closed{Skipped: []Skip{{"thr_1", NoNewRevision}}}); err != nil || !cmp.Equal(got.Closed, want) {
		t.Errorf("%+v, %v", got.Closed, err)
	}
}
