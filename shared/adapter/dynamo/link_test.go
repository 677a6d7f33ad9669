package dynamo

import (
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/sharing"
)

// linked stores a link that was made some minutes after the clock of the desk; old: as it was written before links of a
// workspace were listed by time.
func (d *desk) linked(t testing.TB, w id.Workspace, a id.Artifact, minutes int, old bool) id.Public {
	t.Helper()
	l := link.Link{
		ID:        id.NewLink(),
		Workspace: w,
		Artifact:  a,
		Kind:      link.Share,
		CreatedAt: d.clock.Add(time.Duration(minutes) * time.Minute),
	}
	l.Public, _ = l.ID.Public()
	i := linkItem(l)
	if old {
		i.str("g1s", string(a)+"#"+millisKey(l.CreatedAt)+"#"+string(l.Public))
		delete(i, "g2p")
		delete(i, "g2s")
	}
	tx := d.begin()
	tx.create(i)
	noError(t, d.commit(ctx, tx))
	return l.Public
}

// listed are the links of a query, and whether there are others.
func (d *desk) listed(t testing.TB, q sharing.Query) (public []id.Public, more bool) {
	t.Helper()
	rows, next, err := d.Links.List(ctx, q)
	noError(t, err)
	for _, l := range rows {
		if l.Workspace != q.Workspace || q.Artifact != "" && l.Artifact != q.Artifact || l.Artifact == "" {
			t.Errorf("%+v was not asked for", l)
		}
		public = append(public, l.Public)
	}
	return public, next != ""
}

// TestTheNewestLinksAreListed has more links than a list shows, of artifacts with ids in another order.
func TestTheNewestLinksAreListed(t *testing.T) {
	d := newDesk(t)
	w, artifacts := id.NewWorkspace(), []id.Artifact{id.NewArtifact(), id.NewArtifact(), id.NewArtifact()}
	slices.Sort(artifacts)
	var newest []id.Public
	of := map[id.Artifact][]id.Public{}
	for n := range 230 { // more than are read in one go
		a := artifacts[2-n%3]
		if n > 200 {
			a = artifacts[0]
		}
		p := d.linked(t, w, a, n, false)
		newest, of[a] = append([]id.Public{p}, newest...), append([]id.Public{p}, of[a]...)
	}
	d.linked(t, id.NewWorkspace(), id.NewArtifact(), 1000, false)
	if got, more := d.listed(t, sharing.Query{Workspace: w, Limit: 40}); !more || !slices.Equal(got, newest[:40]) {
		t.Errorf("%t; %v, want %v", more, got, newest[:40])
	}
	if got, more := d.listed(t, sharing.Query{Workspace: w, Limit: 230}); more || !slices.Equal(got, newest) {
		t.Errorf("%t; %d links", more, len(got))
	}
	for a, want := range of {
		if got, more := d.listed(t, sharing.Query{Workspace: w, Artifact: a, Limit: 1000}); more || !slices.Equal(got, want) {
			t.Errorf("%t; %d of %d links", more, len(got), len(want))
		}
		if got, more := d.listed(t, sharing.Query{Workspace: w, Artifact: a, Limit: 5}); !more ||
			!slices.Equal(got, want[:5]) {
			t.Errorf("%t; %v, want %v", more, got, want[:5])
		}
	}
	early := d.linked(t, w, artifacts[1], -1, true)
	if got, more := d.listed(t, sharing.Query{Workspace: w, Limit: 231}); more ||
		!slices.Equal(got, append(newest, early)) {
		t.Errorf("%t; %d links with one of before", more, len(got))
	}
}

// TestLinksAreReadPageByPage has links that older code wrote, and links that a claim is still moving.
func TestLinksAreReadPageByPage(t *testing.T) {
	d := newDesk(t)
	w, source := id.NewWorkspace(), id.NewWorkspace()
	store(t, d.Stores, newItem(aliasKey(w, source)).time("since", d.clock))
	mine, moving := id.NewArtifact(), id.NewArtifact()
	want := map[id.Public]bool{}
	for n := range 30 {
		want[d.linked(t, w, mine, n, n%5 == 0)] = true
		want[d.linked(t, source, moving, n, false)] = true
	}
	walk := func(q sharing.Query) (all []id.Public) {
		for {
			page, next, err := d.Links.List(ctx, q)
			if err != nil || len(page) > q.Limit || next != "" && len(page) != q.Limit {
				t.Fatal(len(page), next, err)
			}
			for _, l := range page {
				all = append(all, l.Public)
			}
			if q.After = next; next == "" {
				return all
			}
		}
	}
	for _, limit := range []int{1, 7, 60, 61} {
		rows, seen := walk(sharing.Query{Workspace: w, Claimed: true, Limit: limit}), map[id.Public]bool{}
		for _, p := range rows {
			seen[p] = true
		}
		if len(rows) != len(want) || !maps.Equal(seen, want) {
			t.Errorf("%d at a time: %d rows, %d links of %d", limit, len(rows), len(seen), len(want))
		}
	}
	of := walk(sharing.Query{Workspace: w, Artifact: moving, Limit: 7})
	if all, more := d.listed(t, sharing.Query{Workspace: w, Artifact: moving, Limit: 30}); more ||
		!slices.Equal(of, all) || len(of) != 30 {
		t.Errorf("%d links page by page, %d at once", len(of), len(all))
	}
}

// TestALinkThatOpensIsListedHoweverManyWereRevoked asks for the list without pages.
func TestALinkThatOpensIsListedHoweverManyWereRevoked(t *testing.T) {
	d := newDesk(t)
	p := d.person(t)
	a := &artifact.Artifact{ID: id.NewArtifact(), Owner: p.home.ID}
	live := d.linked(t, p.home.ID, a.ID, -1, false)
	items := make([]item, limits.LinksListed)
	for n := range items {
		l := link.Link{
			ID:        id.NewLink(),
			Workspace: p.home.ID,
			Artifact:  a.ID,
			CreatedAt: d.clock.Add(time.Duration(n) * time.Second),
			RevokedAt: d.clock,
		}
		l.Public, _ = l.ID.Public()
		items[n] = linkItem(l)
	}
	for some := range slices.Chunk(items, maxBatch) {
		store(t, d.Stores, some...)
	}
	s := &sharing.Service{Store: d.Links, Now: func() time.Time { return d.clock }}
	list, err := s.List(ctx, d.actor(t, p), sharing.Target{RequestedID: a.ID, Artifact: a})
	if err != nil || len(list) != limits.LinksListed+1 {
		t.Fatal(len(list), err)
	}
	if last := list[limits.LinksListed]; !last.RevokedAt.IsZero() {
		t.Errorf("%+v, want %s", last, live)
	}
}

// TestAClosingLosesAgainstAPublication closes an artifact as it was read before and after a revision was published.
func TestAClosingLosesAgainstAPublication(t *testing.T) {
	d := newDesk(t)
	p := d.person(t)
	a := artifact.Artifact{
		ID:               id.NewArtifact(),
		Owner:            p.home.ID,
		StorageWorkspace: p.home.ID,
		Status:           artifact.Live,
		ExpiresAt:        d.clock.Add(time.Hour),
		CreatedAt:        d.clock,
	}
	store(t, d.Stores, artifactItem(a))
	closing := func(number int) error {
		read := a
		read.Number = number
		done := event.Event{
			ID:        id.NewEvent(),
			Workspace: p.home.ID,
			At:        d.clock,
			Action:    event.VisibilityUpdated,
			Actor:     event.ByMember(p.member.ID),
		}
		return d.Links.RevokeAll(ctx, sharing.Closing{Artifact: read, At: d.clock, Event: done})
	}
	if err := closing(0); err != nil {
		t.Error("nothing is published:", err)
	}
	a.Number = 2
	store(t, d.Stores, artifactItem(a))
	for _, stale := range []int{0, 1, 3} {
		if err := closing(stale); !errors.Is(err, artifact.ErrMoved) {
			t.Errorf("read with %d revisions of 2: %v", stale, err)
		}
	}
	if err := closing(2); err != nil {
		t.Error(err)
	}
	if got, err := d.Artifacts.Artifact(ctx, a.ID); err != nil || got.ViewsRevokedBefore != 2 ||
		!got.LinksRevokedBefore.Equal(d.clock) {
		t.Errorf("%+v %v, want links and views revoked", got, err)
	}
}
