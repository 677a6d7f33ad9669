package faults

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

func TestF76AKeyWithAnotherBodyHasNoSecondEffect(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	done := harness.NewReplays(t, g)
	before := s.Snapshot(t)
	for name, a := range map[string]wire.Answer{
		"another title": harness.TryCreate(t, g, done.CreateKey, wire.Declare("other", harness.Page("p"))),
		"another file":  harness.TryCreate(t, g, done.CreateKey, wire.Declare("T", harness.Page("q"))),
		"another route": harness.TryPublish(
			t, g, done.PublishKey, done.Published.ArtifactID, done.Published.RevisionID, map[string]any{},
		),
	} {
		t.Run(name, func(t *testing.T) { harness.WantRefused(t, a, 400, fault.InvalidIdempotencyKey) })
	}
	s.WantUnchanged(t, before)
	key := wire.NewKey()
	answers := s.Concurrently(t, 8, func(i int) (wire.Answer, error) {
		return s.Create(g, key, wire.Declare(fmt.Sprint("title ", i%2), harness.Page("p")))
	})
	created := map[string]bool{}
	for i, a := range answers {
		switch a.Status {
		case http.StatusOK:
			created[fmt.Sprint(i%2, " ", harness.StableIDs(t, a))] = true
		case http.StatusConflict:
			harness.WantRefused(t, a, 409, fault.IdempotencyInFlight)
		default:
			harness.WantRefused(t, a, 400, fault.InvalidIdempotencyKey)
		}
	}
	if len(created) != 1 {
		t.Errorf("I8: one key created %v", created)
	}
}

// faultRoutes are all routes of an agent, about an artifact, a revision and a session; none of them changes anything
// when these are not the caller's.
func faultRoutes(g *wire.Agent, a id.Artifact, r id.Revision, u id.Session) map[string]func(*testing.T) wire.Answer {
	get := func(path string) func(*testing.T) wire.Answer {
		return func(t *testing.T) wire.Answer { return harness.Do(t, g, "GET", g.At.APIURL+path, nil) }
	}
	of := "/v1/artifacts/" + string(a)
	return map[string]func(*testing.T) wire.Answer{
		"whoami":       get("/v1/whoami"),
		"usage policy": get("/v1/usage-policy"),
		"list":         get("/v1/artifacts"),
		"view":         get(of + "/agent-view"),
		"revisions":    get(of + "/revisions"),
		"file":         get(of + "/file-content?path=index.html"),
		"revision":     get(of + "/revisions/" + string(r) + "/agent-view"),
		"publish":      func(t *testing.T) wire.Answer { return harness.TryPublish(t, g, wire.NewKey(), a, r, nil) },
		"delete":       func(t *testing.T) wire.Answer { return harness.TryDelete(t, g, a) },
		"finalize":     func(t *testing.T) wire.Answer { return harness.TryFinalize(t, g, wire.NewKey(), u) },
		"create": func(t *testing.T) wire.Answer {
			declared := wire.Declare("T", harness.Page("p"))
			declared.ArtifactID = a
			return harness.TryCreate(t, g, wire.NewKey(), declared)
		},
	}
}

// TestT48WhatIsNotThereCostsAsMuchAsWhatIsSomebodyElses counts calls: time is what they take.
func TestT48WhatIsNotThereCostsAsMuchAsWhatIsSomebodyElses(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	owner := s.NewAgent(t)
	guest := s.NewAgent(t)
	member := s.NewAgent(t)
	s.Update(t, "W#"+string(harness.TokenOf(t, member).Workspace), "META", map[string]any{"claimed_at": s.Options.Now()})
	p, deleted := harness.PublishPage(t, owner, "mine"), harness.PublishPage(t, owner, "gone")
	u := s.Upload(t, owner, "", "mine, too")
	if a := harness.TryDelete(t, owner, deleted.ArtifactID); a.Status != http.StatusOK {
		t.Fatal(a.Status, a.Code())
	}
	for who, stranger := range map[string]*wire.Agent{"a guest": guest, "a member": member} {
		unknown := faultRoutes(stranger, id.NewArtifact(), id.NewRevision(), id.NewSession())
		wantSameCalls(
			t, s, who+", somebody else's", faultRoutes(stranger, p.ArtifactID, p.RevisionID, u.UploadSessionID), unknown,
		)
		ended := faultRoutes(stranger, deleted.ArtifactID, deleted.RevisionID, id.NewSession())
		wantSameCalls(t, s, who+", one that was deleted", ended, unknown)
	}
}

// wantSameCalls checks that requests about records of others make the same calls and get the same answers as requests
// about records that never were.
func wantSameCalls(
	t *testing.T, s *harness.FaultEnv, which string, foreign, unknown map[string]func(*testing.T) wire.Answer,
) {
	t.Helper()
	for name := range foreign {
		var a, b wire.Answer
		one := s.RequiredCalls(func() { a = foreign[name](t) })
		other := s.RequiredCalls(func() { b = unknown[name](t) })
		if !slices.Equal(one, other) {
			t.Errorf("%s, %s: it costs %q, an unknown one %q", which, name, one, other)
		}
		if a.Status != b.Status || a.Code() != b.Code() || a.Message() != b.Message() {
			t.Errorf("%s, %s: it answers %d %q, an unknown one %d %q", which, name, a.Status, a.Message(), b.Status, b.Message())
		}
	}
}

func TestT75EveryKeyThatIsNoneCostsOneRead(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	revoked := s.NewAgent(t)
	expired := s.NewAgent(t)
	closed := s.NewAgent(t)
	harness.Do(t, revoked, "POST", s.Origins.API+"/v1/api-keys/current/revoke", nil)
	s.Update(t, "K#"+string(harness.TokenOf(t, expired).Public), "K", map[string]any{"exp": s.Options.Now()})
	s.Update(
		t,
		"W#"+string(harness.TokenOf(t, closed).Workspace),
		"META",
		map[string]any{"lock": "lkd_00000000000000000000000000"},
	)
	guessed := credential.Mint(credential.APIKey, credential.Preview, harness.TokenOf(t, g).Workspace, "")
	unknown := guessed.Reveal()
	guessed.Public = harness.TokenOf(t, g).Public
	answers := map[string]wire.Answer{}
	for name, key := range map[string]string{
		"unknown":                 unknown,
		"another secret":          guessed.Reveal(),
		"revoked":                 revoked.Key,
		"expired":                 expired.Key,
		"of a closed workspace":   closed.Key,
		"of an unknown workspace": credential.Mint(credential.APIKey, credential.Preview, id.NewWorkspace(), "").Reveal(),
	} {
		caller := &wire.Agent{HTTP: g.HTTP, At: g.At, Key: key}
		var a wire.Answer
		calls := s.Calls(func() { a = harness.Do(t, caller, "GET", s.Origins.API+"/v1/whoami", nil) })
		if !slices.Equal(calls, []string{"BatchGetItem"}) {
			t.Errorf("a key that is %s costs %q", name, calls)
		}
		answers["a key that is "+name] = a
	}
	harness.WantSameRefusal(t, answers, 401, fault.NotAuthenticated)
}
