package dynamo

import (
	"context"
	"crypto/sha256"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go/middleware"

	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/entry/claim"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

var ctx = context.Background()

// newClient makes a client of the engine whose calls pass what is added.
func newClient(t testing.TB, add ...func(*middleware.Stack) error) *dynamodb.Client {
	t.Helper()
	e := engine.Shared(t)
	cfg := e.AWS()
	cfg.APIOptions = append(cfg.APIOptions, add...)
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = &e.DynamoDB })
}

// winners counts the calls that succeeded. The others have to have failed as those that lose a race do.
func winners(t testing.TB, errs []error, lost func(error) bool) (n int) {
	t.Helper()
	for _, err := range errs {
		if err == nil {
			n++
		} else if !lost(err) {
			t.Error(err)
		}
	}
	return n
}

// isDone tells that another attempt of a command has finished it.
func isDone(err error) bool {
	taken, ok := errors.AsType[*idempotency.AlreadyDone](err)
	return ok && taken.Record.Finished(now())
}

// count tells how many of the calls that run in parallel had their way.
func count(won []bool) (n int) {
	for _, w := range won {
		if w {
			n++
		}
	}
	return n
}

// newStore makes a store on tables of its own.
func newStore(t testing.TB) Stores {
	t.Helper()
	client, tables := newClient(t), Named("test-"+string(id.NewPublic()))
	noError(t, CreateTables(ctx, client, tables))
	return New(client, tables)
}

// noError ends the test on an error.
func noError(t testing.TB, err error) {
	t.Helper()
	expect.OK(t, err)
}

// must returns the value of a call that has to succeed: must(call())(t).
func must[T any](v T, err error) func(testing.TB) T { return expect.Value(v, err) }

// store writes items as they are.
func store(t testing.TB, s Stores, items ...item) {
	t.Helper()
	for _, i := range items {
		must(s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.tables.Core, Item: i}))(t)
	}
}

// closeWorkspace closes the fences of a workspace, as a claim or a lock does.
func closeWorkspace(t testing.TB, s Stores, w id.Workspace) {
	t.Helper()
	for n := range fences {
		store(t, s, newItem(fenceKey(w, n)).str("into", "elsewhere"))
	}
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
	noError(t, s.Workspaces.Provision(ctx, p))
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
	noError(t, s.Uploads.Create(ctx, c))
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
	noError(t, s.Uploads.Claim(ctx, f.Command, f.Owner, f.At, f.At.Add(time.Minute)))
	return f
}

// draft makes a finalized session's revision, of a new artifact unless a is given.
func draft(t testing.TB, s Stores, w workspace.Workspace, k credential.Key, a id.Artifact) artifact.Revision {
	t.Helper()
	u, entries := openSession(t, s, w, k, a)
	f := finalization(t, s, k, u, entries)
	noError(t, s.Uploads.Finalize(ctx, f))
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

// remove deletes an artifact under a command of a key.
func remove(s Stores, k credential.Key, a artifact.Artifact) error {
	return s.Artifacts.Delete(ctx, artifact.Deletion{
		Command:   command(k, idempotency.DeleteArtifact),
		Result:    []byte(`{}`),
		Workspace: a.Owner,
		Artifact:  a,
		At:        now(),
		Event:     record(a.Owner, now()),
	})
}
