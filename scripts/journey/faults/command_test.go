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

// faultRoutes are all routes of an agent about an artifact, a revision and a session; none of them changes anything when
// these are not the caller's.
func faultRoutes(
	t testing.TB, g *wire.Agent, a id.Artifact, r id.Revision, u id.Session,
) map[string]func() wire.Answer {
	t.Helper()
	get := func(path string) func() wire.Answer {
		return func() wire.Answer { return harness.Do(t, g, "GET", g.At.APIURL+"/v1/artifacts/"+string(a)+path, nil) }
	}
	return map[string]func() wire.Answer{
		"view":      get("/agent-view"),
		"revisions": get("/revisions"),
		"file":      get("/file-content?path=index.html"),
		"revision":  get("/revisions/" + string(r) + "/agent-view"),
		"publish":   func() wire.Answer { return harness.TryPublish(t, g, wire.NewKey(), a, r, nil) },
		"delete":    func() wire.Answer { return harness.TryDelete(t, g, a) },
		"finalize":  func() wire.Answer { return harness.TryFinalize(t, g, wire.NewKey(), u) },
		"create": func() wire.Answer {
			return harness.TryCreate(t, g, wire.NewKey(), harness.DeclareRevision(a, "theirs"))
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
	harness.DeleteArtifact(t, owner, deleted.ArtifactID)
	for who, stranger := range map[string]*wire.Agent{"a guest": guest, "a member": member} {
		unknown := faultRoutes(t, stranger, id.NewArtifact(), id.NewRevision(), id.NewSession())
		foreign := faultRoutes(t, stranger, p.ArtifactID, p.RevisionID, u.UploadSessionID)
		s.WantSameRefusals(t, who+", somebody else's", foreign, unknown)
		ended := faultRoutes(t, stranger, deleted.ArtifactID, deleted.RevisionID, id.NewSession())
		s.WantSameRefusals(t, who+", one that was deleted", ended, unknown)
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
