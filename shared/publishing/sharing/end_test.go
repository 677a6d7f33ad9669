package sharing

import (
	"slices"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/fake"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

func TestALinkIsRevokedOnce(t *testing.T) {
	sooner := now.Add(-time.Minute)
	for name, c := range map[string]struct {
		set    func(*env, *link.Link)
		stored time.Time // when it is revoked, as the store says
		writes int
		at     time.Time
		want   fault.Code
	}{
		"an open link is":                     {func(*env, *link.Link) {}, now, 1, now, ""},
		"one that has expired is":             {func(_ *env, l *link.Link) { l.ExpiresAt = now }, now, 1, now, ""},
		"one that was revoked keeps its time": {func(_ *env, l *link.Link) { l.RevokedAt = sooner }, now, 0, sooner, ""},
		"one that is revoked meanwhile too":   {func(*env, *link.Link) {}, sooner, 1, sooner, ""},
		"one that vanishes is not found":      {func(*env, *link.Link) {}, time.Time{}, 1, now, fault.NotFound},
		"one of a claimed workspace is": {
			func(e *env, l *link.Link) { l.Workspace = e.addClaimed() }, now, 1, now, "",
		},
		"one that another workspace claimed is not found": {
			func(e *env, l *link.Link) {
				l.Workspace = e.addClaimed()
				e.store.workspaces[l.Workspace] = workspace.Workspace{ID: l.Workspace, ClaimedInto: id.NewWorkspace()}
			}, now, 0, now, fault.NotFound,
		},
		"one of another workspace is not found": {
			func(_ *env, l *link.Link) { l.Workspace = id.NewWorkspace() }, now, 0, now, fault.NotFound,
		},
		"one with the same end of its id is not found": {
			func(_ *env, l *link.Link) { l.ID = id.NewLink() }, now, 0, now, fault.NotFound,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.store.revoked = c.stored
			named := e.addLink(link.Share, func(*link.Link) {})
			e.store.links[named.Public] = func() link.Link { l := named; c.set(e, &l); return l }()
			out, err := e.Revoke(t.Context(), e.by, named.ID)
			expect.Code(t, err, c.want)
			if err == nil && !out.Equal(c.at) {
				t.Errorf("%s, want %s", out, c.at)
			}
			if e.store.writes() != c.writes {
				t.Errorf("%d writes, want %d", e.store.writes(), c.writes)
			}
		})
	}
}

func TestARevocationIsRecordedAsTheCallers(t *testing.T) {
	e := newEnv(t)
	e.store.revoked = now
	l := e.addLink(link.Share, asStored)
	_, err := e.Revoke(t.Context(), e.by, l.ID)
	expect.Code(t, err, "")
	r := e.store.revocations[0]
	if r.Event.Action != event.LinkRevoked || r.Event.Target.ID != string(l.ID) || r.Event.Workspace != e.by.Workspace.ID {
		t.Errorf("%+v, want the link's revocation", r.Event)
	}
}

func TestALinkIDThatIsMalformedCostsNoRead(t *testing.T) {
	e := newEnv(t)
	_, err := e.Revoke(t.Context(), e.by, "al_")
	expect.Code(t, err, fault.NotFound)
	if e.store.reads != 0 {
		t.Errorf("%d reads", e.store.reads)
	}
}

func TestPrivateClosesWhatWasCreatedOrPublishedSinceTheLastClosing(t *testing.T) {
	for name, c := range map[string]struct {
		set    func(*artifact.Artifact)
		closes bool
	}{
		"an artifact that was never published":  {func(a *artifact.Artifact) { a.Number = 0 }, false},
		"one that was published without a link": {func(*artifact.Artifact) {}, true},
		"one with a share link": {func(a *artifact.Artifact) {
			a.ShareLink, a.NewestLinkAt = id.NewPublic(), now
		}, true},
		"one with a link of a faster clock": {func(a *artifact.Artifact) {
			a.NewestLinkAt = now.Add(time.Minute)
		}, true},
		"one that was closed since": {func(a *artifact.Artifact) {
			a.NewestLinkAt = now
			a.LinksRevokedBefore = now
			a.ViewsRevokedBefore = 1
		}, false},
		"one with a link since its closing": {func(a *artifact.Artifact) {
			a.NewestLinkAt = now
			a.LinksRevokedBefore = now.Add(-1)
			a.ViewsRevokedBefore = 1
		}, true},
		"one with a revision since its closing": {func(a *artifact.Artifact) {
			a.NewestLinkAt = now
			a.LinksRevokedBefore = now
			a.ViewsRevokedBefore = 1
			a.Number = 2
		}, true},
		"one whose closing by older code kept views": {func(a *artifact.Artifact) {
			a.NewestLinkAt, a.LinksRevokedBefore = now, now
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			c.set(&e.artifact)
			out, err := e.SetVisibility(t.Context(), e.by, e.target(), Private)
			expect.Code(t, err, "")
			if out.Is != Private || out.Ended == nil || (len(e.store.closings) == 1) != c.closes {
				t.Fatalf("%+v, closed %d times, want it private", out, len(e.store.closings))
			}
			if c.closes && e.store.closings[0].At.Before(e.artifact.NewestLinkAt) {
				t.Errorf("closed at %s, before the newest link", e.store.closings[0].At)
			}
		})
	}
}

func TestPrivateNamesTheLinksThatItEnds(t *testing.T) {
	e := newEnv(t)
	var open []id.Link
	open = append(open, e.addShareLink(asStored).ID, e.addLink(link.Revision, asStored).ID)
	e.addLink(link.Revision, func(l *link.Link) { l.RevokedAt = now })
	e.addLink(link.Revision, func(l *link.Link) { l.ExpiresAt = now })
	e.artifact.LinksRevokedBefore = now.Add(-2 * time.Hour)
	e.addLink(link.Revision, func(l *link.Link) { l.CreatedAt = e.artifact.LinksRevokedBefore })
	e.store.Fails = []error{artifact.ErrMoved} // the second attempt does not name them twice
	out, err := e.SetVisibility(t.Context(), e.by, e.target(), Private)
	expect.Code(t, err, "")
	slices.Sort(open)
	ended := slices.Sorted(slices.Values(out.Ended))
	if !slices.Equal(ended, open) || len(e.store.closings) != 2 {
		t.Errorf("%v, want %v, after %d attempts", ended, open, len(e.store.closings))
	}
	if out.URL != "https://app.test/v/"+string(e.artifact.ID) {
		t.Error(out.URL)
	}
}

func TestVisibilityIsOneOfTwo(t *testing.T) {
	for name, c := range map[string]struct {
		set    func(*env)
		asked  string
		writes int
		want   fault.Code
	}{
		"unlisted creates a share link":    {func(*env) {}, Unlisted, 1, ""},
		"unlisted reuses the share link":   {func(e *env) { e.addShareLink(asStored) }, Unlisted, 0, ""},
		"unlisted, which is not published": {func(e *env) { e.artifact.Current = "" }, Unlisted, 0, fault.ArtifactNotFound},
		"private, which has ended":         {func(e *env) { e.artifact.ExpiresAt = now }, Private, 0, fault.ArtifactNotFound},
		"another value":                    {func(*env) {}, "public", 0, fault.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			c.set(e)
			out, err := e.SetVisibility(t.Context(), e.by, e.target(), c.asked)
			expect.Code(t, err, c.want)
			if e.store.writes() != c.writes {
				t.Errorf("%d writes", e.store.writes())
			}
			if c.want != "" {
				return
			}
			shared := e.artifact.ShareLink
			if c.writes == 1 {
				shared = e.store.created[0].Link.Public
			}
			if public, err := out.Link.Public(); err != nil || public != shared || out.URL == "" {
				t.Errorf("%+v, want the shared link", out)
			}
		})
	}
}

func TestLinksAreLockedAndUnlocked(t *testing.T) {
	locked := func(a *artifact.Artifact) { a.LinksLockedAt = now }
	for name, c := range map[string]struct {
		set  func(*artifact.Artifact)
		lift bool
		noop bool
		want fault.Code
	}{
		"a lock":                      {func(*artifact.Artifact) {}, false, false, ""},
		"a lock of locked links":      {locked, false, true, ""},
		"an unlock":                   {locked, true, false, ""},
		"an unlock of unlocked links": {func(*artifact.Artifact) {}, true, true, ""},
		"a lock past the end":         {func(a *artifact.Artifact) { a.ExpiresAt = now }, false, false, ""},
		"a lock of a deleted artifact": {
			func(a *artifact.Artifact) { a.Status = artifact.Deleted }, false, false, fault.ArtifactNotFound,
		},
		"a lock in another workspace": {
			func(a *artifact.Artifact) { a.Owner = id.NewWorkspace() }, false, false, fault.ArtifactNotFound,
		},
		"an unlock of one that has expired": {
			func(a *artifact.Artifact) { a.Status = artifact.Expired }, true, false, fault.ArtifactNotFound,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			c.set(&e.artifact)
			do := e.Lock
			if c.lift {
				do = e.Unlock
			}
			target := e.target()
			target.Command.Key.Client = "key"
			expect.Code(t, do(t.Context(), e.by, target), c.want)
			if c.want != "" {
				return
			}
			if len(e.store.locks) != 1 || e.store.locks[0].Noop != c.noop || e.store.locks[0].Lift != c.lift {
				t.Fatalf("%+v, want one change of the lock", e.store.locks)
			}
			if l := e.store.locks[0]; l.Command != target.Command || string(l.Result) != "{}" {
				t.Errorf("a repetition will have %s of %+v", l.Result, l.Command)
			}
		})
	}
}

func TestOnlyAdminsLockLinks(t *testing.T) {
	e := newEnv(t)
	e.by.Scopes = nil
	expect.Code(t, e.Lock(t.Context(), e.by, e.target()), fault.Forbidden)
	expect.Code(t, e.Unlock(t.Context(), e.by, e.target()), fault.Forbidden)
}

func TestARepeatedLockIsStoredOnce(t *testing.T) {
	sent := fake.Repeated("{}", now.Add(time.Hour))
	for name, c := range map[string]struct {
		record *idempotency.Record
		fails  []error
		writes int
		want   fault.Code
	}{
		"it finished before the request":    {&sent.Done, nil, 0, ""},
		"it finished meanwhile":             {nil, []error{&idempotency.AlreadyDone{Record: sent.Done}}, 1, ""},
		"it lost a race before it finished": {nil, []error{artifact.ErrMoved, &idempotency.AlreadyDone{Record: sent.Done}}, 2, ""},
		"its key had another body":          {&sent.Other, nil, 0, fault.InvalidIdempotencyKey},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.store.Fails = c.fails
			target := e.target()
			target.Command, target.Record = sent.Command, c.record
			expect.Code(t, e.Lock(t.Context(), e.by, target), c.want)
			if e.store.writes() != c.writes {
				t.Errorf("locked after %d writes", e.store.writes())
			}
			e.store.Fails = c.fails
			e.artifact.LinksLockedAt = now // by another command since
			e.target()
			expect.Code(t, e.Unlock(t.Context(), e.by, target), c.want)
			if e.store.writes() != 2*c.writes {
				t.Errorf("unlocked after %d writes", e.store.writes())
			}
		})
	}
}
