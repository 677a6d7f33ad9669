package rate

import (
	"container/list"
	"context"
	"sync"
	"time"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/id"
)

const (
	maxPools    = 10_000
	maxBlock    = 256
	blockShare  = 20              // a block is at most 1/blockShare of what was left at the last answer
	quickShare  = 12              // a block that is spent within 1/quickShare of its window is followed by a larger one
	refillLimit = 3 * time.Second // for the store to answer
	markLimit   = 250 * time.Millisecond
)

// leases takes permits from counters in blocks and spends them in memory, so that a busy subject costs one write for
// many requests. Blocks are disjoint parts of the limit of a window, so that all processes together never admit more
// than the limit. Permits that a process holds when it dies are lost until the window ends.
//
// A process that holds permits must not be copied, as a snapshot of a running function would do, because each copy
// would spend them.
type leases struct {
	mu    sync.Mutex
	pools map[counted]*pool
	order list.List // of pools, the oldest first
}

// counted is a subject of one counter, in all of its windows.
type counted struct{ counter, subject string }

func (w Window) counted() counted { return counted{w.Kind, w.Subject} }

// pool holds the permits of one window.
type pool struct {
	window  Window
	permits int
	full    int       // the largest limit at which the store refused; 0: none
	block   int       // the size of the newest block; 0: none was taken
	taken   time.Time // when the newest block arrived
	count   int       // the count of the store then
	before  int       // the last known count of the window before this one; 0: unknown
	limit   int       // the largest limit of the subject that was seen in this window; 0: none
	next    int       // the limit that was seen last; it applies from the next window on
	refill  *refill   // the one under way; nil: none
	place   *list.Element
}

// refill is one write on which several requests wait.
type refill struct {
	done chan struct{}
	err  error
}

// permit lets one request pass. The zero permit came from no pool.
type permit struct{ pool *pool }

// demand asks for a permit.
type demand struct {
	window Window
	limit  int
	first  int   // the size of the first block of a window
	marks  Marks // records subjects that are asked for often; nil: none are recorded
}

// take returns a permit; ok is false if the window is full. Requests for the same subject share one write at a time
// and wait for it together.
func (l *leases) take(ctx context.Context, c Counters, d demand, now func() time.Time) (got permit, ok bool, err error) {
	l.mu.Lock()
	p := l.current(d.window, now())
	for {
		if p.permits > 0 {
			p.permits--
			l.mu.Unlock()
			return permit{p}, true, nil
		}
		// A larger limit than the one that was refused still asks the store: the tier of the subject may have risen.
		if d.limit <= p.full {
			l.mu.Unlock()
			return permit{}, false, nil
		}
		r := p.refill
		if r == nil {
			r = &refill{done: make(chan struct{})}
			p.refill = r
			async.Start(func() error {
				l.fill(context.WithoutCancel(ctx), c, p, d, now)
				return nil
			})
		}
		l.mu.Unlock()
		select {
		case <-r.done:
		case <-ctx.Done():
			return permit{}, false, ctx.Err()
		}
		if r.err != nil {
			return permit{}, false, r.err
		}
		l.mu.Lock()
	}
}

// fill takes one block. It runs in a context of its own, so that a request that is cancelled does not fail the others
// that wait. A block that arrives after the end of its window serves only the requests that wait for it.
func (l *leases) fill(ctx context.Context, c Counters, p *pool, d demand, now func() time.Time) {
	ctx, cancel := context.WithTimeout(ctx, refillLimit)
	defer cancel()
	l.mu.Lock()
	r, block := p.refill, p.nextBlock(d, now())
	l.mu.Unlock()
	var n int
	var ok bool
	err := async.Run(func() (err error) {
		n, ok, err = c.Count(ctx, p.window, block, d.limit)
		if err == nil && ok && block >= HotBlock && p.block < HotBlock {
			d.mark(ctx, now())
		}
		return err
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	defer close(r.done)
	p.refill = nil
	switch {
	case err != nil:
		r.err = err
	case !ok:
		p.full = max(p.full, d.limit)
	default:
		// The store lets the last block exceed the limit, so only the part below the limit is spent.
		p.permits += min(block, d.limit-(n-block))
		p.block, p.count = block, n
		p.taken = now()
	}
}

// mark records that the subject is asked for often. It drops a failure, because marks only inform operators.
func (d demand) mark(ctx context.Context, now time.Time) {
	if d.marks == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, markLimit)
	defer cancel()
	_ = d.marks.Mark(ctx, Hot{Artifact: id.Artifact(d.window.Subject), At: now})
}

// nextBlock returns how many permits to take next. Blocks grow only while they are spent quickly, so that a process
// holds no more than it uses in a few seconds. A block is never more than a small part of what was left.
func (p *pool) nextBlock(d demand, now time.Time) int {
	block := d.first
	if p.block > 0 {
		block = p.block / 2
		if now.Sub(p.taken) <= p.window.End.Sub(p.window.Start)/quickShare {
			block = 2 * p.block
		}
	}
	return min(max(1, block), LargestBlock(d.limit-p.count))
}

// LargestBlock returns how many permits may be taken at once while left remain. The count of the store exceeds a limit
// by less than one such block.
func LargestBlock(left int) int { return max(1, min(maxBlock, left/blockShare)) }

// current returns the pool of a window and lets it replace the pool of an earlier window. The caller holds l.mu.
func (l *leases) current(w Window, now time.Time) *pool {
	old := l.pools[w.counted()]
	// A slow request may ask for a window that has ended; it must not drop the pool of a later one.
	if old != nil && !old.window.Start.Before(w.Start) {
		return old
	}
	p := &pool{window: w}
	if old != nil {
		p.limit, p.next = old.next, old.next
		if old.window.End.Equal(w.Start) {
			p.before = old.count
		}
		l.drop(old)
	}
	l.makeRoom(now)
	if l.pools == nil {
		l.pools = make(map[counted]*pool)
	}
	l.pools[w.counted()], p.place = p, l.order.PushBack(p)
	return p
}

// makeRoom drops pools when there are too many: the oldest one, and those after it whose windows have ended. The
// permits of a dropped pool are lost, so that its window may fill early but never exceeds its limit. The caller holds
// l.mu.
func (l *leases) makeRoom(now time.Time) {
	if l.order.Len() < maxPools {
		return
	}
	l.drop(l.order.Front().Value.(*pool))
	for e := l.order.Front(); e != nil && !now.Before(e.Value.(*pool).window.End); e = l.order.Front() {
		l.drop(e.Value.(*pool))
	}
}

func (l *leases) drop(p *pool) {
	delete(l.pools, p.window.counted())
	l.order.Remove(p.place)
}

// giveBack returns an unused permit to its window.
func (l *leases) giveBack(p permit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.pool != nil {
		p.pool.permits++
	}
}

// limitOf returns the limit of the subject of a window as far as it is known; 0: it is not. A larger limit applies at
// once, a smaller one from the next window on.
func (l *leases) limitOf(w Window) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch p := l.pools[w.counted()]; {
	case p == nil:
		return 0
	case p.window.Start.Equal(w.Start):
		return p.limit
	default:
		return p.next
	}
}

// see records the limit of the subject of a window.
func (l *leases) see(w Window, limit int, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.current(w, now)
	p.limit, p.next = max(p.limit, limit), limit
}
