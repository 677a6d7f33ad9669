package dynamo

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/testkit/engine"
	"vitrine/shared/entry/access"
	"vitrine/shared/entry/claim"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

var ctx = context.Background()

// newStore makes a store on tables of its own.
func newStore(t testing.TB) Stores {
	t.Helper()
	e := engine.Shared(t)
	cfg := e.AWS()
	client := dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = aws.String(e.DynamoDB) })
	tables := Named("test-" + string(id.NewPublic()))
	if err := CreateTables(ctx, client, tables); err != nil {
		t.Fatal(err)
	}
	return New(client, tables)
}

func now() time.Time { return millis(time.Now()) }

// tenant provisions a workspace and returns it with its key.
func tenant(t testing.TB, s Stores) (workspace.Workspace, credential.Key) {
	t.Helper()
	w, k, _ := provision(t, s, func(p *ephemeral.Provision) {
		p.Key.Scopes = []credential.Scope{credential.Publish, credential.Read}
		p.Key.ExpiresAt = p.Key.CreatedAt.Add(time.Hour)
	})
	return w, k
}

// provision makes a workspace with a key and a claim token, as change leaves them.
func provision(
	t testing.TB, s Stores, change func(*ephemeral.Provision),
) (workspace.Workspace, credential.Key, claim.Token) {
	t.Helper()
	w, at := freeWorkspace("W"), now()
	public := id.NewPublic()
	p := ephemeral.Provision{
		Workspace: w,
		Event:     record(w.ID, at),
		Key: credential.Key{
			ID:        id.NewKey(public),
			Public:    public,
			Workspace: w.ID,
			Hash:      credential.Hash{Pepper: 1, MAC: []byte("mac")},
			Name:      "K",
			CreatedAt: at,
		},
		Claim: claim.Token{
			ID:        id.NewClaimToken(),
			Public:    id.NewPublic(),
			Workspace: w.ID,
			CreatedAt: at,
			ExpiresAt: at.Add(time.Hour),
		},
	}
	change(&p)
	if err := s.Workspaces.Provision(ctx, p); err != nil {
		t.Fatal(err)
	}
	return w, p.Key, p.Claim
}

// freeWorkspace is a workspace without members.
func freeWorkspace(name string) workspace.Workspace {
	return workspace.Workspace{
		ID:        id.NewWorkspace(),
		Name:      name,
		Plan:      workspace.FreePlan,
		CreatedAt: now(),
	}
}

func record(w id.Workspace, at time.Time) event.Event {
	return event.Event{
		ID:        id.NewEvent(),
		Workspace: w,
		At:        at,
		Action:    event.SessionCreated,
		Actor:     event.BySystem(),
	}
}

func command(k credential.Key, op idempotency.Operation) idempotency.Command {
	return idempotency.Command{
		Key: idempotency.Key{
			Actor:     string(k.Public),
			Operation: op,
			Client:    string(id.NewPublic()),
		},
		Fingerprint: sha256.Sum256([]byte("body")),
	}
}

// openSession makes a pending session, of a new artifact unless a is given.
func openSession(
	t testing.TB, s Stores, w workspace.Workspace, k credential.Key, a id.Artifact,
) (upload.Session, []upload.Entry) {
	t.Helper()
	c := creation(w, k, a)
	if err := s.Uploads.Create(ctx, c); err != nil {
		t.Fatal(err)
	}
	return c.Session, c.Entries
}

func creation(w workspace.Workspace, k credential.Key, a id.Artifact) upload.Creation {
	at := now()
	u := upload.Session{
		ID:         id.NewSession(),
		Workspace:  w.ID,
		Home:       w.ID,
		Artifact:   a,
		Revision:   id.NewRevision(),
		New:        a == "",
		Status:     upload.Pending,
		ExpiresAt:  at.Add(time.Hour),
		Title:      "T",
		Entrypoint: "index.html",
		Mode:       media.HTML,
		FileCount:  1,
		Size:       3,
		Life:       24 * time.Hour,
		CreatedAt:  at,
	}
	if u.New {
		u.Artifact = id.NewArtifact()
	}
	digest := tree.Digest(sha256.Sum256([]byte("abc")))
	entries := []upload.Entry{{
		Path:   "index.html",
		Size:   3,
		SHA256: &digest,
		Object: tree.Object{Session: u.ID, Entry: 0},
	}}
	return upload.Creation{
		Command: command(k, idempotency.CreateSession),
		Result:  []byte(`{}`),
		Session: u,
		Entries: entries,
		Event:   record(w.ID, at),
	}
}

func finalization(
	t testing.TB, s Stores, k credential.Key, u upload.Session, entries []upload.Entry,
) upload.Finalization {
	t.Helper()
	f := upload.Finalization{
		Result:  []byte("{}"),
		Command: command(k, idempotency.FinalizeSession),
		Owner:   "me",
		Session: u,
		At:      now(),
		Artifact: artifact.Artifact{
			ID:               u.Artifact,
			Owner:            u.Workspace,
			StorageWorkspace: u.Home,
			Status:           artifact.Live,
			ExpiresAt:        u.CreatedAt.Add(u.Life),
			Draft:            u.Revision,
			DraftAt:          now(),
			Title:            u.Title,
			Entrypoint:       u.Entrypoint,
			FileCount:        1,
			Size:             3,
			CreatedAt:        now(),
			UpdatedAt:        now(),
		},
		Revision: artifact.Revision{
			ID:               u.Revision,
			Artifact:         u.Artifact,
			Status:           artifact.Draft,
			Title:            u.Title,
			Entrypoint:       u.Entrypoint,
			EntrypointExists: true,
			Mode:             media.HTML,
			FileCount:        1,
			Size:             3,
			CreatedAt:        now(),
		},
		Tree: tree.Tree{{
			Path:   entries[0].Path,
			Size:   3,
			SHA256: *entries[0].SHA256,
			Object: entries[0].Object,
		}},
		Event: record(u.Workspace, now()),
	}
	if err := s.Uploads.Claim(ctx, f.Command, f.Owner, f.At, f.At.Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	return f
}

// draft makes a finalized session's revision, of a new artifact unless a is given.
func draft(t testing.TB, s Stores, w workspace.Workspace, k credential.Key, a id.Artifact) artifact.Revision {
	t.Helper()
	u, entries := openSession(t, s, w, k, a)
	f := finalization(t, s, k, u, entries)
	if err := s.Uploads.Finalize(ctx, f); err != nil {
		t.Fatal(err)
	}
	return f.Revision
}

func publication(k credential.Key, r artifact.Revision, number int) artifact.Publication {
	return artifact.Publication{
		Command:   command(k, idempotency.PublishRevision),
		Result:    []byte(`{"a":1}`),
		Workspace: k.Workspace,
		Artifact:  r.Artifact,
		Revision:  r,
		Number:    number,
		First:     number == 1,
		Allowance: 20,
		ExpiresAt: now().Add(24 * time.Hour),
		Renews:    true,
		At:        now(),
		Event:     record(k.Workspace, now()),
	}
}

func TestWhatIsWrittenIsReadBack(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	r := draft(t, s, w, k, "")
	p := publication(k, r, 1)
	p.Share = &artifact.Share{ID: id.NewLink(), Public: id.NewPublic()}
	if err := s.Artifacts.Publish(ctx, p); err != nil {
		t.Fatal(err)
	}
	found, err := s.Access.Find(ctx, k.Public, w.ID, access.Request{
		Operation: p.Command.Key.Operation,
		Target:    p.Command.Key.Target,
		Client:    p.Command.Key.Client,
		Artifact:  r.Artifact,
		Revision:  r.ID,
	})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(*found.Workspace, w) || found.Key.ID != k.ID || !found.Key.ExpiresAt.Equal(k.ExpiresAt) ||
		len(found.Key.Scopes) != 2 {
		t.Errorf("got %+v %+v", found.Workspace, found.Key)
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
	errs := parallel(8, func(int) error { return s.Artifacts.Publish(ctx, p) })
	won := 0
	for _, err := range errs {
		var taken *idempotency.AlreadyDone
		if err == nil {
			won++
		} else if !errors.As(err, &taken) || !taken.Record.Finished(now()) {
			t.Error(err)
		}
	}
	if used, _ := s.Counters.ArtifactsToday(ctx, w.ID, now()); won != 1 || used != 1 {
		t.Errorf("%d won, %d counted", won, used)
	}
}

func TestF21ARevisionIsPublishedOnceWhateverTheKey(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	r := draft(t, s, w, k, "")
	errs := parallel(6, func(int) error { return s.Artifacts.Publish(ctx, publication(k, r, 1)) })
	won := 0
	for _, err := range errs {
		if err == nil {
			won++
		} else if !errors.Is(err, artifact.ErrMoved) {
			t.Error(err)
		}
	}
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
	errs := parallel(tries, func(i int) error {
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
	if err := s.Artifacts.Publish(ctx, publication(k, r, 1)); err != nil {
		t.Fatal(err)
	}
	fs := make([]upload.Finalization, 2)
	for i := range fs {
		u, entries := openSession(t, s, w, k, r.Artifact)
		fs[i] = finalization(t, s, k, u, entries)
	}
	errs := parallel(2, func(i int) error { return s.Uploads.Finalize(ctx, fs[i]) })
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

func parallel(n int, f func(int) error) []error {
	errs := make([]error, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { errs[i] = f(i) })
	}
	wg.Wait()
	return errs
}
