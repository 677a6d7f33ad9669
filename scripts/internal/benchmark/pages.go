package main

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"vitrine/scripts/testkit/wire"
)

const (
	pageEntrypoint = "index.html"
	// browserConnections is how many files of a host a browser reads at once.
	browserConnections = 6
	// coldPages is how many pages a row of cold reads has, unless the options say less.
	coldPages = 40
)

// pageAssets are the sizes of the files of a page beside its entrypoint. One is above what a host keeps in its memory.
var pageAssets = []struct{ count, size int }{
	{1, 300 << 10}, {1, 200 << 10}, {2, 90 << 10}, {5, 24 << 10}, {10, 5 << 10},
}

const pagesLegend = `
Each figure is of one whole page: an entrypoint, then 19 files of 5 to 300 KB, 6 at a time. Hot is the same page again
and again, cold is each time another one. CPU and allocations are of the hosts' process. The engines' data is on disk.
`

// pageFiles returns the 20 files of a page, other bytes each time.
func pageFiles() []wire.File {
	const html = 6 << 10
	files := []wire.File{{Path: pageEntrypoint, Body: []byte("<!doctype html><title>Page</title>")}}
	files[0].Body = append(files[0].Body, strings.Repeat("<p>Numbers</p>\n", html/16)...)
	for _, a := range pageAssets {
		for n := range a.count {
			files = append(files, wire.File{Path: fmt.Sprintf("asset/%d-%d.bin", a.size, n), Body: freshNoise(a.size)})
		}
	}
	return files
}

// page is a published page as a browser reads it.
type page struct {
	link  string // of its viewer
	url   string // of its entrypoint
	files []wire.File
}

func publishPage(ctx context.Context, g *wire.Agent) (page, error) {
	files := pageFiles()
	p, err := g.PublishFiles(ctx, "Page", "", files...)
	return page{
		link:  p.UnlistedURL,
		url:   p.RevisionContentURL,
		files: files,
	}, err
}

// reading returns an operation that reads the whole page from the address of its entrypoint: first that, then all
// others as a browser does.
func (p page) reading(client *http.Client, entrypoint string) operation {
	base := strings.TrimSuffix(entrypoint, pageEntrypoint)
	read := func(ctx context.Context, n int) error {
		return fetching(client, base+p.files[n].Path, int64(len(p.files[n].Body)))(ctx, 0)
	}
	return func(ctx context.Context, _ int) error {
		if err := read(ctx, 0); err != nil {
			return err
		}
		asset := func(ctx context.Context, n int) (none struct{}, err error) { return none, read(ctx, n+1) }
		_, err := atOnce(ctx, browserConnections, len(p.files)-1, asset)
		return err
	}
}

// pageRows are the rows of a page with 20 files: the same one again and again, and each time another.
func (b *bench) pageRows(ctx context.Context) ([]row, error) {
	p, err := publishPage(ctx, b.inTurn(0))
	files := len(p.files)
	return []row{
		{
			name:   "page-20",
			title:  fmt.Sprintf("Page with %d files, hot", files),
			work:   p.reading(httpClient(nil), p.url),
			logged: files,
		},
		{
			name:   "page-20-cold",
			title:  fmt.Sprintf("Page with %d files, cold", files),
			stock:  b.coldPages,
			logged: files,
		},
	}, err
}

// coldPages publishes pages each of which is read once.
func (b *bench) coldPages(ctx context.Context) ([]task, error) {
	client := httpClient(nil)
	return each(ctx, b.atMost(coldPages), func(ctx context.Context, i int) (task, error) {
		p, err := publishPage(ctx, b.inTurn(i))
		return once(p.reading(client, p.url)), err
	})
}
