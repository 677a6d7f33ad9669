package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
)

// clientGroup is clients that publish, revise, read, list and delete until they are stopped.
type clientGroup struct {
	ended chan struct{}
}

const requestTimeout = 30 * time.Second

func newClient() *http.Client {
	return &http.Client{
		Timeout:   requestTimeout,
		Transport: &http.Transport{MaxIdleConnsPerHost: 8, DisableCompression: true},
	}
}

func newClientGroup(ctx context.Context, api string, size int, b *record) *clientGroup {
	c := &clientGroup{ended: make(chan struct{})}
	var all sync.WaitGroup
	for n := range size {
		all.Go(func() { work(ctx, api, n, b) })
	}
	go func() {
		all.Wait()
		close(c.ended)
	}()
	return c
}

// wait gives the clients time to finish what they began.
func (c *clientGroup) wait(most time.Duration) error {
	select {
	case <-c.ended:
		return nil
	case <-time.After(requestTimeout + most):
		return errors.New("clients hang although every request has a deadline")
	}
}

// work runs one client; it expects errors, because the engines come and go.
func work(ctx context.Context, api string, n int, b *record) {
	client := newClient()
	defer client.CloseIdleConnections()
	var g *wire.Agent
	for i := 0; ctx.Err() == nil; i++ {
		if g == nil {
			anyone, err := wire.Discover(ctx, client, api)
			if err == nil {
				g, _, err = anyone.Provision(ctx)
			}
			if err != nil {
				g = nil
				pause(ctx)
				continue
			}
		}
		// A step that has begun is finished even after the end, so that its outcome is known.
		if err := step(context.WithoutCancel(ctx), g, b, n, i); err != nil {
			b.failed()
			pause(ctx)
		}
	}
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(rand.IntN(100)) * time.Millisecond):
	}
}

// step performs one operation of the mix.
func step(ctx context.Context, g *wire.Agent, b *record, n, i int) error {
	known := b.any(n)
	switch r := rand.IntN(10); {
	case known == nil || r < 3:
		return publish(ctx, g, b, n, "", fmt.Sprintf("client %d, turn %d", n, i))
	case r < 4:
		return publish(ctx, g, b, n, known.artifact, fmt.Sprintf("client %d, turn %d, revised", n, i))
	case r < 5:
		return remove(ctx, g, b, n, known)
	case r < 6:
		_, err := g.Do(ctx, "GET", g.At.APIURL+"/v1/artifacts", nil)
		return err
	case r < 7:
		_, err := g.Resolve(ctx, known.link)
		return err
	default:
		return read(ctx, g, b, known)
	}
}

func publish(ctx context.Context, g *wire.Agent, b *record, n int, a id.Artifact, text string) error {
	p, err := g.PublishFiles(ctx, text, a, wire.File{Path: "index.txt", Body: []byte(text)},
		wire.File{Path: "same.bin", Body: make([]byte, 20_000)})
	if err == nil {
		b.acknowledge(n, &publication{
			artifact: p.ArtifactID,
			content:  p.RevisionContentURL,
			link:     p.UnlistedURL,
			text:     text,
		})
	}
	return err
}

func remove(ctx context.Context, g *wire.Agent, b *record, n int, s *publication) error {
	b.doubt(n, s.artifact)
	a, err := g.Do(ctx, "DELETE", g.At.APIURL+"/v1/artifacts/"+string(s.artifact), nil)
	if err == nil && a.Status == http.StatusOK {
		b.removed(s)
	}
	return err
}

// read reads an acknowledged publication. It fails unless the publication is there or the answer
// says that an engine is unavailable.
func read(ctx context.Context, g *wire.Agent, b *record, s *publication) error {
	a, err := g.Do(ctx, "GET", s.content, nil)
	if err == nil && (a.Status == http.StatusNotFound || a.Status == http.StatusOK && string(a.Body) != s.text) {
		b.lost(fmt.Sprintf("%s answers %d while the clients work", s.artifact, a.Status))
	}
	return err
}
