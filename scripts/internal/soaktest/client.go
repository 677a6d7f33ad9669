package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
)

// publication is an acknowledged publication.
type publication struct {
	artifact            id.Artifact
	content, link, text string
}

// client publishes, revises, reads, lists and deletes its own artifacts, and writes down what it was told.
type client struct {
	name              int
	http              *http.Client
	agent             *wire.Agent // nil: it has no workspace yet
	live, gone        []publication
	published, failed int
	losses            []error
}

const requestTimeout = 30 * time.Second

func newClient(name int) *client {
	return &client{name: name, http: &http.Client{
		Timeout:   requestTimeout,
		Transport: &http.Transport{MaxIdleConnsPerHost: 8, DisableCompression: true},
	}}
}

// work goes on until ctx ends. It expects errors, because the engines come and go.
func (c *client) work(ctx context.Context, api string) {
	defer c.http.CloseIdleConnections()
	for turn := 0; ctx.Err() == nil; turn++ {
		err := c.join(ctx, api)
		if err == nil {
			// A step that has begun is finished even after the end, so that its outcome is known.
			if err = c.step(context.WithoutCancel(ctx), turn); err != nil {
				c.failed++
			}
		}
		if err != nil {
			pause(ctx)
		}
	}
}

// join makes a workspace for a client that has none.
func (c *client) join(ctx context.Context, api string) error {
	if c.agent != nil {
		return nil
	}
	anyone, err := wire.Discover(ctx, c.http, api)
	if err != nil {
		return err
	}
	agent, _, err := anyone.Provision(ctx)
	if err == nil {
		c.agent = agent
	}
	return err
}

func pause(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-time.After(time.Duration(rand.IntN(100)) * time.Millisecond):
	}
}

// step performs one operation of the mix.
func (c *client) step(ctx context.Context, turn int) error {
	r := rand.IntN(10)
	text := fmt.Sprintf("client %d, turn %d", c.name, turn)
	if len(c.live) == 0 || r < 3 {
		return c.publish(ctx, "", text)
	}
	known := c.live[rand.IntN(len(c.live))]
	switch {
	case r < 4:
		return c.publish(ctx, known.artifact, text+", revised")
	case r < 5:
		return c.remove(ctx, known)
	case r < 6:
		_, err := c.agent.Do(ctx, "GET", c.agent.At.APIURL+"/v1/artifacts", nil)
		return err
	case r < 7:
		_, err := c.agent.Resolve(ctx, known.link)
		return err
	default:
		return c.read(ctx, known)
	}
}

func (c *client) publish(ctx context.Context, a id.Artifact, text string) error {
	p, err := c.agent.PublishFiles(ctx, text, a, wire.File{Path: "index.txt", Body: []byte(text)},
		wire.File{Path: "same.bin", Body: make([]byte, 20_000)})
	if err == nil {
		c.published++
		c.live = append(c.live, publication{
			artifact: p.ArtifactID,
			content:  p.RevisionContentURL,
			link:     p.UnlistedURL,
			text:     text,
		})
	}
	return err
}

// remove deletes an artifact, whose state is unknown until the answer comes.
func (c *client) remove(ctx context.Context, p publication) error {
	c.live = slices.DeleteFunc(c.live, func(other publication) bool { return other.artifact == p.artifact })
	a, err := c.agent.Do(ctx, "DELETE", c.agent.At.APIURL+"/v1/artifacts/"+string(p.artifact), nil)
	if err == nil && a.Status == http.StatusOK {
		c.gone = append(c.gone, p)
	}
	return err
}

// read reads an acknowledged publication. It is lost unless it is there or the answer says that an
// engine is unavailable.
func (c *client) read(ctx context.Context, p publication) error {
	a, err := c.agent.Do(ctx, "GET", p.content, nil)
	if err == nil && (a.Status == http.StatusNotFound || a.Status == http.StatusOK && string(a.Body) != p.text) {
		c.losses = append(c.losses, fmt.Errorf("%s answers %d while the clients work", p.artifact, a.Status))
	}
	return err
}

// check reads everything that was acknowledged: what is live has its bytes, what was deleted is not
// found.
func (c *client) check(ctx context.Context) (wrong []error) {
	for _, p := range c.live {
		a, err := c.agent.Do(ctx, "GET", p.content, nil)
		if err != nil || a.Status != http.StatusOK || string(a.Body) != p.text {
			wrong = append(wrong, fmt.Errorf("the acknowledged %s answers %d (%v)", p.artifact, a.Status, err))
		}
	}
	for _, p := range c.gone {
		if a, err := c.agent.Do(ctx, "GET", p.content, nil); err != nil || a.Status != http.StatusNotFound {
			wrong = append(wrong, fmt.Errorf("the deleted %s answers %d (%v)", p.artifact, a.Status, err))
		}
	}
	return append(wrong, c.losses...)
}
