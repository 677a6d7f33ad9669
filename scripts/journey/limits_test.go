package journey

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// limited is a deployment with small limits and a clock that the test moves.
func limited(t *testing.T, change func(*limits.Limits)) *probe {
	t.Helper()
	now := &clock{now: time.Now()}
	p := pry(t, now.rule, func(o *stack.Options) { change(&o.Limits) })
	p.clock = now
	return p
}

// spent checks that asking is refused with the code, still a second before the time that Retry-After told, and works
// again when that time has passed.
func (p *probe) spent(t *testing.T, code fault.Code, ask func() wire.Answer) {
	t.Helper()
	a := ask()
	refused(t, a, 429, code)
	if w := wait(t, a); w > time.Minute {
		t.Errorf("%s: Retry-After is %s in a window of a minute", code, w)
	}
	p.clock.pass(wait(t, a) - time.Second)
	again := ask()
	if refused(t, again, 429, code); wait(t, again) != time.Second {
		t.Errorf("%s: a second before the end Retry-After is %s", code, wait(t, again))
	}
	p.clock.pass(time.Second)
	if a := ask(); a.Status >= 300 {
		t.Errorf("F56 %s: after Retry-After it answers %d %s", code, a.Status, a.Code())
	}
}

func TestF56ACredentialWaitsAsLongAsItIsTold(t *testing.T) {
	t.Parallel()
	p := limited(t, func(l *limits.Limits) { l.Actor.Limit = 3 })
	g := p.agent(t)
	other := p.sibling(t, g, credential.Read)
	who := func() wire.Answer { return do(t, g, "GET", p.Origins.API+"/v1/whoami", nil) }
	for n := range 3 {
		if a := who(); a.Status != http.StatusOK {
			t.Fatalf("request %d answers %d", n+1, a.Status)
		}
	}
	refused(t, who(), 429, fault.RateLimitedActor)
	if a := do(t, other, "GET", p.Origins.API+"/v1/whoami", nil); a.Status != http.StatusOK {
		t.Errorf("another key of the workspace answers %d", a.Status)
	}
	if a := do(t, g, "GET", p.Origins.API+"/v1/usage-policy", nil); a.Status != http.StatusOK {
		t.Errorf("the usage policy, which is not limited, answers %d", a.Status)
	}
	// The upload host counts by itself.
	for range 3 {
		must(g.Create(ctx, wire.NewKey(), wire.Declare("T", page("p"))))(t)
	}
	refused(t, tryCreate(t, g, wire.NewKey(), wire.Declare("T", page("p"))), 429, fault.RateLimitedActor)
	p.spent(t, fault.RateLimitedActor, who)
}

func TestF56AWorkspaceWaitsAsLongAsItIsTold(t *testing.T) {
	t.Parallel()
	p := limited(t, func(l *limits.Limits) { l.Workspace.Limit = 4 })
	g, stranger := p.agent(t), p.agent(t)
	other := p.sibling(t, g, credential.Read)
	for n := range 4 {
		if a := do(t, []*wire.Agent{g, other}[n%2], "GET", p.Origins.API+"/v1/whoami", nil); a.Status != http.StatusOK {
			t.Fatalf("request %d answers %d", n+1, a.Status)
		}
	}
	refused(t, do(t, other, "GET", p.Origins.API+"/v1/whoami", nil), 429, fault.RateLimitedWorkspace)
	must(g.Create(ctx, wire.NewKey(), wire.Declare("T", page("p"))))(t)
	if a := do(t, stranger, "GET", p.Origins.API+"/v1/whoami", nil); a.Status != http.StatusOK {
		t.Errorf("another workspace answers %d", a.Status)
	}
	p.spent(t, fault.RateLimitedWorkspace, func() wire.Answer { return do(t, g, "GET", p.Origins.API+"/v1/whoami", nil) })
}

func TestTheCredentialIsNamedBeforeTheWorkspace(t *testing.T) {
	t.Parallel()
	p := limited(t, func(l *limits.Limits) { l.Actor.Limit, l.Workspace.Limit = 1, 1 })
	g := p.agent(t)
	who := func() wire.Answer { return do(t, g, "GET", p.Origins.API+"/v1/whoami", nil) }
	who()
	refused(t, who(), 429, fault.RateLimitedActor)
}

func TestARefusedRequestHasNoEffectAndIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	p := limited(t, func(l *limits.Limits) { l.Actor.Limit = 1 })
	g := p.agent(t)
	do(t, g, "GET", p.Origins.API+"/v1/whoami", nil)
	must(g.Create(ctx, wire.NewKey(), wire.Declare("T", page("p"))))(t)
	before := p.state(t)
	refused(t, tryCreate(t, g, wire.NewKey(), wire.Declare("T", page("p"))), 429, fault.RateLimitedActor)
	refused(t, do(t, g, "POST", p.Origins.API+"/v1/api-keys/current/revoke", nil), 429, fault.RateLimitedActor)
	p.unchanged(t, before)
	writes := p.faults.On("UpdateItem").If(chaos.Key("pk", "r:actor:")).Always()
	for range 5 {
		refused(t, do(t, g, "GET", p.Origins.API+"/v1/whoami", nil), 429, fault.RateLimitedActor)
	}
	if n := writes.Fired(); n != 0 {
		t.Errorf("refusing a flood cost %d writes", n)
	}
	p.clock.pass(time.Minute)
	do(t, g, "GET", p.Origins.API+"/v1/whoami", nil)
}

func TestF58ReadsOfAnArtifactShareOneLimit(t *testing.T) {
	t.Parallel()
	p := limited(t, func(l *limits.Limits) { l.Artifact.Limit = 8 })
	g := p.agent(t)
	a, other := published(t, g, "popular"), published(t, g, "other")
	first := p.get(t, a.RevisionContentURL)
	for name, ask := range map[string]func() wire.Answer{
		"HEAD":        func() wire.Answer { return do(t, p.anyone, "HEAD", a.RevisionContentURL, nil) },
		"conditional": func() wire.Answer { return p.get(t, a.RevisionContentURL, "If-None-Match", first.Header.Get("ETag")) },
		"range":       func() wire.Answer { return p.get(t, a.RevisionContentURL, "Range", "bytes=0-0") },
		"view":        func() wire.Answer { return p.get(t, a.AgentViewURL) },
		"link": func() wire.Answer {
			return do(t, p.anyone, "POST", p.Origins.API+"/v1/access-links/resolve", linkOf(t, a.UnlistedURL))
		},
		"page": func() wire.Answer {
			return do(t, p.anyone, "POST", p.Origins.App+"/api/access-links/resolve", linkOf(t, a.UnlistedURL))
		},
		"no file": func() wire.Answer { return p.get(t, a.RevisionContentURL+".none") },
	} {
		if got := ask(); got.Status >= 400 && name != "no file" {
			t.Errorf("%s answers %d %s", name, got.Status, got.Code())
		}
	}
	for name, ask := range map[string]func() wire.Answer{
		"conditional": func() wire.Answer { return p.get(t, a.RevisionContentURL, "If-None-Match", first.Header.Get("ETag")) },
		"view":        func() wire.Answer { return p.get(t, a.AgentViewURL) },
		"link": func() wire.Answer {
			return do(t, p.anyone, "POST", p.Origins.API+"/v1/access-links/resolve", linkOf(t, a.UnlistedURL))
		},
	} {
		t.Run(name, func(t *testing.T) { refused(t, ask(), 429, fault.RateLimitedArtifact) })
	}
	p.reads(t, other.RevisionContentURL, page("other").Body)
	if view := must(g.AgentView(ctx, a.ArtifactID))(t); view.ArtifactID != a.ArtifactID {
		t.Error("the owner's own view is not limited, but does not open")
	}
	p.spent(t, fault.RateLimitedArtifact, func() wire.Answer { return p.get(t, a.RevisionContentURL) })
	tryDelete(t, g, a.ArtifactID)
	for range 8 {
		p.gone(t, a.RevisionContentURL) // a closed gate is not found, however often
	}
}

// TestT57ReadsThatAreRefusedAreNobodyElses floods an artifact by a link that was revoked and by a view that is locked.
func TestT57ReadsThatAreRefusedAreNobodyElses(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t, func(o *stack.Options) {
		o.Limits = limits.Default()
		o.Limits.Artifact.Limit, o.Limits.Refused.Limit = 9, 4
	})
	a := s.made.ArtifactID
	revoked, locked := links(t, s.agent, a, revisionLink(s.made.RevisionID)), links(t, s.agent, a, shareLink)
	had := s.opensLink(t, minted(t, s.agent, revoked.ID), "shared") // 2 reads
	url := minted(t, s.agent, locked.ID)
	revokes(t, s.agent, revoked.ID)
	for range 12 {
		s.denied(t, had)
	}
	s.reads(t, s.made.RevisionContentURL, page("shared").Body)
	lock := "/v1/web/artifacts/" + string(a) + "/access-link-lockdown"
	asks[contract.WebArtifact](t, s.who, 200, "POST", lock, nil, keyed()...)
	for range 12 {
		refused(t, s.resolves(t, url), 404, fault.NotFound)
		s.gone(t, s.made.AgentViewURL)
	}
	for range 6 { // all that is left
		s.reads(t, s.made.RevisionContentURL, page("shared").Body)
	}
	refused(t, s.get(t, s.made.RevisionContentURL), 429, fault.RateLimitedArtifact)
	s.denied(t, had)
	asks[contract.WebArtifact](t, s.who, 200, "POST", lock+"/lift", nil, keyed()...)
	s.clock.pass(time.Minute)
	s.opensLink(t, url, "shared")
	if view := s.get(t, s.made.AgentViewURL); view.Status != http.StatusOK {
		t.Errorf("a minute later the public view answers %d", view.Status)
	}
}

// linkOf is the request that an access link makes.
func linkOf(t testing.TB, link string) contract.ResolveRequest {
	t.Helper()
	public, blob, err := wire.SplitLink(link)
	succeed(t, err)
	return contract.ResolveRequest{PublicID: public, Blob: blob}
}

func TestF46WithoutItsCounterALimitRefuses(t *testing.T) {
	t.Parallel()
	p := limited(t, func(*limits.Limits) {})
	g := p.agent(t)
	a := published(t, g, "counted")
	before := p.state(t)
	down := func(kind string) {
		p.faults.On("UpdateItem").If(chaos.Key("pk", "r:"+kind+":")).Before(chaos.Fail(errDown))
	}
	down("actor")
	refused(t, do(t, g, "GET", p.Origins.API+"/v1/whoami", nil), 429, fault.RateLimitedActor)
	down("workspace")
	refused(t, tryCreate(t, g, wire.NewKey(), wire.Declare("T", page("p"))), 429, fault.RateLimitedWorkspace)
	down("artifact")
	refused(t, p.get(t, a.RevisionContentURL), 429, fault.RateLimitedArtifact)
	p.unchanged(t, before)
	p.reads(t, a.RevisionContentURL, page("counted").Body) // nothing is remembered of it
	do(t, g, "GET", p.Origins.API+"/v1/whoami", nil)
}

// remaining is what the usage policy says is left of the day.
func remaining(t *testing.T, g *wire.Agent) int {
	t.Helper()
	var policy contract.UsagePolicy
	succeed(t, json.Unmarshal(do(t, g, "GET", g.At.APIURL+"/v1/usage-policy", nil).Body, &policy))
	return *policy.DailyNewArtifactsRemaining
}

func TestF49TheDaysAllowanceEndsAtMidnightUTC(t *testing.T) {
	t.Parallel()
	p := limited(t, func(*limits.Limits) {})
	g := p.agent(t)
	tomorrow := p.clock.now.UTC().Truncate(limits.Day).Add(limits.Day)
	p.clock.pass(tomorrow.Add(-100 * time.Millisecond).Sub(p.clock.now)) // 23:59:59.9
	empty := wire.File{Path: "empty.txt"}
	for n := range 20 {
		if left := remaining(t, g); left != 20-n {
			t.Fatalf("%d are left after %d", left, n)
		}
		must(g.PublishFiles(ctx, "today", "", empty))(t)
	}
	last := must(g.Draft(ctx, wire.NewKey(), wire.Declare("one more", empty), empty))(t)
	before, key := p.state(t), wire.NewKey()
	a := tryPublish(t, g, key, last.ArtifactID, last.RevisionID, nil)
	if refused(t, a, 429, fault.WriteAllowanceExceeded); wait(t, a) != time.Second {
		t.Errorf("100 ms before midnight Retry-After is %s", wait(t, a))
	}
	p.unchanged(t, before)
	p.clock.pass(wait(t, a))
	must(g.Publish(ctx, key, last.ArtifactID, last.RevisionID))(t)
	if left := remaining(t, g); left != 19 {
		t.Errorf("on the next day %d are left", left)
	}
}

func TestTheAllowanceTellsHowLongTheDayIs(t *testing.T) {
	t.Parallel()
	p := limited(t, tier(func(p *limits.Policy) { p.NewArtifactsPerDay = limits.AllowanceShards }))
	g := p.agent(t)
	p.clock.pass(p.clock.now.UTC().Truncate(limits.Day).Add(limits.Day + 6*time.Hour).Sub(p.clock.now)) // 06:00
	a := publishDaily(t, p, g)
	if refused(t, a, 429, fault.WriteAllowanceExceeded); wait(t, a) != 18*time.Hour {
		t.Errorf("at 06:00 Retry-After is %s", wait(t, a))
	}
}

func TestF50AtTheLastPlaceOfTheDayOneOfTenWins(t *testing.T) {
	t.Parallel()
	p := limited(t, func(*limits.Limits) {})
	g := p.agent(t)
	empty := wire.File{Path: "empty.txt"}
	drafts := make([]contract.Finalized, 10)
	for n := range drafts {
		drafts[n] = must(g.Draft(ctx, wire.NewKey(), wire.Declare("raced", empty), empty))(t)
	}
	first := must(g.PublishFiles(ctx, "today", "", empty))(t)
	for range 18 {
		must(g.PublishFiles(ctx, "today", "", empty))(t)
	}
	answers := make([]wire.Answer, len(drafts))
	var publishers sync.WaitGroup
	for n, d := range drafts {
		publishers.Go(func() { answers[n] = tryPublish(t, g, wire.NewKey(), d.ArtifactID, d.RevisionID, nil) })
	}
	publishers.Wait()
	won := 0
	for n, a := range answers {
		if a.Status == http.StatusOK {
			won++
			continue
		}
		refused(t, a, 429, fault.WriteAllowanceExceeded)
		r := wire.Declare("again", empty)
		r.ArtifactID = drafts[n].ArtifactID
		refused(t, tryCreate(t, g, wire.NewKey(), r), 409, fault.DraftRevisionConflict) // the draft is intact
	}
	if won != 1 || remaining(t, g) != 0 {
		t.Errorf("%d of ten publications took the last place", won)
	}
	must(g.PublishFiles(ctx, "a revision is free", first.ArtifactID, empty))(t)
}

func TestF51TheLastRevisionIsTheLast(t *testing.T) {
	t.Parallel()
	p := limited(t, tier(func(p *limits.Policy) { p.Revisions = 2 }))
	g := p.agent(t)
	first := published(t, g, "first")
	next := wire.Declare("third", page("third"))
	next.ArtifactID = first.ArtifactID
	u := must(g.Create(ctx, wire.NewKey(), next))(t) // while there is room for another
	must(g.Put(ctx, u.Files[0], page("third").Body))(t)
	second := must(g.PublishFiles(ctx, "second", first.ArtifactID, page("second")))(t)
	before := p.state(t)
	a := tryCreate(t, g, wire.NewKey(), next)
	if refused(t, a, 429, fault.RevisionCeilingExceeded); !strings.Contains(a.Message(), "new artifact") {
		t.Errorf("the refusal does not tell what to do: %s", a.Message())
	}
	p.unchanged(t, before)
	third := must(g.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
	refused(t, tryCreate(t, g, wire.NewKey(), next), 429, fault.RevisionCeilingExceeded) // its draft cannot be published either
	before = p.state(t)
	refused(t, tryPublish(t, g, wire.NewKey(), third.ArtifactID, third.RevisionID, nil), 429, fault.RevisionCeilingExceeded)
	p.unchanged(t, before)
	p.reads(t, second.RevisionContentURL, page("second").Body)
	must(g.Publish(ctx, wire.NewKey(), second.ArtifactID, second.RevisionID))(t) // published already
}

func TestLimitsOffLiftsRatesButNoSizes(t *testing.T) {
	t.Parallel()
	p := limited(t, func(l *limits.Limits) {
		tier(func(p *limits.Policy) { p.NewArtifactsPerDay, p.FileSize = 1, 100 })(l)
		l.Off = true
		l.Actor.Limit = 1
		l.Workspace.Limit = 1
		l.Artifact.Limit = 1
		l.ProvisionAddress.Limit = 1
		l.ProvisionGlobal.Limit = 1
	})
	g := p.agent(t)
	for range limits.ProvisionQuota + 5 {
		p.agent(t)
	}
	for range 5 {
		a := published(t, g, "off")
		p.reads(t, a.RevisionContentURL, page("off").Body)
		p.reads(t, a.RevisionContentURL, page("off").Body)
	}
	large := wire.File{Path: "large", Body: noise(13, 101)}
	refused(t, tryCreate(t, g, wire.NewKey(), wire.Declare("T", large)), 400, fault.FileSizeCapExceeded)
}
