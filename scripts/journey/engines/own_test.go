//go:build engines

package engines

import (
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
)

// stores is a page that says where it is, and what of its origin works.
const stores = `<!doctype html><body><script type="module">
const say = (what, it) => document.body.append(what + " " + it + "; ")
localStorage.visits = Number(localStorage.visits ?? 0) + 1
say("visits", localStorage.visits)
say("from the root", (await fetch("/data.json")).status)
say("beside", (await fetch("data.json")).status)
say("worker", await new Promise((done) => {
	const worker = new Worker("worker.js")
	worker.onmessage = (event) => done(event.data)
	worker.onerror = () => done("fails")
}))
say("database", await new Promise((done) => {
	const request = indexedDB.open("pages")
	request.onsuccess = () => done("opens")
	request.onerror = () => done("fails")
}))
</script>`

// TestAnArtifactIsAtItsOwnOrigin shows that WebKit, which keeps no cookie in a frame of another site, has all but
// addresses from the root.
func TestAnArtifactIsAtItsOwnOrigin(t *testing.T) {
	d := harness.NewLinkEnv(t, func(o *stack.Options) { o.OwnOrigins = true })
	made := harness.Must(d.Agent.PublishFiles(ctx, "Own", "", wire.File{Path: "index.html", Body: []byte(stores)},
		wire.File{Path: "data.json", Body: []byte(`{}`)}, wire.File{Path: "worker.js", Body: []byte(`postMessage("runs")`)}))(t)
	url := harness.ShareURL(t, d.Agent, made.ArtifactID)
	for name, status := range map[string]string{"Firefox": "200", "WebKit": "404"} {
		t.Run(name, func(t *testing.T) {
			s := browsers[name](t)
			for _, visits := range []string{"1", "2"} {
				s.Go(url)
				s.WaitInFrame(`document.body.innerText.includes("visits ` + visits + `; from the root ` + status +
					`; beside 200; worker runs; database opens")`)
				s.Go("about:blank")
			}
		})
	}
}
