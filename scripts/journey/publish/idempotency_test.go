package publish

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

func TestF20TheSameRequestAtOnceHasOneEffect(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g := p.NewAgent(t)
	key := wire.NewKey() // one for all, as the CLI does it
	r := wire.Declare("Once", harness.Page("once"))
	events := func() int { return len(p.Scan(t, p.Tables.Events)) }
	step := func(name string, made int, ask func() wire.Answer) wire.Answer {
		before := events()
		harness.WantOneEffect(t, harness.Together(ask))
		after := ask()
		if harness.WantOneEffect(t, []wire.Answer{after}); events() != before+made {
			t.Errorf("%s made %d events, want %d", name, events()-before, made)
		}
		return after
	}
	var s contract.Session
	harness.Decode(t, step("create", 1, func() wire.Answer { return harness.TryCreate(t, g, key, r) }), &s)
	harness.Must(g.Put(ctx, s.Files[0], harness.Page("once").Body))(t)
	step("finalize", 1, func() wire.Answer { return harness.TryFinalize(t, g, key, s.UploadSessionID) })
	publish := func() wire.Answer { return harness.TryPublish(t, g, key, s.ArtifactID, s.RevisionID, nil) }
	step("publish", 1, publish)
	step("delete", 1, func() wire.Answer { return harness.TryDelete(t, g, s.ArtifactID, "Idempotency-Key", key) })
	if n := p.CountItems(t, p.Tables.Core, "U#"); n != 1 { // one session with its entries
		t.Errorf("%d items of sessions", n)
	}
	if n := p.CountItems(t, p.Tables.Core, "AL#"); n != 1 {
		t.Errorf("%d share links", n)
	}
	var used string
	for _, item := range p.Scan(t, p.Tables.Hot) {
		if strings.HasPrefix(harness.Text(item["pk"]), "i:") {
			used += harness.Text(item["state"]) + " "
		}
	}
	if used != "done done done done " {
		t.Errorf("the records are %q", used)
	}
}

func TestF77AKeyIsForOneTarget(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	key := wire.NewKey()
	sessions := []contract.Session{openSession(t, g, harness.Page("1")), openSession(t, g, harness.Page("2"))}
	for i, s := range sessions {
		harness.Must(g.Put(ctx, s.Files[0], harness.Page(fmt.Sprint(i+1)).Body))(t)
		if d := harness.Must(g.Finalize(ctx, key, s.UploadSessionID))(t); d.ArtifactID != s.ArtifactID {
			t.Errorf("finalizing %s answers %s", s.ArtifactID, d.ArtifactID)
		}
	}
	one, two := sessions[0], sessions[1]
	for _, s := range sessions {
		if a := harness.Must(g.Publish(ctx, key, s.ArtifactID, s.RevisionID))(t); a.RevisionID != s.RevisionID {
			t.Errorf("publishing %s answers %s", s.RevisionID, a.RevisionID)
		}
	}
	mixed := harness.TryPublish(t, g, key, two.ArtifactID, one.RevisionID, nil)
	harness.WantRefused(t, mixed, 404, fault.RevisionUnpublished)
	mixed = harness.TryPublish(t, g, key, id.NewArtifact(), one.RevisionID, nil)
	harness.WantRefused(t, mixed, 404, fault.ArtifactNotFound)
	for _, s := range sessions {
		var gone contract.DeletedArtifact
		harness.Decode(t, harness.TryDelete(t, g, s.ArtifactID, "Idempotency-Key", key), &gone)
		if gone.ArtifactID != s.ArtifactID {
			t.Errorf("deleting %s answers %s", s.ArtifactID, gone.ArtifactID)
		}
	}
}

func TestT49AKeyIsItsCallersOwn(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	key, r := wire.NewKey(), wire.Declare("Mine", harness.Page("mine"))
	seen := map[id.Session]bool{}
	for _, caller := range []*wire.Agent{g, p.NewKey(t, g, credential.Publish), p.NewAgent(t)} {
		seen[harness.Must(caller.Create(ctx, key, r))(t).UploadSessionID] = true
	}
	if len(seen) != 3 {
		t.Errorf("three callers opened %d sessions", len(seen))
	}
	a := harness.PublishPage(t, g, "gone")
	if first := harness.TryDelete(t, g, a.ArtifactID, "Idempotency-Key", key); first.Status != http.StatusOK {
		t.Fatal(first.Status)
	}
	other := harness.TryDelete(t, p.NewKey(t, g, credential.Publish), a.ArtifactID, "Idempotency-Key", key)
	harness.WantRefused(t, other, 404, fault.ArtifactNotFound)
}

func TestAFailedAttemptLeavesItsKeyFree(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	s, d := openSession(t, g, harness.Page("p")), harness.DraftPage(t, g, "draft")
	key := wire.NewKey()
	before := p.Snapshot(t)
	wrong := wire.Declare("", harness.Page("p"))
	harness.WantRefused(t, harness.TryCreate(t, g, key, wrong), 400, fault.InvalidRequest)
	wrong.Title, wrong.ArtifactID = "T", id.NewArtifact()
	harness.WantRefused(t, harness.TryCreate(t, g, key, wrong), 404, fault.ArtifactNotFound)
	harness.WantRefused(t, harness.TryFinalize(t, g, key, s.UploadSessionID), 409, fault.UploadIncomplete)
	harness.WantRefused(t, harness.TryPublish(t, g, key, d.ArtifactID, s.RevisionID, nil), 404, fault.RevisionUnpublished)
	harness.WantRefused(t, harness.TryPublish(t, g, key, s.ArtifactID, s.RevisionID, nil), 404, fault.ArtifactNotFound)
	harness.WantRefused(t, harness.TryDelete(t, g, s.ArtifactID, "Idempotency-Key", key), 404, fault.ArtifactNotFound)
	for _, refusal := range []string{"TransactWriteItems", "ListObjectsV2"} {
		p.Faults.On(refusal).Before(chaos.Fail(harness.ErrDown))
	}
	harness.WantRefused(
		t, harness.TryCreate(t, g, key, wire.Declare("T", harness.Page("p"))), 503, fault.DatabaseUnavailable,
	)
	harness.WantRefused(t, harness.TryFinalize(t, g, key, s.UploadSessionID), 503, fault.StorageUnavailable)
	p.WantUnchanged(t, before)
	harness.Must(g.Create(ctx, key, wire.Declare("T", harness.Page("p"))))(t)
	harness.Must(g.Put(ctx, s.Files[0], harness.Page("p").Body))(t)
	harness.Must(g.Finalize(ctx, key, s.UploadSessionID))(t)
	harness.Must(g.Publish(ctx, key, s.ArtifactID, s.RevisionID))(t)
	if a := harness.TryDelete(t, g, s.ArtifactID, "Idempotency-Key", key); a.Status != http.StatusOK {
		t.Errorf("deleting answers %d %s", a.Status, a.Code())
	}
}
