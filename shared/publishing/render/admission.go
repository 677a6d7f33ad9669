package render

import (
	"context"
	"sync"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// What the pages that a process makes at once may hold. Beyond that readers are told to come again.
const (
	maxWait           = 2 * time.Second // for a place
	maxReaders        = 16              // pages that readers wait for
	maxWorkspaceViews = 4               // of one workspace, those included that were given up and go on
	maxRunaways       = 16              // views that were given up and go on; then files are shown as text
	// maxRunawayTime is how long such views may go on after the answer of a function, which then ends: Lambda would let
	// them go on under the next request.
	maxRunawayTime = 500 * time.Millisecond

	maxMemory          = 256 << 20 // reserved by weight; a function has 512 MB
	maxWorkspaceMemory = 192 << 20 // of that by one workspace, and at most by one page
	pageMemory         = 2 << 20   // of every page
)

// weight returns the memory that a page of the source reserves.
func (s Source) weight() int64 {
	v := views[s.view()]
	return min(pageMemory+v.weight*min(v.most, s.File.Size), maxWorkspaceMemory)
}

// admission bounds what the pages of a process hold at once, and the share of an artifact and of a workspace. A reader
// holds a slot and memory. The shares are held until the view has ended too, so that a view that cannot be cancelled
// delays only its own artifact.
type admission struct {
	mu       sync.Mutex
	readers  int
	memory   int64
	runaways int                    // views that go on without a reader
	views    map[any]int            // by id.Artifact and id.Workspace
	reserved map[id.Workspace]int64 // memory
	changed  chan struct{}          // closed when a reservation changes
}

func newAdmission() *admission {
	return &admission{
		views:    map[any]int{},
		reserved: map[id.Workspace]int64{},
		changed:  make(chan struct{}),
	}
}

// reservation is the share that a reader and a view hold.
type reservation struct {
	*admission
	of              Source
	weight          int64
	reader, running bool
	textOnly        bool // too many views go on without a reader already, so this page is only text
}

// reserve waits for room for a page, at most maxWait. The refusal is rate_limited_artifact, no matter which
// share is used up.
func (a *admission) reserve(ctx context.Context, s Source) (*reservation, error) {
	r, full := &reservation{admission: a, of: s, weight: s.weight()}, ""
	err := a.wait(ctx, maxWait, func() bool {
		if full = a.full(r); full == "" {
			r.reader, r.textOnly = true, a.runaways >= maxRunaways
			r.count(1)
		}
		return full == ""
	})
	if err == nil && full != "" {
		err = fault.New(fault.RateLimitedArtifact,
			"too many pages of this %s are being made at once; wait as long as Retry-After says", full).After(maxPageTime)
	}
	return r, err
}

// full returns the name of a share that has no room for a reservation, empty if all have. The caller holds the lock.
func (a *admission) full(r *reservation) string {
	w := r.of.Workspace
	switch {
	case a.views[r.of.Artifact] >= limits.ArtifactRenders:
		return "artifact"
	case a.views[w] >= maxWorkspaceViews, a.reserved[w]+r.weight > maxWorkspaceMemory:
		return "workspace"
	case a.readers >= maxReaders, a.memory+r.weight > maxMemory:
		return "deployment"
	}
	return ""
}

// wait calls try under the lock whenever a reservation changes, until try succeeds or most is over. It returns nil in
// both cases, and an error only if ctx ends.
func (a *admission) wait(ctx context.Context, most time.Duration, try func() bool) error {
	over := time.NewTimer(most)
	defer over.Stop()
	for {
		a.mu.Lock()
		done, changed := try(), a.changed
		a.mu.Unlock()
		if done {
			return nil
		}
		select {
		case <-changed:
		case <-over.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// count takes the shares of the reservation if n is 1 and gives them back if it is -1. The caller holds the lock.
func (r *reservation) count(n int) {
	if r.reader {
		r.readers += n
		r.memory += int64(n) * r.weight
		add(r.reserved, r.of.Workspace, int64(n)*r.weight)
	} else if r.running {
		r.runaways += n
	}
	if r.reader || r.running {
		add[any](r.views, r.of.Artifact, n)
		add[any](r.views, r.of.Workspace, n)
	}
}

func add[K comparable, N int | int64](m map[K]N, key K, n N) {
	if m[key] += n; m[key] == 0 {
		delete(m, key)
	}
}

// set changes whether a reader waits or a view runs.
func (r *reservation) set(mark *bool, to bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count(-1)
	*mark = to
	r.count(1)
	close(r.changed)
	r.changed = make(chan struct{})
}

// Settle waits for views that go on without a reader, at most maxRunawayTime. It returns how many still do.
func (r *Renderer) Settle() (n int) {
	_ = r.admission.wait(context.Background(), maxRunawayTime, func() bool {
		n = r.admission.runaways
		return n == 0
	})
	return n
}
