// Package cache keeps immutable values in memory, up to a number of bytes.
package cache

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
)

// overhead is the memory of an entry besides its value: key, list element, map slot, and the allocator's rounding.
const overhead = 384

// Cache keeps the most recently used values. All readers share a value, so it must not be changed. The cache does not
// check access; its callers do that before they answer. A nil Cache keeps none.
// maxReadTime is the longest read of a value.
const maxReadTime = 10 * time.Second

type Cache struct {
	capacity int64

	mu      sync.Mutex
	size    int64
	entries map[any]*list.Element
	recent  list.List // newest first
	fills   map[any]*fill
}

// New returns a cache of at most capacity bytes, or nil if capacity is 0.
func New(capacity int64) *Cache {
	if capacity <= 0 {
		return nil
	}
	return &Cache{
		capacity: capacity,
		entries:  make(map[any]*list.Element),
		fills:    make(map[any]*fill),
	}
}

type entry struct {
	key, value any
	size       int64
}

// fill is a read under way. Its callers wait for done, which is closed after the other fields are set.
type fill struct {
	done  chan struct{}
	value any
	err   error
}

// typed is the key of an entry. It carries the types of key and value, so that equal keys of different types never
// collide.
type typed[K comparable, V any] struct {
	_   [0]*V
	key K
}

// Get returns the value of a key. On a miss, one call of read serves all concurrent callers of the key. read returns
// the value and its size in bytes of memory; a value of size 0 is not kept. Failures are not kept. The context of read
// has the values of the first caller's context, but ends only after maxReadTime, so that a caller that leaves does
// not fail the others. A caller whose own context ends before the value arrives gets a fault of code.
func Get[K comparable, V any](
	ctx context.Context, c *Cache, key K, code fault.Code,
	read func(context.Context) (value V, size int64, err error),
) (V, error) {
	if c == nil {
		value, _, err := read(ctx)
		return value, err
	}
	if value, ok := c.lookup(typed[K, V]{key: key}); ok {
		return value.(V), nil
	}
	f := c.fill(ctx, typed[K, V]{key: key}, func(ctx context.Context) (any, int64, error) { return read(ctx) })
	return wait[V](ctx, f, code)
}

// wait returns the result of a fill, or a fault of code if the context ends first.
func wait[V any](ctx context.Context, f *fill, code fault.Code) (value V, err error) {
	select {
	case <-f.done:
	case <-ctx.Done():
		return value, fault.Wrap(code, ctx.Err(), "the answer takes too long; repeat the request in a moment")
	}
	if f.err != nil {
		return value, f.err
	}
	return f.value.(V), nil
}

// lookup returns the value of a key and makes it the newest.
func (c *Cache) lookup(key any) (any, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok {
		return nil, false
	}
	c.recent.MoveToFront(e)
	return e.Value.(*entry).value, true
}

// fill starts a read, unless one is under way or the value arrived since lookup.
func (c *Cache) fill(ctx context.Context, key any, read func(context.Context) (any, int64, error)) *fill {
	c.mu.Lock()
	defer c.mu.Unlock()
	if f, ok := c.fills[key]; ok {
		return f
	}
	f := &fill{done: make(chan struct{})}
	if e, ok := c.entries[key]; ok {
		f.value = e.Value.(*entry).value
		close(f.done)
		return f
	}
	c.fills[key] = f
	async.Start(func() error {
		c.run(ctx, key, f, read)
		return nil
	})
	return f
}

// errUnfinished is the error of a read that ended its goroutine by runtime.Goexit.
var errUnfinished = errors.New("cache: the read did not return")

func (c *Cache) run(ctx context.Context, key any, f *fill, read func(context.Context) (any, int64, error)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxReadTime)
	defer cancel()
	var size int64
	f.err = errUnfinished
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.fills, key)
		if f.err == nil && size > 0 {
			c.keep(&entry{key, f.value, size + overhead})
		}
		close(f.done)
	}()
	f.err = async.Run(func() (err error) {
		f.value, size, err = read(ctx)
		return err
	})
}

// keep adds an entry and drops the least recently used ones until all fit. An entry above the capacity is not kept.
func (c *Cache) keep(e *entry) {
	if e.size > c.capacity {
		return
	}
	for c.size+e.size > c.capacity {
		oldest := c.recent.Remove(c.recent.Back()).(*entry)
		delete(c.entries, oldest.key)
		c.size -= oldest.size
	}
	c.entries[e.key] = c.recent.PushFront(e)
	c.size += e.size
}
