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
type shown struct {
	artifact            id.Artifact
	content, link, text string
}

// record is what the clients were told. A client works on its own artifacts only.
type book struct {
	mu        sync.Mutex
	live      map[int][]*shown // by client
	gone      []*shown
	published int
	errors    int
	losses    []error
}

func newBook() *book { return &book{live: map[int][]*shown{}} }

func (b *book) acknowledge(n int, s *shown) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.live[n] = append(b.live[n], s)
	b.published++
}

// any returns a live publication of a client, nil if it has none.
func (b *book) any(n int) *shown {
	b.mu.Lock()
	defer b.mu.Unlock()
	if all := b.live[n]; len(all) > 0 {
		return all[rand.IntN(len(all))]
	}
	return nil
}

// doubt removes an artifact whose deletion begins, because its state is unknown until the answer
// comes.
func (b *book) doubt(n int, a id.Artifact) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var kept []*shown
	for _, s := range b.live[n] {
		if s.artifact != a {
			kept = append(kept, s)
		}
	}
	b.live[n] = kept
}

func (b *book) removed(s *shown) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.gone = append(b.gone, s)
}

func (b *book) failed() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.errors++
}

func (b *book) lost(what string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.losses = append(b.losses, errors.New(what))
}

// String returns the totals.
func (b *book) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	live := 0
	for _, all := range b.live {
		live += len(all)
	}
	return fmt.Sprintf("%d publications acknowledged, %d of them live, %d deletions acknowledged, %d turns failed and were given up",
		b.published, live, len(b.gone), b.errors)
}

// check reads everything that was acknowledged: what is live has its bytes, what was deleted is not
// found.
func (b *book) check(ctx context.Context, api string) error {
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
