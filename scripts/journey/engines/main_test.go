// Package engines opens what readers meet in Firefox, WebKitGTK and Chromium. Journeys of other topics use Chromium.
package engines

import (
	"context"
	"io/fs"
	"os"
	"path"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
)

// specimens are files of each kind that has a page.
const specimens = "../../../functions/render/testdata/specimens"

// ctx is the context of every request.
var ctx = context.Background()

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

var browsers = map[string]func(testing.TB) *session{
	"Firefox": newFirefox,
	"WebKit":  newWebKit,
}

// inBoth runs a test in each browser, with a deployment and a claimed workspace.
func inBoth(t *testing.T, f func(*testing.T, *harness.LinkEnv, *session), change ...func(*stack.Options)) {
	d := harness.NewLinkEnv(t, change...)
	for name, start := range browsers {
		t.Run(name, func(t *testing.T) { f(t, d, start(t)) })
	}
}

// read returns a file as one of an artifact.
func read(t testing.TB, folder, name string) wire.File {
	t.Helper()
	return wire.File{Path: name, Body: harness.Must(os.ReadFile(path.Join(folder, name)))(t)}
}

// site is a page with a style sheet, scripts, a module, data, pictures and a sound.
func site(t testing.TB) []wire.File {
	t.Helper()
	picture := read(t, specimens, "photos/gradient.png")
	picture.Path = "img/gradient.png"
	return append(files(t, "testdata/site"), read(t, specimens, "tone.wav"), picture)
}

// files returns the files of a folder, of which index.html is the first.
func files(t testing.TB, folder string) []wire.File {
	t.Helper()
	all := []wire.File{read(t, folder, "index.html")}
	harness.NoError(t, fs.WalkDir(os.DirFS(folder), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && name != "index.html" {
			all = append(all, read(t, folder, name))
		}
		return err
	}))
	return all
}

// loaded is an expression for what of the site has loaded.
const loaded = `Object.entries({
	style: getComputedStyle(document.querySelector("h1")).color === "rgb(10, 90, 80)",
	script: window.classic === true,
	module: window.word === "flood",
	data: window.height === 7.1,
	drawing: document.images[0].naturalWidth === 200,
	picture: document.images[1].naturalWidth > 0,
	sound: document.querySelector("audio").readyState > 0,
}).filter(([, is]) => is).map(([name]) => name)`

// share publishes files and returns the URL of an access link.
func share(t testing.TB, d *harness.LinkEnv, title string, files ...wire.File) string {
	t.Helper()
	made := harness.Must(d.Agent.PublishFiles(ctx, title, "", files...))(t)
	return harness.ShareURL(t, d.Agent, made.ArtifactID)
}
