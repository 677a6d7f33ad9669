package crowd

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// Outcome is what has to hold: everything acknowledged before an instant, without what was ended since, where the
// events of that time are there.
type Outcome struct {
	Instant  time.Time
	Events   bool
	Restored time.Time // when a copy of the instant was; zero: it is the site on which the crowd worked
}

// holds reports whether an action has to show.
func (o Outcome) holds(m Mark) bool { return m.done() && (o.Events || m.at.Before(o.Instant)) }

// Figures count what was acknowledged and what was asked for.
type Figures struct {
	Artifacts, Failed int           // made, and steps without success
	Published, Kept   int           // publications, and those that have to be open
	Since, Lost       int           // publications since the instant, and those of them that are gone
	Window            time.Duration // from the instant to the newest of these
	Deleted, Ended    int           // artifacts, and what has to be closed: artifacts, links and keys
}

func (f *Figures) add(g Figures) {
	f.Published += g.Published
	f.Failed += g.Failed
	f.Kept += g.Kept
	f.Deleted += g.Deleted
	f.Ended += g.Ended
	f.Since += g.Since
	f.Lost += g.Lost
	f.Window = max(f.Window, g.Window)
}

const maxChecks = 6 // at once

// Check asks a site for everything that the workers were told, stops its hosts, and checks the invariants. It returns
// every difference.
func (c *Crowd) Check(ctx context.Context, s *Site, o Outcome) (f Figures, err error) {
	checks := make([]*check, len(c.Workers))
	var group errgroup.Group
	group.SetLimit(maxChecks)
	for n, w := range c.Workers {
		checks[n] = &check{Outcome: o, w: w, wrong: w.losses}
		group.Go(func() error {
			checks[n].run(ctx)
			return nil
		})
	}
	wrong := []error{group.Wait()}
	f.Artifacts = int(c.made.Load())
	for _, one := range checks {
		f.add(one.Figures)
		wrong = append(wrong, one.wrong...)
	}
	// The invariants are read piece by piece, and hold at an instant: so the jobs have to end before.
	wrong = append(wrong, s.StopHosts(ctx))
	d := s.Deployment()
	d.Gap = invariant.Gap{From: o.Instant, To: o.Restored}
	return f, errors.Join(append(wrong, invariant.Check(ctx, d)...)...)
}

// check asks for what one worker was told.
type check struct {
	Outcome
	Figures
	w     *Worker
	wrong []error
}

func (c *check) fail(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Errorf(format, args...))
}

func (c *check) run(ctx context.Context) {
	c.Failed = c.w.failed
	for _, a := range c.w.Accounts {
		for _, one := range a.Artifacts {
			c.artifact(ctx, one)
		}
		if !a.claimed.tried { // another workspace has the key of one that was claimed
			c.key(ctx, &a.Key)
		}
	}
	if p := c.w.person; p != nil && p.made.Before(c.Instant) {
		c.person(ctx, p)
	}
	c.claimable(ctx)
}

// artifact checks that publications open with their bytes, or do not if the artifact was deleted.
func (c *check) artifact(ctx context.Context, a *Artifact) {
	if a.Deleted.done() {
		c.Deleted++
	}
	if c.holds(a.Deleted) {
		c.Ended++
	}
	for _, r := range a.revisions {
		c.Published++
		if !r.published.Before(c.Instant) {
			c.since(ctx, r)
		}
		switch {
		case c.holds(a.Deleted):
			c.status(ctx, c.w.anyone, "the deleted "+string(a.ID), r.content, http.StatusNotFound)
		case !a.Deleted.tried && r.published.Before(c.Instant):
			c.opens(ctx, a, r)
		}
	}
	for _, l := range a.links {
		if !a.Deleted.tried {
			c.link(ctx, l)
		}
	}
}

// since counts a publication that was acknowledged since the instant, and whether it is gone.
func (c *check) since(ctx context.Context, r revision) {
	c.Since++
	if got, err := c.w.anyone.Do(ctx, "GET", r.content, nil); err == nil && got.Status != http.StatusOK {
		c.Lost++
		c.Window = max(c.Window, r.published.Sub(c.Instant))
	}
}

// opens reads both files of a publication.
func (c *check) opens(ctx context.Context, a *Artifact, r revision) {
	c.Kept++
	folder := strings.TrimSuffix(r.content, entrypoint)
	for target, want := range map[string]string{r.content: r.text, folder + same.Path: string(same.Body)} {
		what := fmt.Sprintf("%s, published at %s,", a.ID, r.published.Format(time.TimeOnly))
		got, err := c.w.anyone.Do(ctx, "GET", target, nil)
		switch {
		case err != nil:
			c.fail("%s does not answer: %w", what, err)
		case got.Status != http.StatusOK || string(got.Body) != want:
			c.fail("%s answers %d with %d bytes, not %d", what, got.Status, len(got.Body), len(want))
		}
	}
}

// status checks the status of an answer. What names what is asked for, because the URL is a credential.
func (c *check) status(ctx context.Context, g *wire.Agent, what, target string, want int) {
	got, err := g.Do(ctx, "GET", target, nil)
	switch {
	case err != nil:
		c.fail("%s does not answer: %w", what, err)
	case got.Status != want:
		c.fail("%s answers %d, not %d", what, got.Status, want)
	}
}

// link checks that a link is closed if it was revoked or no events tell, and open otherwise.
func (c *check) link(ctx context.Context, l *link) {
	closed := c.holds(l.revoked) || !c.Events
	if closed {
		c.Ended++
	}
	_, err := c.w.anyone.Resolve(ctx, l.url)
	switch {
	case closed && err == nil:
		c.fail("the link %s is open, although it was revoked (%t) or no events tell", l.public, l.revoked.done())
	case !closed && !l.revoked.tried && l.made.Before(c.Instant) && err != nil:
		c.fail("the link %s: %w", l.public, err)
	}
}

// key checks that a key lives, unless it was revoked or no events tell.
func (c *check) key(ctx context.Context, k *Key) {
	target := k.agent.At.APIURL + "/v1/whoami"
	switch {
	case k.revoked.done() || !c.Events && k.made.Before(c.Instant):
		c.Ended++
		c.status(ctx, k.agent, "the ended key "+string(k.ID), target, http.StatusUnauthorized)
	case !k.revoked.tried && k.made.Before(c.Instant):
		c.status(ctx, k.agent, "the key "+string(k.ID), target, http.StatusOK)
	}
}

// person signs a member in again, checks what only members see, and publishes with a new key.
func (c *check) person(ctx context.Context, old *person) {
	if !c.Restored.IsZero() {
		target := old.agent.At.APIURL + "/v1/web/workspace"
		c.status(ctx, old.agent, "the old access token of a member", target, http.StatusUnauthorized)
	}
	p, err := signInAgain(ctx, c.w.anyone, old.email)
	if err != nil {
		c.fail("%s cannot sign in: %w", old.email, err)
		return
	}
	if p.workspace != old.workspace {
		c.fail("%s signs in to another workspace than %s", old.email, old.workspace)
	}
	for _, k := range old.keys {
		c.key(ctx, k)
	}
	for _, a := range c.w.Accounts {
		claimed := c.holds(a.claimed) && a.Key.made.Before(c.Instant)
		if claimed || a.claimToken == "" {
			c.owned(ctx, p, a)
		}
		if claimed && p.claim(ctx, a) == nil {
			c.fail("the workspace %s could be claimed a second time", a.Workspace)
		}
	}
	k, err := p.makeKey(ctx)
	if err == nil {
		err = c.w.Publish(ctx, &Account{Key: *k})
	}
	if err != nil {
		c.fail("%s cannot publish: %w", old.email, err)
	}
}

// owned checks that a member has the artifacts of an account, and that they are pinned.
func (c *check) owned(ctx context.Context, p *person, a *Account) {
	for _, one := range a.Artifacts {
		if one.Deleted.tried || !one.revisions[0].published.Before(c.Instant) {
			continue
		}
		var shown contract.WebArtifact
		if err := ask(ctx, p.agent, &shown, "GET", "/v1/web/artifacts/"+string(one.ID), nil); err != nil {
			c.fail("%s has lost %s: %w", p.email, one.ID, err)
		} else if c.holds(one.pinned) && !shown.Pinned {
			c.fail("%s was pinned and is not", one.ID)
		}
	}
}

// claimable lets a new person claim the newest unclaimed workspace of a worker, which needs its token.
func (c *check) claimable(ctx context.Context) {
	for _, a := range slices.Backward(c.w.Accounts) {
		if a.claimToken == "" || a.claimed.tried || !a.Key.made.Before(c.Instant) {
			continue
		}
		p, err := signInAgain(ctx, c.w.anyone, fmt.Sprintf("owner-of-%s@example.org", a.Workspace))
		if err == nil {
			err = p.claim(ctx, a)
		}
		if err == nil {
			c.owned(ctx, p, a)
		} else {
			c.fail("the workspace %s cannot be claimed: %w", a.Workspace, err)
		}
		return
	}
}
