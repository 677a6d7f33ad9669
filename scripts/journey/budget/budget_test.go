package budget

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

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
	clock *harness.Clock
	owner *wire.Agent
	last  *lastAnswer
}

func newBudgetEnv(t *testing.T) *budgetEnv {
	t.Helper()
	slow := chaos.For(t)
	slow.On("").Always().If(isNoTouch).Before(chaos.Delay(callDelay))
	clock := &harness.Clock{Now: time.Now()}
	d := harness.NewEnv(t, clock.Use, func(o *stack.Options) {
		o.Middleware = append(o.Middleware, slow.Add)
		harness.LimitReads(&o.Limits, artifactReads)
	})
	l := &budgetEnv{Env: d, clock: clock, last: &lastAnswer{RoundTripper: d.Anyone.HTTP.Transport}}
	l.Anyone.HTTP.Transport = l.last
	return l
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
func (l *budgetEnv) wantStatus(t *testing.T, g *wire.Agent, status int, method, target string, headers ...string) {
	t.Helper()
	if strings.HasPrefix(target, "/") {
		target = l.Origins.API + target
	}
	if a, err := g.Do(ctx, method, target, nil, headers...); err != nil || a.Status != status {
		t.Fatalf("%s answers %d %s (%v), want %d", method, a.Status, a.Body, err, status)
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
func (l *budgetEnv) lastCost(t *testing.T) requestCost {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-tick.C {
		for line := range strings.Lines(l.Log.String()) {
			var s requestCost
			if json.Unmarshal([]byte(line), &s) == nil && s.ID == l.last.id {
				return s
			}
		}
	}
	t.Fatal("the request left no line in the log")
	return requestCost{}
}

// wantWithin makes a request and compares what it cost. The clock goes on by so little that hardly a new minute begins,
// but an index entry for another instant is another entry.
func (l *budgetEnv) wantWithin(t *testing.T, name string, most budget, request func()) {
	t.Helper()
	l.clock.Advance(time.Millisecond)
	request()
	s := l.lastCost(t)
	got := budget{s.Calls, s.Trips, s.RRU, s.WRU}
	t.Logf("%-30s %s", name, got)
	if s.RRU+s.WRU == 0 {
		t.Errorf("%s (%s): nothing was metered", name, s.Route)
	}
	if s.Calls > most.calls || s.Trips > most.trips || s.RRU > most.rru || s.WRU > most.wru || s.Retries > 0 {
		t.Errorf("%s (%s) takes %s and %d retries; the budget is %s", name, s.Route, got, s.Retries, most)
	}
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
	for _, part := range []struct {
		name string
		test func(*testing.T)
	}{
		{"provisioning", l.provisioning},
		{"publishing and deleting", l.publishing},
		{"reading", l.reading},
		{"accounts", l.accounts},
	} {
		if !t.Run(part.name, part.test) && l.owner == nil {
			t.Fatal("without a workspace there is nothing to ask")
		}
	}
}

// artifactReads is how often an artifact may be read here: more often than reading asks until it wants a refusal.
const artifactReads = 20

func (l *budgetEnv) provisioning(t *testing.T) {
	// Three round trips, not two: the gate is counted behind the other counters, so that a refused request takes no
	// place; a look at it beside them tells whether work is asked. Once in 15 seconds its setting is read in between.
	l.wantWithin(t, "provision, the setting unread", budget{6, 4, 1.5, 13}, func() { l.owner = l.NewAgent(t) })
	l.wantWithin(t, "provision", budget{5, 3, 0.5, 13}, func() { l.NewAgent(t) })
	for range limits.PowFree - 2 {
		l.NewAgent(t)
	}
	var asked wire.Answer
	l.wantWithin(t, "provision, work asked", budget{3, 1, 0.5, 2}, func() { asked = l.provisions(t, nil, 401) })
	proof, err := wire.Prove(ctx, asked)
	if err != nil {
		t.Fatal(err)
	}
	// The nonce is burnt before the gate.
	l.wantWithin(t, "provision, work proven", budget{6, 4, 0.5, 14}, func() { l.provisions(t, proof, 201) })
}

func (l *budgetEnv) provisions(t *testing.T, body any, status int) wire.Answer {
	t.Helper()
	a, err := l.Anyone.Do(ctx, "POST", l.Origins.API+"/v1/ephemeral/provision", body)
	if err != nil || a.Status != status {
		t.Fatalf("%d %s (%v), want %d", a.Status, a.Body, err, status)
	}
	return a
}

func (l *budgetEnv) accounts(t *testing.T) {
	// Both read what is left of the day: 4 counters of 0.5 RRU.
	l.wantWithin(t, "whoami", budget{4, 2, 4, 2}, func() { l.wantStatus(t, l.owner, 200, "GET", "/v1/whoami") })
	l.wantWithin(t, "usage policy", budget{2, 2, 4, 2}, func() {
		l.wantStatus(t, l.owner, 200, "GET", "/v1/usage-policy")
	})
	// Not designed: credential, then counters, then key and event in a transaction, and the key's index entry, which
	// leaves one list for another.
	l.wantWithin(t, "revoke", budget{4, 3, 2, 9}, func() {
		l.wantStatus(t, l.owner, 200, "POST", "/v1/api-keys/current/revoke")
	})
}

func (l *budgetEnv) publishing(t *testing.T) {
	// The first use of a key stamps it, beside the request: once in 10 minutes one call and 2 WRU, the key and its index
	// entry.
	whoami := func() { l.wantStatus(t, l.owner, 200, "GET", "/v1/whoami") }
	l.wantWithin(t, "whoami, first use of the key", budget{5, 2, 4, 4}, whoami)
	for l.lastCost(t).Calls > 4 { // a busy machine has no time for the stamp, and tries again
		whoami()
	}
	// Create looks for bytes that the workspace has already, 0.5 RRU a file, beside the counters. What it declares for
	// upload is counted in its transaction, 2 WRU, so that a command counts once; a session that uploads nothing does not
	// pay. Session and entries are one item, as are revision and files, and finalize leaves the session in its place of
	// the queue. The share link that comes with a first publication is listed twice, by workspace and by artifact.
	// Finalize reads the page, to warn about it.
	first := l.publishes(t, "", []budget{{5, 3, 8, 14}, {6 + linting, 4 + linting, 5, 18}, {4, 3, 5, 22}})
	// A revision's session reads the artifact's gate, to refuse early, and the files whose bytes it may reuse; it looks
	// only for those that the artifact does not have.
	l.publishes(t, first.ArtifactID, []budget{{7, 5, 5, 14}, {6 + linting, 4 + linting, 5, 19}, {4, 3, 5, 16}})
	// A deleted artifact stays in the list index, under another partition: one entry goes and one comes.
	l.wantWithin(t, "delete", budget{5, 4, 5, 15}, func() {
		l.wantStatus(t, l.owner, 200, "DELETE", "/v1/artifacts/"+string(first.ArtifactID))
	})
}

// publishes holds create, finalize and publish of ten files, as a new artifact or as a revision of one.
func (l *budgetEnv) publishes(t *testing.T, revises id.Artifact, most []budget) contract.Published {
	t.Helper()
	name := "new artifact: "
	if revises != "" {
		name = "revision: "
	}
	var err error
	must := func() {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	files := tenFiles(name)
	wanted := wire.Declare("Report", files...)
	wanted.ArtifactID = revises
	var session contract.Session
	l.wantWithin(t, name+"create", most[0], func() { session, err = l.owner.Create(ctx, wire.NewKey(), wanted); must() })
	for n, target := range session.Files {
		_, err = l.owner.Put(ctx, target, files[n].Body) // finalize tells if one is missing
		must()
	}
	l.wantWithin(t, name+"finalize", most[1], func() {
		_, err = l.owner.Finalize(ctx, wire.NewKey(), session.UploadSessionID)
		must()
	})
	var published contract.Published
	l.wantWithin(t, name+"publish", most[2], func() {
		published, err = l.owner.Publish(ctx, wire.NewKey(), session.ArtifactID, session.RevisionID)
		must()
	})
	return published
}

func (l *budgetEnv) reading(t *testing.T) {
	old, err := l.owner.PublishFiles(ctx, "Report", "", tenFiles("old")...)
	if err != nil {
		t.Fatal(err)
	}
	p, err := l.owner.PublishFiles(ctx, "Report", old.ArtifactID, tenFiles("new")...)
	if err != nil {
		t.Fatal(err)
	}
	view := "/v1/artifacts/" + string(p.ArtifactID)
	for range 2 { // until the bundle is there, the revision is read for each view
		l.wantWithin(t, "public agent view, pending", budget{3, 1, 3, 1}, func() {
			l.wantStatus(t, l.Anyone, 200, "GET", p.AgentViewURL)
		})
	}
	l.MakeBundles(t)
	l.wantWithin(t, "agent view, latest", budget{4, 2, 5.5, 2}, func() {
		l.wantStatus(t, l.owner, 200, "GET", view+"/agent-view")
	})
	// From here on the revision is in memory; the state is read each time.
	l.wantWithin(t, "agent view, pinned", budget{3, 2, 4, 2}, func() {
		l.wantStatus(t, l.owner, 200, "GET", view+"/revisions/"+string(p.RevisionID)+"/agent-view")
	})
	l.wantWithin(t, "list", budget{4, 2, 6, 2}, func() { l.wantStatus(t, l.owner, 200, "GET", "/v1/artifacts") })
	// Neither was designed: credential and artifact, then counters beside the items that are asked for,
	// then the file's bytes.
	l.wantWithin(t, "revisions", budget{4, 2, 4, 2}, func() { l.wantStatus(t, l.owner, 200, "GET", view+"/revisions") })
	l.wantWithin(t, "file content", budget{4, 2, 3, 2}, func() {
		l.wantStatus(t, l.owner, 200, "GET", view+"/file-content?path=index.html")
	})
	l.wantWithin(t, "public agent view", budget{2, 1, 2, 1}, func() {
		l.wantStatus(t, l.Anyone, 200, "GET", p.AgentViewURL)
	})
	var resolved contract.Resolved
	l.wantWithin(t, "link resolve", budget{2, 1, 3, 1}, func() {
		if resolved, err = l.Anyone.Resolve(ctx, p.UnlistedURL); err != nil {
			t.Fatal(err)
		}
	})
	l.readingColdViews(t)
	l.readingFiles(t, p.RevisionContentURL, resolved.IframeSrc, old.RevisionContentURL)
	for range artifactReads { // too often at some point
		if _, err := l.Anyone.Do(ctx, "HEAD", p.RevisionContentURL, nil); err != nil {
			t.Fatal(err)
		}
	}
	// The refusal is remembered, but a closed gate beats it, so that the gates are still asked.
	l.wantWithin(t, "content, 429 repeated", budget{1, 1, 2, 0}, func() {
		l.wantStatus(t, l.Anyone, 429, "GET", p.RevisionContentURL)
	})
}

// readingColdViews holds the first views of revisions, each of an artifact of its own.
func (l *budgetEnv) readingColdViews(t *testing.T) {
	t.Helper()
	var fresh [2]contract.Published
	for n := range fresh {
		var err error
		if fresh[n], err = l.owner.PublishFiles(ctx, "Report", "", tenFiles("cold")...); err != nil {
			t.Fatal(err)
		}
	}
	l.wantWithin(t, "public agent view, cold", budget{3, 2, 5.5, 1}, func() {
		l.wantStatus(t, l.Anyone, 200, "GET", fresh[0].AgentViewURL)
	})
	// Two round trips: the link's own state says which revision it shows; the answer holds its whole view.
	l.wantWithin(t, "link resolve, cold", budget{3, 2, 4, 1}, func() {
		if _, err := l.Anyone.Resolve(ctx, fresh[1].UnlistedURL); err != nil {
			t.Fatal(err)
		}
	})
}

// readingFiles holds reads of the newest revision, of the same through a link, and of an older one.
func (l *budgetEnv) readingFiles(t *testing.T, current, linked, old string) {
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
		l.wantWithin(t, read.name, read.most, func() {
			a, err := l.Anyone.Do(ctx, read.method, read.url, nil, read.headers...)
			if err != nil || a.Status != read.status {
				t.Fatalf("%s answers %d (%v)", read.name, a.Status, err)
			}
			if read.url == current {
				etag = a.Header.Get("ETag")
			}
		})
	}
	l.wantWithin(t, "content, 304", budget{2, 1, 2, 1}, func() {
		l.wantStatus(t, l.Anyone, 304, "GET", current, "If-None-Match", etag)
	})
}
