package harness

import (
	"testing"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// Guest is a person who came through an access link.
type Guest struct {
	URL   string // of the link
	Name  string
	Token string // of an earlier letter; empty: there is none
}

// Admit lets guests write about an artifact of a claimed workspace, and returns one.
func Admit(t testing.TB, who *Member, g *wire.Agent, a id.Artifact) Guest {
	t.Helper()
	CallAs[contract.FeedbackPolicy](t, who, 200, "PUT", "/v1/web/artifacts/"+string(a)+"/feedback-policy",
		contract.SetFeedbackPolicy{Policy: "links"}, KeyHeader()...)
	link := CreateLink(t, g, a, contract.CreateLink{Type: "share", Comments: new(true)})
	return Guest{URL: MintLink(t, g, link.ID), Name: "Grace"}
}

// SendLetter sends what a guest writes, in a thread or in a new one.
func (env *Env) SendLetter(t testing.TB, from Guest, key string, thread id.Thread, body string) wire.Answer {
	t.Helper()
	public, blob, err := wire.SplitLink(from.URL)
	NoError(t, err)
	letter := map[string]any{"public_id": public, "blob": blob, "name": from.Name, "key": key, "body": body}
	if from.Token != "" {
		letter["token"] = from.Token
	}
	if thread != "" {
		letter["thread_id"] = thread
	}
	return Do(t, env.Anyone, "POST", env.Origins.App+"/api/access-links/feedback", letter,
		"Content-Type", "application/json")
}

// SentLetter is the answer to a letter.
type SentLetter struct {
	Token    string
	ThreadID id.Thread `json:"thread_id"`
	Held     bool
}
