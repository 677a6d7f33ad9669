package live

import (
	"context"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/addresses"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/fake"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/view"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// fakeStore has one artifact with a link: as it is, and as a copy has it.
type fakeStore struct {
	state, copy readaccess.State
	workspaces  map[id.Workspace]workspace.Workspace
	copies      int
	reads       int // that are strong
	err         error
}

func (s *fakeStore) ReadState(context.Context, readaccess.Query) (readaccess.State, error) {
	s.reads++
	return s.state, s.err
}

func (s *fakeStore) ReadStateCopy(context.Context, readaccess.Query) (readaccess.State, error) {
	s.copies++
	return s.copy, s.err
}

func (s *fakeStore) Workspace(_ context.Context, w id.Workspace) (*workspace.Workspace, error) {
	s.reads++
	if found, ok := s.workspaces[w]; ok {
		return &found, nil
	}
	return nil, nil
}

func (s *fakeStore) Revision(context.Context, id.Artifact, id.Revision) (*artifact.Revision, error) {
	s.reads++
	return nil, nil
}

// fakePointers point to the current revision.
type fakePointers struct{ through id.Public }

func (p *fakePointers) Pointer(
	_ context.Context, s readaccess.State, through id.Public,
) (view.Pointer, error) {
	p.through = through
	return view.Pointer{RevisionID: s.Artifact.Current, Number: s.Artifact.Number}, nil
}

// env is a service, and pages that show the newest revision of an artifact.
type env struct {
	*Service
	store    *fakeStore
	pointers *fakePointers
	counters *fake.Counters
	member   credential.Actor
	artifact id.Artifact
	shown    id.Revision
	public   id.Public
	blob     string
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{
		store:    &fakeStore{workspaces: map[id.Workspace]workspace.Workspace{}},
		pointers: &fakePointers{},
		counters: &fake.Counters{},
		artifact: id.NewArtifact(),
		shown:    id.NewRevision(),
	}
	w := workspace.Workspace{ID: id.NewWorkspace()}
	e.member = credential.Actor{Workspace: w, Member: "mem"}
	l := link.Link{
		ID:        id.NewLink(),
		Artifact:  e.artifact,
		Workspace: w.ID,
		Kind:      link.Share,
		CreatedAt: now.Add(-time.Hour),
	}
	var err error
	if l.Public, err = l.ID.Public(); err != nil {
		t.Fatal(err)
	}
	numbers, clock := limits.Default(), func() time.Time { return now }
	e.Service = &Service{
		Store:     e.store,
		Pointers:  e.pointers,
		Addresses: addresses.New(t),
		Limiter:   &rate.Limiter{Counters: e.counters, Limits: &numbers, Now: clock},
		Now:       clock,
	}
	e.set(func(s *readaccess.State) {
		s.Workspace, s.Link = &w, &l
		s.Artifact = &artifact.Artifact{
			ID:        e.artifact,
			Owner:     w.ID,
			Status:    artifact.Live,
			ExpiresAt: now.Add(limits.Day),
			Current:   e.shown,
			Number:    1,
		}
	})
	url, err := e.Addresses.Link(l.Public, w.ID, e.artifact, now.Add(time.Hour))
	expect.OK(t, err)
	_, secret, _ := strings.Cut(url, "#")
	e.public, e.blob = l.Public, secret
	return e
}

// set changes the state, and its copy with it.
func (e *env) set(change func(*readaccess.State)) {
	change(&e.store.state)
	e.lag()
}

// lag makes the copy what the state is now; what changes later, the copy does not have.
func (e *env) lag() {
	w, a, l := *e.store.state.Workspace, *e.store.state.Artifact, *e.store.state.Link
	e.store.copy = readaccess.State{Workspace: &w, Artifact: &a, Link: &l}
}

func publish(s *readaccess.State) { s.Artifact.Current, s.Artifact.Number = "rev_new", 2 }

// end is what a change ends.
type end int

const (
	endsNothing end = iota
	endsLinks       // pages of links close
	endsAll         // those of members too
)

// change is what may happen to what a page shows.
type change struct {
	set     func(*readaccess.State)
	ends    end
	pointer bool
	reads   int // strong ones of a page of a share link
}

var changes = map[string]change{
	"nothing":             {set: func(*readaccess.State) {}},
	"a newer revision":    {publish, endsNothing, true, 1},
	"a new title":         {set: func(s *readaccess.State) { s.Artifact.Title = "New" }},
	"a lock of the links": {func(s *readaccess.State) { s.Artifact.LinksLockedAt = now }, endsLinks, false, 1},
	"private":             {func(s *readaccess.State) { s.Artifact.LinksRevokedBefore = now }, endsLinks, false, 1},
	"a revoked link":      {func(s *readaccess.State) { s.Link.RevokedAt = now }, endsLinks, false, 1},
	"a link that ended":   {func(s *readaccess.State) { s.Link.ExpiresAt = now }, endsLinks, false, 1},
	"deletion":            {func(s *readaccess.State) { s.Artifact.Status = artifact.Deleted }, endsAll, false, 1},
	"expiry":              {func(s *readaccess.State) { s.Artifact.ExpiresAt = now }, endsAll, false, 1},
	"a lock":              {func(s *readaccess.State) { s.Artifact.Lock = "lkd" }, endsAll, false, 1},
	"a lock of all":       {func(s *readaccess.State) { s.Workspace.Lock = "lkd" }, endsAll, false, 1},
	"another owner":       {func(s *readaccess.State) { s.Artifact.Owner = "other" }, endsAll, false, 2},
	"a revision and a lock": {
		func(s *readaccess.State) { publish(s); s.Artifact.LinksLockedAt = now }, endsLinks, true, 1,
	},
}

func eachChange(t *testing.T, check func(*testing.T, *env, change)) {
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.set(c.set)
			check(t, e, c)
		})
	}
}

func TestAPageOfAShareLinkFollowsAndCloses(t *testing.T) {
	eachChange(t, func(t *testing.T, e *env, c change) {
		got, err := e.Share(t.Context(), e.public, e.blob, e.shown)
		e.want(t, got, err, c.pointer && c.ends < endsLinks, c.ends >= endsLinks)
		if e.store.copies != 1 || e.store.reads != c.reads {
			t.Errorf("%d copies and %d strong reads", e.store.copies, e.store.reads)
		}
		if got.Pointer != nil && e.pointers.through != e.public {
			t.Errorf("the pointer is minted through %q", e.pointers.through)
		}
	})
}

func TestAPageOfARevisionLinkOnlyCloses(t *testing.T) {
	for name, c := range changes {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.set(func(s *readaccess.State) {
				s.Link.Kind, s.Link.Revision = link.Revision, e.shown
				c.set(s)
			})
			got, err := e.Share(t.Context(), e.public, e.blob, e.shown)
			e.want(t, got, err, false, c.ends >= endsLinks)
		})
	}
}

func TestAPageOfAMemberFollowsAndCloses(t *testing.T) {
	eachChange(t, func(t *testing.T, e *env, c change) {
		got, err := e.Member(t.Context(), e.member, e.artifact, e.shown)
		e.want(t, got, err, c.pointer && c.ends < endsAll, c.ends >= endsAll)
		if e.pointers.through != "" {
			t.Errorf("the pointer is minted through %q", e.pointers.through)
		}
	})
}

// want checks what a page was told.
func (e *env) want(t *testing.T, got Answer, err error, pointer, closed bool) {
	t.Helper()
	if (err != nil) != closed || err != nil && fault.CodeOf(err) != fault.NotFound {
		t.Fatalf("%v, want closed %t", err, closed)
	}
	if (got.Pointer != nil) != pointer || got.Pointer != nil && got.Pointer.RevisionID != "rev_new" {
		t.Errorf("pointer %+v", got.Pointer)
	}
	if err == nil && got.Wait != limits.LiveWait {
		t.Errorf("wait %s", got.Wait)
	}
}

func TestACopyThatLagsClosesNoPageAndLeadsNoneBack(t *testing.T) {
	t.Run("a link that it does not have yet", func(t *testing.T) {
		e := newEnv(t)
		e.store.copy.Link = nil
		got, err := e.Share(t.Context(), e.public, e.blob, e.shown)
		e.want(t, got, err, false, false)
	})
	t.Run("a revision that it does not have yet", func(t *testing.T) {
		e := newEnv(t)
		publish(&e.store.state)
		got, err := e.Share(t.Context(), e.public, e.blob, "rev_new")
		e.want(t, got, err, false, false)
	})
	t.Run("a revocation that it does not have yet", func(t *testing.T) {
		e := newEnv(t)
		e.store.state.Link.RevokedAt = now
		got, err := e.Share(t.Context(), e.public, e.blob, e.shown)
		e.want(t, got, err, false, false)
		e.lag()
		got, err = e.Share(t.Context(), e.public, e.blob, e.shown)
		e.want(t, got, err, false, true)
	})
}

func TestAPageFollowsAClaim(t *testing.T) {
	e := newEnv(t)
	destination := workspace.Workspace{ID: id.NewWorkspace()}
	e.store.workspaces[destination.ID] = destination
	e.set(func(s *readaccess.State) {
		s.Workspace.ClaimedAt, s.Workspace.ClaimedInto = now, destination.ID
		publish(s)
	})
	got, err := e.Share(t.Context(), e.public, e.blob, e.shown)
	e.want(t, got, err, true, false)
	destination.Lock = "lkd"
	e.store.workspaces[destination.ID] = destination
	got, err = e.Share(t.Context(), e.public, e.blob, e.shown)
	e.want(t, got, err, false, true)
}

func TestABlobThatOpensNothingCostsNothing(t *testing.T) {
	e := newEnv(t)
	e.blob = "x" + e.blob
	if _, err := e.Share(t.Context(), e.public, e.blob, e.shown); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a blob that was changed: %v", err)
	}
	if _, err := e.Member(t.Context(), e.member, "art_x", e.shown); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("an id that is none: %v", err)
	}
	e = newEnv(t)
	e.Now = func() time.Time { return now.Add(time.Hour) }
	if _, err := e.Share(t.Context(), e.public, e.blob, e.shown); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("a URL that has ended: %v", err)
	}
	if e.store.copies+e.store.reads+len(e.counters.Counted()) > 0 {
		t.Error("the store was asked")
	}
}

func TestAPollOfAForeignArtifactReadsWhatAMissingOneDoes(t *testing.T) {
	reads := map[string]int{}
	for name, set := range map[string]func(*readaccess.State){
		"foreign": func(s *readaccess.State) { s.Artifact.Owner = "other" },
		"missing": func(s *readaccess.State) { s.Artifact = nil },
	} {
		e := newEnv(t)
		e.store.state.Workspace.ClaimedAt = now
		e.store.workspaces["other"] = workspace.Workspace{ID: "other", ClaimedAt: now}
		set(&e.store.state)
		e.store.copy = e.store.state
		_, err := e.Member(t.Context(), e.member, e.artifact, e.shown)
		e.want(t, Answer{}, err, false, true)
		reads[name] = e.store.reads + e.store.copies
	}
	if reads["foreign"] != reads["missing"] {
		t.Error(reads)
	}
}

func TestAPollIsCountedByItself(t *testing.T) {
	e := newEnv(t)
	for range 3 {
		if _, err := e.Share(t.Context(), e.public, e.blob, e.shown); err != nil {
			t.Fatal(err)
		}
	}
	if n := e.counters.Counted(); n["live"] == 0 || len(n) != 1 {
		t.Errorf("counted %v", n)
	}
	e.store.state.Link.RevokedAt = now
	e.lag()
	for range 2 {
		e.Share(t.Context(), e.public, e.blob, e.shown)
	}
	if n := e.counters.Counted(); n["refused"] != 2 {
		t.Errorf("refused ones counted %v", n)
	}
	e.counters.Full = true
	e.Limiter = &rate.Limiter{Counters: e.counters, Limits: e.Limiter.Limits, Now: e.Now}
	reads := e.store.copies + e.store.reads
	if _, err := e.Share(t.Context(), e.public, e.blob, e.shown); fault.CodeOf(err) != fault.RateLimitedArtifact {
		t.Errorf("beyond the limit: %v", err)
	}
	if e.store.copies+e.store.reads != reads {
		t.Error("a poll beyond the limit read something")
	}
}

func TestAStoreThatDoesNotAnswerClosesNoPage(t *testing.T) {
	e := newEnv(t)
	e.store.err = fault.NewCode(fault.DatabaseUnavailable)
	if _, err := e.Share(t.Context(), e.public, e.blob, e.shown); fault.CodeOf(err) != fault.DatabaseUnavailable {
		t.Errorf("%v", err)
	}
}
