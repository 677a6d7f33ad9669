package main

import (
	"fmt"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/folder"
)

func TestWatchPublishesRelativeCopies(t *testing.T) {
	const page = `<p>x<img src="/logo.png">`
	w := newWatchTest(t, "--artifact-id", artifact, "--relative")
	w.write(t, "index.html", page)
	w.writes(t, 1, "page.txt", "other")
	w.writes(t, 10, "index.html", page) // the same bytes again, at another time
	w.run(t, 20)
	wantLines(t, w.lines(), "revision 4: 1 changed, 5 bytes sent, 0.0 s", stoppedLine)
	if got := w.world.newest().files["index.html"]; got != `<p>x<img src="logo.png">` {
		t.Errorf("published %s", got)
	}
	if n := strings.Count(w.err.String(), "1 address is relative in what is published: index.html (1)"); n != 1 {
		t.Errorf("the copies are told %d times in %q", n, &w.err)
	}
}

func TestWatchGoesOnAfterPagesThatItRefuses(t *testing.T) {
	w := newWatchTest(t, "--artifact-id", artifact)
	w.writes(t, 1, "index.html", `<p>x<img src="/logo.png">`)
	w.writes(t, 10, "index.html", `<p>x<img src="logo.png">`)
	w.run(t, 20)
	wantLines(t, w.lines(), "revision 3: 1 changed, 24 bytes sent, 0.0 s", stoppedLine)
	want := "not published: addresses with a leading slash lead out of the artifact, " +
		`as "/logo.png" in index.html; trying again at the next change`
	if !strings.Contains(w.err.String(), want) {
		t.Errorf("stderr %q, want %s", &w.err, want)
	}
}

func TestTheOptionForRelativeAddresses(t *testing.T) {
	for _, tt := range []struct{ files, want string }{
		{"index.html assets/index-B3x_9a-Z.js", "Vite: "},
		{"index.html vite.config.ts", "Vite: "},
		{"index.html main.0123abcd.js", "webpack: "},
		{"index.html _next/static/chunks/main.js", "Next: "},
		{"index.html _astro/index.Ab12.css", "Astro "},
		{"index.html _app/immutable/entry/start.js assets/logo-B3x_9a-Z.js", "SvelteKit: "},
		{"index.html app.js", "Vite: base: './'; webpack: output.publicPath: 'auto'"},
	} {
		files := &folder.Folder{}
		for path := range strings.FieldsSeq(tt.files) {
			files.Files = append(files.Files, folder.File{Path: path})
		}
		if got := relativeBase(files); !strings.HasPrefix(got, tt.want) {
			t.Errorf("relativeBase(%s) = %s, want %s", tt.files, got, tt.want)
		}
	}
}

func TestRefuseRootedNamesTheFiles(t *testing.T) {
	var copies []relativeCopy
	for n, changed := range [][]string{{"/"}, {"/", "/a.js"}, {"/"}, {"/b.js"}} {
		copies = append(copies, relativeCopy{path: fmt.Sprintf("%d.html", n), changed: changed})
	}
	want := `addresses with a leading slash lead out of the artifact, as "/a.js" in 1.html, and others in 3.html`
	if f := refuseRooted(copies, "", &folder.Folder{}); f.Message != want {
		t.Errorf("it says %s, want %s", f.Message, want)
	}
	if f := refuseRooted(copies[:1], "", &folder.Folder{}); f != nil {
		t.Errorf("a link to the root is refused: %v", f)
	}
}
