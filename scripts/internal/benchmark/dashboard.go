package main

import (
	"context"
	"io"
	"net/http"
	"strings"

	"vitrine/shared/platform/limits"
)

// The workspace whose pages are measured, and how often each is read.
const (
	dashboardArtifacts = 10_000
	dashboardReads     = 20
)

// dashboardPages are the pages of a member; the artifact of the workspace replaces {}.
var dashboardPages = []struct{ title, path string }{
	{"overview", "/dashboard"},
	{"artifacts", "/artifacts"},
	{"artifacts, search", "/artifacts?q=report&sort=title"},
	{"artifacts, nothing found", "/artifacts?q=whales"},
	{"change one?", "/artifacts/selected/change?do=delete&artifact={}"},
	{"artifact", "/artifacts/{}"},
	{"viewer", "/v/{}"},
	{"access links", "/access-links"},
	{"keys", "/keys"},
	{"ended keys", "/keys/ended"},
	{"connections", "/connections"},
	{"audit log", "/audit"},
	{"settings", "/settings"},
}

// dashboard measures the pages of a member whose workspace has many artifacts.
func (b *bench) dashboard(ctx context.Context, stdout io.Writer) error {
	m := &maker{bench: b, ctx: ctx}
	w := m.enter("dashboard@example.org")
	p := m.approve(w, site())
	if m.err != nil {
		return m.err
	}
	f, err := b.openField(ctx, p.ArtifactID)
	if err != nil {
		return err
	}
	b.say("seeding %d artifacts", dashboardArtifacts)
	if err := f.grow(ctx, dashboardArtifacts); err != nil {
		return err
	}
	var rows []*row
	for _, page := range dashboardPages {
		target := w.app + strings.Replace(page.path, "{}", string(p.ArtifactID), 1)
		r := row{title: page.title, stock: repeated(func(ctx context.Context, _ int) error {
			_, err := w.ask(ctx, http.StatusOK, "GET", target, nil)
			return err
		}, dashboardReads)}
		if err := b.wholly(ctx, &r); err != nil {
			return err
		}
		rows = append(rows, &r)
	}
	printRows(stdout, "Page", []column{calls, rru, wru, latency(50), latency(99), weight}, rows...)
	sayMachine(stdout, "A workspace of %d artifacts; a search looks at the newest %d. KB are of the page alone, not "+
		"compressed. The tables are in memory.", dashboardArtifacts, limits.SearchedArtifacts)
	return nil
}
