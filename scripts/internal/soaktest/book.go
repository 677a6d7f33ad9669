package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
)

// publication is an acknowledged publication.
type publication struct {
	artifact            id.Artifact
	content, link, text string
}

// record is what the clients were told. A client works on its own artifacts only.
type record struct {
	mu        sync.Mutex
	live      map[int][]*publication // by client
	gone      []*publication
	published int
	errors    int
	losses    []error
}

func newRecord() *record { return &record{live: map[int][]*publication{}} }

func (b *record) acknowledge(n int, s *publication) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.live[n] = append(b.live[n], s)
	b.published++
}

// any returns a live publication of a client, nil if it has none.
func (b *record) any(n int) *publication {
	b.mu.Lock()
	defer b.mu.Unlock()
	if all := b.live[n]; len(all) > 0 {
		return all[rand.IntN(len(all))]
	}
	return nil
}

// doubt removes an artifact whose deletion begins, because its state is unknown until the answer
// comes.
func (b *record) doubt(n int, a id.Artifact) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var kept []*publication
	for _, s := range b.live[n] {
		if s.artifact != a {
			kept = append(kept, s)
		}
	}
	b.live[n] = kept
}

func (b *record) removed(s *publication) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = append(b.gone, s)
}

func (b *record) failed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors++
}

func (b *record) lost(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.losses = append(b.losses, errors.New(what))
}

// String returns the totals.
func (b *record) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	live := 0
	for _, all := range b.live {
		live += len(all)
	}
	return fmt.Sprintf(
		"%d publications acknowledged, %d of them live, %d deletions acknowledged, %d turns failed and were given up",
		b.published, live, len(b.gone), b.errors)
}

// check reads everything that was acknowledged: what is live has its bytes, what was deleted is not
// found.
func (b *record) check(ctx context.Context, api string) error {
	g, err := wire.Discover(ctx, newClient(), api)
	if err != nil {
		return err
	}
	wrong := b.losses
	for _, all := range b.live {
		for _, s := range all {
			if a, err := g.Do(ctx, "GET", s.content, nil); err != nil || a.Status != http.StatusOK || string(a.Body) != s.text {
				wrong = append(wrong, fmt.Errorf("the acknowledged %s answers %d (%v)", s.artifact, a.Status, err))
			}
		}
	}
	for _, s := range b.gone {
		if a, err := g.Do(ctx, "GET", s.content, nil); err != nil || a.Status != http.StatusNotFound {
			wrong = append(wrong, fmt.Errorf("the deleted %s answers %d (%v)", s.artifact, a.Status, err))
		}
	}
	return errors.Join(wrong...)
}
