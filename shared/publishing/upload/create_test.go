package upload

import (
	"errors"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// creator is a service, a caller and a request for one file.
type creator struct {
	*Service
	store   *fakeStore
	by      credential.Actor
	command idempotency.Command
	request contract.CreateSession
	permit  error
	size    func(Created) int
}

func newCreator() *creator {
	l, f := limits.Default(), &fakeStore{workspaces: map[id.Workspace]workspace.Workspace{}}
	return &creator{
		Service: &Service{
			Store:   f,
			Index:   f,
			Objects: f,
			Limits:  &l,
			Now:     func() time.Time { return now.Add(999) },
		},
		store:   f,
		by:      credential.Actor{Workspace: workspace.Workspace{ID: id.NewWorkspace()}, Policy: l.Tiers[limits.Free]},
		command: idempotency.Command{Fingerprint: idempotency.FingerprintOf("POST", "/sessions", nil)},
		request: request(file("index.html", 3)),
	}
}

func (c *creator) create(t *testing.T, record *idempotency.Record) (Created, error) {
	t.Helper()
	return c.Create(t.Context(), c.by, c.command, record, c.request, func() error { return c.permit }, c.size)
}

// revises makes the request one for an artifact of the caller's workspace.
func (c *creator) revises() *artifact.Artifact {
	a := &artifact.Artifact{
		ID:               id.NewArtifact(),
		Owner:            c.by.Workspace.ID,
		StorageWorkspace: "home",
		Status:           artifact.Live,
		ExpiresAt:        now.Add(5 * time.Hour),
		Current:          id.NewRevision(),
		Number:           1,
	}
	c.store.artifact, c.request.ArtifactID = a, a.ID
	return a
}

func TestAnArtifactStaysTheAppThatItsPublisherSaidItIs(t *testing.T) {
	for _, c := range []struct {
		said *bool
		was  artifact.App
		want artifact.App
	}{
		{nil, artifact.FoundApp, artifact.NoApp}, // until finalize has looked at the pages
		{nil, artifact.DeclaredApp, artifact.DeclaredApp},
		{nil, artifact.DeclinedApp, artifact.DeclinedApp},
		{new(false), artifact.DeclaredApp, artifact.DeclinedApp},
		{new(true), artifact.DeclinedApp, artifact.DeclaredApp},
	} {
		creator := newCreator()
		creator.revises().App = c.was
		creator.request.App = c.said
		_, err := creator.create(t, nil)
		expect.Code(t, err, "")
		if got := creator.store.made.Session.App; got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestASessionOfANewArtifact(t *testing.T) {
	c := newCreator()
	out, err := c.create(t, nil)
	expect.Code(t, err, "")
	s := c.store.made.Session
	if !s.New || s.Status != Pending || s.Home != c.by.Workspace.ID || s.Workspace != c.by.Workspace.ID || s.Reuses != "" {
		t.Errorf("%+v, want a new session of the workspace", s)
	}
	if !s.CreatedAt.Equal(now) || !s.ExpiresAt.Equal(now.Add(limits.SessionLife)) || s.Life != c.by.Policy.DefaultLife {
		t.Errorf("from %s to %s, its artifact lives %s", s.CreatedAt, s.ExpiresAt, s.Life)
	}
	if out.Session != s {
		t.Errorf("%+v, want %+v", out, s)
	}
}

// TestABaseIsCheckedNoSoonerThanItsSessionIsFinalized covers bases that cannot serve.
// TestF66ABaseServesIfItIsPublished has their refusals.
func TestABaseIsCheckedNoSoonerThanItsSessionIsFinalized(t *testing.T) {
	base := id.NewRevision()
	for name, revises := range map[string]bool{"of an artifact that lacks it": true, "of no artifact": false} {
		t.Run(name, func(t *testing.T) {
			c := newCreator()
			if revises {
				c.revises()
			}
			c.request.BaseRevisionID, c.request.DeletedPaths = base, []string{"nothing"}
			_, err := c.create(t, nil)
			expect.Code(t, err, "")
			if s := c.store.made.Session; s.Base != base || s.New == revises {
				t.Errorf("%+v, want a revision of %s", s, base)
			}
		})
	}
}

func TestASessionOfAnExistingArtifact(t *testing.T) {
	base := id.NewRevision()
	for name, c := range map[string]struct {
		set  func(*creator, *artifact.Artifact)
		want fault.Code
	}{
		"one of the workspace":     {func(*creator, *artifact.Artifact) {}, ""},
		"one that is still moved":  {owned(func(c *creator) id.Workspace { return c.by.Workspace.ID }), ""},
		"one that another claimed": {owned(func(*creator) id.Workspace { return "other" }), fault.ArtifactNotFound},
		"one of another workspace": {func(_ *creator, a *artifact.Artifact) { a.Owner = "other" }, fault.ArtifactNotFound},
		"one that does not exist": {
			func(c *creator, _ *artifact.Artifact) { c.store.artifact = nil }, fault.ArtifactNotFound,
		},
		"one that is deleted": {
			func(_ *creator, a *artifact.Artifact) { a.Status = artifact.Deleted }, fault.ArtifactNotFound,
		},
		"one that expires now":        {func(_ *creator, a *artifact.Artifact) { a.ExpiresAt = now }, fault.ArtifactNotFound},
		"one that an operator locked": {func(_ *creator, a *artifact.Artifact) { a.Lock = "lkd" }, fault.ArtifactNotFound},
		"one with a draft": {
			func(_ *creator, a *artifact.Artifact) { a.Draft = base }, fault.DraftRevisionConflict,
		},
		"F51: one with room for a revision": {
			func(c *creator, a *artifact.Artifact) { a.Number = c.by.Policy.Revisions - 1 }, "",
		},
		"F51: one without room, and a draft": {
			func(c *creator, a *artifact.Artifact) { a.Number, a.Draft = c.by.Policy.Revisions, base },
			fault.RevisionCeilingExceeded,
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newCreator()
			e.by.Workspace.ClaimedAt = now
			a := e.revises()
			c.set(e, a)
			_, err := e.create(t, nil)
			expect.Code(t, err, c.want)
			if (e.store.creations == 1) != (c.want == "") {
				t.Fatalf("%d sessions were created", e.store.creations)
			}
			if c.want == fault.RevisionCeilingExceeded && !strings.Contains(fault.Of(err).Message, "make a new artifact") {
				t.Errorf("it does not say what to do: %v", err)
			}
			if s := e.store.made.Session; c.want == "" && (s.New || s.Artifact != a.ID || s.Home != "home") {
				t.Errorf("%+v, want one of the artifact, stored at home", s)
			}
		})
	}
}

// owned makes the artifact one of a workspace that another one claimed.
func owned(into func(*creator) id.Workspace) func(*creator, *artifact.Artifact) {
	return func(c *creator, a *artifact.Artifact) {
		a.Owner = "source"
		c.store.workspaces["source"] = workspace.Workspace{ID: "source", ClaimedAt: now, ClaimedInto: into(c)}
	}
}

func TestARevisionLivesAsLongAsItsArtifact(t *testing.T) {
	c := newCreator()
	a := c.revises()
	_, err := c.create(t, nil)
	expect.Code(t, err, "")
	if s := c.store.made.Session; !s.CreatedAt.Add(s.Life).Equal(a.ExpiresAt) {
		t.Errorf("it lives %s", s.Life)
	}
	a.PinnedAt = now // its stored end means little
	_, err = c.create(t, nil)
	expect.Code(t, err, "")
	if s := c.store.made.Session; s.Life != c.by.Policy.DefaultLife {
		t.Errorf("pinned, it lives %s", s.Life)
	}
	a.ExpiresAt = limits.Never
	for _, a.PinnedAt = range []time.Time{now, {}} {
		_, err = c.create(t, nil)
		expect.Code(t, err, "")
		if s := c.store.made.Session; s.Life != limits.Forever {
			t.Errorf("without an end, pinned at %s, it lives %s", a.PinnedAt, s.Life)
		}
	}
}

func TestASessionRemembersWhoseBytesItReuses(t *testing.T) {
	known := tree.DigestOf("known")
	base := id.NewRevision()
	for name, c := range map[string]struct {
		set  func(*creator, *artifact.Artifact)
		want func(*artifact.Artifact) id.Revision
	}{
		"the current revision's": {
			func(*creator, *artifact.Artifact) {}, func(a *artifact.Artifact) id.Revision { return a.Current },
		},
		"the base's": {
			func(c *creator, _ *artifact.Artifact) { c.request.BaseRevisionID = base },
			func(*artifact.Artifact) id.Revision { return base },
		},
		"none of an artifact that has none": {
			func(c *creator, a *artifact.Artifact) { a.Current, c.store.files = "", nil },
			func(*artifact.Artifact) id.Revision { return "" },
		},
		"the base's, for the files that it keeps": {
			func(c *creator, _ *artifact.Artifact) { c.request.BaseRevisionID, c.store.files[0].Size = base, 4 },
			func(*artifact.Artifact) id.Revision { return base },
		},
		"none if the bytes are others": {
			func(c *creator, _ *artifact.Artifact) { c.store.files[0].Size = 4 },
			func(*artifact.Artifact) id.Revision { return "" },
		},
	} {
		t.Run(name, func(t *testing.T) {
			e := newCreator()
			e.request.Files[0].SHA256, e.request.Files[0].SizeBytes = known.String(), 5
			e.store.files = tree.Tree{{Path: "old", Size: 5, SHA256: known}}
			a := e.revises()
			c.set(e, a)
			_, err := e.create(t, nil)
			expect.Code(t, err, "")
			if s := e.store.made.Session; s.Reuses != c.want(a) {
				t.Errorf("reuses %q, want %q", s.Reuses, c.want(a))
			}
		})
	}
}

func TestWhatIsRefusedIsNotStored(t *testing.T) {
	denied := errors.New("denied")
	c := newCreator()
	c.permit = denied
	if _, err := c.create(t, nil); !errors.Is(err, denied) || c.store.creations != 0 {
		t.Errorf("%v, %d sessions", err, c.store.creations)
	}
	c.request.Files[0].SizeBytes = c.by.Policy.FileSize + 1
	_, err := c.create(t, nil)
	expect.Code(t, err, fault.FileSizeCapExceeded) // the caps come before what permit says
	c.request.Title = ""
	_, err = c.create(t, nil)
	expect.Code(t, err, fault.InvalidRequest)
	if c.store.creations != 0 {
		t.Errorf("%d sessions were created", c.store.creations)
	}
}

func TestF15OnlyWhatIsNeededIsUploaded(t *testing.T) {
	c := newCreator()
	known := tree.DigestOf("known")
	c.store.files = tree.Tree{{Path: "known", Size: 5, SHA256: known}, {Path: "patched", Size: 9}, {Path: "gone", Size: 1}}
	c.revises()
	c.request.BaseRevisionID = id.NewRevision()
	c.request.Files = []contract.DeclaredFile{
		{Path: "index.html", SizeBytes: 3, SHA256: tree.DigestOf("new").String()},
		{Path: "known", SizeBytes: 5, SHA256: known.String()},
		{Path: "patched", SizeBytes: 7, Patch: aPatch()},
		{Path: "empty"},
	}
	c.request.DeletedPaths = []string{"gone"}
	out, err := c.create(t, nil)
	expect.Code(t, err, "")
	if len(out.Files) != 4 || len(c.store.presigned) != 2 {
		t.Fatalf("%+v, signed for %+v, want four files, two of them signed for", out.Files, c.store.presigned)
	}
	for n, reused := range []bool{false, true, false, true} {
		if got := out.Files[n]; (got.Put.URL == "") != reused {
			t.Errorf("%+v, reused %t, want %t for reuse", got, reused, reused)
		}
	}
	whole, diff := c.store.presigned[0], c.store.presigned[1]
	if whole.object.Diff || *whole.digest != tree.DigestOf("new") || whole.size != 3 {
		t.Errorf("%+v, want three bytes with a digest", whole)
	}
	if !diff.object.Diff || diff.digest != nil || diff.size != 7 || diff.object.Entry != 2 {
		t.Errorf("%+v, want a diff of seven bytes", diff)
	}
	if !c.store.made.Session.Diffs || len(c.store.made.Entries) != 5 || !c.store.made.Entries[4].Deleted {
		t.Errorf("%+v, want diffs, and the deletion last", c.store.made)
	}
}

func TestARepeatedCreationAnswersItsSessionWithFreshURLs(t *testing.T) {
	first := id.NewSession()
	newRecord := func(set func(*idempotency.Record)) *idempotency.Record {
		r := &idempotency.Record{
			Fingerprint: newCreator().command.Fingerprint,
			Done:        true,
			Expires:     now.Add(time.Hour),
			Result:      []byte(`{"s":"` + string(first) + `"}`),
		}
		set(r)
		return r
	}
	done := newRecord(func(*idempotency.Record) {})
	running := newRecord(func(r *idempotency.Record) { r.Done = false })
	other := newRecord(func(r *idempotency.Record) { r.Fingerprint[0]++ })
	for name, c := range map[string]struct {
		record *idempotency.Record // that was read with the request
		fails  *idempotency.Record // that its commit met
		left   time.Duration       // of the session; zero: it is gone
		life   time.Duration       // of a URL
		want   fault.Code
	}{
		"it finished before the request":      {done, nil, time.Hour, limits.PutURLLife, ""},
		"it finished meanwhile":               {nil, done, time.Hour, limits.PutURLLife, ""},
		"its session ends sooner than a URL":  {done, nil, time.Minute, time.Minute, ""},
		"its session has just ended":          {done, nil, 999, 0, fault.UploadSessionExpired},
		"its session is gone":                 {done, nil, 0, 0, fault.UploadSessionNotFound},
		"it is still running":                 {nil, running, time.Hour, 0, fault.IdempotencyInFlight},
		"its key had another body":            {other, nil, time.Hour, 0, fault.InvalidIdempotencyKey},
		"its key had another body, meanwhile": {nil, other, time.Hour, 0, fault.InvalidIdempotencyKey},
	} {
		t.Run(name, func(t *testing.T) {
			e := newCreator()
			if c.left > 0 {
				e.store.session = &Session{ID: first, ExpiresAt: now.Add(c.left)}
				e.store.entries = []Entry{{Path: "index.html", Size: 3}}
			}
			if c.fails != nil {
				e.store.refuses = &idempotency.AlreadyDone{Record: *c.fails}
			}
			out, err := e.create(t, c.record)
			expect.Code(t, err, c.want)
			if c.want != "" {
				e.store.refuses = nil
				if other, err := e.create(t, nil); err != nil || other.Session.ID == first {
					t.Errorf("another key answers %+v, %v", other, err)
				}
				return
			}
			if out.Session.ID != first || len(out.Files) != 1 {
				t.Fatalf("%+v, want the first session", out)
			}
			if late := e.store.presigned[0].expires.Sub(now.Add(c.life)); late < 0 || late > 999 {
				t.Errorf("the URL expires at %s", e.store.presigned[0].expires)
			}
		})
	}
}
