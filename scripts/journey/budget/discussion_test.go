package budget

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/functions/assembly/bundle"
	assemblyjobs "vitrine/functions/assembly/jobs"
	"vitrine/functions/jobs"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/adapter/meter"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// saidInEach is how many messages a thread has.
const saidInEach = 5

// openThreads are some of those that an artifact may have, 200, and the newest.
const openThreads = 150

// discussion is an artifact with many threads, and what its requests cost.
type discussion struct {
	*budgetEnv
	backend  *harness.BackendEnv
	member   *harness.Member
	artifact id.Artifact
	threads  int
	costs    map[string]budget
}

// newDiscussion publishes an artifact with so many threads. Nobody writes about another one in its workspace.
func newDiscussion(t *testing.T, threads int) *discussion {
	t.Helper()
	b := newBudgetEnv(t)
	backend, member := b.claimed(t)
	d := &discussion{
		budgetEnv: b,
		backend:   backend,
		member:    member,
		artifact:  harness.PublishPage(t, b.owner, fmt.Sprint(threads)).ArtifactID,
		threads:   threads,
		costs:     map[string]budget{},
	}
	words := strings.Repeat("word ", 160)
	b.wantStatus(t, b.owner, 200, "GET", "/v1/whoami") // stamps the key
	thread := harness.WriteAbout(t, b.owner, d.artifact, contract.CreateThread{Body: words}).ID
	for range saidInEach - 1 {
		harness.Answer(t, b.owner, d.artifact, thread, contract.AnswerThread{Reply: words})
	}
	backend.Multiply(t, d.artifact, threads, min(threads, openThreads))
	return d
}

// cost keeps what a request takes, and returns its answer.
func cost[T any](t *testing.T, d *discussion, name string, request func() T) T {
	t.Helper()
	d.clock.Advance(time.Millisecond)
	d.measures.Store(true)
	answer := request()
	d.costs[name] = budget{}.plus(d.lastCost(t))
	d.measures.Store(false)
	return answer
}

// list reads what changed.
func (d *discussion) list(t *testing.T, name, query string) contract.ThreadList {
	t.Helper()
	return cost(t, d, name, func() contract.ThreadList { return harness.Threads(t, d.owner, d.artifact, query) })
}

// reads lists all threads page by page, those of a state, and what is new. It returns what is open. Every page takes
// what the first one takes, but for what a page of a state looks at, 500 places in the order of changes.
func (d *discussion) reads(t *testing.T) (open []contract.ThreadSummary) {
	t.Helper()
	follow := func(query string) (all []contract.ThreadSummary, pages []budget) {
		for next := query; ; {
			page := harness.Threads(t, d.owner, d.artifact, "?"+next)
			all, pages = append(all, page.Threads...), append(pages, budget{}.plus(d.lastCost(t)))
			if !page.PageInfo.HasMore {
				return all, pages
			}
			next = query + "&cursor=" + url.QueryEscape(*page.PageInfo.NextCursor)
		}
	}
	all, pages := follow("")
	open, ofState := follow("state=open")
	if len(all) != d.threads || len(open) != min(d.threads, openThreads) {
		t.Errorf("%d threads are listed and %d are open, of %d", len(all), len(open), d.threads)
	}
	d.costs["a page"], d.costs["a page of open ones"] = pages[0], ofState[0]
	seq := saidInEach + d.threads - 1
	d.list(t, "no news", fmt.Sprint("?since=", seq))
	one := d.list(t, "one change", fmt.Sprint("?since=", seq-1))
	if len(one.Threads) != 1 || one.ChangesUntil != int64(seq) {
		t.Errorf("one change is %+v", one)
	}
	for what, other := range map[string][]budget{"all": pages, "the open ones": ofState} {
		for n, page := range other {
			most := pages[0].rru + 1
			if what != "all" {
				most += 12
			}
			if page.calls > pages[0].calls+leased || page.rru > most {
				t.Errorf("page %d of %s takes %s, the first one of all %s", n, what, page, pages[0])
			}
		}
	}
	return open
}

// writes begins, answers and addresses threads, some of them by publishing.
func (d *discussion) writes(t *testing.T, open []contract.ThreadSummary) {
	t.Helper()
	cost(t, d, "create", func() any {
		return harness.WriteAbout(t, d.owner, d.artifact, contract.CreateThread{Body: "A remark"})
	})
	cost(t, d, "reply", func() any {
		return harness.Answer(t, d.owner, d.artifact, open[0].ID, contract.AnswerThread{Reply: "Well"})
	})
	for _, n := range []int{1, 5, 20} {
		if n > len(open) {
			continue
		}
		var all []contract.AddressThread
		for _, thread := range open[:n] {
			all = append(all, contract.AddressThread{ThreadID: thread.ID, Seq: 1 << 40})
		}
		words := fmt.Sprint(d.threads, n)
		r := harness.DeclareRevision(d.artifact, words)
		draft := harness.Must(d.owner.Draft(ctx, wire.NewKey(), r, harness.Page(words)))(t)
		p := cost(t, d, fmt.Sprint("publish with ", n), func() contract.Published {
			return harness.Must(d.owner.Publish(ctx, wire.NewKey(), d.artifact, draft.RevisionID, all...))(t)
		})
		if len(p.Addressed) != n {
			t.Errorf("it addressed %d of %d: %+v", len(p.Addressed), n, p.Skipped)
		}
	}
	latest := harness.Must(d.owner.PublishFiles(ctx, "latest", d.artifact, harness.Page("latest")))(t)
	cost(t, d, "address", func() any {
		return harness.Answer(t, d.owner, d.artifact, open[0].ID, contract.AnswerThread{
			Addressed: &contract.Addressed{RevisionID: latest.RevisionID, Note: "Mended"},
		})
	})
}

// works keeps what the jobs of a host take.
func (d *discussion) works(t *testing.T, name string, host *jobs.Host) {
	t.Helper()
	metered, counts := meter.With(ctx)
	harness.NoError(t, host.Run(metered))
	d.costs[name] = budget{counts.Calls(), counts.RoundTrips(), counts.RRU(), counts.WRU()}
}

// exports exports the workspace, and returns how much more memory was in use meanwhile than before.
func (d *discussion) exports(t *testing.T) (peak uint64) {
	t.Helper()
	inUse := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	faults := chaos.For(t)
	faults.On("").Always().Before(func(context.Context, *chaos.Call) error {
		peak = max(peak, inUse())
		return nil
	})
	host := bundle.Host(d.Scheduled(t, faults.Add), d.Options.Log)
	harness.NoError(t, host.Run(ctx)) // makes the bundles of the revisions
	const path = "/v1/web/workspace/export"
	who := d.backend.GrantTo(t, d.member, "cli", d.Origins.API)
	harness.CallAs[contract.ExportStatus](t, who, 202, "POST", path, nil, harness.KeyHeader()...)
	runtime.GC()
	before := inUse()
	peak = before
	d.works(t, "export", host)
	made := harness.CallAs[contract.ExportStatus](t, who, 200, "GET", path, nil).Export
	if made.Status != "ready" || len(made.Volumes) != 1 {
		t.Fatalf("%+v", made)
	}
	body := d.Get(t, *made.Volumes[0].URL).Body
	archive := harness.Must(zip.NewReader(bytes.NewReader(body), int64(len(body))))(t)
	at := slices.IndexFunc(archive.File, func(f *zip.File) bool { return strings.HasSuffix(f.Name, "/feedback.json") })
	var told struct{ Threads []contract.Thread }
	harness.NoError(t, json.NewDecoder(harness.Must(archive.File[at].Open())(t)).Decode(&told))
	messages := 0
	for _, thread := range told.Threads {
		messages += len(thread.Items)
	}
	if len(told.Threads) != d.threads+1 || messages != d.threads*saidInEach+2 {
		t.Errorf("the export has %d threads and %d messages", len(told.Threads), messages)
	}
	return peak - before
}

// ends deletes the artifact and purges it.
func (d *discussion) ends(t *testing.T) {
	t.Helper()
	host := assemblyjobs.Host(d.Scheduled(t), d.Options.Log)
	d.clock.Advance(limits.UploadPatience)
	harness.NoError(t, host.Run(ctx)) // lets others find the bytes of what was published
	harness.DeleteArtifact(t, d.owner, d.artifact)
	d.works(t, "purge", host)
	if left := d.backend.CountItems(t, d.backend.Tables.Core, "FB#"); left > 0 {
		t.Errorf("%d items are left after the purge", left)
	}
}

// measured lets everything be done once to an artifact with so many threads.
func measured(t *testing.T, threads int) (d *discussion, peak uint64) {
	t.Helper()
	d = newDiscussion(t, threads)
	d.writes(t, d.reads(t))
	peak = d.exports(t)
	d.ends(t)
	return d, peak
}

// leased is how many calls a request takes more, of a unit each, where it leases permits for those after it.
const leased = 2

// wantAsOf compares what one request takes with what it takes where there is one thread.
func (d *discussion) wantAsOf(t *testing.T, one *discussion) {
	t.Helper()
	for _, name := range []string{"no news", "one change", "create", "reply", "address", "publish with 1"} {
		few, many := one.costs[name], d.costs[name]
		if many.calls > few.calls+leased || many.rru > few.rru || many.wru > few.wru+leased {
			t.Errorf("%s takes %s with %d threads, and with one %s", name, many, d.threads, few)
		}
	}
	if some, more := d.costs["publish with 5"], d.costs["publish with 20"]; more.calls > some.calls+leased ||
		more.wru-some.wru > 15*10+leased {
		t.Errorf("20 threads take %s, and 5 %s", more, some)
	}
}

// measuredRows are what the table of docs/performance.md has.
var measuredRows = []string{
	"no news", "one change", "a page", "a page of open ones", "create", "reply", "address",
	"publish with 1", "publish with 5", "publish with 20", "export", "purge",
}

// table prints what requests take as docs/performance.md has it.
func table(t *testing.T, all ...*discussion) {
	t.Helper()
	out := "\n| Calls, RRU, WRU with |"
	for _, d := range all {
		out += fmt.Sprintf(" %d threads |", d.threads)
	}
	for _, name := range measuredRows {
		out += "\n| " + name + " |"
		for _, d := range all {
			if c, ok := d.costs[name]; ok {
				out += fmt.Sprintf(" %d, %g, %g |", c.calls, c.rru, c.wru)
			} else {
				out += " |"
			}
		}
	}
	t.Log(out)
}

// TestThreadsDoNotRaiseWhatOneOfThemTakes compares what requests take where there is one thread and where there are a
// hundred.
func TestThreadsDoNotRaiseWhatOneOfThemTakes(t *testing.T) {
	one, _ := measured(t, 1)
	many, _ := measured(t, 100)
	many.wantAsOf(t, one)
	table(t, one, many)
}
