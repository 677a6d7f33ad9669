package budget

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// TestAPublicationPaysForTheThreadsThatItAddresses compares with one that addresses none.
func TestAPublicationPaysForTheThreadsThatItAddresses(t *testing.T) {
	l := newBudgetEnv(t)
	l.claimed(t)
	p := harness.PublishPage(t, l.owner, "discussed")
	for size, perThread := range map[int]float64{300: 6, 1200: 8, 2000: 10} { // a thread has what it says once
		var all []contract.AddressThread
		for range 5 {
			thread := harness.WriteAbout(t, l.owner, p.ArtifactID, contract.CreateThread{Body: strings.Repeat("x", size)})
			all = append(all, contract.AddressThread{ThreadID: thread.ID, Seq: thread.Seq})
		}
		words := fmt.Sprint(size)
		draft := harness.Must(l.owner.Draft(ctx, wire.NewKey(), harness.DeclareRevision(p.ArtifactID, words), harness.Page(words)))(t)
		// Counts and threads are read in one batch, and are written with the rest, the entry of the inbox, and an event.
		l.wantWithin(t, "publish, five threads of "+words, budget{5, 4, 11, 17 + 5 + 5*perThread}, func() {
			got := harness.Must(l.owner.Publish(ctx, wire.NewKey(), p.ArtifactID, draft.RevisionID, all...))(t)
			if len(got.Addressed) != 5 {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestRoutesOfFeedbackStayWithinTheirBudget asks with an API key.
func TestRoutesOfFeedbackStayWithinTheirBudget(t *testing.T) {
	l := newBudgetEnv(t)
	l.claimed(t)
	p := harness.PublishPage(t, l.owner, "discussed")
	a := p.ArtifactID
	var thread contract.ThreadSummary
	// Credential, record and artifact; counters; the counter of changes; counts and thread; then a transaction: record,
	// fence, artifact, counts, thread, place, message, event with its index entry.
	l.wantWithin(t, "feedback, about the artifact", budget{6, 5, 6, 20}, func() {
		thread = harness.WriteAbout(t, l.owner, a, contract.CreateThread{Body: "A remark"})
	})
	// The file is read besides, and its list.
	l.wantWithin(t, "feedback, about a quote", budget{8, 7, 7, 20}, func() {
		harness.WriteAbout(t, l.owner, a, contract.CreateThread{
			Body:   strings.Repeat("é", 150),
			Path:   "index.html",
			Anchor: &contract.Anchor{Kind: "text", Exact: "discussed"},
		})
	})
	l.wantWithin(t, "feedback, a reply", budget{6, 5, 6, 22}, func() {
		harness.Answer(t, l.owner, a, thread.ID, contract.AnswerThread{Reply: "Well"})
	})
	l.wantWithin(t, "feedback, addressed", budget{6, 5, 6, 22}, func() {
		harness.Answer(t, l.owner, a, thread.ID, contract.AnswerThread{
			Addressed: &contract.Addressed{RevisionID: p.RevisionID, Note: "Mended"},
		})
	})
	// The counts are read with credential and artifact.
	l.wantWithin(t, "feedback, without news", budget{3, 1, 4, 2}, func() { harness.Threads(t, l.owner, a, "?since=4") })
	l.wantWithin(t, "feedback, known", budget{3, 1, 4, 2}, func() {
		known := harness.Do(t, l.owner, "GET", l.owner.At.APIURL+harness.FeedbackPath(a), nil, "If-None-Match", `"4"`)
		if known.Status != http.StatusNotModified {
			t.Errorf("%d %s", known.Status, known.Body)
		}
	})
	// The counts are read with credential and artifact, and cost nothing where nobody asks.
	for _, of := range []string{"", "/revisions/" + string(p.RevisionID)} {
		path := l.owner.At.APIURL + "/v1/artifacts/" + string(a) + of + "/agent-view"
		read := func(query string) func() {
			return func() { harness.Do(t, l.owner, "GET", path+query, nil) }
		}
		l.wantWithin(t, "view"+of, budget{4, 2, 5, 2}, read(""))
		l.wantWithin(t, "view with feedback"+of, budget{4, 2, 6, 2}, read("?feedback=1"))
	}
	// The order of changes and the threads are read besides.
	l.wantWithin(t, "feedback, two threads", budget{5, 3, 7, 2}, func() { harness.Threads(t, l.owner, a, "") })
	l.wantWithin(t, "feedback, one thread", budget{5, 3, 6, 2}, func() {
		harness.Call[contract.Thread](t, l.owner, 200, "GET", harness.FeedbackPath(a)+"/"+string(thread.ID), nil)
	})
}
