package main

import (
	"context"
	"math/rand/v2"
	"net/http"

	"vitrine/scripts/testkit/wire"
)

// coldReads is how many artifacts a row of cold reads has, unless the options say less.
const coldReads = 400

// freshNoise returns n bytes that do not compress, others each time.
func freshNoise(n int) []byte {
	out := make([]byte, n)
	var seed [32]byte
	for i := range seed {
		seed[i] = byte(rand.Uint32())
	}
	rand.NewChaCha8(seed).Read(out)
	return out
}

// coldReads publishes artifacts of one file. Each is read once, so that the hosts find nothing of it in their memory:
// no list of files, no bytes and no permits of its rate counter.
func (b *bench) coldReads(ctx context.Context) ([]task, error) {
	client := httpClient(nil)
	return each(ctx, b.atMost(coldReads), func(ctx context.Context, i int) (task, error) {
		file := wire.File{Path: "small.txt", Body: freshNoise(smallSize)}
		p, err := b.inTurn(i).PublishFiles(ctx, "Cold", "", file)
		return once(fetching(client, p.RevisionContentURL, smallSize)), err
	})
}

// coldRow is the row of cold reads.
func (b *bench) coldRow() row {
	return row{
		name:   "content-cold-4k",
		title:  "Content GET, 4 KB, cold",
		stock:  b.coldReads,
		logged: 1,
	}
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
	etag, err := b.etag(ctx, b.read.urls[0])
	if err != nil {
		return nil, err
	}
	api, client := b.anyone.At.APIURL, httpClient(nil)
	view := api + "/v1/artifacts/" + string(s.published.ArtifactID) + "/agent-view"
	rows := []row{
		{name: "whoami", title: "GET whoami", work: asking(s.owner, 200, "GET", api+"/v1/whoami")},
		{name: "content-4k", title: "GET content, 4 KB, hot", work: fetching(client, b.read.urls[0], b.read.sizes[0])},
		b.coldRow(),
		{name: "content-head", title: "HEAD content", work: asking(b.anyone, 200, "HEAD", b.read.urls[0])},
		{
			name:  "content-304",
			title: "GET content, 304",
			work:  asking(b.anyone, http.StatusNotModified, "GET", b.read.urls[0], "If-None-Match", etag),
		},
		{name: "content-1m", title: "GET content, 1 MB", work: fetching(client, b.read.urls[1], b.read.sizes[1])},
		{name: "agent-view", title: "GET agent view, 10 files", work: asking(s.owner, 200, "GET", view)},
		{
			name:  "agent-view-public",
			title: "GET agent view, public",
			work:  asking(b.anyone, 200, "GET", s.published.AgentViewURL),
		},
		{name: "list", title: "GET list, 50 artifacts", work: asking(s.owner, 200, "GET", api+"/v1/artifacts")},
		{name: "resolve", title: "POST resolve", work: sending(b.anyone, api+"/v1/access-links/resolve", s.link)},
		{
			name:  "viewer",
			title: "GET viewer page",
			work:  asking(b.anyone, 200, "GET", b.anyone.At.AppURL+"/al/"+string(s.link.PublicID)),
		},
	}
	rows = append(rows, pages...)
	return append(rows, b.publishRow(), b.loneRow()), nil
}

func (b *bench) etag(ctx context.Context, target string) (string, error) {
	a, err := b.anyone.Do(ctx, "HEAD", target, nil)
	return a.Header.Get("ETag"), expect(a, err, http.StatusOK)
}
