// Package origins opens artifacts at origins of their own in a browser.
package origins

import (
	"context"
	"os"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// app is a web application as tools build it, with addresses from the root and everything that needs an origin. Its text
// says how often this browser has opened it, as far as it was told to the two kinds of storage.
var app = []wire.File{
	{Path: "index.html", Body: []byte(`<!doctype html><title>App</title><body><script type="module" src="/assets/main.js"></script>`)},
	{Path: "assets/main.js", Body: []byte(`
const visits = (localStorage.visits = Number(localStorage.visits ?? 0) + 1)
const database = await new Promise((done, failed) => {
	const request = indexedDB.open("app", 1)
	request.onupgradeneeded = () => request.result.createObjectStore("visits", { autoIncrement: true })
	request.onsuccess = () => done(request.result)
	request.onerror = () => failed(request.error)
})
const store = database.transaction("visits", "readwrite").objectStore("visits")
store.add(1)
const kept = await new Promise((done) => (store.count().onsuccess = (e) => done(e.target.result)))
const cached = await caches.open("app")
const before = (await cached.keys()).length
await cached.put("/kept/" + visits, new Response("kept"))
const worker = await new Promise((done) => {
	const w = new Worker("/assets/worker.js", { type: "module" })
	w.onmessage = (e) => done(e.data)
	w.onerror = (e) => done("failed " + e.message)
})
const { data } = await (await fetch("/data.json")).json()
const service = await navigator.serviceWorker.register("/assets/worker.js").then(() => "registered", () => "refused")
document.body.append([visits, kept, before + 1, worker, data, service, location.pathname].join(" "))
`)},
	{Path: "assets/worker.js", Body: []byte(`import { answer } from "/assets/part.js"
postMessage(answer + (await (await fetch("/data.json")).json()).data)`)},
	{Path: "assets/part.js", Body: []byte(`export const answer = "worker-"`)},
	{Path: "data.json", Body: []byte(`{"data":"json"}`)},
	{Path: "docs/a.md", Body: []byte("# A page\n\n[The other](b.md)\n")},
	{Path: "docs/b.md", Body: []byte("# The other page\n")},
}

// env is a deployment where each artifact has an origin of its own, with a member and an agent of the member's workspace.
type env struct {
	*harness.BackendEnv
	member, agent *wire.Agent
}

func newEnv(t *testing.T) *env {
	t.Helper()
	own := func(o *stack.Options) { o.OwnOrigins = true }
	e := &env{BackendEnv: harness.NewAgentAuthEnv(t, harness.Unlimited, own)}
	e.member = e.WithBearer(e.SignedIn(t, "ada@example.org").CLIToken(t).AccessToken)
	key := harness.CallAs[contract.CreatedKey](
		t, &harness.Member{Agent: e.member}, 201, "POST", "/v1/web/keys", contract.CreateKey{Name: "K"}, harness.KeyHeader()...,
	)
	e.agent = e.WithBearer(key.Secret)
	return e
}

func (e *env) publish(t *testing.T, of id.Artifact, files ...wire.File) contract.Published {
	t.Helper()
	return harness.Must(e.agent.PublishFiles(ctx, "App", of, files...))(t)
}

// host is the host and port of the own origin of an artifact.
func (e *env) host(a id.Artifact) string { return strings.TrimPrefix(e.Origins.Of(a), "http://") }
