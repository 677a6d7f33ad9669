package budget

import (
	"fmt"
	"net/url"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// TestThousandsOfFilesStayWithinTheirBudget publishes as many files as an artifact may have, and one changed file of them.
// Only the search for known bytes takes more calls than with ten files, 20, and 0.5 RRU a file. The list of the files, of
// some 80 KB, is written by create and by finalize, as a write of a transaction, 2 WRU for a KB.
func TestThousandsOfFilesStayWithinTheirBudget(t *testing.T) {
	b := newBudgetEnv(t, func(o *stack.Options) {
		harness.WithPolicy(func(p *limits.Policy) { p.FileCount = limits.FilesPerTree })(&o.Limits)
	})
	b.owner = b.NewAgent(t)
	b.wantStatus(t, b.owner, 200, "GET", "/v1/whoami") // stamps the key
	files := []wire.File{harness.Page("large")}
	for n := 1; n < limits.FilesPerTree; n++ {
		files = append(files, wire.File{Path: fmt.Sprintf("data/%04d.txt", n), Body: fmt.Appendf(nil, "number %d", n)})
	}
	first := b.publishesMany(t, wire.Declare("Large", files...), files, []budget{{26, 5, 1008, 180}, {7, 6, 30, 180}, {4, 3, 5, 22}})
	changed := wire.File{Path: files[7].Path, Body: []byte("changed")}
	r := wire.Declare("Large", changed)
	r.ArtifactID, r.BaseRevisionID = first.ArtifactID, first.RevisionID
	r.BaseFiles, r.Entrypoint = len(files), files[0].Path
	b.publishesMany(t, r, []wire.File{changed}, []budget{{8, 6, 20, 14}, {8, 6, 20, 180}, {4, 3, 5, 16}})
	view := b.Origins.API + "/v1/artifacts/" + string(first.ArtifactID) + "/agent-view"
	var page contract.AgentView
	b.wantWithin(t, "view, first page", budget{4, 2, 16, 2}, func() {
		harness.Decode(t, harness.Do(t, b.owner, "GET", view, nil), &page)
	})
	b.wantWithin(t, "view, second page", budget{4, 2, 16, 2}, func() {
		next := view + "?files_cursor=" + url.QueryEscape(page.FilesNextCursor)
		harness.Decode(t, harness.Do(t, b.owner, "GET", next, nil), &page)
	})
}

// publishesMany holds create, finalize and publish of a session whose files are sent at once.
func (b *budgetEnv) publishesMany(
	t *testing.T, r contract.CreateSession, files []wire.File, most []budget,
) (p contract.Published) {
	t.Helper()
	var s contract.Session
	name := fmt.Sprintf("%d files: ", len(files))
	b.wantWithin(t, name+"create", most[0], func() { s = harness.Must(b.owner.Create(ctx, wire.NewKey(), r))(t) })
	harness.PutAll(t, b.owner, s, files)
	b.wantWithin(t, name+"finalize", most[1], func() {
		harness.Must(b.owner.Finalize(ctx, wire.NewKey(), s.UploadSessionID))(t)
	})
	b.wantWithin(t, name+"publish", most[2], func() {
		p = harness.Must(b.owner.Publish(ctx, wire.NewKey(), s.ArtifactID, s.RevisionID))(t)
	})
	return p
}
