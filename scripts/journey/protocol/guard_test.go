package protocol

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// TestAFinishedReplayIsFreeAndComesBeforeTheLimits also repeats keys with other bodies, which are compared before they
// are judged.
func TestAFinishedReplayIsFreeAndComesBeforeTheLimits(t *testing.T) {
	t.Parallel()
	const uploads, commands = 4, 3                                                           // create and finalize twice; publish twice and delete
	p := harness.NewBackendEnv(t, func(o *stack.Options) { o.Limits.Actor.Limit = uploads }) // no window ends in between
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
