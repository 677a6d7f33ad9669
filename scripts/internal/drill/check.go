package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// outcome is what a restore promises: everything acknowledged before the instant of the copy, without what was ended
// since, where the events of that time were there.
type outcome struct {
	instant time.Time
	events  bool
}

// holds reports whether an action has to show in what was restored.
func (o outcome) holds(m mark) bool { return m.by(o.instant) || o.events && m.done() }

// spared reports whether an action was never tried, so that its effect must not show.
func spared(m mark) bool { return !m.done() && !m.unknown }

// check reads what a worker was told, and returns every difference.
func (o outcome) check(ctx context.Context, w *worker) (wrong []error) {
	if w.anyone == nil {
		return nil
	}
	for _, a := range w.accounts {
		for _, one := range a.artifacts {
			wrong = append(wrong, o.artifact(ctx, w, one)...)
		}
		if spared(a.claimed) { // another workspace has the key of one that was claimed
			wrong = append(wrong, o.key(ctx, w, &a.key)...)
		}
	}
	if w.person != nil && w.person.made.by(o.instant) {
		wrong = append(wrong, o.person(ctx, w)...)
	}
	return append(wrong, o.claimable(ctx, w)...)
}

// artifact checks that publications open with their bytes, or do not if the artifact was deleted.
func (o outcome) artifact(ctx context.Context, w *worker, a *artifact) (wrong []error) {
	for _, r := range a.revisions {
		switch {
		case o.holds(a.deleted):
			wrong = append(wrong, status(ctx, w.anyone, "the deleted "+string(a.id), r.content, http.StatusNotFound)...)
		case spared(a.deleted) && r.published.by(o.instant):
			wrong = append(wrong, opens(ctx, w.anyone, a, r)...)
		}
	}
	if spared(a.deleted) {
		for _, l := range a.links {
			wrong = append(wrong, o.link(ctx, w, l)...)
		}
	}
	return wrong
}

// opens reads both files of a publication.
func opens(ctx context.Context, g *wire.Agent, a *artifact, r revision) (wrong []error) {
	at, err := url.Parse(r.content)
	if err != nil {
		return []error{err}
	}
	wanted := map[string]string{at.String(): r.text, at.JoinPath("..", same.Path).String(): string(same.Body)}
	for name, want := range wanted {
		what := fmt.Sprintf("%s, published at %s,", a.id, r.published.at.Format(time.TimeOnly))
		got, err := g.Do(ctx, "GET", name, nil)
		switch {
		case err != nil:
			wrong = append(wrong, fmt.Errorf("%s does not answer: %w", what, err))
		case got.Status != http.StatusOK || string(got.Body) != want:
			wrong = append(wrong, fmt.Errorf("%s answers %d with %d bytes, not %d", what, got.Status, len(got.Body), len(want)))
		}
	}
	return wrong
}

// status checks the status of an answer. What names what is asked for, because the URL is a credential.
func status(ctx context.Context, g *wire.Agent, what, target string, want int) []error {
	got, err := g.Do(ctx, "GET", target, nil)
	switch {
	case err != nil:
		return []error{fmt.Errorf("%s does not answer: %w", what, err)}
	case got.Status != want:
		return []error{fmt.Errorf("%s answers %d, not %d", what, got.Status, want)}
	}
	return nil
}

// link checks that a link is closed if it was revoked or no events tell, and open otherwise.
func (o outcome) link(ctx context.Context, w *worker, l *link) []error {
	_, err := w.anyone.Resolve(ctx, l.url)
	switch {
	case (o.holds(l.revoked) || !o.events) && err == nil:
		return []error{fmt.Errorf("the link %s is open, although it was revoked (%t) or no events tell", l.public,
			l.revoked.done())}
	case o.events && spared(l.revoked) && l.made.by(o.instant) && err != nil:
		return []error{fmt.Errorf("the link %s: %w", l.public, err)}
	}
	return nil
}

// key checks that a key lives, unless it was revoked or no events tell.
func (o outcome) key(ctx context.Context, w *worker, k *key) []error {
	g, target := with(w.anyone, k.secret), w.anyone.At.APIURL+"/v1/whoami"
	switch {
	case k.revoked.done() || !o.events && k.made.by(o.instant):
		return status(ctx, g, "the ended key "+string(k.id), target, http.StatusUnauthorized)
	case spared(k.revoked) && k.made.by(o.instant):
		return status(ctx, g, "the key "+string(k.id), target, http.StatusOK)
	}
	return nil
}

// person signs a member in again and checks what only members see.
func (o outcome) person(ctx context.Context, w *worker) (wrong []error) {
	old := w.person
	token := old.agent
	wrong = status(ctx, token, "the old access token of a member", token.At.APIURL+"/v1/web/workspace",
		http.StatusUnauthorized)
	again, err := signInAgain(ctx, w.anyone, old.email)
	if err != nil {
		return append(wrong, err)
	}
	if again.workspace != old.workspace {
		wrong = append(wrong, fmt.Errorf("%s signs in to another workspace than %s", old.email, old.workspace))
	}
	old.agent = again.agent
	for _, k := range old.keys {
		wrong = append(wrong, o.key(ctx, w, k)...)
	}
	for _, a := range w.accounts {
		wrong = append(wrong, o.owned(ctx, a, old)...)
	}
	return wrong
}

// owned checks what a member has: pinned artifacts and claimed workspaces.
func (o outcome) owned(ctx context.Context, a *account, p *person) (wrong []error) {
	claimed := a.claimer == p && o.holds(a.claimed) && a.key.made.by(o.instant)
	for _, one := range a.artifacts {
		if (a.owner != p && !claimed) || !spared(one.deleted) || !one.revisions[0].published.by(o.instant) {
			continue
		}
		var shown contract.WebArtifact
		if err := ask(ctx, p.agent, &shown, "GET", "/v1/web/artifacts/"+string(one.id), nil); err != nil {
			wrong = append(wrong, fmt.Errorf("%s has lost %s: %w", p.email, one.id, err))
		} else if o.holds(one.pinned) && !shown.Pinned {
			wrong = append(wrong, fmt.Errorf("%s was pinned and is not", one.id))
		}
	}
	if claimed {
		body := contract.ClaimRequest{ClaimToken: a.claimToken}
		if err := ask(ctx, p.agent, nil, "POST", "/v1/ephemeral/claim", body); err == nil {
			wrong = append(wrong, fmt.Errorf("the workspace %s could be claimed a second time", a.workspace))
		}
	}
	return wrong
}

// claimable lets a new person claim the newest unclaimed workspace of a worker, which needs its token.
func (o outcome) claimable(ctx context.Context, w *worker) []error {
	for n := len(w.accounts) - 1; n >= 0; n-- {
		a := w.accounts[n]
		if a.claimToken == "" || !spared(a.claimed) || !a.key.made.by(o.instant) {
			continue
		}
		p, err := signInAgain(ctx, w.anyone, fmt.Sprintf("owner-of-%s@example.org", a.workspace))
		if err == nil {
			err = ask(ctx, p.agent, nil, "POST", "/v1/ephemeral/claim", contract.ClaimRequest{ClaimToken: a.claimToken})
		}
		if err != nil {
			return []error{fmt.Errorf("the workspace %s cannot be claimed: %w", a.workspace, err)}
		}
		a.claimer = p
		a.claimed.set(nil)
		return o.owned(ctx, &account{artifacts: a.artifacts, owner: p}, p)
	}
	return nil
}

// loss is what was acknowledged since the copy and is gone.
type loss struct {
	publications int
	window       time.Duration // from the copy to the newest of them
}

// count counts what the check asks for: publications that have to be open, and what has to be closed.
func (o outcome) count(w *worker) (kept, ended int) {
	add := func(closed, open bool) {
		switch {
		case closed:
			ended++
		case open:
			kept++
		}
	}
	for _, a := range w.accounts {
		add(a.key.revoked.done(), false)
		for _, one := range a.artifacts {
			add(o.holds(one.deleted), false)
			for _, r := range one.revisions {
				add(false, spared(one.deleted) && r.published.by(o.instant))
			}
			for _, l := range one.links {
				add(spared(one.deleted) && (o.holds(l.revoked) || !o.events), false)
			}
		}
	}
	return kept, ended
}

// lost counts the publications of a worker that were acknowledged since the copy, and those of them that are gone.
func (o outcome) lost(ctx context.Context, w *worker) (since int, l loss) {
	for _, a := range w.accounts {
		for _, one := range a.artifacts {
			for _, r := range one.revisions {
				if r.published.by(o.instant) {
					continue
				}
				since++
				if got, err := w.anyone.Do(ctx, "GET", r.content, nil); err == nil && got.Status != http.StatusOK {
					l.publications++
					l.window = max(l.window, r.published.at.Sub(o.instant))
				}
			}
		}
	}
	return since, l
}
