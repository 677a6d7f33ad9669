package feedback

import (
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// TestTwoRevisionsAreComparedWithWhatTheyDealtWith has a revision and the one after it deal with a thread each.
func TestTwoRevisionsAreComparedWithWhatTheyDealtWith(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	write := func(words string) contract.ThreadSummary {
		return harness.WriteAbout(t, r.agent, r.ArtifactID, contract.CreateThread{Body: words})
	}
	first, second, open := write("Which unit?"), write("Which month?"), write("Which bay?")
	revise := func(words string, deals contract.ThreadSummary) contract.Published {
		draft := harness.Must(r.agent.Draft(t.Context(), wire.NewKey(),
			harness.DeclareRevision(r.ArtifactID, words), harness.Page(words)))(t)
		return harness.Must(r.agent.Publish(t.Context(), wire.NewKey(), r.ArtifactID, draft.RevisionID,
			address(deals, "It says "+words)))(t)
	}
	two, three := revise("metres", first), revise("May", second)
	for _, c := range []struct {
		from, to contract.Published
		shows    []contract.ThreadSummary
	}{
		{r.Published, two, []contract.ThreadSummary{first}},
		{two, three, []contract.ThreadSummary{second}},
		{r.Published, three, []contract.ThreadSummary{first, second}},
		{three, three, nil},
	} {
		r.page.Go(r.Origins.App + "/artifacts/" + string(r.ArtifactID) + "/compare?from=" + string(c.from.RevisionID) +
			"&to=" + string(c.to.RevisionID))
		r.page.WaitText("What changed")
		page := r.page.Text("main")
		for _, thread := range []contract.ThreadSummary{first, second, open} {
			want := slices.ContainsFunc(c.shows, func(s contract.ThreadSummary) bool { return s.ID == thread.ID })
			if strings.Contains(page, thread.First.Text) != want {
				t.Errorf("%s of %s is shown: %t\n%s", thread.ID, thread.First.Text, !want, page)
			}
		}
	}
	r.page.Go(r.Origins.App + "/artifacts/" + string(r.ArtifactID) + "/compare")
	r.page.Follow(`.rows a[href$="`+string(second.ID)+`"]`, "It says May")
}
