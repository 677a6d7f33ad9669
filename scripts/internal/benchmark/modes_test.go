package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/engine"
)

func TestOnlyOneThingIsMeasuredAtATime(t *testing.T) {
	if _, err := parse([]string{"-routes", "-growth"}, io.Discard); err == nil {
		t.Error("two modes are accepted")
	}
	for _, c := range []struct {
		args []string
		want time.Duration
	}{
		{nil, flowSeconds * time.Second},
		{[]string{"-routes"}, 1200 * time.Millisecond},
		{[]string{"-routes", "-seconds", "2"}, 2 * time.Second},
		{[]string{"-mix"}, 20 * time.Second},
	} {
		o, err := parse(c.args, t.Output())
		if err != nil || o.duration != c.want || (o.measure == nil) != (c.args == nil) {
			t.Errorf("%v: %v for each row, mode chosen %t (%v)", c.args, o.duration, o.measure != nil, err)
		}
	}
}

// printed returns what a run prints, which has to succeed.
func printed(t *testing.T, o options) string {
	t.Helper()
	var out strings.Builder
	if err := run(t.Context(), o, &out, t.Output()); err != nil {
		t.Fatal(err)
	}
	t.Log(out.String())
	return out.String()
}

// unmeasured are the operations without a row, and why.
var unmeasured = map[string]string{
	"GET /.well-known/{document}/{path}": "it answers as the document above it",
	"GET /v1/mcp/whoami":                 "a person lets an app in first; it costs what whoami does",

	"GET /{$}":                              "a document from memory, like the metadata",
	"GET /healthz":                          "it tells nothing but that the host runs",
	"GET /openapi.json":                     "a document from memory, like the metadata",
	"GET /.well-known/openid-configuration": "the document of the authorization server by another name",

	"GET /v1/web/workspace/deletion":    "it costs what GET workspace does",
	"POST /v1/web/workspace/deletion":   "a workspace has one; its calls have a budget",
	"DELETE /v1/web/workspace/deletion": "a workspace has one; its calls have a budget",
	"POST /v1/web/workspace/export":     "a workspace makes five a day",
	"GET /r/{token}":                    "a list of files, which costs what a page does",
	"HEAD /r/{token}":                   "a list of files, which costs what a page does",
	"GET /r/{token}/{path}":             "it reads what a file does; the benchmarks of package render have the time of its view",
	"HEAD /r/{token}/{path}":            "it reads what HEAD of a file does",
	"GET /x/{token}":                    "it costs what a bundle does, and is read once or twice",
	"HEAD /x/{token}":                   "it costs what a bundle does, and is read once or twice",

	"GET /v1/web/billing":                               "a deployment without an account at Stripe, as the bench has, answers not_found",
	"GET /v1/web/billing/invoices":                      "Stripe takes most of its time",
	"GET /v1/web/billing/return":                        "Stripe takes most of its time",
	"POST /v1/web/billing/checkout":                     "Stripe takes most of its time",
	"POST /v1/web/billing/portal":                       "Stripe takes most of its time",
	"POST /v1/billing/webhook":                          "Stripe takes most of its time",
	"POST /v1/web/admin/workspaces/{workspace_id}/plan": "operators are few",

	"GET /v1/web/admin/events":                           "operators are few",
	"GET /v1/web/admin/lockdowns":                        "operators are few",
	"POST /v1/web/admin/lockdowns":                       "operators are few",
	"DELETE /v1/web/admin/lockdowns/{scope}/{target_id}": "operators are few",
}

// operations are those of the documents of the hosts, as method and path.
func operations(t *testing.T) map[string]bool {
	t.Helper()
	root, err := engine.Root()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, host := range []string{"api", "upload", "content", "mcp"} {
		text, err := os.ReadFile(filepath.Join(root, "openapi", host+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var document struct {
			Paths map[string]map[string]struct{ OperationID string }
		}
		if err := json.Unmarshal(text, &document); err != nil {
			t.Fatal(err)
		}
		for path, methods := range document.Paths {
			if path == "/" {
				path = "/{$}" // as the log has it
			}
			for method, operation := range methods {
				preflight := method == "options"
				later := strings.HasSuffix(path, "/unpin") || strings.HasSuffix(path, "/lift") // in turn with another operation
				if operation.OperationID != "" && !preflight && !later {
					all[strings.ToUpper(method)+" "+path] = true
				}
			}
		}
	}
	return all
}

// asked are the operations in the request log of a bench.
func asked(t *testing.T, b *bench) map[string]bool {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(b.folder, requestLog))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	parameter := regexp.MustCompile(`\.\.\.}`)
	for line := range strings.Lines(string(text)) {
		var l struct{ Method, Route string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		all[l.Method+" "+parameter.ReplaceAllLiteralString(l.Route, "}")] = true
	}
	return all
}

func TestEveryRouteHasARow(t *testing.T) {
	o := short(t, "/1$")
	o.inMemory = true
	o.stock = 32
	routes := tabled((*bench).routeRows, routesLegend)
	o.measure = func(b *bench, ctx context.Context, stdout io.Writer) error {
		defer func() {
			served := asked(t, b)
			for operation := range operations(t) {
				if reason := unmeasured[operation]; served[operation] == (reason != "") {
					t.Errorf("%s has a row: %t; reason for having none: %q", operation, served[operation], reason)
				}
			}
		}()
		return routes(b, ctx, stdout)
	}
	out := printed(t, o)
	rows := regexp.MustCompile(`(?m)^\| (.*) \| 1 \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|`).FindAllStringSubmatch(out, -1)
	if len(rows) != 78 {
		t.Errorf("%d rows, expected 78", len(rows))
	}
	for _, row := range rows {
		// Each has the permits of a credential and of a workspace, or of an artifact, although most requests have them in
		// hand: how many of those that fit into the time have none depends on the machine.
		want, checked := map[string]string{
			"POST publish, first": "4 5 23", "DELETE artifact": "5 5 15", "HEAD content": "2 2 1",
			"GET viewer page": "0 0 0", "POST finalize, 3 files": "7 5 18", "POST finalize, 3 files that are known": "11 5 21",
		}[row[1]]
		if got := strings.Join(rounded(row[2:]), " "); checked && !within(got, want) {
			t.Errorf("%s takes %s calls, RRU and WRU, want at most %s", row[1], got, want)
		}
	}
	leavesNothing(t)
}

// within tells whether means are at most those of another row: permits in hand and what is kept in memory take fewer
// calls of a repeated request.
func within(got, most string) bool {
	var a, b [3]float64
	for n, text := range map[*[3]float64]string{&a: got, &b: most} {
		if _, err := fmt.Sscan(text, &n[0], &n[1], &n[2]); err != nil {
			return false
		}
	}
	return a[0] <= b[0] && a[1] <= b[1] && a[2] <= b[2]
}

// rounded takes out what single repeated calls add to a mean on a busy machine; the journeys hold the exact numbers.
func rounded(means []string) []string {
	out := make([]string, len(means))
	for i, m := range means {
		f, _ := strconv.ParseFloat(m, 64)
		out[i] = strconv.FormatFloat(math.Round(f), 'f', 0, 64)
	}
	return out
}

func TestGrowthComparesASmallAndALargeWorkspace(t *testing.T) {
	o := short(t, "")
	o.duration = time.Second
	o.measure = (*bench).growth
	o.inMemory = true
	o.artifacts = 60
	out := printed(t, o)
	for _, want := range []string{"| list | 10 | ", "| list | 60 | ", "| | ratio | 1.00 (budget < 1.3)"} {
		if !strings.Contains(out, want) {
			t.Errorf("the table lacks %q", want)
		}
	}
	publish := regexp.MustCompile(`(?m)^\| publish \| 60 \| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|`).FindStringSubmatch(out)
	if publish == nil || !within(strings.Join(publish[1:], " "), "4.00 5.00 23.00") {
		t.Errorf("publishing takes %q calls, RRU and WRU, want at most 4, 5 and 23", publish)
	}
	leavesNothing(t)
}

func TestGrowthFailsWhenCapacityGrows(t *testing.T) {
	measured := func(calls int, rru float64) []*row {
		return []*row{{name: "list", took: []time.Duration{time.Millisecond}, used: reading{spent: spent{Calls: calls, RRU: rru}}}}
	}
	counts := []int{10, 1000}
	if err := compareGrowth(io.Discard, counts, [2][]*row{measured(4, 2), measured(4, 2.5)}); err != nil {
		t.Error(err)
	}
	for name, many := range map[string][]*row{"capacity": measured(4, 2.7), "calls": measured(6, 2)} {
		if err := compareGrowth(io.Discard, counts, [2][]*row{measured(4, 2), many}); err == nil {
			t.Errorf("more %s is accepted", name)
		}
	}
}

func TestLeasesOfCountersAreNoGrowth(t *testing.T) {
	measured := func(wru float64) []*row {
		return []*row{{name: "list", took: []time.Duration{time.Millisecond}, used: reading{spent: spent{Calls: 1, WRU: wru}}}}
	}
	counts := []int{10, 1000}
	if err := compareGrowth(io.Discard, counts, [2][]*row{measured(0.01), measured(0.09)}); err != nil {
		t.Error(err)
	}
	if err := compareGrowth(io.Discard, counts, [2][]*row{measured(0.01), measured(0.12)}); err == nil {
		t.Error("a tenth of a write more each time is accepted")
	}
}

func TestALargeReadTakesNoMemory(t *testing.T) {
	o := short(t, "")
	o.measure = (*bench).memory
	printed(t, o)
	leavesNothing(t)
}

func TestResidentMemoryIsReadFromTheStatus(t *testing.T) {
	got, err := parseResident("Name:\tx\nVmHWM:\t   20480 kB\nVmRSS:\t   10240 kB\n")
	if want := (resident{now: 10 << 20, peak: 20 << 20}); err != nil || got != want {
		t.Errorf("%+v (%v), want %+v", got, err, want)
	}
	if _, err := parseResident("Name:\tx\n"); err == nil {
		t.Error("a status without memory is accepted")
	}
}

func TestTheFirstAnswerOfAFunctionHasToBeGood(t *testing.T) {
	for answer, good := range map[string]bool{
		`{"statusCode":200,"body":"ok"}`:                                     true,
		`{"statusCode":200,"headers":{}}` + strings.Repeat("\x00", 8) + "ok": true,
		`{"statusCode":500}`:                                                 false,
		"":                                                                   false,
	} {
		if err := answersOK([]byte(answer)); (err == nil) != good {
			t.Errorf("%q: %v", answer, err)
		}
	}
}

func TestTasksAreDoneOnce(t *testing.T) {
	done := make(chan int, 20)
	var tasks []task
	for n := range cap(done) {
		tasks = append(tasks, func(context.Context) error { done <- n; return nil })
	}
	took, err := drive(t.Context(), 4, time.Minute, consuming(tasks))
	close(done)
	var got []int
	for n := range done {
		got = append(got, n)
	}
	slices.Sort(got)
	if err != nil || len(took) != len(tasks) || len(slices.Compact(got)) != len(tasks) {
		t.Errorf("%d of %d tasks were done in %d operations (%v)", len(got), len(tasks), len(took), err)
	}
}

func TestTheJobsWorkOffWhatFallsDue(t *testing.T) {
	o := short(t, "")
	o.measure = (*bench).due
	o.inMemory = true
	o.still = true
	o.dueArtifacts = 3
	out := printed(t, o)
	steps := regexp.MustCompile(`(?m)^\| [\w ]+ \| [\d.]+ \| \d+ \| ([\d.]+) \| [\d.]+ \| ([\d.]+) \|$`).FindAllStringSubmatch(out, -1)
	if len(steps) != len(lives[0].steps) {
		t.Fatalf("%d steps, expected %d", len(steps), len(lives[0].steps))
	}
	for n, step := range steps {
		if wru, err := strconv.ParseFloat(step[2], 64); err != nil || wru == 0 {
			t.Errorf("%s writes nothing: %v", lives[0].steps[n].title, step)
		}
	}
	leavesNothing(t)
}

func TestAllMeasuresEachModeOnItsOwn(t *testing.T) {
	var titles []string
	for _, m := range inAll() {
		titles = append(titles, m.flag)
	}
	want := []string{"", "pages", "publishes", "mix", "routes", "afterlife", "cost", "memory"}
	if !slices.Equal(titles, want) {
		t.Errorf("%q, want %q", titles, want)
	}
	for _, args := range [][]string{{"-all", "-routes"}, {"-routes", "-all"}} {
		if _, err := parse(args, io.Discard); !errors.Is(err, errTwoModes) {
			t.Errorf("%q: %v", args, err)
		}
	}
	if o, err := parse([]string{"-all"}, io.Discard); err != nil || !o.all || o.duration != 0 {
		t.Errorf("%+v (%v)", o, err)
	}
}
