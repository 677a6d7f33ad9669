package budget

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/meter"
	"vitrine/shared/platform/limits"
)

// threeFiles is what an agent publishes mostly: a page with what it needs.
func threeFiles(version string) []wire.File {
	files := []wire.File{harness.Page(version)}
	for n := range 2 {
		files = append(files, wire.File{Path: fmt.Sprintf("table-%d.csv", n), Body: []byte(version + fmt.Sprint(n))})
	}
	return files
}

// publishFlow publishes files as a new artifact and returns what its three requests cost together.
func (b *budgetEnv) publishFlow(t *testing.T, g *wire.Agent, files []wire.File) (all budget) {
	t.Helper()
	count := func(name string) {
		t.Helper()
		s := b.lastCost(t)
		b.clock.Advance(time.Millisecond)
		t.Logf("%-30s %s", name, budget{}.plus(s))
		all = all.plus(s)
	}
	session := harness.Must(g.Create(ctx, wire.NewKey(), wire.Declare("Report", files...)))(t)
	count("create")
	for n, target := range session.Files {
		harness.Must(g.Put(ctx, target, files[n].Body))(t)
	}
	harness.Must(g.Finalize(ctx, wire.NewKey(), session.UploadSessionID))(t)
	count("finalize")
	harness.Must(g.Publish(ctx, wire.NewKey(), session.ArtifactID, session.RevisionID))(t)
	count("publish")
	return all
}

// What a publication of three files by a key may ask for, and what the jobs may write for it later. Each host takes the
// permits of the key and of its workspace for four requests at once, two calls and units, so that the second
// publication finds some left. A key that was not used for 10 minutes is stamped.
var (
	flowBudget = budget{calls: 9 + linting, trips: 9 + linting, rru: 14.5, wru: 48 + bundleRow}
	loneBudget = budget{calls: 14 + linting, trips: 10 + linting, rru: 14.5, wru: 54 + bundleRow}
)

// bundleRow is the entry of a revision in the queue of bundles.
const bundleRow = 1

const afterlifeBudget = 28 + bundleBudget

// bundleBudget is what a bundle takes: an attempt begins, and the transaction of its end changes the revision, which
// leaves the queue, and checks the artifact.
const bundleBudget = 6

// afterlife is what the jobs do with an unclaimed artifact of three files, and what they may write for it.
var afterlife = []struct {
	name  string
	after time.Duration // the step before
	wru   float64
}{
	{"its bundle is made", 0, bundleBudget},
	// An index entry for each content, and the session leaves the queue.
	{"its bytes can be found", limits.UploadPatience, 5},
	// The transaction of its end is 11: the artifact changes its place in two indexes, a fence, the event. Then each index
	// entry goes, the objects are marked as one item, the list of files goes, and the artifact leaves the queue.
	{"it ends and is purged", limits.EphemeralArtifact, 20},
	// The item of the objects goes, and the entries of the session.
	{"its bytes are deleted", limits.CollectAfter, 3},
}

// TestAPublicationAndItsAfterlifeStayWithinTheirBudget publishes twice with a new key, and lets the jobs do all that
// falls due of it until nothing is left. A write whose condition is false is paid for too, so that the jobs make none.
func TestAPublicationAndItsAfterlifeStayWithinTheirBudget(t *testing.T) {
	l := &budgetEnv{}
	s := harness.NewJobEnv(t, l.delayCalls(t))
	l.clock = s.Clock
	l.measure(s.Env)
	g := s.NewAgent(t)
	all := []budget{loneBudget, flowBudget}
	l.measures.Store(true)
	for n, most := range all {
		flow := l.publishFlow(t, g, threeFiles(fmt.Sprint("version ", n)))
		t.Logf("%-30s %s", "all", flow)
		if flow.calls > most.calls || flow.trips > most.trips || flow.rru > most.rru || flow.wru > most.wru || flow.wru == 0 {
			t.Errorf("a publication takes %s; the budget is %s", flow, most)
		}
	}
	l.measures.Store(false)
	sum := 0.0
	for _, step := range afterlife {
		s.Clock.Advance(step.after)
		counted, counts := meter.With(ctx)
		if step.wru == bundleBudget {
			harness.NoError(t, s.Bundler.Run(counted))
		} else {
			harness.NoError(t, s.Host.Run(counted))
		}
		each := counts.WRU() / float64(len(all))
		t.Logf("%-30s %g WRU", step.name, each)
		if each > step.wru || each == 0 {
			t.Errorf("until %s the jobs write %g, want at most %g", step.name, each, step.wru)
		}
		for _, c := range counts.List() {
			if c.Code != "" {
				t.Errorf("until %s: %s fails with %s", step.name, c.Operation, c.Code)
			}
		}
		sum += each
		s.CheckInvariants(t)
	}
	if sum > afterlifeBudget {
		t.Errorf("the afterlife of a publication takes %g WRU; the budget is %d", sum, afterlifeBudget)
	}
	for _, left := range invariant.Collected(ctx, s.Deployment()) {
		t.Error(left)
	}
}

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

// TestAReportStaysWithinItsBudget reports an artifact by its link: two counters with a look at one of them in between,
// the link, the artifact and its workspace, and the report with its event, each in an index too. It was not designed in
// figures.
func TestAReportStaysWithinItsBudget(t *testing.T) {
	l := newBudgetEnv(t)
	made := harness.PublishPage(t, l.NewAgent(t), "reported")
	form := url.Values{"target": {made.UnlistedURL}, "reason": {"phishing_report"}, "text": {"It asks for my password."}}
	l.wantWithin(t, "form: report abuse", budget{7, 7, 3.5, 8},
		l.sends(t, l.Anyone, 200, "POST", l.Origins.App+"/report", form.Encode(),
			"Content-Type", "application/x-www-form-urlencoded"))
}
