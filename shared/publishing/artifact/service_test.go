package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/addresses"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/lint"
	"vitrine/shared/publishing/tree"
)

// fakeStore holds one artifact with one revision, and refuses the first commits as a test says.
type fakeStore struct {
	Store
	artifact *Artifact
	revision *Revision
	files    tree.Tree       // of the revision
	refuses  []error         // of the next commits
	moves    func(*Artifact) // what another change makes of the artifact when a commit is refused; nil: nothing
	commits  []any
}

func (f *fakeStore) commit(change any) error {
	f.commits = append(f.commits, change)
	if len(f.refuses) == 0 {
		return nil
	}
	err := f.refuses[0]
	if f.refuses = f.refuses[1:]; f.moves != nil {
		f.moves(f.artifact)
	}
	return err
}

func (f *fakeStore) Publish(_ context.Context, p Publication) error { return f.commit(p) }
func (f *fakeStore) Restore(_ context.Context, r Restoration) error { return f.commit(r) }
func (f *fakeStore) Delete(_ context.Context, d Deletion) error     { return f.commit(d) }
func (f *fakeStore) Rename(_ context.Context, r Renaming) error     { return f.commit(r) }
func (f *fakeStore) Pin(_ context.Context, p Pinning) error         { return f.commit(p) }
func (f *fakeStore) Unpin(_ context.Context, p Pinning) error       { return f.commit(p) }

func (f *fakeStore) Artifact(context.Context, id.Artifact) (*Artifact, error) {
	if f.artifact == nil {
		return nil, nil
	}
	a := *f.artifact
	return &a, nil
}

func (f *fakeStore) Workspace(context.Context, id.Workspace) (*workspace.Workspace, error) {
	return nil, nil
}

func (f *fakeStore) Revision(context.Context, id.Artifact, id.Revision) (*Revision, error) {
	return f.revision, nil
}

func (f *fakeStore) Draft(ctx context.Context, a id.Artifact, _ id.Revision) (*Artifact, *Revision, error) {
	read, err := f.Artifact(ctx, a)
	return read, f.revision, err
}

func (f *fakeStore) Contents(context.Context, id.Artifact, id.Revision) (*Contents, error) {
	return &Contents{Revision: *f.revision, Tree: f.files}, nil
}

// env is a service of a member over an artifact with a published revision.
type env struct {
	*Service
	store *fakeStore
	by    credential.Actor
	now   time.Time
}

func newEnv(t *testing.T) *env {
	t.Helper()
	e := &env{now: time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)}
	numbers := limits.Default()
	e.by = credential.Actor{
		Member:    id.NewMember(),
		Scopes:    []credential.Scope{credential.Publish, credential.Read},
		Workspace: workspace.Workspace{ID: id.NewWorkspace(), Plan: workspace.FreePlan, ClaimedAt: e.now.Add(-time.Hour)},
		Policy:    numbers.Tiers[limits.Free],
	}
	a, r := id.NewArtifact(), id.NewRevision()
	e.store = &fakeStore{
		artifact: &Artifact{
			ID:          a,
			Owner:       e.by.Workspace.ID,
			Status:      Live,
			Current:     r,
			Number:      1,
			Title:       "Seals",
			ExpiresAt:   e.now.Add(72 * time.Hour),
			PublishedAt: e.now.Add(-time.Hour),
		},
		revision: &Revision{
			ID:               r,
			Artifact:         a,
			Status:           Published,
			Number:           1,
			Title:            "Seals",
			Entrypoint:       "index.html",
			EntrypointExists: true,
		},
	}
	cursors, err := cursor.New(keyring.New().Seal)
	if err != nil {
		t.Fatal(err)
	}
	e.Service = &Service{
		Store:   e.store,
		URLs:    addresses.New(t),
		Cursors: cursors,
		Limits:  &numbers,
		Now:     func() time.Time { return e.now },
	}
	return e
}

// draft makes the revision of the artifact a draft that waits.
func (e *env) draft() {
	e.store.revision.Status = Draft
	e.store.revision.Number = 0
	e.store.artifact.Draft = e.store.revision.ID
	e.store.artifact.Current = ""
	e.store.artifact.Number = 0
}

// target names the artifact and its revision as they are now.
func (e *env) target() Target {
	a, r := *e.store.artifact, *e.store.revision
	return Target{
		Command:     idempotency.Command{Key: idempotency.Key{Actor: "a", Target: string(a.ID), Client: "client-1"}},
		RequestedID: a.ID,
		Artifact:    &a,
		Revision:    &r,
	}
}

// done is the record that another attempt with this result left.
func (e *env) done(t *testing.T, result any) *idempotency.Record {
	t.Helper()
	raw, err := json.Marshal(result)
	expect.OK(t, err)
	return &idempotency.Record{Done: true, Result: raw, Expires: e.now.Add(time.Hour)}
}

// times repeats an error, for commits that are lost one after another.
func times(n int, err error) (out []error) {
	for range n {
		out = append(out, err)
	}
	return out
}

func TestWhatMayBePublished(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*env)
		code   fault.Code
	}{
		"a draft":                      {func(*env) {}, ""},
		"a draft that misses its page": {func(e *env) { e.store.revision.EntrypointExists = false }, fault.EntrypointNotInRevision},
		"a draft that was replaced":    {func(e *env) { e.store.artifact.Draft = id.NewRevision() }, fault.DraftRevisionConflict},
		"a draft that was discarded":   {func(e *env) { e.store.revision.Status = Retained }, fault.RevisionUnpublished},
		"a revision without its bytes": {func(e *env) {
			e.store.revision.Status, e.store.revision.Number = Retained, 1
		}, fault.RevisionRetained},
		"a revision of another artifact": {func(e *env) { e.store.revision.Artifact = id.NewArtifact() }, fault.RevisionUnpublished},
		"F51: the last revision": {func(e *env) {
			e.store.artifact.Number = e.by.Policy.Revisions - 1
		}, ""},
		"F51: a revision too many": {func(e *env) {
			e.store.artifact.Number = e.by.Policy.Revisions
		}, fault.RevisionCeilingExceeded},
		"with more files than the plan has now": {func(e *env) {
			e.store.revision.FileCount = e.by.Policy.FileCount + 1
		}, fault.FileCountCapExceeded},
		"larger than the plan allows now": {func(e *env) {
			e.store.revision.Size = e.by.Policy.ArtifactSize + 1
		}, fault.RevisionSizeCapExceeded},
		"with a larger file than the plan allows now": {func(e *env) {
			e.store.files = tree.Tree{{Path: "a", Size: 1}, {Path: "b", Size: e.by.Policy.FileSize + 1}}
			e.store.revision.Size = e.store.files.Size()
		}, fault.FileSizeCapExceeded},
		"with files of the size that the plan allows": {func(e *env) {
			e.store.files = tree.Tree{{Path: "a", Size: 1}, {Path: "b", Size: e.by.Policy.FileSize}}
			e.store.revision.Size = e.store.files.Size()
		}, ""},
		"of an expired artifact": {func(e *env) { e.store.artifact.ExpiresAt = e.now }, fault.ArtifactNotFound},
		"of a deleted artifact":  {func(e *env) { e.store.artifact.Status = Deleted }, fault.ArtifactNotFound},
		"of a locked artifact":   {func(e *env) { e.store.artifact.Lock = "lkd_1" }, fault.ArtifactNotFound},
		"of another workspace":   {func(e *env) { e.store.artifact.Owner = id.NewWorkspace() }, fault.ArtifactNotFound},
		"beyond the day's allowance": {func(e *env) {
			e.store.refuses = times(1, fault.NewCode(fault.WriteAllowanceExceeded))
		}, fault.WriteAllowanceExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.draft()
			c.change(e)
			got, err := e.Publish(t.Context(), e.by, e.target())
			expect.Code(t, err, c.code)
			if (got.Artifact != "") != (err == nil) {
				t.Errorf("it answers %+v", got)
			}
			commits := c.code == "" || c.code == fault.WriteAllowanceExceeded
			if (len(e.store.commits) == 1) != commits {
				t.Errorf("%d commits", len(e.store.commits))
			}
		})
	}
}

func TestAPublicationCountsTheFirstRevisionOfAnArtifactOnly(t *testing.T) {
	for published, first := range map[int]bool{0: true, 1: false} {
		e := newEnv(t)
		e.draft()
		e.store.artifact.Number = published
		if _, err := e.Publish(t.Context(), e.by, e.target()); err != nil {
			t.Fatal(err)
		}
		p := e.store.commits[0].(Publication)
		if p.First != first || p.Number != published+1 || p.Renews || p.Share != nil ||
			p.Event.Action != event.ArtifactPublished {
			t.Errorf("after %d: %+v", published, p)
		}
	}
}

func TestAnEphemeralPublicationRenewsTheArtifactAndSharesIt(t *testing.T) {
	e := newEnv(t)
	e.draft()
	e.by.Workspace.ClaimedAt = time.Time{}
	got, err := e.Publish(t.Context(), e.by, e.target())
	expect.OK(t, err)
	p := e.store.commits[0].(Publication)
	if !p.Renews || !p.ExpiresAt.Equal(e.now.Add(e.by.Policy.DefaultLife)) || p.Share == nil {
		t.Errorf("%+v, want a renewed life and a share link", p)
	}
	if got.ShareURL == "" || got.PrivateURL != "" || !got.ExpiresAt.Equal(p.ExpiresAt) {
		t.Errorf("%+v, want the share link alone", got)
	}
}

// TestARenewalShortensNoLife publishes in an unclaimed workspace after its tier got a shorter life.
func TestARenewalShortensNoLife(t *testing.T) {
	e := newEnv(t)
	e.draft()
	e.by.Workspace.ClaimedAt = time.Time{}
	e.by.Policy.DefaultLife = time.Hour
	had := e.now.Add(limits.Day)
	e.store.artifact.ExpiresAt, e.store.artifact.Number = had, 1
	got, err := e.Publish(t.Context(), e.by, e.target())
	expect.OK(t, err)
	if p := e.store.commits[0].(Publication); !p.ExpiresAt.Equal(had) || !got.ExpiresAt.Equal(had) {
		t.Errorf("it ends at %s and %s, want %s as before", p.ExpiresAt, got.ExpiresAt, had)
	}
}

// TestWhatLastsHasNoEnd reads artifacts in the year 2120, when the instant that stands for no end is past.
func TestWhatLastsHasNoEnd(t *testing.T) {
	late := limits.Never.AddDate(20, 0, 0)
	for name, c := range map[string]struct {
		a     Artifact
		lasts bool
	}{
		"without an end": {Artifact{Status: Live, ExpiresAt: limits.Never}, true},
		"pinned":         {Artifact{Status: Live, ExpiresAt: late.AddDate(-1, 0, 0), PinnedAt: late}, true},
		"a moment off":   {Artifact{Status: Live, ExpiresAt: limits.Never.Add(-time.Millisecond)}, false},
	} {
		if got := c.a.Lasts(); got != c.lasts || c.a.Active(late) != c.lasts {
			t.Errorf("%s: Lasts() = %t, Active() = %t, want %t", name, got, c.a.Active(late), c.lasts)
		}
		if got := c.a.Detail(late).EndsAt; got.IsZero() != c.lasts {
			t.Errorf("%s: it ends at %v, that it lasts is %t", name, got, c.lasts)
		}
	}
}

func TestScriptsThatRunAreNoFinding(t *testing.T) {
	found := lint.Report{
		Warnings: []lint.Warning{{Code: lint.ScriptUnclaimed}, {Code: lint.StorageBlocked}, {Code: lint.MissingAlt}},
		More:     1,
	}
	for scripts, want := range map[limits.Scripts]string{
		limits.ScriptsOn:  "missing_alt",
		limits.ScriptsAsk: "script_unclaimed storage_blocked missing_alt",
		limits.ScriptsOff: "scripts_off missing_alt",
	} {
		got := Revision{Warnings: found}.WarningsFor(limits.Policy{Scripts: scripts})
		var codes []string
		for _, w := range got.Warnings {
			codes = append(codes, string(w.Code))
		}
		if strings.Join(codes, " ") != want || got.More != 1 || len(found.Warnings) != 3 {
			t.Errorf("WarningsFor with scripts %s = %+v, want %s", scripts, got, want)
		}
	}
}

func TestF49TheAllowanceOfADayIsSpentUntilMidnightUTC(t *testing.T) {
	for name, c := range map[string]struct {
		at   time.Time
		want time.Duration
	}{
		"in the morning":           {time.Date(2026, 3, 14, 6, 0, 0, 0, time.UTC), 18 * time.Hour},
		"at the end of the day":    {time.Date(2026, 3, 14, 23, 59, 59, 9e8, time.UTC), 100 * time.Millisecond},
		"at midnight":              {time.Date(2026, 3, 15, 0, 0, 0, 0, time.UTC), limits.Day},
		"where it is the next day": {time.Date(2026, 3, 15, 1, 0, 0, 0, time.FixedZone("east", 2*3600)), time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.now = c.at
			e.draft()
			e.store.artifact.ExpiresAt = e.now.Add(time.Hour)
			e.store.refuses = times(1, fault.NewCode(fault.WriteAllowanceExceeded))
			_, err := e.Publish(t.Context(), e.by, e.target())
			expect.Code(t, err, fault.WriteAllowanceExceeded)
			if got := fault.Of(err).RetryAfter; got != c.want {
				t.Errorf("the next day starts in %s, want %s", got, c.want)
			}
		})
	}
}

func TestAPublishedRevisionIsAnsweredWithoutACommit(t *testing.T) {
	e := newEnv(t)
	e.store.artifact.Number = e.by.Policy.Revisions // which stops new revisions alone
	got, err := e.Publish(t.Context(), e.by, e.target())
	if err != nil || got.Revision != e.store.revision.ID || len(e.store.commits) != 0 {
		t.Errorf("%+v after %d commits, %v, want what is published", got, len(e.store.commits), err)
	}
}

func TestF21ARevisionThatIsPublishedMeanwhileIsAnsweredWithoutASecondCommit(t *testing.T) {
	e := newEnv(t)
	e.draft()
	named := e.target()
	e.store.refuses = times(1, ErrMoved)
	e.store.moves = func(a *Artifact) {
		a.Current, a.Draft = e.store.revision.ID, ""
		a.Number = 1
		e.store.revision.Status, e.store.revision.Number = Published, 1
	}
	got, err := e.Publish(t.Context(), e.by, named)
	if err != nil || got.Revision != e.store.revision.ID || len(e.store.commits) != 1 {
		t.Errorf("%+v after %d commits, %v, want one commit", got, len(e.store.commits), err)
	}
}

func TestARepeatedPublicationIsAnsweredFromItsRecord(t *testing.T) {
	e := newEnv(t)
	e.draft()
	first := publicationResult{
		Artifact:  e.store.artifact.ID,
		Revision:  e.store.revision.ID,
		Title:     "The first title",
		ExpiresAt: e.store.artifact.ExpiresAt,
	}
	record := e.done(t, first)
	t.Run("that was read with the request", func(t *testing.T) {
		named := e.target()
		named.Record = record
		got, err := e.Publish(t.Context(), e.by, named)
		if err != nil || got.Title != first.Title || len(e.store.commits) != 0 {
			t.Errorf("%+v after %d commits, %v, want the recorded result", got, len(e.store.commits), err)
		}
	})
	t.Run("that the commit found", func(t *testing.T) {
		e.store.refuses = times(1, &idempotency.AlreadyDone{Record: *record})
		if got, err := e.Publish(t.Context(), e.by, e.target()); err != nil || got.Title != first.Title {
			t.Errorf("%+v, %v, want the recorded result", got, err)
		}
	})
	t.Run("but not with another body", func(t *testing.T) {
		named := e.target()
		named.Record, named.Command.Fingerprint = record, sha256.Sum256([]byte("other"))
		_, err := e.Publish(t.Context(), e.by, named)
		expect.Code(t, err, fault.InvalidIdempotencyKey)
	})
	t.Run("but not under another artifact", func(t *testing.T) {
		named := e.target()
		named.Record, named.RequestedID, named.Artifact = record, id.NewArtifact(), nil
		_, err := e.Publish(t.Context(), e.by, named)
		expect.Code(t, err, fault.ArtifactNotFound)
	})
}

func TestLostRacesAreDecidedAnew(t *testing.T) {
	changes := map[string]func(*env) error{
		"publish": func(e *env) error {
			_, err := e.Publish(t.Context(), e.by, e.target())
			return err
		},
		"delete": func(e *env) error {
			_, err := e.Delete(t.Context(), e.by, e.target())
			return err
		},
		"rename": func(e *env) error {
			_, err := e.Rename(t.Context(), e.by, e.target().Artifact, "Other")
			return err
		},
		"pin": func(e *env) error {
			_, err := e.Pin(t.Context(), e.by, e.target())
			return err
		},
	}
	for name, change := range changes {
		for reason, c := range map[string]struct {
			lost    int
			moves   func(*Artifact)
			commits int
			code    fault.Code
		}{
			"once":                             {1, nil, 2, ""},
			"three times":                      {3, nil, 4, ""},
			"as often as it is attempted":      {4, nil, 4, fault.DatabaseUnavailable},
			"against the end of the artifact":  {1, func(a *Artifact) { a.Status = Deleted }, 1, fault.ArtifactNotFound},
			"against a claim of the workspace": {1, func(a *Artifact) { a.Owner = "other" }, 1, fault.ArtifactNotFound},
		} {
			t.Run(name+" "+reason, func(t *testing.T) {
				e := newEnv(t)
				if name == "publish" {
					e.draft()
				}
				e.store.refuses, e.store.moves = times(c.lost, ErrMoved), c.moves
				expect.Code(t, change(e), c.code)
				if len(e.store.commits) != c.commits {
					t.Errorf("%d commits, want %d", len(e.store.commits), c.commits)
				}
			})
		}
	}
}

func TestADeletionEndsLiveArtifactsAndAnswersItsFirstTime(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*Artifact)
		code   fault.Code
	}{
		"a live one":              {func(*Artifact) {}, ""},
		"one that expired unseen": {func(a *Artifact) { a.ExpiresAt = time.Unix(0, 0) }, ""},
		"a locked one":            {func(a *Artifact) { a.Lock = "lkd_1" }, ""},
		"a deleted one":           {func(a *Artifact) { a.Status = Deleted }, fault.ArtifactNotFound},
		"an expired one":          {func(a *Artifact) { a.Status = Expired }, fault.ArtifactNotFound},
		"another workspace's":     {func(a *Artifact) { a.Owner = "other" }, fault.ArtifactNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			c.change(e.store.artifact)
			_, err := e.Delete(t.Context(), e.by, e.target())
			expect.Code(t, err, c.code)
		})
	}
	e := newEnv(t)
	before := e.now.Add(-time.Hour)
	named := e.target()
	named.Record = e.done(t, deleted{before})
	got, err := e.Delete(t.Context(), e.by, named)
	if err != nil || !got.Equal(before) || len(e.store.commits) != 0 {
		t.Errorf("%s, %v; want %s", got, err, before)
	}
}

func TestTitlesAreTrimmedAndBounded(t *testing.T) {
	e := newEnv(t)
	got, err := e.Rename(t.Context(), e.by, e.target().Artifact, "  Tides ")
	if err != nil || got != "Tides" || e.store.commits[0].(Renaming).Artifact.Title != "Tides" {
		t.Errorf("%+v, %v, want Tides", got, err)
	}
	_, err = e.Rename(t.Context(), e.by, e.target().Artifact, " ")
	expect.Code(t, err, fault.InvalidRequest)
	_, err = e.Rename(t.Context(), e.by, nil, "Tides")
	expect.Code(t, err, fault.ArtifactNotFound)
	e.by.Scopes = nil
	_, err = e.Rename(t.Context(), e.by, e.target().Artifact, "Tides")
	expect.Code(t, err, fault.Forbidden)
}
