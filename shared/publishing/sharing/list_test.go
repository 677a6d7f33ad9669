package sharing

import (
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

func TestAURLIsMintedOnlyOfALinkThatOpensItsArtifactAndLivesAsLong(t *testing.T) {
	for name, c := range map[string]struct {
		link  func(*link.Link)
		set   func(*env)
		opens bool
		until time.Time // zero: for good
	}{
		"a link that never ends": {asStored, func(*env) {}, true, time.Time{}},
		"a link that ends": {
			func(l *link.Link) { l.ExpiresAt = now.Add(time.Hour) }, func(*env) {}, true, now.Add(time.Hour),
		},
		"a link that ends now":                   {func(l *link.Link) { l.ExpiresAt = now }, func(*env) {}, false, time.Time{}},
		"a link that was revoked":                {func(l *link.Link) { l.RevokedAt = now }, func(*env) {}, false, time.Time{}},
		"a link that was closed":                 {asStored, func(e *env) { e.artifact.LinksRevokedBefore = now }, false, time.Time{}},
		"a link while links are locked":          {asStored, func(e *env) { e.artifact.LinksLockedAt = now }, false, time.Time{}},
		"a link of an expired artifact":          {asStored, func(e *env) { e.artifact.ExpiresAt = now }, false, time.Time{}},
		"a link of a deleted artifact":           {asStored, func(e *env) { e.artifact.Status = artifact.Deleted }, false, time.Time{}},
		"a link of an artifact that is locked":   {asStored, func(e *env) { e.artifact.Lock = "lkd" }, false, time.Time{}},
		"a link of an artifact without revision": {asStored, func(e *env) { e.artifact.Current = "" }, false, time.Time{}},
		"a link to an artifact that is gone":     {func(l *link.Link) { l.Artifact = id.NewArtifact() }, func(*env) {}, false, time.Time{}},
		"a link to an artifact of another":       {asStored, func(e *env) { e.artifact.Owner = id.NewWorkspace() }, false, time.Time{}},
		"a link to an artifact that is still moved": {
			asStored, func(e *env) { e.artifact.Owner = e.addClaimed() }, true, time.Time{},
		},
		"a link that another workspace created": {
			func(l *link.Link) { l.Workspace = id.NewWorkspace() }, func(*env) {}, false, time.Time{},
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			l := e.addLink(link.Share, c.link)
			c.set(e)
			e.target()
			minted, err := e.Address(t.Context(), e.by, l.ID)
			if !c.opens {
				expect.Code(t, err, fault.NotFound)
				return
			}
			expect.Code(t, err, "")
			wantOpens(t, e, l, minted.URL, c.until)
			e.Now = func() time.Time { return now.Add(time.Minute) }
			if again, err := e.Address(t.Context(), e.by, l.ID); err != nil || again.URL != minted.URL {
				t.Errorf("a minute later it is another URL: %s, %v", again.URL, err)
			}
		})
	}
}

// wantOpens checks that a URL carries a blob of the link that is valid until an instant, which is zero for good.
func wantOpens(t *testing.T, e *env, l link.Link, url string, until time.Time) {
	t.Helper()
	page, blob, _ := strings.Cut(url, "#")
	if page != "https://app.test/al/"+string(l.Public) {
		t.Error(page)
	}
	last := until.Add(-time.Second)
	if until.IsZero() {
		last = now.AddDate(200, 0, 0)
	}
	claims, err := e.Addresses.Links.Parse(l.Public, blob, last)
	if err != nil || claims.Artifact != e.artifact.ID || claims.Workspace != e.by.Workspace.ID {
		t.Errorf("%+v, %v, want the artifact and its workspace", claims, err)
	}
	if _, err := e.Addresses.Links.Parse(l.Public, blob, until); err == nil && !until.IsZero() {
		t.Error("the URL outlives its link")
	}
}

func TestT48AForeignLinkCostsAsMuchAsAMissingOne(t *testing.T) {
	foreign, missing := newEnv(t), newEnv(t)
	l := foreign.addLink(link.Share, func(l *link.Link) { l.Workspace = id.NewWorkspace() })
	for _, e := range []*env{foreign, missing} {
		_, err := e.Find(t.Context(), e.by, l.ID)
		expect.Code(t, err, fault.NotFound)
	}
	if foreign.store.reads != missing.store.reads {
		t.Errorf("%d reads for a foreign link, %d for a missing one", foreign.store.reads, missing.store.reads)
	}
}

func TestAListShowsAllNewLinksAndTheOpenOnesBeforeThem(t *testing.T) {
	e := newEnv(t)
	e.artifact.Status = artifact.Expired // its links are listed nevertheless
	old := now.Add(-2 * time.Hour)
	e.artifact.LinksRevokedBefore = old
	for range maxListRounds + 2 {
		e.store.pages = append(e.store.pages, []link.Link{
			e.addLink(link.Share, asStored),
			e.addLink(link.Share, func(l *link.Link) { l.RevokedAt = now }),
			e.addLink(link.Share, func(l *link.Link) { l.CreatedAt = old }),
		})
	}
	out, err := e.List(t.Context(), e.by, e.target())
	expect.Code(t, err, "")
	if want := 3 + maxListRounds - 1; len(out) != want {
		t.Fatalf("%d links, want %d", len(out), want)
	}
	if !out[0].RevokedAt.IsZero() || !out[1].RevokedAt.Equal(now) || !out[2].RevokedAt.Equal(old) {
		t.Errorf("%+v, want the second and third revoked", out[:3])
	}
	e.artifact.Owner = id.NewWorkspace()
	_, err = e.List(t.Context(), e.by, e.target())
	expect.Code(t, err, fault.ArtifactNotFound)
}

func TestAPageOfLinksFollowsItsCursor(t *testing.T) {
	e := newEnv(t)
	first, second := e.addLink(link.Share, asStored), e.addLink(link.Share, asStored)
	e.store.pages = [][]link.Link{{first}, {second}}
	one, next, err := e.Of(t.Context(), e.by, e.target(), cursor.Page{Limit: 1})
	expect.Code(t, err, "")
	if next == "" || one[0].ID != first.ID {
		t.Fatalf("%+v, %+v, want the first link and a cursor", one, next)
	}
	page := cursor.Page{Limit: 1, Cursor: next}
	two, next, err := e.Of(t.Context(), e.by, e.target(), page)
	expect.Code(t, err, "")
	if next != "" || two[0].ID != second.ID {
		t.Errorf("%+v, %+v, want the second link and no cursor", two, next)
	}
	_, _, err = e.All(t.Context(), e.by, page)
	expect.Code(t, err, fault.InvalidCursor)
}

func TestTheOverviewShowsWhatEachLinkOpens(t *testing.T) {
	e := newEnv(t)
	source := e.addClaimed()
	moving, foreign := e.artifact, e.artifact
	moving.ID, moving.Owner = id.NewArtifact(), source
	foreign.ID, foreign.Owner = id.NewArtifact(), id.NewWorkspace()
	e.store.artifacts[moving.ID], e.store.artifacts[foreign.ID] = moving, foreign
	e.target()
	for _, a := range []id.Artifact{e.artifact.ID, moving.ID, foreign.ID, id.NewArtifact()} {
		e.addLink(link.Share, func(l *link.Link) { l.Artifact = a })
	}
	shared, _, err := e.Overview(t.Context(), e.by, cursor.Page{})
	expect.Code(t, err, "")
	if len(shared) != 4 {
		t.Fatalf("%d links", len(shared))
	}
	for _, one := range shared {
		visible := one.Link.Artifact == e.artifact.ID || one.Link.Artifact == moving.ID
		if (one.Artifact != nil) != visible || visible && one.Artifact.Owner != e.by.Workspace.ID {
			t.Errorf("%+v opens %+v: want the workspace's artifacts alone", one.Link, one.Artifact)
		}
	}
}
