package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// newHearingTest watches where the server has threads.
func newHearingTest(t *testing.T, args ...string) *watchTest {
	t.Helper()
	w := newWatchTest(t, append([]string{"--artifact-id", artifact}, args...)...)
	w.hosts["features"] = `["feedback"]`
	return w
}

// writtenThread is a thread of the artifact by its number, which is its last change, too.
func writtenThread(n int, state, words string) contract.ThreadSummary {
	return contract.ThreadSummary{
		ID:     id.Thread(fmt.Sprintf("thr_%026d", n)),
		State:  state,
		Seq:    int64(n),
		Path:   "index.html",
		Anchor: &contract.Quoted{Anchor: contract.Anchor{Kind: "file"}, Untrusted: true, Trust: "member"},
		First: &contract.Said{
			Untrusted: true,
			Trust:     "member",
			Author:    "Ada",
			Text:      words,
			At:        contract.At(epoch),
		},
	}
}

// hears plans the next answer about threads.
func (w *watchTest) hears(t *testing.T, until int64, all ...contract.ThreadSummary) {
	t.Helper()
	body, err := json.Marshal(contract.ThreadList{
		ArtifactID:   artifact,
		Seq:          until,
		ChangesUntil: until,
		Threads:      all,
	})
	if err != nil {
		t.Fatal(err)
	}
	w.plan("feedback", 1, plannedFault{status: 200, body: string(body)})
}

// asked returns before which looks threads are asked for.
func (w *watchTest) asked() *[]int {
	var looks []int
	w.onCall = func(route string) {
		if route == "feedback" {
			looks = append(looks, w.looks)
		}
	}
	return &looks
}

// said returns the lines of stdout about threads.
func (w *watchTest) said() (lines []string) {
	for line := range strings.Lines(w.out.String()) {
		if strings.HasPrefix(line, "feedback ") || strings.Contains(line, `"thread"`) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	return lines
}

func TestAWatchTellsWhatIsWritten(t *testing.T) {
	w := newHearingTest(t)
	w.hears(t, 4, writtenThread(3, "open", "It was there before"))
	w.hears(t, 6, writtenThread(5, "addressed", "Dealt with"), writtenThread(6, "open", "Which\n\x1b[31munit?"))
	w.hears(t, 7, writtenThread(6, "open", "Which unit?"), writtenThread(7, "open", "Which month?"))
	looks := w.asked()
	w.run(t, 75)
	wantLines(t, w.said(), "feedback on index.html: member Ada: Which \uFFFD[31munit?",
		"feedback on index.html: member Ada: Which month?")
	for _, hint := range []string{"--since 4 shows all of it", "--since 6 shows all of it"} {
		if !strings.Contains(w.err.String(), "vitrine feedback "+artifact+" "+hint+"\n") {
			t.Errorf("stderr lacks %q: %s", hint, &w.err)
		}
	}
	// 10 s after each answer, which the look after the question takes; 4 s where the server says so.
	if want := []int{1, 22, 43, 64, 73}; !slices.Equal(*looks, want) {
		t.Errorf("it asked before looks %d, want %d", *looks, want)
	}
}

func TestAWatchInJSONHasALineForEachThread(t *testing.T) {
	w := newHearingTest(t, "--json")
	w.hears(t, 4)
	w.hears(t, 5, writtenThread(5, "open", "Which \x1b[31munit?"))
	w.run(t, 30)
	var events []string
	for _, e := range w.jsonLines(t) {
		events = append(events, fmt.Sprintln(e["event"], e["id"], e["state"]))
	}
	wantLines(t, events, "started <nil> <nil>\n", "thread thr_00000000000000000000000005 open\n", "stopped <nil> <nil>\n")
	if strings.Contains(w.out.String()+w.err.String(), "\x1b") {
		t.Errorf("the text steers the terminal: %q %q", &w.out, &w.err)
	}
}

func TestAWatchThatPrintsNoThreadsAsksForNone(t *testing.T) {
	for name, w := range map[string]*watchTest{
		"quiet":                    newHearingTest(t, "--quiet"),
		"a server without threads": newWatchTest(t, "--artifact-id", artifact),
	} {
		looks := w.asked()
		if w.run(t, 60); len(*looks) > 0 {
			t.Errorf("%s: it asked before looks %d", name, *looks)
		}
	}
}

func TestAWatchGoesOnWhateverBecomesOfThreads(t *testing.T) {
	down := plannedFault{status: 503, code: "database_unavailable"}
	answered := func(f plannedFault) func(*watchTest) {
		return func(w *watchTest) { w.plan("feedback", 1, f) }
	}
	for name, tt := range map[string]struct {
		set  func(*watchTest)
		asks []int // before which looks; a failed request is repeated at once
	}{
		"they are refused":         {answered(plannedFault{status: 403, code: "forbidden"}), []int{1}},
		"they are not known":       {answered(plannedFault{status: 404, code: "not_found"}), []int{1}},
		"the server fails":         {func(w *watchTest) { w.plan("feedback", 2, down) }, []int{1, 1, 602}},
		"no answer comes at all":   {func(w *watchTest) { w.beside = func(func()) {} }, nil},
		"it is asked to wait":      {func(w *watchTest) { w.plan("feedback", 1, tooOften("20")) }, []int{1, 42}},
		"the server answers oddly": {answered(plannedFault{status: 200, body: "{}"}), []int{1}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHearingTest(t)
			tt.set(w)
			w.writes(t, 3, "index.html", "changed")
			looks := w.asked()
			exit := w.run(t, 603)
			wantLines(t, w.lines(), "revision 3: 1 changed, 7 bytes sent, 0.0 s", stoppedLine)
			if got := (*looks)[:min(len(*looks), len(tt.asks))]; exit != failure.Interrupted || !slices.Equal(got, tt.asks) {
				t.Errorf("exit code %d; it asked before looks %d, want %d", exit, *looks, tt.asks)
			}
			if said := w.err.String(); len(w.said()) > 0 || strings.Contains(said, "forbidden") ||
				strings.Contains(said, "not published") {
				t.Errorf("stdout %q, stderr %q", &w.out, &w.err)
			}
			w.wantTree(t)
		})
	}
}

func tooOften(seconds string) plannedFault {
	return plannedFault{status: 429, code: "rate_limited_actor", header: http.Header{"Retry-After": {seconds}}}
}
