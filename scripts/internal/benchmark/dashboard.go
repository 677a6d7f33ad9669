package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"runtime"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// The workspace whose pages are measured, and how often each is read.
const (
	dashboardArtifacts = 10_000
	dashboardReads     = 20
)

// dashboardPages are the pages of a member; the artifact of the workspace replaces %s.
var dashboardPages = []struct{ name, path string }{
	{"overview", "/dashboard"},
	{"artifacts", "/artifacts"},
	{"artifacts, search", "/artifacts?q=report&sort=title"},
	{"artifacts, nothing found", "/artifacts?q=whales"},
	{"change one?", "/artifacts/selected/change?do=delete&artifact=%s"},
	{"artifact", "/artifacts/%s"},
	{"viewer", "/v/%s"},
	{"access links", "/access-links"},
	{"keys", "/keys"},
	{"ended keys", "/keys/ended"},
	{"connections", "/connections"},
	{"audit log", "/audit"},
	{"settings", "/settings"},
}

const dashboardHead = `| Page | AWS calls | RRU | WRU | p50 ms | p99 ms | KB |
|---|--:|--:|--:|--:|--:|--:|
`

// dashboard measures the pages of a member whose workspace has many artifacts.
func (b *bench) dashboard(ctx context.Context, stdout io.Writer) error {
	w, shown, err := b.crowded(ctx)
	if err != nil {
		return err
	}
	fmt.Fprint(stdout, dashboardHead)
	for _, page := range dashboardPages {
		path := page.path
		if n := len(path) - len("%s"); n > 0 && path[n:] == "%s" {
			path = path[:n] + string(shown.ArtifactID)
		}
		weight := 0
		read := func(ctx context.Context, _ int) error {
			a, err := w.ask(ctx, "GET", w.app+path, nil)
			weight = len(a.Body)
			return expect(a, err, http.StatusOK)
		}
		r := row{
			name:    page.name,
			clients: 1,
			logged:  1,
			stock: func(ctx context.Context) ([]task, error) {
				tasks := make([]task, dashboardReads)
				for n := range tasks {
					tasks[n] = once(read)
				}
				return tasks, read(ctx, 0)
			},
		}
		b.say("measuring %s", r.name)
		if err := b.consume(ctx, &r); err != nil {
			return err
		}
		fmt.Fprintf(stdout, "| %s | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", r.name, r.per(float64(r.used.Calls)),
			r.per(r.used.RRU), r.per(r.used.WRU), millis(r.percentile(50)), millis(r.percentile(99)), float64(weight)/1000)
	}
	fmt.Fprintf(stdout, "\nA workspace of %d artifacts; a search looks at the newest %d. KB are of the page alone, not "+
		"compressed. The tables are in memory.\n"+machine,
		dashboardArtifacts, limits.SearchedArtifacts, runtime.NumCPU(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return nil
}

// crowded is the browser of a member whose workspace has many artifacts, and one of these.
func (b *bench) crowded(ctx context.Context) (w *browser, shown contract.Published, err error) {
	if w, err = b.enter(ctx, "dashboard@example.org"); err != nil {
		return w, shown, err
	}
	p, err := b.approves(ctx, w)
	if err != nil {
		return w, shown, err
	}
	var made contract.CreatedKey
	a, err := p.Do(ctx, "POST", p.At.APIURL+"/v1/web/keys", contract.CreateKey{Name: "bench"}, "Idempotency-Key", wire.NewKey())
	if err := unpack(a, err, http.StatusCreated, &made); err != nil {
		return w, shown, err
	}
	agent := &wire.Agent{HTTP: p.HTTP, At: p.At, Key: made.Secret}
	if shown, err = agent.PublishFiles(ctx, "Report", "", site()...); err != nil {
		return w, shown, err
	}
	f, err := b.openField(ctx, shown.ArtifactID)
	if err != nil {
		return w, shown, err
	}
	b.say("seeding %d artifacts", dashboardArtifacts)
	return w, shown, f.grow(ctx, dashboardArtifacts)
}
