package limits

import (
	"net/http"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// newLimitEnv is a deployment with small limits and a clock that the test moves.
func newLimitEnv(t *testing.T, change func(*limits.Limits)) *harness.BackendEnv {
	t.Helper()
	now := &harness.Clock{Now: time.Now()}
	p := harness.NewBackendEnv(t, now.Use, func(o *stack.Options) { change(&o.Limits) })
	p.Clock = now
	return p
}

// spendUntil checks that asking is refused with the code, still a second before the time that Retry-After told, and
// works again when that time has passed.
func spendUntil(t *testing.T, p *harness.BackendEnv, code fault.Code, ask func() wire.Answer) {
	t.Helper()
	a := ask()
	harness.WantRefused(t, a, 429, code)
	if w := harness.RetryAfter(t, a); w > time.Minute {
		t.Errorf("%s: Retry-After is %s in a window of a minute", code, w)
	}
	p.Clock.Advance(harness.RetryAfter(t, a) - time.Second)
	again := ask()
	if harness.WantRefused(t, again, 429, code); harness.RetryAfter(t, again) != time.Second {
		t.Errorf("%s: a second before the end Retry-After is %s", code, harness.RetryAfter(t, again))
	}
	p.Clock.Advance(time.Second)
	if a := ask(); a.Status >= 300 {
		t.Errorf("F56 %s: after Retry-After it answers %d %s", code, a.Status, a.Code())
	}
}

func TestF56ACredentialWaitsAsLongAsItIsTold(t *testing.T) {
	t.Parallel()
	p := newLimitEnv(t, func(l *limits.Limits) { l.Actor.Limit = 3 })
	g := p.NewAgent(t)
	other := p.NewKey(t, g, credential.Read)
	who := func() wire.Answer { return harness.Do(t, g, "GET", p.Origins.API+"/v1/whoami", nil) }
	for n := range 3 {
		if a := who(); a.Status != http.StatusOK {
			t.Fatalf("request %d answers %d", n+1, a.Status)
		}
	}
	harness.WantRefused(t, who(), 429, fault.RateLimitedActor)
	if a := harness.Do(t, other, "GET", p.Origins.API+"/v1/whoami", nil); a.Status != http.StatusOK {
		t.Errorf("another key of the workspace answers %d", a.Status)
	}
	if a := harness.Do(t, g, "GET", p.Origins.API+"/v1/usage-policy", nil); a.Status != http.StatusOK {
		t.Errorf("the usage policy, which is not limited, answers %d", a.Status)
	}
	// The upload host counts by itself.
	for range 3 {
		harness.Must(g.Create(ctx, wire.NewKey(), wire.Declare("T", harness.Page("p"))))(t)
	}
	harness.WantRefused(
		t, harness.TryCreate(t, g, wire.NewKey(), wire.Declare("T", harness.Page("p"))), 429, fault.RateLimitedActor,
	)
	spendUntil(t, p, fault.RateLimitedActor, who)
}

func TestF56AWorkspaceWaitsAsLongAsItIsTold(t *testing.T) {
	t.Parallel()
	p := newLimitEnv(t, func(l *limits.Limits) { l.Workspace.Limit = 4 })
	g, stranger := p.NewAgent(t), p.NewAgent(t)
	other := p.NewKey(t, g, credential.Read)
	for n := range 4 {
		a := harness.Do(t, []*wire.Agent{g, other}[n%2], "GET", p.Origins.API+"/v1/whoami", nil)
		if a.Status != http.StatusOK {
			t.Fatalf("request %d answers %d", n+1, a.Status)
		}
	}
	harness.WantRefused(t, harness.Do(t, other, "GET", p.Origins.API+"/v1/whoami", nil), 429, fault.RateLimitedWorkspace)
	harness.Must(g.Create(ctx, wire.NewKey(), wire.Declare("T", harness.Page("p"))))(t)
	if a := harness.Do(t, stranger, "GET", p.Origins.API+"/v1/whoami", nil); a.Status != http.StatusOK {
		t.Errorf("another workspace answers %d", a.Status)
	}
	spendUntil(t, p, fault.RateLimitedWorkspace, func() wire.Answer {
		return harness.Do(t, g, "GET", p.Origins.API+"/v1/whoami", nil)
	})
}

func TestTheCredentialIsNamedBeforeTheWorkspace(t *testing.T) {
	t.Parallel()
	p := newLimitEnv(t, func(l *limits.Limits) { l.Actor.Limit, l.Workspace.Limit = 1, 1 })
	g := p.NewAgent(t)
	who := func() wire.Answer { return harness.Do(t, g, "GET", p.Origins.API+"/v1/whoami", nil) }
	who()
	harness.WantRefused(t, who(), 429, fault.RateLimitedActor)
}

func TestARefusedRequestHasNoEffectAndIsRefusedAtOnce(t *testing.T) {
	t.Parallel()
	p := newLimitEnv(t, func(l *limits.Limits) { l.Actor.Limit = 1 })
	g := p.NewAgent(t)
	harness.Do(t, g, "GET", p.Origins.API+"/v1/whoami", nil)
	harness.Must(g.Create(ctx, wire.NewKey(), wire.Declare("T", harness.Page("p"))))(t)
	before := p.Snapshot(t)
	harness.WantRefused(
		t, harness.TryCreate(t, g, wire.NewKey(), wire.Declare("T", harness.Page("p"))), 429, fault.RateLimitedActor,
	)
	harness.WantRefused(
		t, harness.Do(t, g, "POST", p.Origins.API+"/v1/api-keys/current/revoke", nil), 429, fault.RateLimitedActor,
	)
	p.WantUnchanged(t, before)
	writes := p.Faults.On("UpdateItem").If(chaos.Key("pk", "r:actor:")).Always()
	for range 5 {
		harness.WantRefused(t, harness.Do(t, g, "GET", p.Origins.API+"/v1/whoami", nil), 429, fault.RateLimitedActor)
	}
	if n := writes.Fired(); n != 0 {
		t.Errorf("refusing a flood cost %d writes", n)
	}
	p.Clock.Advance(time.Minute)
	harness.Do(t, g, "GET", p.Origins.API+"/v1/whoami", nil)
}

func TestF58ReadsOfAnArtifactShareOneLimit(t *testing.T) {
	t.Parallel()
	p := newLimitEnv(t, func(l *limits.Limits) { harness.LimitReads(l, 8) })
	g := p.NewAgent(t)
	a, other := harness.PublishPage(t, g, "popular"), harness.PublishPage(t, g, "other")
	first := p.Get(t, a.RevisionContentURL)
	for name, ask := range map[string]func() wire.Answer{
		"HEAD": func() wire.Answer { return harness.Do(t, p.Anyone, "HEAD", a.RevisionContentURL, nil) },
		"conditional": func() wire.Answer {
			return p.Get(t, a.RevisionContentURL, "If-None-Match", first.Header.Get("ETag"))
		},
		"range": func() wire.Answer { return p.Get(t, a.RevisionContentURL, "Range", "bytes=0-0") },
		"view":  func() wire.Answer { return p.Get(t, a.AgentViewURL) },
		"link": func() wire.Answer {
			return harness.Do(t, p.Anyone, "POST", p.Origins.API+"/v1/access-links/resolve", linkOf(t, a.UnlistedURL))
		},
		"page": func() wire.Answer {
			return harness.Do(t, p.Anyone, "POST", p.Origins.App+"/api/access-links/resolve", linkOf(t, a.UnlistedURL))
		},
		"no file": func() wire.Answer { return p.Get(t, a.RevisionContentURL+".none") },
	} {
		if got := ask(); got.Status >= 400 && name != "no file" {
			t.Errorf("%s answers %d %s", name, got.Status, got.Code())
		}
	}
	for name, ask := range map[string]func() wire.Answer{
		"conditional": func() wire.Answer {
			return p.Get(t, a.RevisionContentURL, "If-None-Match", first.Header.Get("ETag"))
		},
		"view": func() wire.Answer { return p.Get(t, a.AgentViewURL) },
		"link": func() wire.Answer {
			return harness.Do(t, p.Anyone, "POST", p.Origins.API+"/v1/access-links/resolve", linkOf(t, a.UnlistedURL))
		},
	} {
		t.Run(name, func(t *testing.T) { harness.WantRefused(t, ask(), 429, fault.RateLimitedArtifact) })
	}
	p.WantContent(t, other.RevisionContentURL, harness.Page("other").Body)
	if view := harness.Must(g.AgentView(ctx, a.ArtifactID))(t); view.ArtifactID != a.ArtifactID {
		t.Error("the owner's own view is not limited, but does not open")
	}
	spendUntil(t, p, fault.RateLimitedArtifact, func() wire.Answer { return p.Get(t, a.RevisionContentURL) })
	harness.TryDelete(t, g, a.ArtifactID)
	for range 8 {
		p.WantGone(t, a.RevisionContentURL) // what is closed is not found, also when it is over the limit
	}
}

// TestT57ReadsThatAreRefusedAreNobodyElses floods an artifact by a link that was revoked and by a view that is locked.
func TestT57ReadsThatAreRefusedAreNobodyElses(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t, func(o *stack.Options) {
		o.Limits = limits.Default()
		o.Limits.Refused.Limit = 4
		harness.LimitReads(&o.Limits, 10)
	})
	a := s.Published.ArtifactID
	revoked, locked := harness.CreateLink(
		t, s.Agent, a, harness.RevisionLink(s.Published.RevisionID),
	), harness.CreateLink(t, s.Agent, a, harness.ShareLink)
	had := s.OpenLink(t, harness.MintLink(t, s.Agent, revoked.ID), "shared") // 2 reads
	url := harness.MintLink(t, s.Agent, locked.ID)
	harness.RevokeLink(t, s.Agent, revoked.ID)
	for range 12 {
		s.WantLinksClosed(t, had)
	}
	s.WantContent(t, s.Published.RevisionContentURL, harness.Page("shared").Body)
	lock := "/v1/web/artifacts/" + string(a) + "/access-link-lockdown"
	harness.CallAs[contract.WebArtifact](t, s.Member, 200, "POST", lock, nil, harness.KeyHeader()...)
	for range 12 {
		harness.WantRefused(t, s.Resolve(t, url), 404, fault.NotFound)
		s.WantGone(t, s.Published.AgentViewURL)
	}
	for range 6 { // all that is left, but one permit that the api host holds
		s.WantContent(t, s.Published.RevisionContentURL, harness.Page("shared").Body)
	}
	harness.WantRefused(t, s.Get(t, s.Published.RevisionContentURL), 429, fault.RateLimitedArtifact)
	s.WantLinksClosed(t, had)
	harness.CallAs[contract.WebArtifact](t, s.Member, 200, "POST", lock+"/lift", nil, harness.KeyHeader()...)
	s.Clock.Advance(time.Minute)
	s.OpenLink(t, url, "shared")
	if view := s.Get(t, s.Published.AgentViewURL); view.Status != http.StatusOK {
		t.Errorf("a minute later the public view answers %d", view.Status)
	}
}

// linkOf is the request that an access link makes.
func linkOf(t testing.TB, link string) contract.ResolveRequest {
	t.Helper()
	public, blob, err := wire.SplitLink(link)
	harness.NoError(t, err)
	return contract.ResolveRequest{PublicID: public, Blob: blob}
}

func TestF46WithoutItsCounterALimitRefuses(t *testing.T) {
	t.Parallel()
	p := newLimitEnv(t, func(*limits.Limits) {})
	g := p.NewAgent(t)
	a := harness.PublishPage(t, g, "counted")
	g = p.NewAgent(t) // no host holds permits of this one
	before := p.Snapshot(t)
	down := func(kind string) {
		p.Faults.On("UpdateItem").If(chaos.Key("pk", "r:"+kind+":")).Before(chaos.Fail(harness.ErrDown))
	}
	down("actor")
	harness.WantRefused(t, harness.Do(t, g, "GET", p.Origins.API+"/v1/whoami", nil), 429, fault.RateLimitedActor)
	down("workspace")
	harness.WantRefused(
		t, harness.TryCreate(t, g, wire.NewKey(), wire.Declare("T", harness.Page("p"))), 429, fault.RateLimitedWorkspace,
	)
	down("artifact")
	harness.WantRefused(t, p.Get(t, a.RevisionContentURL), 429, fault.RateLimitedArtifact)
	p.WantUnchanged(t, before)
	p.WantContent(t, a.RevisionContentURL, harness.Page("counted").Body) // nothing is remembered of it
	harness.Do(t, g, "GET", p.Origins.API+"/v1/whoami", nil)
}

// remainingToday is what the usage policy says is left of the day.
func remainingToday(t *testing.T, g *wire.Agent) int {
	t.Helper()
	var policy contract.UsagePolicy
	harness.Decode(t, harness.Do(t, g, "GET", g.At.APIURL+"/v1/usage-policy", nil), &policy)
	return *policy.DailyNewArtifactsRemaining
}

func TestF49TheDaysAllowanceEndsAtMidnightUTC(t *testing.T) {
	t.Parallel()
	p := newLimitEnv(t, func(*limits.Limits) {})
	g := p.NewAgent(t)
	tomorrow := p.Clock.Now.UTC().Truncate(limits.Day).Add(limits.Day)
	p.Clock.Advance(tomorrow.Add(-100 * time.Millisecond).Sub(p.Clock.Now)) // 23:59:59.9
	empty := wire.File{Path: "empty.txt"}
	for n := range 20 {
		if left := remainingToday(t, g); left != 20-n {
			t.Fatalf("%d are left after %d", left, n)
		}
		harness.Must(g.PublishFiles(ctx, "today", "", empty))(t)
	}
	last := harness.Must(g.Draft(ctx, wire.NewKey(), wire.Declare("one more", empty), empty))(t)
	before, key := p.Snapshot(t), wire.NewKey()
	a := harness.TryPublish(t, g, key, last.ArtifactID, last.RevisionID, nil)
	if harness.WantRefused(t, a, 429, fault.WriteAllowanceExceeded); harness.RetryAfter(t, a) != time.Second {
		t.Errorf("100 ms before midnight Retry-After is %s", harness.RetryAfter(t, a))
	}
	p.WantUnchanged(t, before)
	p.Clock.Advance(harness.RetryAfter(t, a))
	harness.Must(g.Publish(ctx, key, last.ArtifactID, last.RevisionID))(t)
	if left := remainingToday(t, g); left != 19 {
		t.Errorf("on the next day %d are left", left)
	}
}

func TestLimitsOffLiftsRatesButNoSizes(t *testing.T) {
	t.Parallel()
	p := newLimitEnv(t, func(l *limits.Limits) {
		harness.WithPolicy(func(p *limits.Policy) { p.NewArtifactsPerDay, p.FileSize = 1, 100 })(l)
		l.Off = true
		l.Actor.Limit = 1
		l.Workspace.Limit = 1
		harness.LimitReads(l, 1)
		l.ProvisionAddress.Limit = 1
		l.ProvisionGlobal.Limit = 1
	})
	g := p.NewAgent(t)
	for range limits.ProvisionQuota + 5 {
		p.NewAgent(t)
	}
	for range 5 {
		a := harness.PublishPage(t, g, "off")
		p.WantContent(t, a.RevisionContentURL, harness.Page("off").Body)
		p.WantContent(t, a.RevisionContentURL, harness.Page("off").Body)
	}
	large := wire.File{Path: "large", Body: harness.RandomBytes(13, 101)}
	harness.WantRefused(
		t, harness.TryCreate(t, g, wire.NewKey(), wire.Declare("T", large)), 400, fault.FileSizeCapExceeded,
	)
}
