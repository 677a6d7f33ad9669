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
	step := func(name string, ask func() (wire.Answer, error)) wire.Answer {
		before := events()
		harness.WantOneEffect(t, harness.Together(func() wire.Answer { return harness.Must(ask())(t) }))
		after := harness.Must(ask())(t)
		if harness.WantOneEffect(t, []wire.Answer{after}); events() != before+1 {
			t.Errorf("%s made %d events, want 1", name, events()-before)
		}
		return after
	}
	var s contract.Session
	harness.Decode(t, step("create", func() (wire.Answer, error) { return harness.Create(g, key, r) }), &s)
	harness.Must(g.Put(ctx, s.Files[0], harness.Page("once").Body))(t)
	step("finalize", func() (wire.Answer, error) { return harness.Finalize(g, key, s.UploadSessionID) })
	step("publish", func() (wire.Answer, error) { return harness.Publish(g, key, s.ArtifactID, s.RevisionID) })
	step("delete", func() (wire.Answer, error) { return harness.Delete(g, s.ArtifactID, "Idempotency-Key", key) })
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
	mixed := harness.Must(harness.Publish(g, key, two.ArtifactID, one.RevisionID))(t)
	harness.WantRefused(t, mixed, 404, fault.RevisionUnpublished)
	mixed = harness.Must(harness.Publish(g, key, id.NewArtifact(), one.RevisionID))(t)
	harness.WantRefused(t, mixed, 404, fault.ArtifactNotFound)
	for _, s := range sessions {
		var gone contract.DeletedArtifact
		harness.Decode(t, harness.Must(harness.Delete(g, s.ArtifactID, "Idempotency-Key", key))(t), &gone)
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
	if first := harness.Must(harness.Delete(g, a.ArtifactID, "Idempotency-Key", key))(t); first.Status != http.StatusOK {
		t.Fatal(first.Status)
	}
	other := harness.Must(harness.Delete(p.NewKey(t, g, credential.Publish), a.ArtifactID, "Idempotency-Key", key))(t)
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
	harness.WantRefused(t, harness.Must(harness.Create(g, key, wrong))(t), 400, fault.InvalidRequest)
	wrong.Title, wrong.ArtifactID = "T", id.NewArtifact()
	harness.WantRefused(t, harness.Must(harness.Create(g, key, wrong))(t), 404, fault.ArtifactNotFound)
	harness.WantRefused(t, harness.Must(harness.Finalize(g, key, s.UploadSessionID))(t), 409, fault.UploadIncomplete)
	harness.WantRefused(
		t, harness.Must(harness.Publish(g, key, d.ArtifactID, s.RevisionID))(t), 404, fault.RevisionUnpublished,
	)
	harness.WantRefused(
		t, harness.Must(harness.Publish(g, key, s.ArtifactID, s.RevisionID))(t), 404, fault.ArtifactNotFound,
	)
	harness.WantRefused(
		t, harness.Must(harness.Delete(g, s.ArtifactID, "Idempotency-Key", key))(t), 404, fault.ArtifactNotFound,
	)
	for _, refusal := range []string{"TransactWriteItems", "ListObjectsV2"} {
		p.Faults.On(refusal).Before(chaos.Fail(harness.ErrDown))
	}
	harness.WantRefused(
		t, harness.Must(harness.Create(g, key, wire.Declare("T", harness.Page("p"))))(t), 503, fault.DatabaseUnavailable,
	)
	harness.WantRefused(t, harness.Must(harness.Finalize(g, key, s.UploadSessionID))(t), 503, fault.StorageUnavailable)
	p.WantUnchanged(t, before)
	harness.Must(g.Create(ctx, key, wire.Declare("T", harness.Page("p"))))(t)
	harness.Must(g.Put(ctx, s.Files[0], harness.Page("p").Body))(t)
	harness.Must(g.Finalize(ctx, key, s.UploadSessionID))(t)
	harness.Must(g.Publish(ctx, key, s.ArtifactID, s.RevisionID))(t)
	if a := harness.Must(harness.Delete(g, s.ArtifactID, "Idempotency-Key", key))(t); a.Status != http.StatusOK {
		t.Errorf("deleting answers %d %s", a.Status, a.Code())
	}
}
