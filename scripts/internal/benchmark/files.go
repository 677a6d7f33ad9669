package main

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
)

// noise is n bytes that do not compress, the same in every run.
func noise(n int) []byte {
	out := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(out)
	return out
}

// freshNoise is n bytes that do not compress, others each time.
func freshNoise(n int) []byte {
	out := make([]byte, n)
	var seed [32]byte
	for i := range seed {
		seed[i] = byte(rand.Uint32())
	}
	rand.NewChaCha8(seed).Read(out)
	return out
}

// site are the files that a publish flow publishes, other bytes each time: what a workspace has is not sent again.
func site() []wire.File { return marked(string(id.NewPublic())) }

// onePage is one such file.
func onePage() []wire.File { return site()[:1] }

// marked is a site whose files hold a word, and so are the same for the same word.
func marked(word string) []wire.File {
	html := "<!doctype html><title>" + word + "</title><link rel=stylesheet href=style.css><p>Numbers</p>"
	css := strings.Repeat("p { margin: 1em auto; max-width: 40em }\n", 25) + "/* " + word + " */"
	data := strings.Repeat(`{"month":"May","visits":1204},`, 140) + `"` + word + `"`
	return []wire.File{
		{Path: "index.html", Body: []byte(html)},
		{Path: "style.css", Body: []byte(css)},
		{Path: "data.json", Body: []byte(data)},
	}
}

// tenFiles are the files that budgets are for, other bytes each time.
func tenFiles() []wire.File {
	files := onePage()
	for n := range 9 {
		body := append(files[0].Body, noise(2000+n)...)
		files = append(files, wire.File{Path: fmt.Sprintf("data/table-%d.csv", n), Body: body})
	}
	return files
}

// smallFiles returns so many small files, other bytes each time.
func smallFiles(n int) []wire.File {
	files := onePage()
	for i := 1; i < n; i++ {
		files = append(files, wire.File{Path: fmt.Sprintf("data/part-%d.bin", i), Body: freshNoise(1 << 10)})
	}
	return files
}
