package limits

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// declareFull declares as many bytes as an unclaimed artifact may have, in files that the workspace does not have.
func declareFull(title string) contract.CreateSession {
	r := contract.CreateSession{Title: title, Entrypoint: "0.html"}
	for i, size := range []int64{10 * limits.MiB, 10 * limits.MiB, 5 * limits.MiB} {
		r.Files = append(r.Files, contract.DeclaredFile{Path: fmt.Sprint(i, ".html"), SizeBytes: size})
	}
	return r
}

// TestAKeyCannotDeclareMoreBytesThanADayHas opens sessions that are never published, which the allowance of new
// artifacts does not see.
func TestAKeyCannotDeclareMoreBytesThanADayHas(t *testing.T) {
	t.Parallel()
	const asked, fit = 120, 80 // sessions of 25 MiB; 2 GB a day
	p := newLimitEnv(t, func(l *limits.Limits) { l.Actor.Limit, l.Workspace.Limit = 10*asked, 10*asked })
	// 23:00, so that what is published lives on at 06:00 of a new day
	p.Clock.Advance(p.Clock.Now.UTC().Truncate(limits.Day).Add(limits.Day + 23*time.Hour).Sub(p.Clock.Now))
	g := p.NewAgent(t)
	page := wire.File{Path: "index.html", Body: []byte("<h1>known</h1>")}
	known := harness.Must(g.PublishFiles(ctx, "known", "", page))(t)
	p.Clock.Advance(7 * time.Hour)
	first := wire.NewKey()
	opened, over := 0, wire.Answer{}
	for n := range asked {
		key := first
		if n > 0 {
			key = wire.NewKey()
		}
		switch a := harness.TryCreate(t, g, key, declareFull("stored, not published")); {
		case a.Status == http.StatusOK && opened < fit:
			opened++
		default:
			harness.WantRefused(t, a, 429, fault.WriteAllowanceExceeded)
			over = a
		}
	}
	if opened != fit || harness.RetryAfter(t, over) != 18*time.Hour {
		t.Errorf("%d of %d sessions were opened; at 06:00 Retry-After is %s", opened, asked, harness.RetryAfter(t, over))
	}
	if a := harness.TryCreate(t, g, first, declareFull("stored, not published")); a.Status != http.StatusOK {
		t.Errorf("a repetition of what counted answers %d %s", a.Status, a.Code())
	}
	again := wire.Declare("known", page)
	again.ArtifactID = known.ArtifactID
	if a := harness.TryCreate(t, g, wire.NewKey(), again); a.Status != http.StatusOK {
		t.Errorf("a revision of known bytes answers %d %s", a.Status, a.Code())
	}
	if left := remainingToday(t, g); left != 20 {
		t.Errorf("of the artifacts of the day %d are left", left)
	}
	if a := harness.TryCreate(t, p.NewAgent(t), wire.NewKey(), declareFull("somebody else's")); a.Status != http.StatusOK {
		t.Errorf("another workspace is answered %d %s", a.Status, a.Code())
	}
	p.Clock.Advance(harness.RetryAfter(t, over))
	if a := harness.TryCreate(t, g, wire.NewKey(), declareFull("tomorrow's")); a.Status != http.StatusOK {
		t.Errorf("the next day answers %d %s", a.Status, a.Code())
	}
}
