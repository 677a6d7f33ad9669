package harness

import (
	"testing"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// FeedbackPath is the route of the threads about an artifact.
func FeedbackPath(a id.Artifact) string { return "/v1/artifacts/" + string(a) + "/feedback" }

// WriteAbout begins a thread.
func WriteAbout(t testing.TB, g *wire.Agent, a id.Artifact, r contract.CreateThread) contract.ThreadSummary {
	t.Helper()
	return Call[contract.ThreadSummary](t, g, 201, "POST", FeedbackPath(a), r, KeyHeader()...)
}

// Threads lists the threads about an artifact. query is empty or begins with a question mark.
func Threads(t testing.TB, g *wire.Agent, a id.Artifact, query string) contract.ThreadList {
	t.Helper()
	return Call[contract.ThreadList](t, g, 200, "GET", FeedbackPath(a)+query, nil)
}

// Answer acts on a thread.
func Answer(
	t testing.TB, g *wire.Agent, a id.Artifact, thread id.Thread, answer contract.AnswerThread,
) contract.ThreadSummary {
	t.Helper()
	return Call[contract.ThreadSummary](t, g, 200, "POST", FeedbackPath(a)+"/"+string(thread), answer, KeyHeader()...)
}

// WriteAs begins a thread with a new API key of a member.
func WriteAs(t testing.TB, who *Member, a id.Artifact, r contract.CreateThread) contract.ThreadSummary {
	t.Helper()
	key := CreatedKey(t, TryCreateKey(t, who, "Reporter", wire.NewKey()))
	return WriteAbout(t, who.WithToken(key.Secret).Agent, a, r)
}
