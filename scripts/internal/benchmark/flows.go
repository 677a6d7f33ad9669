package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"vitrine/scripts/testkit/wire"
)

const flowsLegend = `
Each figure is of one whole flow or GET; calls that overlap are one round trip. CPU and allocations are of the hosts'
process, resident is its memory when the row ended. A flow is create, PUTs one after the other, finalize, publish; the
PUTs go to S3 and are not among the hosts' calls. One key: each client uses its own again and again. A new key: each
flow is the first of its workspace. Hot reads ask for the same file again and again, cold ones each for another
artifact, which the hosts have not read before.
Bare calls are those of a cold read, but for that of the list of files. The load's own process makes them with plain
clients of the SDK; in brackets are CPU and allocations of that process.
`

const (
	smallSize = 4 << 10 // of a file that is read
	coldReads = 400     // artifacts of a row of cold reads, unless the options say less
	// flowRequests are the lines that a publish flow leaves in the request log: create, finalize and publish.
	flowRequests = 3
)

// flowRows are hot and cold reads, beside their bare calls, and publish flows.
func (b *bench) flowRows(ctx context.Context) ([]row, error) {
	m := &maker{bench: b, ctx: ctx}
	hot, own := m.hotReads(smallSize)
	rows := []row{
		{name: "content-4k", title: "Content GET, 4 KB, hot", work: hot},
		{name: "content-own-4k", title: "the same at its own origin", work: own, optional: true}, // commits before have none
		{name: "content-1m", title: "Content GET, 1 MB, hot", work: m.hotRead(1 << 20)},
		b.coldRow(),
	}
	if b.commit == "" { // the load's own process would be compared with itself
		bare := row{name: "bare-4k", title: "its three bare calls, 4 KB", work: m.bareRead(), own: true}
		rows = slices.Insert(rows, 2, bare)
	}
	for _, files := range []int{12, 100} { // of which a session may have 100 at most
		rows = append(rows, row{
			name:  fmt.Sprint("publish-", files),
			title: fmt.Sprintf("Publish flow of %d files", files),
			work:  publishing(b.agents, func() []wire.File { return smallFiles(files) }),
			lines: flowRequests,
		})
	}
	return append(rows, b.loneRow(), b.publishRow()), m.err // last: the hosts work on it for some time
}

// hotRead reads the same file again and again.
func (m *maker) hotRead(size int64) operation {
	hot, _ := m.hotReads(size)
	return hot
}

// hotReads read the same file again and again, at the shared origin and at the artifact's own.
func (m *maker) hotReads(size int64) (shared, own operation) {
	const name = "read.bin"
	s := m.show(m.agents[0], wire.File{Path: name, Body: freshNoise(int(size))})
	_, rest, _ := strings.Cut(s.RevisionContentURL, "/v/")
	token, _, _ := strings.Cut(rest, "/")
	_, host, _ := strings.Cut(m.hosts.Origins.Of(s.ArtifactID), "://")
	client, at := httpClient(), m.hosts.Origins.Content // a resolver may not know the name
	return fetching(client, s.RevisionContentURL, size),
		fetching(client, at+"/"+name, size, "Host", host, "Cookie", "__Host-v="+token)
}

// coldRow is the row of artifacts of one file, each of which is read once, so that the hosts find nothing of it in
// their memory: no list of files, no bytes and no permits of its rate counter.
func (b *bench) coldRow() row {
	client := httpClient()
	stock := b.making(coldReads, func(m *maker) operation {
		s := m.show(m.inTurn(m.n), wire.File{Path: "small.txt", Body: freshNoise(smallSize)})
		return fetching(client, s.RevisionContentURL, smallSize)
	})
	return row{name: "content-cold-4k", title: "Content GET, 4 KB, cold", stock: stock}
}

// publishing is a whole publish flow as a plain client runs it. Each client has a workspace of its own.
func publishing(agents []*wire.Agent, files func() []wire.File) operation {
	return func(ctx context.Context, client int) error {
		_, err := agents[client%len(agents)].PublishFiles(ctx, "Report", "", files()...)
		return err
	}
}

func (b *bench) publishRow() row {
	return row{
		name:  "publish-flow",
		title: "Publish flow of 3 files, one key",
		work:  publishing(b.agents, site),
		lines: flowRequests,
	}
}

// loneRow has publish flows each of which is the first of its workspace and of its key. Making those is not measured.
func (b *bench) loneRow() row {
	return row{
		name:  "publish-lone",
		title: "Publish flow of 3 files, a new key",
		lines: flowRequests,
		stock: b.gated(gateMost, func(m *maker) operation {
			return publishing([]*wire.Agent{m.provision().Agent}, site)
		}),
	}
}
