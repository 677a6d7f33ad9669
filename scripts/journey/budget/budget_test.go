package budget

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/clock"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

// budget is the most that a request may ask of AWS, for revisions of ten files: calls, round trips (calls that overlap
// are one) and the request units that the engine reports. The figures are those that the tables were designed for;
// where one is higher, or was not designed, a comment says why. Wherever something is recorded it is one unit more than
// designed: operators read what was done in all workspaces, and the index for that has an entry for each event.
type budget struct {
	calls, trips int
	rru, wru     float64
}

// callDelay lets calls that are made in parallel overlap, on fast engines and on busy machines. Recording the use of a
// key is not delayed, because answers hardly wait for it.
const callDelay = 40 * time.Millisecond

// budgetEnv holds requests of one deployment against their budgets.
type budgetEnv struct {
	*harness.Env
	clock    *clock.Clock
	owner    *wire.Agent
	last     *lastAnswer
	measures atomic.Bool // the calls of what is prepared are not delayed
}

func newBudgetEnv(t *testing.T, change ...func(*stack.Options)) *budgetEnv {
	l := &budgetEnv{clock: clock.New(time.Now())}
	l.measure(harness.NewEnv(t, append(change, l.delayCalls(t), func(o *stack.Options) {
		o.Now = l.clock.Now
		harness.LimitReads(&o.Limits, artifactReads)
	})...))
	return l
}

// delayCalls lets the calls of a deployment overlap while its requests are measured.
func (b *budgetEnv) delayCalls(t *testing.T) func(*stack.Options) {
	slow := chaos.For(t)
	slow.On("").Always().If(func(input any) bool {
		return b.measures.Load() && isNoTouch(input)
	}).Before(chaos.Delay(callDelay))
	return func(o *stack.Options) { o.Middleware = append(o.Middleware, slow.Add) }
}

// measure holds the requests of a deployment against their budgets.
func (b *budgetEnv) measure(d *harness.Env) {
	b.Env, b.last = d, &lastAnswer{RoundTripper: d.Anyone.HTTP.Transport}
	b.Anyone.HTTP.Transport = b.last
}

// backend returns access to the tables that is not metered.
func (b *budgetEnv) backend() *harness.BackendEnv {
	e := b.Options.Engines
	client := e.DynamoDBClient()
	return &harness.BackendEnv{
		Env:    b.Env,
		DB:     client,
		Tables: dynamo.Named(b.Options.Tables),
		Clock:  b.clock,
	}
}

// isNoTouch reports whether a call is none that records the use of a key.
func isNoTouch(input any) bool {
	update, ok := input.(*dynamodb.UpdateItemInput)
	return !ok || !strings.HasPrefix(*update.UpdateExpression, "SET #used_at")
}

// lastAnswer keeps the id of the last request that was answered.
type lastAnswer struct {
	http.RoundTripper
	id string
}

func (l *lastAnswer) RoundTrip(r *http.Request) (*http.Response, error) {
	a, err := l.RoundTripper.RoundTrip(r)
	if err == nil {
		l.id = a.Header.Get("X-Request-Id")
	}
	return a, err
}

// wantStatus sends a request and wants this status; a path is one of the api host.
func (b *budgetEnv) wantStatus(t *testing.T, g *wire.Agent, status int, method, target string, headers ...string) {
	t.Helper()
	b.sends(t, g, status, method, target, nil, headers...)()
}

// asks is a command of a member, with a fresh Idempotency-Key.
func (b *budgetEnv) asks(t *testing.T, who *harness.Member, status int, method, path string, body any) func() {
	return func() {
		t.Helper()
		b.sends(t, who.Agent, status, method, path, body, harness.KeyHeader()...)()
	}
}

// sends is a request that is to have this status.
func (b *budgetEnv) sends(
	t *testing.T, g *wire.Agent, status int, method, target string, body any, headers ...string,
) func() {
	if strings.HasPrefix(target, "/") {
		target = b.Origins.API + target
	}
	return func() {
		t.Helper()
		if a, err := g.Do(ctx, method, target, body, headers...); err != nil || a.Status != status {
			t.Fatalf("%s %s answers %d %s (%v), want %d", method, target, a.Status, a.Body, err, status)
		}
	}
}

// requestCost is the log line of a request.
type requestCost struct {
	ID      string `json:"request_id"`
	Route   string
	Calls   int `json:"aws_calls"`
	Trips   int `json:"aws_round_trips"`
	Retries int `json:"aws_retries"`
	RRU     float64
	WRU     float64
}

// lastCost waits for the line of the last request, which may follow the answer.
func (b *budgetEnv) lastCost(t *testing.T) requestCost {
	t.Helper()
	return costs(t, b.Env, 1, func(s requestCost) bool { return s.ID == b.last.id })[0]
}

// costs waits until the log has so many lines of some requests.
func costs(t *testing.T, d *harness.Env, n int, of func(requestCost) bool) (found []requestCost) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-tick.C {
		found = nil
		for line := range strings.Lines(d.Log.String()) {
			var s requestCost
			if json.Unmarshal([]byte(line), &s) == nil && of(s) {
				found = append(found, s)
			}
		}
		if len(found) == n {
			return found
		}
	}
	t.Fatalf("the log has %d lines, not %d", len(found), n)
	return nil
}

// wantWithin makes a request and compares what it cost. The clock goes on by so little that hardly a new minute begins,
// but an index entry for another instant is another entry.
func (b *budgetEnv) wantWithin(t *testing.T, name string, most budget, request func()) {
	t.Helper()
	b.clock.Advance(time.Millisecond)
	b.measures.Store(true)
	request()
	s := b.lastCost(t)
	b.measures.Store(false)
	got := budget{}.plus(s)
	t.Logf("%-30s %s", name, got)
	if s.RRU+s.WRU == 0 {
		t.Errorf("%s (%s): nothing was metered", name, s.Route)
	}
	if s.Calls > most.calls || s.Trips > most.trips || s.RRU > most.rru || s.WRU > most.wru || s.Retries > 0 {
		t.Errorf("%s (%s) takes %s and %d retries; the budget is %s", name, s.Route, got, s.Retries, most)
	}
}

// plus adds what a request cost.
func (b budget) plus(s requestCost) budget {
	return budget{b.calls + s.Calls, b.trips + s.Trips, b.rru + s.RRU, b.wru + s.WRU}
}

// String shows the figures for people.
func (b budget) String() string {
	return fmt.Sprintf("%d calls in %d round trips, %g RRU, %g WRU", b.calls, b.trips, b.rru, b.wru)
}

// tenFiles are the files of a revision; only the first differs between versions.
func tenFiles(version string) []wire.File {
	files := []wire.File{harness.Page(version)}
	for n := range 9 {
		files = append(files, wire.File{
			Path: fmt.Sprintf("data/table-%d.csv", n),
			Body: harness.RandomBytes(uint64(n), 2000),
		})
	}
	return files
}

func TestEveryRouteStaysWithinItsBudget(t *testing.T) {
	l := newBudgetEnv(t)
	if t.Run("provisioning", l.provisioning); l.owner == nil {
		t.Fatal("without a workspace there is nothing to ask")
	}
	t.Run("publishing and deleting", l.publishing)
	t.Run("reading", l.reading)
	t.Run("accounts", l.accounts)
}

// artifactReads is how often an artifact may be read here: more often than reading asks until it wants a refusal.
const artifactReads = 20

func (b *budgetEnv) provisioning(t *testing.T) {
	// Three round trips, not two: the gate is counted behind the other counters, so that a refused request takes no
	// place; a look at it beside them tells whether work is asked. Once in 15 seconds its setting is read in between.
	b.wantWithin(t, "provision, the setting unread", budget{6, 4, 1.5, 13}, func() { b.owner = b.NewAgent(t) })
	b.wantWithin(t, "provision", budget{5, 3, 0.5, 13}, func() { b.NewAgent(t) })
	for range limits.PowFree - 2 {
		b.NewAgent(t)
	}
	var asked wire.Answer
	b.wantWithin(t, "provision, work asked", budget{3, 1, 0.5, 2}, func() { asked = b.provisions(t, nil, 401) })
	proof := harness.Must(wire.Prove(ctx, asked))(t)
	// The nonce is burnt before the gate.
	b.wantWithin(t, "provision, work proven", budget{6, 4, 0.5, 14}, func() { b.provisions(t, proof, 201) })
}

func (b *budgetEnv) provisions(t *testing.T, body any, status int) wire.Answer {
	t.Helper()
	a := harness.Do(t, b.Anyone, "POST", b.Origins.API+"/v1/ephemeral/provision", body)
	if a.Status != status {
		t.Fatalf("%d %s, want %d", a.Status, a.Body, status)
	}
	return a
}

func (b *budgetEnv) accounts(t *testing.T) {
	// Both read what is left of the day: 4 counters of 0.5 RRU.
	b.wantWithin(t, "whoami", budget{4, 2, 4, 2}, func() { b.wantStatus(t, b.owner, 200, "GET", "/v1/whoami") })
	b.wantWithin(t, "usage policy", budget{2, 2, 4, 2}, func() {
		b.wantStatus(t, b.owner, 200, "GET", "/v1/usage-policy")
	})
	// Not designed: credential, then counters, then key and event in a transaction, and the key's index entry, which
	// leaves one list for another.
	b.wantWithin(t, "revoke", budget{4, 3, 2, 9}, func() {
		b.wantStatus(t, b.owner, 200, "POST", "/v1/api-keys/current/revoke")
	})
}

func (b *budgetEnv) publishing(t *testing.T) {
	// The first use of a key stamps it, beside the request: once in 10 minutes one call and 2 WRU, the key and its index
	// entry.
	whoami := func() { b.wantStatus(t, b.owner, 200, "GET", "/v1/whoami") }
	b.wantWithin(t, "whoami, first use of the key", budget{5, 2, 4, 4}, whoami)
	for b.lastCost(t).Calls > 4 { // a busy machine has no time for the stamp, and tries again
		whoami()
	}
	// Create looks for bytes that the workspace has already, 0.5 RRU a file, beside the counters. What it declares for
	// upload is counted in its transaction, 2 WRU, so that a command counts once; a session that uploads nothing does not
	// pay. Session and entries are one item, as are revision and files, and finalize leaves the session in its place of
	// the queue. The share link that comes with a first publication is listed twice, by workspace and by artifact.
	// Finalize reads the page, to warn about it.
	first := b.publishes(t, "", []budget{{5, 3, 8, 14}, {6 + linting, 4 + linting, 5, 18}, {4, 3, 5, 22}})
	// A revision's session reads the artifact's gate, to refuse early, and the files whose bytes it may reuse; it looks
	// only for those that the artifact does not have.
	b.publishes(t, first.ArtifactID, []budget{{7, 5, 5, 14}, {6 + linting, 4 + linting, 5, 19}, {4, 3, 5, 16}})
	// A deleted artifact stays in the list index, under another partition: one entry goes and one comes.
	b.wantWithin(t, "delete", budget{5, 4, 5, 15}, func() {
		b.wantStatus(t, b.owner, 200, "DELETE", "/v1/artifacts/"+string(first.ArtifactID))
	})
}

// publishes holds create, finalize and publish of ten files, as a new artifact or as a revision of one.
func (b *budgetEnv) publishes(t *testing.T, revises id.Artifact, most []budget) contract.Published {
	t.Helper()
	name := "new artifact: "
	if revises != "" {
		name = "revision: "
	}
	files := tenFiles(name)
	wanted := wire.Declare("Report", files...)
	wanted.ArtifactID = revises
	var session contract.Session
	b.wantWithin(t, name+"create", most[0], func() {
		session = harness.Must(b.owner.Create(ctx, wire.NewKey(), wanted))(t)
	})
	for n, target := range session.Files {
		harness.Must(b.owner.Put(ctx, target, files[n].Body))(t) // finalize tells if one is missing
	}
	b.wantWithin(t, name+"finalize", most[1], func() {
		harness.Must(b.owner.Finalize(ctx, wire.NewKey(), session.UploadSessionID))(t)
	})
	var published contract.Published
	b.wantWithin(t, name+"publish", most[2], func() {
		published = harness.Must(b.owner.Publish(ctx, wire.NewKey(), session.ArtifactID, session.RevisionID))(t)
	})
	return published
}

func (b *budgetEnv) reading(t *testing.T) {
	old := harness.Must(b.owner.PublishFiles(ctx, "Report", "", tenFiles("old")...))(t)
	p := harness.Must(b.owner.PublishFiles(ctx, "Report", old.ArtifactID, tenFiles("new")...))(t)
	view := "/v1/artifacts/" + string(p.ArtifactID)
	for range 2 { // until the bundle is there, the revision is read for each view
		b.wantWithin(t, "public agent view, pending", budget{3, 1, 3, 1}, func() {
			b.wantStatus(t, b.Anyone, 200, "GET", p.AgentViewURL)
		})
	}
	b.MakeBundles(t)
	b.wantWithin(t, "agent view, latest", budget{4, 2, 5.5, 2}, func() {
		b.wantStatus(t, b.owner, 200, "GET", view+"/agent-view")
	})
	// From here on the revision is in memory; the state is read each time.
	b.wantWithin(t, "agent view, pinned", budget{3, 2, 4, 2}, func() {
		b.wantStatus(t, b.owner, 200, "GET", view+"/revisions/"+string(p.RevisionID)+"/agent-view")
	})
	b.wantWithin(t, "list", budget{4, 2, 6, 2}, func() { b.wantStatus(t, b.owner, 200, "GET", "/v1/artifacts") })
	// Neither was designed: credential and artifact, then counters beside the items that are asked for,
	// then the file's bytes.
	b.wantWithin(t, "revisions", budget{4, 2, 4, 2}, func() { b.wantStatus(t, b.owner, 200, "GET", view+"/revisions") })
	b.wantWithin(t, "file content", budget{4, 2, 3, 2}, func() {
		b.wantStatus(t, b.owner, 200, "GET", view+"/file-content?path=index.html")
	})
	b.wantWithin(t, "public agent view", budget{2, 1, 2, 1}, func() {
		b.wantStatus(t, b.Anyone, 200, "GET", p.AgentViewURL)
	})
	var resolved contract.Resolved
	b.wantWithin(t, "link resolve", budget{2, 1, 3, 1}, func() {
		resolved = harness.Must(b.Anyone.Resolve(ctx, p.UnlistedURL))(t)
	})
	b.readingColdViews(t)
	b.readingFiles(t, p.RevisionContentURL, resolved.IframeSrc, old.RevisionContentURL)
	// An artifact of one file, whose limit no files raise, is read until it refuses.
	popular := harness.PublishPage(t, b.owner, "popular").RevisionContentURL
	for range artifactReads + 1 {
		harness.Do(t, b.Anyone, "HEAD", popular, nil)
	}
	// The refusal is remembered, but a closed gate beats it, so that the gates are still asked.
	b.wantWithin(t, "content, 429 repeated", budget{1, 1, 2, 0}, func() {
		b.wantStatus(t, b.Anyone, 429, "GET", popular)
	})
}

// readingColdViews holds the first views of revisions, each of an artifact of its own.
func (b *budgetEnv) readingColdViews(t *testing.T) {
	t.Helper()
	var fresh [2]contract.Published
	for n := range fresh {
		fresh[n] = harness.Must(b.owner.PublishFiles(ctx, "Report", "", tenFiles("cold")...))(t)
	}
	b.wantWithin(t, "public agent view, cold", budget{3, 2, 5.5, 1}, func() {
		b.wantStatus(t, b.Anyone, 200, "GET", fresh[0].AgentViewURL)
	})
	// Two round trips: the link's own state says which revision it shows; the answer holds its whole view.
	b.wantWithin(t, "link resolve, cold", budget{3, 2, 4, 1}, func() {
		harness.Must(b.Anyone.Resolve(ctx, fresh[1].UnlistedURL))(t)
	})
}

// readingFiles holds reads of the newest revision, of the same through a link, and of an older one.
func (b *budgetEnv) readingFiles(t *testing.T, current, linked, old string) {
	t.Helper()
	etag := ""
	for _, read := range []struct {
		name, method, url string
		status            int
		most              budget
		headers           []string
	}{
		{"content, cold", "GET", current, 200, budget{4, 2, 3, 1}, nil},
		{"content", "GET", current, 200, budget{2, 1, 2, 1}, nil},
		{"content, a range", "GET", current, 206, budget{2, 1, 2, 1}, []string{"Range", "bytes=0-9"}},
		{"content, HEAD", "HEAD", current, 200, budget{2, 1, 2, 1}, nil},
		{"content through a link", "GET", linked, 200, budget{2, 1, 3, 1}, nil},
		// What was read once is in memory: files and their list. Only an older revision is asked itself, strongly and
		// behind the gates.
		{"content of an older one, cold", "GET", old, 200, budget{5, 3, 4, 1}, nil},
		{"content of an older one", "GET", old, 200, budget{3, 2, 3, 1}, nil},
	} {
		b.wantWithin(t, read.name, read.most, func() {
			a := harness.Do(t, b.Anyone, read.method, read.url, nil, read.headers...)
			if a.Status != read.status {
				t.Fatalf("%s answers %d", read.name, a.Status)
			}
			if read.url == current {
				etag = a.Header.Get("ETag")
			}
		})
	}
	b.wantWithin(t, "content, 304", budget{2, 1, 2, 1}, func() {
		b.wantStatus(t, b.Anyone, 304, "GET", current, "If-None-Match", etag)
	})
}
