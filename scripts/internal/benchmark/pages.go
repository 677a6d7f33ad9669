package main

import (
	"context"
	"net/http"
	"strings"

	"vitrine/scripts/testkit/wire"
)

const (
	// browserConnections is how many files of a host a browser reads at once.
	browserConnections = 6
	// coldPages is how many pages a row of cold reads has, unless the options say less.
	coldPages = 40
)

const pagesLegend = `
Each figure is of one whole page: an entrypoint, then 19 files of 5 to 300 KB, 6 at a time. Hot is the same page again
and again, cold is each time another one. CPU and allocations are of the hosts' process. The engines' data is on disk.
`

// page is a published page as a browser reads it.
type page struct {
	link  string // of its viewer
	url   string // of its entrypoint
	files []wire.File
}

func (m *maker) publishPage() page {
	files := pageFiles()
	s := m.show(m.inTurn(m.n), files...)
	return page{s.UnlistedURL, s.RevisionContentURL, files}
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
	client, hot := httpClient(nil), &maker{bench: b, ctx: ctx}
	p := hot.publishPage()
	cold := b.making(coldPages, func(m *maker) operation {
		p := m.publishPage()
		return p.reading(client, p.url)
	})
	rows := []row{
		{name: "page-20", title: "Page with 20 files, hot", work: p.reading(client, p.url)},
		{name: "page-20-cold", title: "Page with 20 files, cold", stock: cold},
	}
	for n := range rows {
		rows[n].lines = len(p.files)
	}
	return rows, hot.err
}
