package harness

import (
	"encoding/json"
	"net/http"
	"testing"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// Replays are the four repeatable commands of agents, each sent once with its key.
type Replays struct {
	Create                             contract.CreateSession
	CreateKey, finalizeKey, PublishKey string
	deleteKey                          string
	Session                            contract.Session
	Published                          contract.Published
	gone                               id.Artifact
}

// NewReplays sends every command once.
func NewReplays(t *testing.T, g *wire.Agent) (r Replays) {
	t.Helper()
	r.CreateKey = wire.NewKey()
	r.finalizeKey = wire.NewKey()
	r.PublishKey = wire.NewKey()
	r.deleteKey = wire.NewKey()
	r.Create = wire.Declare("T", Page("p"))
	r.Session = Must(g.Create(ctx, r.CreateKey, r.Create))(t)
	Must(g.Put(ctx, r.Session.Files[0], Page("p").Body))(t)
	d := Must(g.Finalize(ctx, r.finalizeKey, r.Session.UploadSessionID))(t)
	r.Published = Must(g.Publish(ctx, r.PublishKey, d.ArtifactID, d.RevisionID))(t)
	r.gone = PublishPage(t, g, "gone").ArtifactID
	if a := Must(Delete(g, r.gone, "Idempotency-Key", r.deleteKey))(t); a.Status != http.StatusOK {
		t.Fatal(a.Status, a.Code())
	}
	return r
}

// Repeat sends every command again and returns the answers by name.
func (r Replays) Repeat(t *testing.T, g *wire.Agent) map[string]wire.Answer {
	t.Helper()
	return map[string]wire.Answer{
		"create":   Must(Create(g, r.CreateKey, r.Create))(t),
		"finalize": Must(Finalize(g, r.finalizeKey, r.Session.UploadSessionID))(t),
		"publish":  Must(Publish(g, r.PublishKey, r.Published.ArtifactID, r.Published.RevisionID))(t),
		"delete":   Must(Delete(g, r.gone, "Idempotency-Key", r.deleteKey))(t),
	}
}

// StableIDs returns the members of an answer that a repetition may not change.
func StableIDs(t testing.TB, a wire.Answer) string {
	t.Helper()
	var all map[string]any
	Decode(t, a, &all)
	kept := map[string]any{}
	for _, name := range []string{
		"upload_session_id", "artifact_id", "revision_id", "status", "title", "file_count", "deleted_at",
	} {
		kept[name] = all[name]
	}
	return string(Must(json.Marshal(kept))(t))
}

// WantOneEffect checks that at least one answer is a success, that all successes are the same, and that the others say
// that the command is in flight.
func WantOneEffect(t *testing.T, answers []wire.Answer) {
	t.Helper()
	first := ""
	for _, a := range answers {
		if a.Status != http.StatusOK {
			WantRefused(t, a, 409, fault.IdempotencyInFlight)
			continue
		}
		if first == "" {
			first = StableIDs(t, a)
		}
		if got := StableIDs(t, a); got != first {
			t.Errorf("one answer is %s, another %s", first, got)
		}
	}
	if first == "" {
		t.Error("nobody succeeded")
	}
}
