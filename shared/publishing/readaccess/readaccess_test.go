package readaccess

import (
	"context"
	"errors"
	"testing"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

var now = time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)

// fakeStore answers a batch from state and single reads from its maps, which it counts.
type fakeStore struct {
	state      State
	workspaces map[id.Workspace]workspace.Workspace
	revisions  map[id.Revision]artifact.Revision
	err        error // of single reads
	reads      int
}

func (f *fakeStore) ReadState(context.Context, Query) (State, error) { return f.state, nil }

func (f *fakeStore) Workspace(_ context.Context, w id.Workspace) (*workspace.Workspace, error) {
	f.reads++
	if found, ok := f.workspaces[w]; ok && f.err == nil {
		return &found, nil
	}
	return nil, f.err
}

func (f *fakeStore) Revision(_ context.Context, _ id.Artifact, r id.Revision) (*artifact.Revision, error) {
	f.reads++
	if found, ok := f.revisions[r]; ok && f.err == nil {
		return &found, nil
	}
	return nil, f.err
}

// openState is what lets a reader with a share link through.
func openState(q Query) State {
	return State{
		Workspace: &workspace.Workspace{ID: q.Workspace},
		Artifact: &artifact.Artifact{
			ID:        q.Artifact,
			Owner:     q.Workspace,
			Status:    artifact.Live,
			ExpiresAt: now.Add(time.Hour),
		},
		Link: &link.Link{
			Public:    q.Link,
			Artifact:  q.Artifact,
			Kind:      link.Share,
			CreatedAt: now.Add(-time.Hour),
		},
	}
}

func TestT57EveryPartOfTheStateRefuses(t *testing.T) {
	linked := Query{Workspace: id.NewWorkspace(), Artifact: id.NewArtifact(), Link: id.NewPublic()}
	plain := linked
	plain.Link = ""
	for name, c := range map[string]struct {
		set            func(*State)
		linked, plain  bool // whether a reader with a link, and one without, may read
		artifactAllows bool
	}{
		"an open artifact": {func(*State) {}, true, true, true},
		"a pinned artifact past its end": {
			func(s *State) { s.Artifact.ExpiresAt, s.Artifact.PinnedAt = now, now }, true, true, true,
		},
		"no workspace":        {func(s *State) { s.Workspace = nil }, false, false, false},
		"no artifact":         {func(s *State) { s.Artifact = nil }, false, false, false},
		"no link":             {func(s *State) { s.Link = nil }, false, true, true},
		"a locked workspace":  {func(s *State) { s.Workspace.Lock = "lkd" }, false, false, false},
		"a claimed workspace": {func(s *State) { s.Workspace.ClaimedInto = "other" }, false, false, false},
		"a deleted artifact":  {func(s *State) { s.Artifact.Status = artifact.Deleted }, false, false, false},
		"an expired artifact": {func(s *State) { s.Artifact.ExpiresAt = now }, false, false, false},
		"a locked artifact":   {func(s *State) { s.Artifact.Lock = "lkd" }, false, false, false},
		"another owner":       {func(s *State) { s.Artifact.Owner = "other" }, false, false, false},
		"locked links":        {func(s *State) { s.Artifact.LinksLockedAt = now }, false, true, true},
		"closed links": {
			func(s *State) { s.Artifact.LinksRevokedBefore = s.Link.CreatedAt }, false, true, true,
		},
		"links closed before this one": {
			func(s *State) { s.Artifact.LinksRevokedBefore = s.Link.CreatedAt.Add(-1) }, true, true, true,
		},
		"a revoked link":             {func(s *State) { s.Link.RevokedAt = now }, false, true, true},
		"an expired link":            {func(s *State) { s.Link.ExpiresAt = now }, false, true, true},
		"a link of another artifact": {func(s *State) { s.Link.Artifact = "other" }, false, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := openState(linked)
			c.set(&s)
			if s.Allows(linked, now) != c.linked || s.Allows(plain, now) != c.plain {
				t.Errorf("with a link %t, without %t", s.Allows(linked, now), s.Allows(plain, now))
			}
			if s.ArtifactAllows(linked, now) != c.artifactAllows {
				t.Errorf("the artifact allows: %t", !c.artifactAllows)
			}
		})
	}
}

func TestAReadFollowsAClaim(t *testing.T) {
	source := workspace.Workspace{
		ID:          "source",
		ClaimedAt:   now.Add(-time.Minute),
		ClaimedInto: "destination",
		MinExpiry:   now.Add(24 * time.Hour),
	}
	unclaimed, destination, other := source, workspace.Workspace{ID: "destination"}, workspace.Workspace{ID: "other"}
	unclaimed.ClaimedInto = ""
	taken := workspace.Workspace{ID: "taken", ClaimedInto: "other"}
	locked := func(w workspace.Workspace) workspace.Workspace { w.Lock = "lkd"; return w }
	for name, c := range map[string]struct {
		named  workspace.Workspace // in the batch
		owner  id.Workspace        // of the artifact, in the batch
		stored []workspace.Workspace
		reads  int
		allows bool
	}{
		"no claim costs no further read":        {other, "other", nil, 0, true},
		"a URL from before it, before the move": {source, "source", []workspace.Workspace{destination}, 1, true},
		"a URL from before it, after the move":  {source, "destination", []workspace.Workspace{destination}, 1, true},
		"a URL from after it, before the move":  {destination, "source", []workspace.Workspace{source}, 1, true},
		"a URL from after it, after the move":   {destination, "destination", nil, 0, true},
		"a batch from before it with an owner after it": {
			unclaimed, "destination", []workspace.Workspace{source, destination}, 2, true,
		},
		"an artifact of a third workspace": {
			source, "other", []workspace.Workspace{destination, other}, 0, false,
		},
		"an artifact that was never the workspace's": {
			destination, "other", []workspace.Workspace{destination, other}, 2, false,
		},
		"an artifact whose owner another one claimed": {
			destination, "taken", []workspace.Workspace{destination, taken}, 2, false,
		},
		"an artifact whose owner is gone": {destination, "other", nil, 1, false},
		"a destination that is gone":      {source, "source", nil, 1, false},
		"a destination that is locked": {
			source, "source", []workspace.Workspace{locked(destination)}, 1, false,
		},
		"a source that is locked, from before it": {
			locked(source), "source", []workspace.Workspace{destination}, 1, false,
		},
		"a source that is locked, after the move": {
			locked(source), "destination", []workspace.Workspace{destination}, 1, false,
		},
		"a source that is locked, from after it": {
			destination, "source", []workspace.Workspace{locked(source)}, 1, false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			q := Query{Workspace: c.named.ID, Artifact: "art"}
			f := &fakeStore{state: openState(q), workspaces: map[id.Workspace]workspace.Workspace{}}
			f.state.Workspace, f.state.Artifact.Owner = &c.named, c.owner
			for _, w := range c.stored {
				f.workspaces[w.ID] = w
			}
			s, err := Read(t.Context(), f, q)
			if err != nil || f.reads != c.reads || s.Allows(q, now) != c.allows {
				t.Errorf("%v after %d reads, allows %t", err, f.reads, s.Allows(q, now))
			}
			if c.allows && s.Workspace.ID != s.Artifact.Owner {
				t.Errorf("%s has what %s owns", s.Workspace.ID, s.Artifact.Owner)
			}
			f.err = errors.New("away")
			if _, err := Read(t.Context(), f, q); (err != nil) != (c.reads > 0) {
				t.Errorf("a store that does not answer: %v", err)
			}
		})
	}
}

func TestAClaimedArtifactLivesToTheEndThatItsClaimGaveIt(t *testing.T) {
	q := Query{Workspace: "source", Artifact: "art"}
	destination := workspace.Workspace{ID: "destination"}
	f := &fakeStore{state: openState(q), workspaces: map[id.Workspace]workspace.Workspace{destination.ID: destination}}
	f.state.Workspace.ClaimedAt = now
	f.state.Workspace.ClaimedInto = "destination"
	f.state.Workspace.MinExpiry = now.Add(24 * time.Hour)
	s, err := Read(t.Context(), f, q)
	if err != nil || !s.Allows(q, now.Add(24*time.Hour-1)) || s.Allows(q, now.Add(24*time.Hour)) {
		t.Errorf("%+v, %v, want it open for a day after the claim", s.Artifact, err)
	}
}

func TestALinkOutlivesTheRecordOfTheClaimedWorkspace(t *testing.T) {
	linked := Query{Workspace: "source", Artifact: "art", Link: id.NewPublic()}
	plain := linked
	plain.Link = ""
	for name, c := range map[string]struct {
		q      Query
		set    func(*State, *workspace.Workspace)
		reads  int
		allows bool
	}{
		"a link":                       {linked, func(*State, *workspace.Workspace) {}, 1, true},
		"one whose owner is locked":    {linked, func(_ *State, w *workspace.Workspace) { w.Lock = "lkd" }, 1, false},
		"one that was revoked":         {linked, func(s *State, _ *workspace.Workspace) { s.Link.RevokedAt = now }, 1, false},
		"one of an artifact not moved": {linked, func(s *State, _ *workspace.Workspace) { s.Artifact.Owner = "source" }, 0, false},
		"a link that is gone":          {linked, func(s *State, _ *workspace.Workspace) { s.Link = nil }, 0, false},
		"a token without a link":       {plain, func(*State, *workspace.Workspace) {}, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			destination := workspace.Workspace{ID: "destination"}
			f := &fakeStore{state: openState(c.q), workspaces: map[id.Workspace]workspace.Workspace{}}
			f.state.Workspace, f.state.Artifact.Owner = nil, destination.ID
			c.set(&f.state, &destination)
			f.workspaces[destination.ID] = destination
			s, err := Read(t.Context(), f, c.q)
			if err != nil || f.reads != c.reads || s.Allows(c.q, now) != c.allows {
				t.Errorf("%v after %d reads, allows %t", err, f.reads, s.Allows(c.q, now))
			}
		})
	}
}

func TestWhatDoesNotExistCostsNoFurtherRead(t *testing.T) {
	for name, state := range map[string]State{
		"a workspace":   {Artifact: &artifact.Artifact{}},
		"an artifact":   {Workspace: &workspace.Workspace{ClaimedInto: "destination"}},
		"both of these": {},
	} {
		f := &fakeStore{state: state}
		if s, err := Read(t.Context(), f, Query{}); err != nil || f.reads != 0 || s.Allows(Query{}, now) {
			t.Errorf("%s: %v after %d reads", name, err, f.reads)
		}
	}
}

func TestARevisionIsReadIfItIsPublished(t *testing.T) {
	store := map[id.Revision]artifact.Revision{
		"old":      {Status: artifact.Published, Number: 1},
		"draft":    {Status: artifact.Draft},
		"retained": {Status: artifact.Retained, Number: 1},
	}
	for name, c := range map[string]struct {
		revision id.Revision
		reads    int
		readable bool
		viewable bool // links were closed after revision 1
	}{
		"the current one costs no read": {"current", 0, true, true},
		"an older one":                  {"old", 1, true, false},
		"a draft":                       {"draft", 1, false, false},
		"one without its bytes":         {"retained", 1, false, false},
		"none":                          {"none", 1, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := &fakeStore{revisions: store}
			a := &artifact.Artifact{
				Current:            "current",
				Number:             2,
				LinksRevokedBefore: now,
				ViewsRevokedBefore: 1,
			}
			err := CheckRevision(t.Context(), f, a, c.revision)
			if (err == nil) != c.readable || err != nil && fault.CodeOf(err) != fault.NotFound || f.reads != c.reads {
				t.Errorf("%v after %d reads", err, f.reads)
			}
			_, err = PublicRevision(t.Context(), f, a, c.revision)
			if (err == nil) != c.viewable || err != nil && fault.CodeOf(err) != fault.NotFound || f.reads != 2*c.reads {
				t.Errorf("its public view: %v after %d reads", err, f.reads)
			}
		})
	}
	away := &fakeStore{err: fault.NewCode(fault.DatabaseUnavailable)}
	err := CheckRevision(t.Context(), away, &artifact.Artifact{}, "old")
	if fault.CodeOf(err) != fault.DatabaseUnavailable {
		t.Errorf("a store that does not answer: %v", err)
	}
}
