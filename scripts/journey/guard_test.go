package journey

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// TestGuardsSpeakInTheOrderOfTheContract removes one cause of refusal after the other from a request that has them all.
func TestGuardsSpeakInTheOrderOfTheContract(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Now()}
	p := pry(t, now.rule, func(o *stack.Options) { o.Limits.Actor.Limit = 1 })
	g := p.agent(t)
	s := must(g.Create(ctx, wire.NewKey(), wire.Declare("T", page("p"))))(t)
	must(g.Put(ctx, s.Files[0], page("p").Body))(t)
	d := must(p.sibling(t, g, credential.Publish).Finalize(ctx, wire.NewKey(), s.UploadSessionID))(t)
	reader, publisher := p.sibling(t, g, credential.Read), p.sibling(t, g, credential.Publish)
	for _, spender := range []*wire.Agent{reader, publisher} {
		do(t, spender, "GET", p.Origins.API+"/v1/whoami", nil)
	}
	before := p.state(t)
	ask := func(g *wire.Agent, path, idem string) wire.Answer {
		target := p.Origins.API + "/v1/artifacts/" + string(d.ArtifactID) + path
		if idem == "" {
			return do(t, g, "POST", target, "{")
		}
		return do(t, g, "POST", target, "{", "Idempotency-Key", idem)
	}
	publish := "/revisions/" + string(d.RevisionID) + "/publish"
	refused(t, ask(p.anyone, publish+"/", ""), 404, fault.NotFound)
	refused(t, ask(p.anyone, publish, ""), 401, fault.NotAuthenticated)
	refused(t, ask(reader, publish, ""), 400, fault.InvalidIdempotencyKey)
	refused(t, ask(reader, publish, "malformed key"), 400, fault.InvalidIdempotencyKey)
	refused(t, ask(reader, publish, wire.NewKey()), 403, fault.Forbidden)
	limited := ask(publisher, publish, wire.NewKey())
	refused(t, limited, 429, fault.RateLimitedActor)
	now.pass(wait(t, limited))
	refused(t, ask(publisher, publish, wire.NewKey()), 400, fault.InvalidRequest)
	p.unchanged(t, before)
	now.pass(time.Minute)
	if a := tryPublish(t, publisher, wire.NewKey(), d.ArtifactID, d.RevisionID, "{}"); a.Status != http.StatusOK {
		t.Errorf("the correct request answers %d %s", a.Status, a.Code())
	}
}

func TestLimitsSpeakBeforeABodyThatIsTooLargeAndBeforeAListThatIsWrong(t *testing.T) {
	t.Parallel()
	now := &clock{now: time.Now()}
	p := pry(t, now.rule, func(o *stack.Options) { o.Limits.Actor.Limit = 1 })
	g := p.agent(t)
	do(t, g, "GET", p.Origins.API+"/v1/whoami", nil)
	refused(t, do(t, g, "GET", p.Origins.API+"/v1/artifacts?limit=0", nil), 429, fault.RateLimitedActor)
	refused(t, do(t, g, "GET", p.Origins.API+"/v1/artifacts?cursor=x", nil), 429, fault.RateLimitedActor)
	must(g.Create(ctx, wire.NewKey(), wire.Declare("T", page("p"))))(t)
	large := `{"title":"` + strings.Repeat("x", limits.JSONBody) + `"}`
	limited := tryCreate(t, g, wire.NewKey(), large)
	refused(t, limited, 429, fault.RateLimitedActor)
	now.pass(wait(t, limited))
	refused(t, tryCreate(t, g, wire.NewKey(), large), 400, fault.InvalidRequest)
}

// replays are the four commands, each done once with its key and asked again.
type replays struct {
	create                         contract.CreateSession
	createKey, finalizeKey, pubKey string
	deleteKey                      string
	session                        contract.Session
	published                      contract.Published
	gone                           id.Artifact
}

// doneOnce does every command once.
func doneOnce(t *testing.T, g *wire.Agent) (r replays) {
	t.Helper()
	r.createKey = wire.NewKey()
	r.finalizeKey = wire.NewKey()
	r.pubKey = wire.NewKey()
	r.deleteKey = wire.NewKey()
	r.create = wire.Declare("T", page("p"))
	r.session = must(g.Create(ctx, r.createKey, r.create))(t)
	must(g.Put(ctx, r.session.Files[0], page("p").Body))(t)
	d := must(g.Finalize(ctx, r.finalizeKey, r.session.UploadSessionID))(t)
	r.published = must(g.Publish(ctx, r.pubKey, d.ArtifactID, d.RevisionID))(t)
	r.gone = published(t, g, "gone").ArtifactID
	if a := tryDelete(t, g, r.gone, "Idempotency-Key", r.deleteKey); a.Status != http.StatusOK {
		t.Fatal(a.Status, a.Code())
	}
	return r
}

// again repeats every command.
func (r replays) again(t *testing.T, g *wire.Agent) map[string]wire.Answer {
	t.Helper()
	return map[string]wire.Answer{
		"create": tryCreate(t, g, r.createKey, r.create), "finalize": tryFinalize(t, g, r.finalizeKey, r.session.UploadSessionID),
		"publish": tryPublish(t, g, r.pubKey, r.published.ArtifactID, r.published.RevisionID, nil),
		"delete":  tryDelete(t, g, r.gone, "Idempotency-Key", r.deleteKey),
	}
}

func TestAFinishedReplayIsFreeAndComesBeforeTheLimits(t *testing.T) {
	t.Parallel()
	const uploads, commands = 4, 3   // create and finalize twice; publish twice and delete
	clock := &clock{now: time.Now()} // no window ends in between
	p := pry(t, clock.rule, func(o *stack.Options) { o.Limits.Actor.Limit = uploads })
	g := p.agent(t)
	done := doneOnce(t, g)
	for range 3 {
		for name, a := range done.again(t, g) {
			if a.Status != http.StatusOK {
				t.Errorf("replay of %s answers %d %s", name, a.Status, a.Code())
			}
		}
	}
	for range uploads - commands {
		do(t, g, "GET", p.Origins.API+"/v1/whoami", nil)
	}
	refused(t, do(t, g, "GET", p.Origins.API+"/v1/whoami", nil), 429, fault.RateLimitedActor)
	refused(t, tryCreate(t, g, wire.NewKey(), done.create), 429, fault.RateLimitedActor)
	before := p.state(t)
	for name, a := range done.again(t, g) {
		if a.Status != http.StatusOK {
			t.Errorf("beyond the limit the replay of %s answers %d %s", name, a.Status, a.Code())
		}
	}
	other := wire.Declare("other", page("p"))
	refused(t, tryCreate(t, g, done.createKey, other), 400, fault.InvalidIdempotencyKey)
	refused(t, tryCreate(t, g, done.createKey, strings.Repeat("x", limits.JSONBody+1)), 400, fault.InvalidRequest)
	p.unchanged(t, before)
}

func TestAReplayIsComparedBeforeItsBodyIsJudged(t *testing.T) {
	t.Parallel()
	p := pry(t)
	g := p.agent(t)
	done := doneOnce(t, g)
	before := p.state(t)
	refused(t, tryCreate(t, g, done.createKey, `{"title":"no files"}`), 400, fault.InvalidIdempotencyKey)
	refused(t, tryPublish(t, g, done.pubKey, done.published.ArtifactID, done.published.RevisionID, `{"unknown":1}`), 400, fault.InvalidIdempotencyKey)
	p.unchanged(t, before)
}
