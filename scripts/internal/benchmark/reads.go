package main

import (
	"context"
	"slices"
	"strings"

	"vitrine/scripts/testkit/wire"
)

const flowsLegend = `
Each figure is of one whole flow or GET; calls that overlap are one round trip. CPU and allocations are of the hosts'
process, in brackets those of the load's own process, which makes the calls of such a row itself. CPU of the engines is
that of DynamoDB's and S3's together. Resident is the memory of the hosts' process when the row ended. The PUTs of a
flow go to S3 and are not among the hosts' calls. The engines' data is on disk. Hot reads ask for the same file again
and again, cold ones each for another artifact, which the hosts have not read before.
`

// coldReads is how many artifacts a row of cold reads has, unless the options say less.
const coldReads = 400

// flowRows are hot reads beside their bare calls, cold reads and the publish flow.
func (b *bench) flowRows(ctx context.Context) (rows []row, err error) {
	for n, size := range []string{"4 KB", "1 MB"} {
		f, short := b.reads[n], strings.ToLower(size[:1]+size[2:3])
		recorded, err := b.recordCalls(ctx, f)
		if err != nil {
			return nil, err
		}
		download, err := b.downloading(ctx, recorded, f.size)
		if err != nil {
			return nil, err
		}
		three := []row{
			{name: "content-" + short, title: "Content GET, " + size + ", hot", work: b.hotRead(n)},
			{name: "bare-" + short, title: "its three bare calls, " + size, work: b.calling(recorded, f.size)},
			{name: "s3-" + short, title: "the S3 engine's own GET, " + size, work: download},
		}
		for _, clients := range []int{1, manyClients} {
			for i, r := range three {
				r.clients, r.bare = clients, i > 0
				rows = append(rows, r)
			}
		}
	}
	return append(rows, b.coldRow(), b.publishRow()), nil // last: the hosts work on it for some time
}

// hotRead reads the small or the large file.
func (b *bench) hotRead(n int) operation {
	return fetching(httpClient(nil), b.reads[n].url, b.reads[n].size)
}

// coldRow is the row of artifacts of one file, each of which is read once, so that the hosts find nothing of it in
// their memory: no list of files, no bytes and no permits of its rate counter.
func (b *bench) coldRow() row {
	client := httpClient(nil)
	stock := b.making(coldReads, func(m *maker) operation {
		s := m.show(m.inTurn(m.n), wire.File{Path: "small.txt", Body: freshNoise(smallSize)})
		return fetching(client, s.RevisionContentURL, smallSize)
	})
	return row{name: "content-cold-4k", title: "Content GET, 4 KB, cold", stock: stock}
}

// essentials are the rows that are compared with those of another commit unless the command line chooses others.
func (b *bench) essentials(ctx context.Context) ([]row, error) {
	s, err := b.openShelf(ctx)
	if err != nil {
		return nil, err
	}
	pages, err := b.pageRows(ctx)
	if err != nil {
		return nil, err
	}
	var rows []row
	for _, r := range b.readRoutes(s, "") {
		if slices.Contains(essentialRoutes, r.name) {
			rows = append(rows, r)
		}
	}
	rows = append(rows,
		row{name: "content-4k", title: "GET content, 4 KB, hot", work: b.hotRead(0)},
		row{name: "content-1m", title: "GET content, 1 MB", work: b.hotRead(1)},
		b.coldRow(),
	)
	rows = append(rows, pages...)
	return append(rows, b.publishRow(), b.loneRow()), nil
}

var essentialRoutes = []string{
	"whoami", "list", "agent-view", "agent-view-public", "resolve", "viewer", "content-head", "content-304",
}
