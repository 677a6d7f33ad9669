package budget

import (
	"fmt"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/limits"
)

// linting is what a finalize asks for to warn about a revision with one page: a read of its bytes, in a round trip of
// its own. Those of more pages overlap.
const linting = 1

// lintRow is what the findings of a revision take at most: they move the list of its files into an item of its own.
const lintRow = 2

// TestWarningsStayWithinTheirBudget publishes more pages than are read, full of different faults.
func TestWarningsStayWithinTheirBudget(t *testing.T) {
	t.Parallel()
	l := newBudgetEnv(t)
	g := l.NewAgent(t)
	var files []wire.File
	for n := range limits.LintedFiles + 2 {
		var body strings.Builder
		for m := range 40 {
			fmt.Fprintf(&body, "<img src='%x' alt=''>", harness.RandomBytes(uint64(n*100+m), 20))
		}
		files = append(files, wire.File{Path: fmt.Sprintf("page-%d.html", n), Body: []byte(body.String())})
	}
	wanted := wire.Declare("Faults", files...)
	session := harness.Must(g.Create(ctx, wire.NewKey(), wanted))(t)
	for n, target := range session.Files {
		harness.Must(g.Put(ctx, target, files[n].Body))(t)
	}
	most := budget{
		calls: 6 + limits.LintedFiles,
		trips: 4 + linting,
		rru:   5,
		wru:   18 + lintRow,
	}
	l.wantWithin(t, "finalize with faults", most, func() {
		out := harness.Must(g.Finalize(ctx, wire.NewKey(), session.UploadSessionID))(t)
		if len(out.Warnings) != limits.LintWarnings || out.WarningsOmitted != 300 {
			t.Errorf("%d warnings are shown, %d omitted", len(out.Warnings), out.WarningsOmitted)
		}
	})
	harness.Must(g.Publish(ctx, wire.NewKey(), session.ArtifactID, session.RevisionID))(t)
	view := harness.Must(g.AgentView(ctx, session.ArtifactID))(t)
	if n := len(view.PageWarnings); n == 0 || n+view.PageWarningsOmitted != 320 {
		t.Errorf("the view shows %d warnings and omits %d", n, view.PageWarningsOmitted)
	}
}
