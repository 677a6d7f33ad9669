package faults

import (
	"fmt"
	"net/http"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
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
		"another title": harness.Must(harness.Create(g, done.CreateKey, wire.Declare("other", harness.Page("p"))))(t),
		"another file":  harness.Must(harness.Create(g, done.CreateKey, wire.Declare("T", harness.Page("q"))))(t),
		"another route": harness.Do(
			t, g, "POST", g.PublishURL(done.Published.ArtifactID, done.Published.RevisionID), map[string]any{},
			"Idempotency-Key", done.PublishKey,
		),
	} {
		t.Run(name, func(t *testing.T) { harness.WantRefused(t, a, 400, fault.InvalidIdempotencyKey) })
	}
	s.WantUnchanged(t, before)
	key := wire.NewKey()
	answers := s.Concurrently(t, 8, func(i int) (wire.Answer, error) {
		return harness.Create(g, key, wire.Declare(fmt.Sprint("title ", i%2), harness.Page("p")))
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

// faultRoutes are all routes of an agent about an artifact, a revision and a session. None of them changes anything
// when these are not the caller's.
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
		"threads":   get("/feedback"),
		"thread":    get("/feedback/" + string(id.NewThread())),
		"remark": func() wire.Answer {
			return harness.Do(t, g, "POST", g.At.APIURL+harness.FeedbackPath(a), contract.CreateThread{Body: "A remark"},
				"Idempotency-Key", wire.NewKey())
		},
		"publish":  func() wire.Answer { return harness.Must(harness.Publish(g, wire.NewKey(), a, r))(t) },
		"delete":   func() wire.Answer { return harness.Must(harness.Delete(g, a))(t) },
		"finalize": func() wire.Answer { return harness.Must(harness.Finalize(g, wire.NewKey(), u))(t) },
		"create": func() wire.Answer {
			return harness.Must(harness.Create(g, wire.NewKey(), harness.DeclareRevision(a, "theirs")))(t)
		},
	}
}

// TestT48WhatIsNotThereCostsAsMuchAsWhatIsSomebodyElses counts calls: time is what they take.
func TestT48WhatIsNotThereCostsAsMuchAsWhatIsSomebodyElses(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	owner, guest, member := s.NewAgent(t), s.NewAgent(t), s.NewAgent(t)
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
