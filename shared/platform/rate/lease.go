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
	blockShare  = 20              // a block takes at most this part of what the last answer left
	quickShare  = 12              // a block that is used up within this part of its window is followed by a larger one
	refillLimit = 3 * time.Second // for the store to answer
	markLimit   = 250 * time.Millisecond
)

// leases takes permits from counters in blocks and spends them in memory, so that a subject that is read often costs
// one write for many requests. Blocks are disjoint parts of the limit of a window, so that all processes together never
// admit more than the limit. Permits that a process holds when it dies are lost until the window ends.
//
// A process must not be copied while it holds permits, as a snapshot of a running function does, because each copy
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
	count   int       // what the store counted then
	before  int       // what the store counted last in the window before this one; 0: nothing that was seen
	limit   int       // the largest limit of the subject that was seen in this window; 0: none
	next    int       // the limit that was seen last; it holds from the next window on
	refill  *refill   // under way; nil: none
	place   *list.Element
}

// refill is one write that several requests wait for.
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
	marks  Marks // of subjects that are asked for often; nil: none are kept
}

// take returns a permit; ok is false if the window is full. It waits for at most one write at a time, which all that
// ask for the same subject share.
func (l *leases) take(ctx context.Context, c Counters, d demand, now func() time.Time) (got permit, ok bool, err error) {
	l.mu.Lock()
	p := l.current(d.window, now())
	for {
		if p.permits > 0 {
			p.permits--
			l.mu.Unlock()
			return permit{p}, true, nil
		}
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

// fill takes one block. It runs in a context of its own, so that a request that leaves does not fail those that wait
// with it. What arrives after the end of the window serves only them.
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
		p.permits += min(block, d.limit-(n-block))
		p.block, p.count = block, n
		p.taken = now()
	}
}

// mark records that the subject is asked for often. A failure is no matter: the mark is for people who look around.
func (d demand) mark(ctx context.Context, now time.Time) {
	if d.marks == nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, markLimit)
	defer cancel()
	_ = d.marks.Mark(ctx, Hot{Artifact: id.Artifact(d.window.Subject), At: now})
}

// nextBlock returns how many permits to take next. Blocks grow while they are used up quickly, so that a process holds
// no more than it used in a few seconds, and never more than a small part of what was left.
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

// LargestBlock returns how many permits may be taken at once while so many are left. The store may count less than that
// beyond a limit.
func LargestBlock(left int) int { return max(1, min(maxBlock, left/blockShare)) }

// current returns the pool of a window, and puts it in the place of that of an earlier one. l.mu is held.
func (l *leases) current(w Window, now time.Time) *pool {
	old := l.pools[w.counted()]
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

// makeRoom drops pools while there are too many: the oldest, and with them all next to it that have ended. l.mu is
// held.
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

// giveBack returns a permit that let no request pass to its window.
func (l *leases) giveBack(p permit) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.pool != nil {
		p.pool.permits++
	}
}

// limitOf returns the limit of the subject of a window as it was seen, 0 if it was not. A larger one holds at once, a
// smaller one from the next window on.
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

// see remembers the limit of the subject of a window.
func (l *leases) see(w Window, limit int, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.current(w, now)
	p.limit, p.next = max(p.limit, limit), limit
}
