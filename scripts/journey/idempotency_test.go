package journey

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// together asks the same eight times at once.
func together(ask func() wire.Answer) []wire.Answer {
	answers := make([]wire.Answer, 8)
	var askers sync.WaitGroup
	for n := range answers {
		askers.Go(func() { answers[n] = ask() })
	}
	askers.Wait()
	return answers
}

// ids are the members of an answer that a repetition may not change.
func ids(t testing.TB, a wire.Answer) string {
	t.Helper()
	var all map[string]any
	succeed(t, json.Unmarshal(a.Body, &all))
	kept := map[string]any{}
	for _, name := range []string{"upload_session_id", "artifact_id", "revision_id", "status", "title", "file_count", "deleted_at"} {
		kept[name] = all[name]
	}
	return string(must(json.Marshal(kept))(t))
}

// once checks that at least one of the answers is a success, that all successes are one and the same, and that the others
// say that it is under way.
func once(t *testing.T, answers []wire.Answer) {
	t.Helper()
	first := ""
	for _, a := range answers {
		if a.Status != http.StatusOK {
			refused(t, a, 409, fault.IdempotencyInFlight)
			continue
		}
		if first == "" {
			first = ids(t, a)
		}
		if got := ids(t, a); got != first {
			t.Errorf("one answer is %s, another %s", first, got)
		}
	}
	if first == "" {
		t.Error("nobody succeeded")
	}
}

func TestF20TheSameRequestAtOnceHasOneEffect(t *testing.T) {
	t.Parallel()
	p := pry(t, unlimited)
	g := p.agent(t)
	key := wire.NewKey() // one for all, as the CLI does it
	r := wire.Declare("Once", page("once"))
	events := func() int { return len(p.all(t, p.names.Events)) }
	step := func(name string, made int, ask func() wire.Answer) wire.Answer {
		before := events()
		once(t, together(ask))
		after := ask()
		if once(t, []wire.Answer{after}); events() != before+made {
			t.Errorf("%s made %d events, want %d", name, events()-before, made)
		}
		return after
	}
	var s contract.Session
	succeed(t, json.Unmarshal(step("create", 1, func() wire.Answer { return tryCreate(t, g, key, r) }).Body, &s))
	must(g.Put(ctx, s.Files[0], page("once").Body))(t)
	step("finalize", 2, func() wire.Answer { return tryFinalize(t, g, key, s.UploadSessionID) })
	publish := func() wire.Answer { return tryPublish(t, g, key, s.ArtifactID, s.RevisionID, nil) }
	step("publish", 1, publish)
	step("delete", 1, func() wire.Answer { return tryDelete(t, g, s.ArtifactID, "Idempotency-Key", key) })
	if n := p.count(t, p.names.Core, "U#"); n != 2 { // one session and its entries
		t.Errorf("%d items of sessions", n)
	}
	if n := p.count(t, p.names.Core, "AL#"); n != 1 {
		t.Errorf("%d share links", n)
	}
	var used string
	for _, item := range p.all(t, p.names.Hot) {
		if strings.HasPrefix(text(item["pk"]), "i:") {
			used += text(item["state"]) + " "
		}
	}
	if used != "done done done done " {
		t.Errorf("the records are %q", used)
	}
}

func TestF21PublishingAtOnceWithOtherKeysPublishesOnce(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	d := draft(t, g, "raced")
	answers := together(func() wire.Answer { return tryPublish(t, g, wire.NewKey(), d.ArtifactID, d.RevisionID, nil) })
	for _, a := range answers {
		if a.Status != http.StatusOK || ids(t, a) != ids(t, answers[0]) {
			t.Errorf("%d %s", a.Status, a.Body)
		}
	}
	var policy contract.UsagePolicy
	succeed(t, json.Unmarshal(do(t, g, "GET", p.Origins.API+"/v1/usage-policy", nil).Body, &policy))
	if left := policy.DailyNewArtifactAllowance - *policy.DailyNewArtifactsRemaining; left != 1 {
		t.Errorf("the day's allowance was used %d times", left)
	}
}

func TestF77AKeyIsForOneTarget(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	key := wire.NewKey()
	one, two := opened(t, g, page("1")), opened(t, g, page("2"))
	for i, s := range []contract.Session{one, two} {
		must(g.Put(ctx, s.Files[0], page([]string{"1", "2"}[i]).Body))(t)
		if d := must(g.Finalize(ctx, key, s.UploadSessionID))(t); d.ArtifactID != s.ArtifactID {
			t.Errorf("finalizing %s answers %s", s.ArtifactID, d.ArtifactID)
		}
	}
	for _, s := range []contract.Session{one, two} {
		if a := must(g.Publish(ctx, key, s.ArtifactID, s.RevisionID))(t); a.ArtifactID != s.ArtifactID || a.RevisionID != s.RevisionID {
			t.Errorf("publishing %s answers %s", s.ArtifactID, a.ArtifactID)
		}
	}
	refused(t, tryPublish(t, g, key, two.ArtifactID, one.RevisionID, nil), 404, fault.RevisionUnpublished)
	refused(t, tryPublish(t, g, key, id.NewArtifact(), one.RevisionID, nil), 404, fault.ArtifactNotFound)
	for _, s := range []contract.Session{one, two} {
		var gone contract.DeletedArtifact
		succeed(t, json.Unmarshal(tryDelete(t, g, s.ArtifactID, "Idempotency-Key", key).Body, &gone))
		if gone.ArtifactID != s.ArtifactID {
			t.Errorf("deleting %s answers %s", s.ArtifactID, gone.ArtifactID)
		}
	}
}

func TestAReplayHasTheSameIdsAndFreshURLs(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Now()}
	p := pry(t, now.rule)
	g := p.agent(t)
	done := doneOnce(t, g)
	now.pass(time.Hour)
	reordered := `{"files":[{"size_bytes":` + string(must(json.Marshal(done.create.Files[0].SizeBytes))(t)) + `,"sha256":"` + done.create.Files[0].SHA256 +
		`","path":"index.html"}],   "entrypoint":"index.html","title":"T"}`
	for name, body := range map[string]any{"the same": done.create, "with its keys in another order": reordered} {
		var s contract.Session
		succeed(t, json.Unmarshal(tryCreate(t, g, done.createKey, body).Body, &s))
		if s.UploadSessionID != done.session.UploadSessionID || s.ArtifactID != done.session.ArtifactID || s.RevisionID != done.session.RevisionID {
			t.Errorf("%s answers other ids", name)
		}
		if s.ExpiresAt != done.session.ExpiresAt || s.Files[0].PutURL == done.session.Files[0].PutURL || !s.Files[0].ExpiresAt.After(done.session.Files[0].ExpiresAt.Time) {
			t.Errorf("%s answers no fresh URL", name)
		}
		if a := putAs(t, g, s.Files[0], page("p").Body); a.Status != http.StatusPreconditionFailed {
			t.Errorf("its URL answers %d", a.Status)
		}
	}
	again := must(g.Publish(ctx, done.pubKey, done.published.ArtifactID, done.published.RevisionID))(t)
	if again.UnlistedURL == done.published.UnlistedURL || again.ExpiresAt != done.published.ExpiresAt || again.RevisionID != done.published.RevisionID {
		t.Errorf("publishing again answers %+v", again.RevisionID)
	}
	now.pass(limits.LinkURLLife - 30*time.Minute) // the first link has ended, the fresh one not
	if _, err := g.Resolve(ctx, again.UnlistedURL); err == nil {
		t.Error("the artifact outlives its expiry")
	}
	now.pass(-time.Hour)
	must(g.Resolve(ctx, again.UnlistedURL))(t)
}

func TestT49AKeyIsItsCallersOwn(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	key, r := wire.NewKey(), wire.Declare("Mine", page("mine"))
	seen := map[id.Session]bool{}
	for _, caller := range []*wire.Agent{g, p.sibling(t, g, credential.Publish), p.agent(t)} {
		seen[must(caller.Create(ctx, key, r))(t).UploadSessionID] = true
	}
	if len(seen) != 3 {
		t.Errorf("three callers opened %d sessions", len(seen))
	}
	a := published(t, g, "gone")
	if first := tryDelete(t, g, a.ArtifactID, "Idempotency-Key", key); first.Status != http.StatusOK {
		t.Fatal(first.Status)
	}
	refused(t, tryDelete(t, p.sibling(t, g, credential.Publish), a.ArtifactID, "Idempotency-Key", key), 404, fault.ArtifactNotFound)
}

func TestT51NoReplayForACallerWhoLostTheRight(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	done := doneOnce(t, g)
	key := "K#" + string(parsed(t, g).Public)
	p.change(t, key, "K", map[string]any{"scopes": "read"})
	for name, a := range done.again(t, g) {
		t.Run("without the scope, "+name, func(t *testing.T) { refused(t, a, 403, fault.Forbidden) })
	}
	p.change(t, key, "K", map[string]any{"scopes": "publish read"})
	if a := do(t, g, "POST", p.Origins.API+"/v1/api-keys/current/revoke", nil); a.Status != http.StatusOK {
		t.Fatal(a.Status)
	}
	for name, a := range done.again(t, g) {
		t.Run("revoked, "+name, func(t *testing.T) { refused(t, a, 401, fault.NotAuthenticated) })
	}
}

func TestAFailedAttemptLeavesItsKeyFree(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	s, d := opened(t, g, page("p")), draft(t, g, "draft")
	key := wire.NewKey()
	before := p.state(t)
	wrong := wire.Declare("", page("p"))
	refused(t, tryCreate(t, g, key, wrong), 400, fault.InvalidRequest)
	wrong.Title, wrong.ArtifactID = "T", id.NewArtifact()
	refused(t, tryCreate(t, g, key, wrong), 404, fault.ArtifactNotFound)
	refused(t, tryFinalize(t, g, key, s.UploadSessionID), 409, fault.UploadIncomplete)
	refused(t, tryPublish(t, g, key, d.ArtifactID, s.RevisionID, nil), 404, fault.RevisionUnpublished)
	refused(t, tryPublish(t, g, key, s.ArtifactID, s.RevisionID, nil), 404, fault.ArtifactNotFound)
	refused(t, tryDelete(t, g, s.ArtifactID, "Idempotency-Key", key), 404, fault.ArtifactNotFound)
	for _, refusal := range []string{"TransactWriteItems", "ListObjectsV2"} {
		p.faults.On(refusal).Before(chaos.Fail(errDown))
	}
	refused(t, tryCreate(t, g, key, wire.Declare("T", page("p"))), 503, fault.DatabaseUnavailable)
	refused(t, tryFinalize(t, g, key, s.UploadSessionID), 503, fault.StorageUnavailable)
	p.unchanged(t, before)
	must(g.Create(ctx, key, wire.Declare("T", page("p"))))(t)
	must(g.Put(ctx, s.Files[0], page("p").Body))(t)
	must(g.Finalize(ctx, key, s.UploadSessionID))(t)
	must(g.Publish(ctx, key, s.ArtifactID, s.RevisionID))(t)
	if a := tryDelete(t, g, s.ArtifactID, "Idempotency-Key", key); a.Status != http.StatusOK {
		t.Errorf("deleting answers %d %s", a.Status, a.Code())
	}
}

func TestF05ALostAnswerIsGivenAgain(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	key, r := wire.NewKey(), wire.Declare("Lost", page("lost"))
	lost := func(ask func() wire.Answer) wire.Answer {
		t.Helper()
		p.faults.On("TransactWriteItems").After(chaos.Fail(errDown))
		refused(t, ask(), 503, fault.DatabaseUnavailable)
		after := p.state(t)
		again := ask()
		if again.Status != http.StatusOK {
			t.Fatalf("again it answers %d %s", again.Status, again.Code())
		}
		p.unchanged(t, after)
		return again
	}
	var s contract.Session
	succeed(t, json.Unmarshal(lost(func() wire.Answer { return tryCreate(t, g, key, r) }).Body, &s))
	must(g.Put(ctx, s.Files[0], page("lost").Body))(t)
	lost(func() wire.Answer { return tryFinalize(t, g, key, s.UploadSessionID) })
	lost(func() wire.Answer { return tryPublish(t, g, key, s.ArtifactID, s.RevisionID, nil) })
	lost(func() wire.Answer { return tryDelete(t, g, s.ArtifactID) })
}

func TestF03AnAttemptThatDiedIsTakenOverWhenItsLeaseEnds(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Now()}
	p := pry(t, now.rule)
	g := p.agent(t)
	s := opened(t, g, page("p"))
	must(g.Put(ctx, s.Files[0], page("p").Body))(t)
	p.faults.On("ListObjectsV2").Before(chaos.Fail(errDown))
	p.faults.On("DeleteItem").Before(chaos.Fail(errDown)) // nobody gives the command back
	key := wire.NewKey()
	refused(t, tryFinalize(t, g, key, s.UploadSessionID), 503, fault.StorageUnavailable)
	refused(t, tryFinalize(t, g, key, s.UploadSessionID), 409, fault.IdempotencyInFlight)
	now.pass(limits.FinalizeLease - time.Second)
	refused(t, tryFinalize(t, g, key, s.UploadSessionID), 409, fault.IdempotencyInFlight)
	now.pass(time.Second + time.Millisecond)
	must(g.Finalize(ctx, key, s.UploadSessionID))(t)
}

func TestF54ARecordThatEndedHasNoEffect(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	key := wire.NewKey()
	first := must(g.Create(ctx, key, wire.Declare("first", page("p"))))(t)
	for _, item := range p.all(t, p.names.Hot) {
		if strings.HasPrefix(text(item["pk"]), "i:") {
			item["ttl"] = &types.AttributeValueMemberN{Value: "1000000000"}
			must(p.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &p.names.Hot, Item: item}))(t)
		}
	}
	if s := must(g.Create(ctx, key, wire.Declare("second", page("p"))))(t); s.UploadSessionID == first.UploadSessionID {
		t.Error("an ended record is replayed")
	}
}

// plain is everything that an attribute says: bytes as they are, and unpacked.
func plain(v types.AttributeValue) string {
	b, ok := v.(*types.AttributeValueMemberB)
	if !ok {
		return text(v)
	}
	unpacked, _ := io.ReadAll(flate.NewReader(bytes.NewReader(b.Value)))
	return string(b.Value) + string(unpacked)
}

func TestT52NoSecretIsStored(t *testing.T) {
	t.Parallel()
	p := pry(t, unlimited)
	g, provisioned, err := p.anyone.Provision(ctx)
	succeed(t, err)
	done := doneOnce(t, g)
	done.again(t, g)
	resolved := must(g.Resolve(ctx, done.published.UnlistedURL))(t)
	secrets := append(secretsOf(provisioned), secretsIn(t, done.session, done.published, resolved, must(g.AgentView(ctx, done.published.ArtifactID))(t))...)
	for _, s := range secrets {
		if raw, err := base64.RawURLEncoding.DecodeString(s); err == nil && len(raw) >= 16 {
			secrets = append(secrets, string(raw))
		}
	}
	var all strings.Builder
	for _, table := range []string{p.names.Core, p.names.Events, p.names.Hot} {
		for _, item := range p.all(t, table) {
			for name, v := range item {
				all.WriteString(name + " " + plain(v) + "\n")
			}
		}
	}
	if !strings.Contains(all.String(), "index.html") || !strings.Contains(all.String(), string(done.published.ArtifactID)) {
		t.Fatal("the scan sees nothing")
	}
	for n, s := range secrets {
		if strings.Contains(all.String(), s) {
			t.Errorf("secret %d of %d bytes is stored", n, len(s))
		}
	}
}
