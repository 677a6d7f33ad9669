package dynamo

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/entry/access"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	r := draft(t, s, w, k, "")
	p := publication(k, r, 1)
	p.Share = &artifact.Share{ID: id.NewLink(), Public: id.NewPublic()}
	noError(t, s.Artifacts.Publish(ctx, p))
	found, err := s.Access.Find(ctx, k.Public, w.ID, access.Request{
		Operation: p.Command.Key.Operation,
		Target:    p.Command.Key.Target,
		Client:    p.Command.Key.Client,
		Artifact:  r.Artifact,
		Revision:  r.ID,
	})
	noError(t, err)
	if !cmp.Equal(*found.Workspace, w) || found.Key.ID != k.ID || !found.Key.ExpiresAt.Equal(k.ExpiresAt) ||
		len(found.Key.Scopes) != 2 {
		t.Errorf("got %+v %+v, want %+v %+v", found.Workspace, found.Key, w, k)
	}
	a := found.Artifact
	if a.Current != r.ID || a.Number != 1 || a.Draft != "" || a.ShareLink != p.Share.Public ||
		!a.ExpiresAt.Equal(p.ExpiresAt) || a.Title != "T" {
		t.Errorf("artifact %+v", a)
	}
	if found.Revision.Status != artifact.Published || found.Revision.Number != 1 || !found.Revision.EntrypointExists {
		t.Errorf("revision %+v", found.Revision)
	}
	if !found.Record.Finished(now()) || string(found.Record.Result) != `{"a":1}` ||
		found.Record.Fingerprint != p.Command.Fingerprint {
		t.Errorf("record %+v", found.Record)
	}
	state, err := s.Artifacts.ReadState(ctx, readaccess.Query{Workspace: w.ID, Artifact: r.Artifact, Link: p.Share.Public})
	if err != nil || !state.Allows(readaccess.Query{Workspace: w.ID, Artifact: r.Artifact, Link: p.Share.Public}, now()) {
		t.Errorf("gates %+v %v", state, err)
	}
	c, err := s.Artifacts.Contents(ctx, r.Artifact, r.ID)
	if err != nil || len(c.Tree) != 1 || c.Tree[0].Path != "index.html" ||
		c.Tree[0].SHA256 != tree.Digest(sha256.Sum256([]byte("abc"))) {
		t.Errorf("contents %+v %v", c, err)
	}
	for a, other := range map[id.Artifact]id.Revision{id.NewArtifact(): r.ID, r.Artifact: id.NewRevision()} {
		if c, err := s.Artifacts.Contents(ctx, a, other); err != nil || c != nil {
			t.Errorf("%s has the revision %s of others: %+v %v", a, other, c, err)
		}
	}
	if used, err := s.Counters.ArtifactsToday(ctx, w.ID, now()); err != nil || used != 1 {
		t.Error(used, err)
	}
}

func TestF82AKeyIsNotReadWithAnotherWorkspace(t *testing.T) {
	s := newStore(t)
	_, k := tenant(t, s)
	other, _ := tenant(t, s)
	found, err := s.Access.Find(ctx, k.Public, other.ID, access.Request{})
	if err != nil || found.Key.Workspace == other.ID {
		t.Error("the store lends a key to another workspace", err)
	}
}

func TestMalformedIdsAreSimplyNotThere(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	for _, bad := range []string{"", "x", "art_", fmt.Sprintf("%5000s", "x")} {
		found, err := s.Access.Find(ctx, k.Public, w.ID,
			access.Request{Artifact: id.Artifact(bad), Revision: id.Revision(bad), Session: id.Session(bad)})
		if err != nil || found.Artifact != nil || found.Revision != nil || found.Session != nil {
			t.Errorf("%.20q: %+v %v", bad, found, err)
		}
	}
}

func TestF20TwoCommitsOfOneCommandHaveOneEffect(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	p := publication(k, draft(t, s, w, k, ""), 1)
	won := winners(t, parallel.Calls(8, func(int) error { return s.Artifacts.Publish(ctx, p) }), isDone)
	if used, _ := s.Counters.ArtifactsToday(ctx, w.ID, now()); won != 1 || used != 1 {
		t.Errorf("%d won, %d counted", won, used)
	}
}

func TestF21ARevisionIsPublishedOnceWhateverTheKey(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	r := draft(t, s, w, k, "")
	errs := parallel.Calls(6, func(int) error { return s.Artifacts.Publish(ctx, publication(k, r, 1)) })
	won := winners(t, errs, func(err error) bool { return errors.Is(err, artifact.ErrMoved) })
	a, _ := s.Artifacts.Artifact(ctx, r.Artifact)
	if used, _ := s.Counters.ArtifactsToday(ctx, w.ID, now()); won != 1 || used != 1 || a.Number != 1 {
		t.Errorf("%d won, %d counted, number %d", won, used, a.Number)
	}
}

func TestF50TheAllowanceIsExactUnderParallelPublications(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	const allowance, tries = 6, 12
	drafts := make([]artifact.Revision, tries)
	for i := range drafts {
		drafts[i] = draft(t, s, w, k, "")
	}
	errs := parallel.Calls(tries, func(i int) error {
		p := publication(k, drafts[i], 1)
		p.Allowance = allowance
		return s.Artifacts.Publish(ctx, p)
	})
	won, published := 0, artifact.Revision{}
	for i, err := range errs {
		switch {
		case err == nil:
			won++
			published = drafts[i]
		case fault.CodeOf(err) != fault.WriteAllowanceExceeded:
			t.Error(err)
		default:
			if r, _ := s.Artifacts.Revision(ctx, drafts[i].Artifact, drafts[i].ID); r.Status != artifact.Draft {
				t.Error("a refused draft is not intact")
			}
		}
	}
	if used, _ := s.Counters.ArtifactsToday(ctx, w.ID, now()); won != allowance || used != allowance {
		t.Errorf("%d won, %d counted", won, used)
	}
	again := publication(k, draft(t, s, w, k, published.Artifact), 2)
	again.Allowance = allowance
	if err := s.Artifacts.Publish(ctx, again); err != nil {
		t.Error("a revision of a published artifact counts:", err)
	}
}

func TestF23AnArtifactHasOneDraft(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	r := draft(t, s, w, k, "")
	noError(t, s.Artifacts.Publish(ctx, publication(k, r, 1)))
	fs := make([]upload.Finalization, 2)
	for i := range fs {
		u, entries := openSession(t, s, w, k, r.Artifact)
		fs[i] = finalization(t, s, k, u, entries)
	}
	errs := parallel.Calls(2, func(i int) error { return s.Uploads.Finalize(ctx, fs[i]) })
	if (errs[0] == nil) == (errs[1] == nil) {
		t.Fatal(errs)
	}
	for i, err := range errs {
		if err != nil && fault.CodeOf(err) != fault.DraftRevisionConflict {
			t.Error(err)
		}
		if u, _, _ := s.Uploads.Session(ctx, fs[i].Session.ID); err != nil && u.Status != upload.Pending {
			t.Error("the loser's session is not pending")
		}
	}
}

func TestF07WhoLostTheLeaseCannotCommit(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	u, entries := openSession(t, s, w, k, "")
	f := finalization(t, s, k, u, entries)
	later := f.At.Add(2 * time.Minute)
	if err := s.Uploads.Claim(ctx, f.Command, "other", later, later.Add(time.Minute)); err != nil {
		t.Fatal("a lease that is over cannot be taken", err)
	}
	var taken *idempotency.AlreadyDone
	if err := s.Uploads.Finalize(ctx, f); !errors.As(err, &taken) {
		t.Errorf("the first owner commits: %v", err)
	}
	if err := s.Uploads.Claim(ctx, f.Command, "third", later, later.Add(time.Minute)); !errors.As(err, &taken) ||
		taken.Record.Finished(now()) {
		t.Errorf("a live lease is taken: %v", err)
	}
	f.Owner = "other"
	f.Session.FileCount, f.Session.Size = 7, 70 // with the files of its base
	if err := s.Uploads.Finalize(ctx, f); err != nil {
		t.Error(err)
	}
	var settled *upload.Settled
	again := finalization(t, s, k, u, entries)
	if err := s.Uploads.Finalize(ctx, again); !errors.As(err, &settled) || settled.Session.Status != upload.Finalized ||
		settled.Session.FileCount != 7 || settled.Session.Size != 70 {
		t.Errorf("F08: a finalized session finalizes again: %v", err)
	}
	if err := s.Uploads.Release(ctx, f.Command, "other"); err != nil {
		t.Error(err)
	}
	if err := s.Uploads.Claim(ctx, f.Command, "fourth", later, later); !errors.As(err, &taken) ||
		!taken.Record.Finished(now()) {
		t.Errorf("releasing undid a finished command: %v", err)
	}
}

func TestASessionThatVanishedIsNotFinalized(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	u, entries := openSession(t, s, w, k, "")
	u.ID = id.NewSession()
	f := finalization(t, s, k, u, entries)
	if err := s.Uploads.Finalize(ctx, f); fault.CodeOf(err) != fault.UploadSessionNotFound {
		t.Error(err)
	}
	if a, err := s.Artifacts.Artifact(ctx, u.Artifact); err != nil || a != nil {
		t.Errorf("it made %+v, %v", a, err)
	}
}
