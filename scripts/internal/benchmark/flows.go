package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
)

// Sizes of the files that are read.
const (
	smallSize = 4 << 10
	largeSize = 1 << 20
)

// noise is n bytes that do not compress, the same in every run.
func noise(n int) []byte {
	out := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(out)
	return out
}

// site are the files that a publish flow publishes, other bytes each time: what a workspace has already is not sent again.
func site() []wire.File {
	return marked(string(id.NewPublic()))
}

// marked is a site whose files hold a word, and so are the same for the same word.
func marked(word string) []wire.File {
	return []wire.File{
		{Path: "index.html", Body: []byte("<!doctype html><title>" + word + "</title><link rel=stylesheet href=style.css><p>Numbers</p>")},
		{Path: "style.css", Body: append(bytes.Repeat([]byte("p { margin: 1em auto; max-width: 40em }\n"), 25), "/* "+word+" */"...)},
		{Path: "data.json", Body: append(bytes.Repeat([]byte(`{"month":"May","visits":1204},`), 140), `"`+word+`"`...)},
	}
}

// publishing is a whole publish flow as a plain client runs it: create, PUTs one after the other, finalize, publish.
// Each client has a workspace of its own.
func publishing(agents []*wire.Agent, files func() []wire.File) operation {
	return func(ctx context.Context, client int) error {
		_, err := agents[client].PublishFiles(ctx, "Report", "", files()...)
		return err
	}
}

// fetching reads a URL and throws the bytes away when there are as many as expected.
func fetching(client *http.Client, url string, size int64) operation {
	return func(ctx context.Context, _ int) error {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return err
		}
		resp, err := client.Do(r)
		if err != nil {
			return unquoted(err)
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%s answers %s", r.URL.Host, resp.Status)
		}
		return swallow(resp.Body, size)
	}
}

// swallow reads a body of a known size.
func swallow(body io.Reader, size int64) error {
	n, err := io.Copy(io.Discard, body)
	if err == nil && n != size {
		err = fmt.Errorf("%d bytes came, expected %d", n, size)
	}
	return err
}
