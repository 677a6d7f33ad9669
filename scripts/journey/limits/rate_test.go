package limits

import (
	"context"
	"net/http"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

// newLimitEnv is a deployment with small limits.
func newLimitEnv(t *testing.T, change func(*limits.Limits)) *harness.BackendEnv {
	t.Helper()
	return harness.NewBackendEnv(t, func(o *stack.Options) { change(&o.Limits) })
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

// TestF56WhoeverIsRefusedWaitsAsLongAsItIsTold uses up what a key may ask for, and what all keys of a workspace may.
func TestF56WhoeverIsRefusedWaitsAsLongAsItIsTold(t *testing.T) {
	t.Parallel()
	for code, limit := range map[fault.Code]func(*limits.Limits) *int{
		fault.RateLimitedActor:     func(l *limits.Limits) *int { return &l.Actor.Limit },
		fault.RateLimitedWorkspace: func(l *limits.Limits) *int { return &l.Workspace.Limit },
	} {
		t.Run(string(code), func(t *testing.T) {
			t.Parallel()
			const most = 3
			p := newLimitEnv(t, func(l *limits.Limits) { *limit(l) = most })
			g, stranger := p.NewAgent(t), p.NewAgent(t)
			other := p.NewKey(t, g, credential.Read)
			who := func(g *wire.Agent) wire.Answer { return harness.Do(t, g, "GET", p.Origins.API+"/v1/whoami", nil) }
			create := func() wire.Answer {
				return harness.Must(harness.Create(g, wire.NewKey(), wire.Declare("T", harness.Page("p"))))(t)
			}
			for range most { // the upload host counts by itself
				if a, b := who(g), create(); a.Status != http.StatusOK || b.Status != http.StatusOK {
					t.Fatal(a.Status, b.Status)
				}
			}
			before := p.Snapshot(t)
			harness.WantRefused(t, who(g), 429, code)
			harness.WantRefused(t, create(), 429, code)
			p.WantUnchanged(t, before)
			if a := who(other); (a.Status == http.StatusOK) != (code == fault.RateLimitedActor) {
				t.Errorf("another key of the workspace answers %d", a.Status)
			}
			if a := who(stranger); a.Status != http.StatusOK {
				t.Errorf("another workspace answers %d", a.Status)
			}
			if a := harness.Do(t, g, "GET", p.Origins.API+"/v1/usage-policy", nil); a.Status != http.StatusOK {
				t.Errorf("the usage policy, which is not limited, answers %d", a.Status)
			}
			spendUntil(t, p, code, func() wire.Answer { return who(g) })
		})
	}
}

// TestF58ReadsOfAnArtifactShareOneLimit reads an artifact of one file, whose tier allows a single read.
func TestF58ReadsOfAnArtifactShareOneLimit(t *testing.T) {
	t.Parallel()
	p := newLimitEnv(t, func(l *limits.Limits) { harness.LimitReads(l, 1) })
	g := p.NewAgent(t)
	a, other := harness.PublishPage(t, g, "popular"), harness.PublishPage(t, g, "other")
	first := p.Get(t, a.RevisionContentURL)
	resolve := func(url string) wire.Answer {
		return harness.Do(t, p.Anyone, "POST", url+"/access-links/resolve", linkOf(t, a.UnlistedURL))
	}
	reads := map[string]func() wire.Answer{
		"HEAD": func() wire.Answer { return harness.Do(t, p.Anyone, "HEAD", a.RevisionContentURL, nil) },
		"conditional": func() wire.Answer {
			return p.Get(t, a.RevisionContentURL, "If-None-Match", first.Header.Get("ETag"))
		},
		"range":   func() wire.Answer { return p.Get(t, a.RevisionContentURL, "Range", "bytes=0-0") },
		"view":    func() wire.Answer { return p.Get(t, a.AgentViewURL) },
		"link":    func() wire.Answer { return resolve(p.Origins.API + "/v1") },
		"page":    func() wire.Answer { return resolve(p.Origins.App + "/api") },
		"no file": func() wire.Answer { return p.Get(t, a.RevisionContentURL+".none") },
	}
	for name, ask := range reads {
		if got := ask(); got.Status >= 400 && name != "no file" {
			t.Errorf("%s answers %d %s", name, got.Status, got.Code())
		}
	}
	for range limits.ReadsPerFile - len(reads) - 1 {
		if got := reads["HEAD"](); got.Status != http.StatusOK {
			t.Errorf("a read below the limit answers %d", got.Status)
		}
	}
	for _, name := range []string{"conditional", "view", "link"} {
		t.Run(name, func(t *testing.T) { harness.WantRefused(t, reads[name](), 429, fault.RateLimitedArtifact) })
	}
	p.WantContent(t, other.RevisionContentURL, harness.Page("other").Body)
	if view := harness.Must(g.AgentView(ctx, a.ArtifactID))(t); view.ArtifactID != a.ArtifactID {
		t.Error("the owner's own view is not limited, but does not open")
	}
	spendUntil(t, p, fault.RateLimitedArtifact, func() wire.Answer { return p.Get(t, a.RevisionContentURL) })
	harness.DeleteArtifact(t, g, a.ArtifactID)
	for range 8 {
		p.WantGone(t, a.RevisionContentURL) // what is closed is not found, also when it is over the limit
	}
}

// linkOf is the request that an access link makes.
func linkOf(t testing.TB, link string) contract.ResolveRequest {
	t.Helper()
	public, blob, err := wire.SplitLink(link)
	harness.NoError(t, err)
	return contract.ResolveRequest{PublicID: public, Blob: blob}
}

func TestT66WorkspacesHaveLimits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		most   int
		change func(*limits.Limits)
		broken fault.Code // what a body is answered that is none
	}{
		"of an address":           {10, func(*limits.Limits) {}, fault.ProvisionRateLimited},
		"of everybody":            {5, func(l *limits.Limits) { l.ProvisionGlobal.Limit = 5 }, fault.ProvisionRateLimited},
		"of a minute of the gate": {17, func(l *limits.Limits) { l.ProvisionAddress.Limit = 1000 }, fault.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newLimitEnv(t, func(l *limits.Limits) {
				l.Pow = limits.PowOff
				c.change(l)
			})
			now := p.Clock.Now()
			p.Clock.Advance(now.Truncate(time.Minute).Add(time.Minute).Sub(now)) // in which all places are free
			for n := range c.most {
				if a := harness.ProvisionAgain(t, p, nil); a.Status != http.StatusCreated {
					t.Fatalf("provision %d answers %d %s", n+1, a.Status, a.Code())
				}
			}
			before := p.Snapshot(t)
			harness.WantRefused(t, harness.ProvisionAgain(t, p, nil), 429, fault.ProvisionRateLimited)
			if a := harness.Do(t, p.Anyone, "POST", p.Origins.API+"/v1/ephemeral/provision", "{"); a.Code() != c.broken {
				t.Errorf("a body that is none answers %d %s", a.Status, a.Code())
			}
			p.WantUnchanged(t, before)
			spendUntil(t, p, fault.ProvisionRateLimited, func() wire.Answer { return harness.ProvisionAgain(t, p, nil) })
		})
	}
}
