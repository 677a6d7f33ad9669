package sharing

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/fake"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

var share = Request{Kind: "share"}

func shareUntil(end time.Time) Request {
	return Request{Kind: "share", ExpiresAt: &end}
}

func TestARequestForALinkIsValidated(t *testing.T) {
	r := id.NewRevision()
	for name, c := range map[string]struct {
		request Request
		want    fault.Code
	}{
		"a share link passes":           {share, ""},
		"a revision link passes":        {Request{Kind: "revision", Revision: r}, ""},
		"an end in the future passes":   {shareUntil(now.Add(time.Second)), ""},
		"an end that is now is refused": {shareUntil(now), fault.InvalidRequest},
		"no type is refused":            {Request{}, fault.InvalidRequest},
		"another type is refused":       {Request{Kind: "raw"}, fault.InvalidRequest},
		"a share link of a revision is refused": {
			Request{Kind: "share", Revision: r}, fault.InvalidRequest,
		},
		"a revision link without it is refused": {Request{Kind: "revision"}, fault.InvalidRequest},
		"a malformed revision id is not found": {
			Request{Kind: "revision", Revision: "rev"}, fault.NotFound,
		},
		"a revision link that has ended is refused": {
			Request{Kind: "revision", Revision: r, ExpiresAt: &now}, fault.InvalidRequest,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			_, err := e.Create(t.Context(), e.by, e.target(), c.request)
			expect.Code(t, err, c.want)
			if (len(e.store.created) == 1) != (c.want == "") {
				t.Errorf("%d links were created", len(e.store.created))
			}
		})
	}
}

func TestOnlyAReadablePublishedArtifactOfTheWorkspaceGetsLinks(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*artifact.Artifact)
		want fault.Code
	}{
		"one that is published does":     {func(*artifact.Artifact) {}, ""},
		"a pinned one past its end does": {func(a *artifact.Artifact) { a.PinnedAt, a.ExpiresAt = now, now }, ""},
		"one that was never published":   {func(a *artifact.Artifact) { a.Current = "" }, fault.ArtifactNotFound},
		"one that is deleted": {
			func(a *artifact.Artifact) { a.Status = artifact.Deleted }, fault.ArtifactNotFound,
		},
		"one that expires now":        {func(a *artifact.Artifact) { a.ExpiresAt = now }, fault.ArtifactNotFound},
		"one that an operator locked": {func(a *artifact.Artifact) { a.Lock = "lkd" }, fault.ArtifactNotFound},
		"one of another workspace": {
			func(a *artifact.Artifact) { a.Owner = id.NewWorkspace() }, fault.ArtifactNotFound,
		},
		"one whose links are locked": {func(a *artifact.Artifact) { a.LinksLockedAt = now }, fault.NotFound},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			c.set(&e.artifact)
			_, err := e.Create(t.Context(), e.by, e.target(), share)
			expect.Code(t, err, c.want)
			if (e.store.writes() == 1) != (c.want == "") {
				t.Errorf("%d writes", e.store.writes())
			}
		})
	}
}

func TestALinkOfAnArtifactThatIsStillMovedNamesTheClaimedWorkspace(t *testing.T) {
	e := newEnv(t)
	source := e.addClaimed()
	e.artifact.Owner = source
	_, err := e.Create(t.Context(), e.by, e.target(), share)
	expect.Code(t, err, "")
	if c := e.store.created[0]; c.From != source || c.Link.Workspace != e.by.Workspace.ID {
		t.Errorf("from %q, in %q", c.From, c.Link.Workspace)
	}
}

func TestT48AForeignArtifactCostsAsMuchAsAMissingOne(t *testing.T) {
	foreign, missing := newEnv(t), newEnv(t)
	owner := workspace.Workspace{ID: id.NewWorkspace()}
	foreign.store.workspaces[owner.ID] = owner
	foreign.artifact.Owner = owner.ID
	for _, e := range []*env{foreign, missing} {
		target := Target{RequestedID: e.artifact.ID}
		if e == foreign {
			target = e.target()
			target.Artifact = &e.artifact // was read with the credential
		}
		_, err := e.Create(t.Context(), e.by, target, share)
		expect.Code(t, err, fault.ArtifactNotFound)
	}
	if foreign.store.reads != missing.store.reads {
		t.Errorf("%d reads for a foreign artifact, %d for a missing one", foreign.store.reads, missing.store.reads)
	}
}

func TestAnArtifactHasOneShareLinkAtATime(t *testing.T) {
	tomorrow := now.Add(24 * time.Hour)
	for name, c := range map[string]struct {
		existing func(*link.Link)
		closed   time.Time
		request  Request
		reused   bool
		want     fault.Code
	}{
		"one that never ends is reused": {asStored, time.Time{}, share, true, ""},
		"one that ends is reused as it is": {
			func(l *link.Link) { l.ExpiresAt = tomorrow }, time.Time{}, share, true, "",
		},
		"one that ends in time is reused": {
			func(l *link.Link) { l.ExpiresAt = tomorrow }, time.Time{}, shareUntil(tomorrow), true, "",
		},
		"one that ends sooner than asked is reused": {
			func(l *link.Link) { l.ExpiresAt = tomorrow }, time.Time{}, shareUntil(tomorrow.Add(time.Hour)), true, "",
		},
		"one that ends too late is refused": {
			func(l *link.Link) { l.ExpiresAt = tomorrow.Add(1) }, time.Time{}, shareUntil(tomorrow), false, fault.InvalidRequest,
		},
		"one that never ends is refused too": {asStored, time.Time{}, shareUntil(tomorrow), false, fault.InvalidRequest},
		"one that ends now is replaced":      {func(l *link.Link) { l.ExpiresAt = now }, time.Time{}, share, false, ""},
		"one that was revoked is replaced":   {func(l *link.Link) { l.RevokedAt = now }, time.Time{}, share, false, ""},
		"one that was closed is replaced":    {asStored, now.Add(-time.Hour), share, false, ""},
		"one that opens another artifact is not": {
			func(l *link.Link) { l.Artifact = id.NewArtifact() }, time.Time{}, share, false, "",
		},
		"a revision link does not reuse it": {
			asStored, time.Time{}, Request{Kind: "revision", Revision: id.NewRevision()}, false, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			old := e.addShareLink(c.existing)
			e.artifact.LinksRevokedBefore = c.closed
			target := e.target()
			target.Command.Key.Client = "key"
			made, err := e.Create(t.Context(), e.by, target, c.request)
			expect.Code(t, err, c.want)
			switch {
			case c.want != "":
				if e.store.writes() != 0 || !strings.Contains(err.Error(), string(old.ID)) {
					t.Errorf("%v, %d writes", err, e.store.writes())
				}
			case c.reused:
				wantReused(t, e, made, target, old)
			default:
				wantCreated(t, e, made, c.request, old)
			}
		})
	}
}

// wantReused checks that a link is the answer as it is, and that a repetition of the command will have the same one.
func wantReused(t *testing.T, e *env, made link.Record, target Target, old link.Link) {
	t.Helper()
	if made.ID != old.ID || !made.CreatedAt.Equal(old.CreatedAt) || len(e.store.noops) != 1 || len(e.store.created) != 0 {
		t.Fatalf("%+v, %d creations, want the old link", made, len(e.store.created))
	}
	var again link.Record
	c := e.store.noops[0]
	if err := json.Unmarshal(c.Result, &again); err != nil || again.ID != old.ID || *c.Command != target.Command {
		t.Errorf("%s of %+v, %v", c.Result, c.Command, err)
	}
}

// wantCreated checks that a link was created, and that a share link takes the place of the one before.
func wantCreated(t *testing.T, e *env, made link.Record, r Request, old link.Link) {
	t.Helper()
	if made.ID == old.ID || len(e.store.created) != 1 || len(e.store.noops) != 0 {
		t.Fatalf("%+v, %d creations, want a new link", made, len(e.store.created))
	}
	replaces := old.Public
	if r.Kind == "revision" {
		replaces = ""
	}
	c := e.store.created[0]
	if c.Replaces != replaces || c.Link.ID != made.ID || !e.artifact.LinksOpen(c.Link.CreatedAt) {
		t.Errorf("%+v, want an open link in place of the old one", c)
	}
}

func TestEveryRequestForARevisionLinkCreatesOne(t *testing.T) {
	e := newEnv(t)
	target, of := e.target(), Request{Kind: "revision", Revision: e.artifact.Current}
	one, err := e.Create(t.Context(), e.by, target, of)
	expect.Code(t, err, "")
	l := e.store.created[0].Link
	e.store.links[l.Public] = l
	two, err := e.Create(t.Context(), e.by, target, of)
	expect.Code(t, err, "")
	if one.ID == two.ID || len(e.store.created) != 2 || *two.Revision != e.artifact.Current {
		t.Errorf("%+v, then %+v: want two links", one, two)
	}
}

func TestTheEndOfALinkIsStoredInMilliseconds(t *testing.T) {
	e := newEnv(t)
	zone := time.FixedZone("UTC+2", 2*60*60)
	_, err := e.Create(t.Context(), e.by, e.target(), shareUntil(now.Add(time.Hour+1999*time.Microsecond).In(zone)))
	expect.Code(t, err, "")
	if got, want := e.store.created[0].Link.ExpiresAt, now.Add(time.Hour+time.Millisecond); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The tests of artifact show that every change ends after artifact.Races.Attempts.
func TestF73ALinkThatLosesARaceIsDecidedAnew(t *testing.T) {
	e := newEnv(t)
	target, read := e.target(), e.artifact
	target.Artifact = &read
	e.store.Fails = []error{artifact.ErrMoved}
	var first link.Link
	e.store.OnCall = func() {
		if first.ID == "" {
			first = e.addShareLink(func(l *link.Link) { l.CreatedAt = now })
			e.target()
		}
	}
	made, err := e.Create(t.Context(), e.by, target, share)
	expect.Code(t, err, "")
	if made.ID != first.ID || len(e.store.noops) != 1 {
		t.Errorf("%+v, want %s", made, first.ID)
	}
}

func TestARepeatedCreationHasItsFirstResult(t *testing.T) {
	first := id.NewLink()
	sent := fake.Repeated(`{"id":"`+string(first)+`"}`, now.Add(time.Hour))
	for name, c := range map[string]struct {
		record *idempotency.Record // that was read with the request
		fails  error               // of the write
		want   fault.Code
	}{
		"it finished before the request":         {&sent.Done, nil, ""},
		"it finished meanwhile":                  {nil, &idempotency.AlreadyDone{Record: sent.Done}, ""},
		"it is still running":                    {nil, &idempotency.AlreadyDone{Record: sent.Running}, fault.IdempotencyInFlight},
		"its key had another body":               {&sent.Other, nil, fault.InvalidIdempotencyKey},
		"its key had another body and won since": {nil, &idempotency.AlreadyDone{Record: sent.Other}, fault.InvalidIdempotencyKey},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.store.Fails = []error{c.fails}
			target := e.target()
			target.Command, target.Record = sent.Command, c.record
			made, err := e.Create(t.Context(), e.by, target, share)
			expect.Code(t, err, c.want)
			if c.want == "" && made.ID != first {
				t.Errorf("%+v, want %s", made, first)
			}
			if c.record != nil && e.store.writes() != 0 {
				t.Error("a repetition writes")
			}
		})
	}
}
