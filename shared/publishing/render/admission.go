package render

import (
	"context"
	"sync"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
)

// weights are the bytes of memory that a view needs for each byte that it reads of a file, and the most that it reads. A
// view without one parses nothing.
var weights = map[media.View]struct{ factor, most int64 }{
	media.MarkdownView: {limits.MarkdownWeight, limits.RenderedMarkdown},
	media.CodeView:     {limits.CodeWeight, limits.RenderedText},
	media.NoView:       {limits.CodeWeight, limits.RenderedText},
	media.LogView:      {limits.LogWeight, limits.RenderedText},
	media.TableView:    {limits.TableWeight, limits.RenderedTable},
	media.DataView:     {limits.DataWeight, limits.RenderedData},
	media.NotebookView: {limits.NotebookWeight, limits.RenderedNotebook},
	media.PatchView:    {limits.PatchWeight, limits.RenderedPatch},
}

// weight returns the memory that a page of the source reserves.
func (s Source) weight() int64 {
	w := weights[s.view()]
	return min(limits.RenderBase+w.factor*min(w.most, s.File.Size), limits.WorkspaceRenderMemory)
}

// admission bounds what the pages of a process hold at once, and which share of it an artifact and a workspace have. A
// reader holds a slot and memory. The shares are held until the view has ended too: one that cannot be cancelled keeps
// its own artifact waiting, and nobody else's.
type admission struct {
	mu       sync.Mutex
	readers  int
	memory   int64
	runaways int                    // views that go on without a reader
	views    map[any]int            // by id.Artifact and id.Workspace
	reserved map[id.Workspace]int64 // memory
	changed  chan struct{}          // closed when a place changes
}

func newAdmission() *admission {
	return &admission{
		views:    map[any]int{},
		reserved: map[id.Workspace]int64{},
		changed:  make(chan struct{}),
	}
}

// place is what a reader and a view hold.
type place struct {
	*admission
	of              Source
	weight          int64
	reader, running bool
	crowded         bool // too many views go on without a reader to start one that may become one more
}

// enter waits for a place, limits.RenderWait at most. The refusal is rate_limited_artifact, whoever's share is used up.
func (a *admission) enter(ctx context.Context, s Source) (*place, error) {
	p, full := &place{admission: a, of: s, weight: s.weight()}, ""
	err := a.wait(ctx, limits.RenderWait, func() bool {
		if full = a.full(p); full == "" {
			p.reader, p.crowded = true, a.runaways >= limits.RunawayViews
			p.hold(1)
		}
		return full == ""
	})
	if err == nil && full != "" {
		err = fault.New(fault.RateLimitedArtifact,
			"too many pages of this %s are being made at once; wait as long as Retry-After says", full).After(limits.RenderTime)
	}
	return p, err
}

// full says whose share has no room for a place, nobody's if there is room. The lock is held.
func (a *admission) full(p *place) string {
	w := p.of.Workspace
	switch {
	case a.views[p.of.Artifact] >= limits.ArtifactRenders:
		return "artifact"
	case a.views[w] >= limits.WorkspaceRenders, a.reserved[w]+p.weight > limits.WorkspaceRenderMemory:
		return "workspace"
	case a.readers >= limits.RendersAtOnce, a.memory+p.weight > limits.RenderMemory:
		return "deployment"
	}
	return ""
}

// wait calls try under the lock until it succeeds or the time is over, and again whenever a place changes.
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

// hold adds what the place holds n times, to take it or to give it back. The lock is held.
func (p *place) hold(n int) {
	if p.reader {
		p.readers += n
		p.memory += int64(n) * p.weight
		add(p.reserved, p.of.Workspace, int64(n)*p.weight)
	} else if p.running {
		p.runaways += n
	}
	if p.reader || p.running {
		add[any](p.views, p.of.Artifact, n)
		add[any](p.views, p.of.Workspace, n)
	}
}

func add[K comparable, N int | int64](m map[K]N, key K, n N) {
	if m[key] += n; m[key] == 0 {
		delete(m, key)
	}
}

// change changes a mark of the place.
func (p *place) change(mark *bool, to bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hold(-1)
	*mark = to
	p.hold(1)
	close(p.changed)
	p.changed = make(chan struct{})
}

// Settle waits for views that go on without a reader, limits.RunawayTime at most, and returns how many still do.
func (r *Renderer) Settle() (n int) {
	_ = r.room.wait(context.Background(), limits.RunawayTime, func() bool {
		n = r.room.runaways
		return n == 0
	})
	return n
}
