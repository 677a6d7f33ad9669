package protocol

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// TestGuardsSpeakInTheOrderOfTheContract removes one cause of refusal after the other from a request that has them all.
func TestGuardsSpeakInTheOrderOfTheContract(t *testing.T) {
	t.Parallel()
	now := harness.NewClock()
	p := harness.NewBackendEnv(t, now.Use, func(o *stack.Options) { o.Limits.Actor.Limit = 1 })
	g := p.NewAgent(t)
	s := harness.Must(g.Create(ctx, wire.NewKey(), wire.Declare("T", harness.Page("p"))))(t)
	harness.Must(g.Put(ctx, s.Files[0], harness.Page("p").Body))(t)
	d := harness.Must(p.NewKey(t, g, credential.Publish).Finalize(ctx, wire.NewKey(), s.UploadSessionID))(t)
	reader, publisher := p.NewKey(t, g, credential.Read), p.NewKey(t, g, credential.Publish)
	for _, spender := range []*wire.Agent{reader, publisher} {
		harness.Do(t, spender, "GET", p.Origins.API+"/v1/whoami", nil)
	}
	before := p.Snapshot(t)
	ask := func(g *wire.Agent, path, idem string) wire.Answer {
		target := p.Origins.API + "/v1/artifacts/" + string(d.ArtifactID) + path
		if idem == "" {
			return harness.Do(t, g, "POST", target, "{")
		}
		return harness.Do(t, g, "POST", target, "{", "Idempotency-Key", idem)
	}
	publish := "/revisions/" + string(d.RevisionID) + "/publish"
	harness.WantRefused(t, ask(p.Anyone, publish+"/", ""), 404, fault.NotFound)
	harness.WantRefused(t, ask(p.Anyone, publish, ""), 401, fault.NotAuthenticated)
	harness.WantRefused(t, ask(reader, publish, ""), 400, fault.InvalidIdempotencyKey)
	harness.WantRefused(t, ask(reader, publish, "malformed key"), 400, fault.InvalidIdempotencyKey)
	harness.WantRefused(t, ask(reader, publish, wire.NewKey()), 403, fault.Forbidden)
	limited := ask(publisher, publish, wire.NewKey())
	harness.WantRefused(t, limited, 429, fault.RateLimitedActor)
	now.Advance(harness.RetryAfter(t, limited))
	harness.WantRefused(t, ask(publisher, publish, wire.NewKey()), 400, fault.InvalidRequest)
	p.WantUnchanged(t, before)
	now.Advance(time.Minute)
	if a := harness.TryPublish(t, publisher, wire.NewKey(), d.ArtifactID, d.RevisionID, "{}"); a.Status != http.StatusOK {
		t.Errorf("the correct request answers %d %s", a.Status, a.Code())
	}
}

// TestAFinishedReplayIsFreeAndComesBeforeTheLimits also repeats keys with other bodies, which are compared before they
// are judged.
func TestAFinishedReplayIsFreeAndComesBeforeTheLimits(t *testing.T) {
	t.Parallel()
	const uploads, commands = 4, 3 // create and finalize twice; publish twice and delete
	clock := harness.NewClock()    // no window ends in between
	p := harness.NewBackendEnv(t, clock.Use, func(o *stack.Options) { o.Limits.Actor.Limit = uploads })
	g := p.NewAgent(t)
	done := harness.NewReplays(t, g)
	for range 3 {
		for name, a := range done.Repeat(t, g) {
			if a.Status != http.StatusOK {
				t.Errorf("replay of %s answers %d %s", name, a.Status, a.Code())
			}
		}
	}
	for range uploads - commands {
		harness.Do(t, g, "GET", p.Origins.API+"/v1/whoami", nil)
	}
	harness.WantRefused(t, harness.Do(t, g, "GET", p.Origins.API+"/v1/whoami", nil), 429, fault.RateLimitedActor)
	harness.WantRefused(t, harness.TryCreate(t, g, wire.NewKey(), done.Create), 429, fault.RateLimitedActor)
	before := p.Snapshot(t)
	for name, a := range done.Repeat(t, g) {
		if a.Status != http.StatusOK {
			t.Errorf("beyond the limit the replay of %s answers %d %s", name, a.Status, a.Code())
		}
	}
	for _, other := range []any{wire.Declare("other", harness.Page("p")), `{"title":"no files"}`} {
		harness.WantRefused(t, harness.TryCreate(t, g, done.CreateKey, other), 400, fault.InvalidIdempotencyKey)
	}
	large := strings.Repeat("x", limits.JSONBody+1)
	harness.WantRefused(t, harness.TryCreate(t, g, done.CreateKey, large), 400, fault.InvalidRequest)
	p.WantUnchanged(t, before)
}
