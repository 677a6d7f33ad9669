package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
)

// watchTest is a watch in this process. Its time passes in pauses alone, and what happens to the folder happens in
// them: before the look of that number, the first of which is 1.
type watchTest struct {
	*fakeServer
	dir     string
	args    []string
	happens map[int]func()
	beside  func(step func()) // runs what goes on beside the watch

	now      time.Time
	looks    int
	out, err bytes.Buffer
}

func newWatchTest(t *testing.T, args ...string) *watchTest {
	t.Helper()
	w := &watchTest{
		fakeServer: newFakeServer(),
		dir:        t.TempDir(),
		args:       args,
		happens:    map[int]func(){},
		beside:     func(step func()) { step() },
		now:        epoch,
	}
	t.Cleanup(w.close)
	for path, s := range w.world.newest().files {
		w.write(t, path, s)
	}
	return w
}

func (w *watchTest) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, path), []byte(text), 0o666); err != nil {
		t.Error(err)
	}
}

// writes changes a file before a look.
func (w *watchTest) writes(t *testing.T, look int, path, text string) {
	w.happens[look] = func() { w.write(t, path, text) }
}

func (w *watchTest) remove(t *testing.T, path string) {
	if err := os.Remove(filepath.Join(w.dir, path)); err != nil {
		t.Error(err)
	}
}

// run watches for so many looks, and is interrupted then. It returns the exit code.
func (w *watchTest) run(t *testing.T, looks int) failure.Exit {
	t.Helper()
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere")
	ctx, interrupt := context.WithCancel(t.Context())
	a := &app{
		args: append([]string{"watch", w.dir}, w.args...),
		environ: []string{
			"VITRINE_URL=" + w.api.URL, "VITRINE_API_KEY=" + memberKey, "XDG_CONFIG_HOME=" + t.TempDir(),
		},
		keyring: time.Second,
		out:     &w.out,
		err:     &w.err,
		now:     func() time.Time { return w.now },
		beside:  w.beside,
		newUUID: func() string { return "6f1ab1f6-2b0c-4b1f-9b53-0c8d1fd0a009" },
		retry:   client.RetryPolicy{MaxAttempts: 2, MeanWait: time.Millisecond, MaxWait: time.Second},
	}
	a.pause = func(_ context.Context, d time.Duration) error {
		w.now = w.now.Add(d)
		if w.looks++; w.looks > looks {
			interrupt()
		} else if do := w.happens[w.looks]; do != nil {
			do()
		}
		return ctx.Err()
	}
	a.open()
	err := a.execute(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.wrong) > 0 {
		t.Errorf("the server objects: %s", strings.Join(w.wrong, "\n"))
	}
	if err != nil {
		return failure.Of(err).Exit
	}
	return failure.OK
}

// lines returns the lines of stdout after the first revision.
func (w *watchTest) lines() (lines []string) {
	for line := range strings.Lines(w.out.String()) {
		if strings.HasPrefix(line, "revision ") || strings.HasPrefix(line, "Stopped") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// wantTree compares the newest revision with the folder.
func (w *watchTest) wantTree(t *testing.T) {
	t.Helper()
	got := map[string]string{}
	files, err := os.ReadDir(w.dir)
	for _, f := range files {
		text, _ := os.ReadFile(filepath.Join(w.dir, f.Name()))
		got[f.Name()] = string(text)
	}
	if err != nil || !maps.Equal(got, w.world.newest().files) {
		t.Errorf("the newest revision is %q, the folder %q", w.world.newest().files, got)
	}
}

func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("lines %q, want %q", got, want)
	}
}

const stoppedLine = "Stopped; the page stays at http://app.test/v/" + artifact

func TestWatchPublishesWhatChanged(t *testing.T) {
	w := newWatchTest(t, "--artifact-id", artifact)
	w.happens[1] = func() {
		w.write(t, "index.html", "<h1>Three</h1>\n")
		w.write(t, "added.txt", strings.Repeat("a", 2048))
		w.remove(t, "logo.png")
	}
	w.writes(t, 10, "added.txt", "less")
	if exit := w.run(t, 20); exit != failure.Interrupted {
		t.Errorf("exit code %d", exit)
	}
	wantLines(t, w.lines(), "revision 3: 1 changed, 1 new, 1 deleted, 2.1 kB sent, 0.0 s",
		"revision 4: 1 changed, 4 bytes sent, 0.0 s", stoppedLine)
	w.wantTree(t)
	if w.opened.BaseRevisionID != revisionID(3) || len(w.opened.Files) != 1 {
		t.Errorf("the last manifest is %+v", w.opened)
	}
	if !strings.Contains(w.out.String(), "http://app.test/v/"+artifact+"\n") ||
		!strings.Contains(w.err.String(), "no revision was created") {
		t.Errorf("stdout %q, stderr %q", &w.out, &w.err)
	}
}

func TestQuickChangesMakeOneRevision(t *testing.T) {
	w := newWatchTest(t, "--artifact-id", artifact)
	for look, text := range []string{1: "one", 2: "one, two", 3: "one, two, three"} {
		if text != "" {
			w.writes(t, look, "index.html", text)
		}
	}
	var puts []int
	w.onCall = func(route string) {
		if route == "put" {
			puts = append(puts, w.looks)
		}
	}
	w.run(t, 12)
	wantLines(t, w.lines(), "revision 3: 1 changed, 15 bytes sent, 0.0 s", stoppedLine)
	if !slices.Equal(puts, []int{5}) { // the look that is a second after the third
		t.Errorf("files were sent after looks %d", puts)
	}
	w.wantTree(t)
}

func TestEqualBytesMakeNoRevision(t *testing.T) {
	w := newWatchTest(t, "--artifact-id", artifact)
	w.happens[1] = func() {
		if err := os.Chtimes(filepath.Join(w.dir, "index.html"), epoch, epoch); err != nil {
			t.Error(err)
		}
	}
	w.writes(t, 10, "index.html", "<h1>Other</h1>\n")
	w.writes(t, 11, "index.html", "<h1>Two</h1>\n")
	w.run(t, 20)
	wantLines(t, w.lines(), stoppedLine)
	if len(w.world.revisions) != 2 || slices.Contains(w.calls, "create") {
		t.Errorf("%d revisions after %q", len(w.world.revisions), w.calls)
	}
	if n := strings.Count(strings.Join(w.calls, " "), "view"); n != 3 { // at the start and after each change
		t.Errorf("%d views were read", n)
	}
}

func TestAnIdleWatchAsksNothing(t *testing.T) {
	w := newWatchTest(t, "--artifact-id", artifact)
	w.run(t, 1000)
	wantLines(t, w.calls, "discovery", "view", "policy")
}

func TestWatchOfANewArtifact(t *testing.T) {
	for _, args := range [][]string{{"--ephemeral"}, {"--title", "Mine"}, nil} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			w := newWatchTest(t, args...)
			w.founds = true
			w.writes(t, 1, "index.html", "second")
			w.writes(t, 10, "index.html", "the third")
			w.run(t, 20)
			lines := w.lines()
			wantLines(t, lines[:2], "revision 2: 1 changed, 6 bytes sent, 0.0 s", "revision 3: 1 changed, 9 bytes sent, 0.0 s")
			w.wantTree(t)
			if len(args) > 0 && args[0] == "--ephemeral" &&
				(!strings.Contains(w.out.String(), claim) || !strings.HasSuffix(lines[2], "/al/0123456789ABCDEF#blob")) {
				t.Errorf("stdout %q", &w.out)
			}
			if len(args) == 2 && w.world.title != "Mine" {
				t.Errorf("the title is %q", w.world.title)
			}
			if n := strings.Count(strings.Join(w.calls, " "), "revisions"); n != 0 {
				t.Errorf("the revisions were listed %d times", n)
			}
		})
	}
}

// jsonLines decodes the lines of stdout.
func (w *watchTest) jsonLines(t *testing.T) (events []map[string]any) {
	t.Helper()
	for line := range strings.Lines(w.out.String()) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		events = append(events, e)
	}
	return events
}

func TestWatchInJSONIsALineForEachEvent(t *testing.T) {
	w := newWatchTest(t, "--artifact-id", artifact, "--json")
	w.write(t, "index.html", "other")
	w.writes(t, 1, "index.html", "another")
	w.writes(t, 10, "index.html", "the last")
	w.happens[9] = func() {
		w.plan("create", 1, plannedFault{status: 429, code: "revision_ceiling_exceeded"})
	}
	w.run(t, 20)
	var events []string
	for _, e := range w.jsonLines(t) {
		events = append(events, fmt.Sprintln(e["event"], e["revision_number"], e["changed"], e["bytes_sent"], e["url"]))
	}
	wantLines(t, events, "started <nil> <nil> <nil> http://app.test/v/"+artifact+"\n",
		"revision 4 1 7 <nil>\n", "failed <nil> <nil> <nil> <nil>\n",
		"stopped <nil> <nil> <nil> http://app.test/v/"+artifact+"\n")
	if failed := w.jsonLines(t)[2]; failed["retry_in_seconds"] != nil ||
		failed["error"].(map[string]any)["code"] != "revision_ceiling_exceeded" {
		t.Errorf("failed: %v", failed)
	}
	if text := w.err.String(); text != "Watching "+w.dir+" for changes; Ctrl-C ends it\n" {
		t.Errorf("stderr %q", text)
	}
}

func TestAFailedRevisionIsTriedAgain(t *testing.T) {
	header := func(seconds string) http.Header { return http.Header{"Retry-After": {seconds}} }
	lost := plannedFault{done: true, status: 503, code: "database_unavailable"}
	for _, tt := range []struct {
		name, route string
		times       int
		fault       plannedFault
		want        string
		look        int // of the try that succeeds
	}{
		{"the network", "create", 2, plannedFault{drop: true}, "EOF; trying again in 5s", 13},
		{"the network twice", "create", 4, plannedFault{drop: true}, "EOF; trying again in 10s", 33},
		{"the server", "view", 2, plannedFault{status: 503, code: "database_unavailable"}, "trying again in 5s", 13},
		{"a limit", "create", 1, plannedFault{status: 429, code: "rate_limited_actor", header: header("20")},
			"told by the peer; trying again in 20s", 43},
		{"a conflict", "finalize", 1, plannedFault{status: 409, code: "draft_revision_conflict"}, "trying again in 5s", 13},
		{"a lost end of the publish", "publish", 2, lost, "trying again in 5s", 13},
		{"a lost draft", "finalize", 2, lost, "trying again in 5s", 13},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWatchTest(t, "--artifact-id", artifact)
			done := 0
			w.happens[1] = func() {
				w.plan(tt.route, tt.times, tt.fault)
				w.write(t, "index.html", "the only change")
			}
			w.onCall = func(route string) {
				if route == "publish" {
					done = w.looks
				}
			}
			w.run(t, 60)
			if lines := w.lines(); len(lines) != 2 || !strings.HasPrefix(lines[0], "revision 3: 1 changed, 15 bytes sent, ") {
				t.Errorf("lines %q", lines)
			}
			if text := w.err.String(); !strings.Contains(text, tt.want) || strings.Contains(text, "s3cret") ||
				done != tt.look || len(w.world.revisions) != 3 || w.world.draft != nil {
				t.Errorf("published at look %d, %d revisions, draft %v, stderr %q", done, len(w.world.revisions),
					w.world.draft, text)
			}
			w.wantTree(t)
		})
	}
}

func TestADraftThatWasLeftIsPublishedBeforeALaterChange(t *testing.T) {
	w := newWatchTest(t, "--artifact-id", artifact)
	w.happens[1] = func() {
		w.plan("publish", 2, plannedFault{status: 503, code: "database_unavailable"})
		w.write(t, "index.html", "first change")
	}
	w.writes(t, 5, "index.html", "a later change")
	w.run(t, 30)
	wantLines(t, w.lines(), "revision 3: 1 changed, 12 bytes sent, 2.0 s", "revision 4: 1 changed, 14 bytes sent, 0.0 s",
		stoppedLine)
	w.wantTree(t)
}

func TestAWaitThatTheServerStatesOutlastsAChange(t *testing.T) {
	w := newWatchTest(t, "--artifact-id", artifact)
	w.happens[1] = func() {
		w.plan("create", 1, plannedFault{
			status: 429,
			code:   "rate_limited_actor",
			header: http.Header{"Retry-After": {"20"}},
		})
		w.write(t, "index.html", "first change")
	}
	w.writes(t, 10, "index.html", "a later change")
	var opened []int
	w.onCall = func(route string) {
		if route == "create" {
			opened = append(opened, w.looks)
		}
	}
	w.run(t, 50)
	if !slices.Equal(opened, []int{3, 43}) {
		t.Errorf("sessions were opened after looks %d", opened)
	}
	w.wantTree(t)
}

func TestAFileThatChangesWhileItIsSentIsReadAgain(t *testing.T) {
	w := newWatchTest(t, "--artifact-id", artifact)
	w.writes(t, 1, "index.html", "half of")
	w.onStart = func() {
		w.onStart = nil
		w.write(t, "index.html", "all of it")
	}
	w.run(t, 20)
	wantLines(t, w.lines(), "revision 3: 1 changed, 9 bytes sent, 0.0 s", stoppedLine)
	w.wantTree(t)
	if strings.Contains(w.err.String(), "not published") {
		t.Errorf("stderr %q", &w.err)
	}
}

func TestTheFirstRevisionWaitsForFilesThatAreBeingWritten(t *testing.T) {
	for name, then := range map[string]func(*watchTest){
		"and come to rest": func(w *watchTest) { w.write(t, "index.html", "all of it") },
		"and then are gone": func(w *watchTest) {
			for path := range w.world.newest().files {
				w.remove(t, path)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWatchTest(t, "--artifact-id", artifact)
			w.write(t, "index.html", "half of")
			w.onStart = func() {
				w.onStart = nil
				then(w)
			}
			exit := w.run(t, 5)
			if name == "and come to rest" {
				w.wantTree(t)
				wantLines(t, w.lines(), stoppedLine)
			} else if exit != failure.Invalid || len(w.world.revisions) != 2 {
				t.Errorf("exit code %d, %d revisions", exit, len(w.world.revisions))
			}
		})
	}
}

func TestAFolderThatCannotBePublishedIsWatchedOn(t *testing.T) {
	w := newWatchTest(t, "--artifact-id", artifact)
	w.happens[1] = func() {
		w.remove(t, "index.html")
	}
	w.writes(t, 10, "index.html", "back again")
	w.run(t, 20)
	wantLines(t, w.lines(), "revision 3: 1 changed, 10 bytes sent, 0.0 s", stoppedLine)
	if strings.Count(w.err.String(), "not published: ") != 1 ||
		!strings.Contains(w.err.String(), "\"index.html\", which opens first, is gone; trying again at the next change\n") {
		t.Errorf("stderr %q", &w.err)
	}
	w.wantTree(t)
}

func TestWatchSaysThatAnotherClientHasPublished(t *testing.T) {
	w := newWatchTest(t, "--artifact-id", artifact)
	w.happens[1] = func() {
		w.mu.Lock()
		files := maps.Clone(w.world.newest().files)
		files["theirs.txt"] = "theirs"
		w.world.add("What it was called", "index.html", files)
		w.mu.Unlock()
		w.write(t, "index.html", "ours")
	}
	w.run(t, 10)
	wantLines(t, w.lines(), "revision 4: 1 changed, 1 deleted, 4 bytes sent, 0.0 s", stoppedLine)
	if !strings.Contains(w.err.String(), "Another client has published rev_00000000000000000000000013 meanwhile") {
		t.Errorf("stderr %q", &w.err)
	}
}

func TestWatchEndsWhenNothingCanBePublishedAnyMore(t *testing.T) {
	for code, want := range map[string]failure.Exit{
		"deleted": failure.NotFound,
		"revoked": failure.Auth,
	} {
		t.Run(code, func(t *testing.T) {
			w := newWatchTest(t, "--artifact-id", artifact)
			w.happens[1] = func() {
				w.mu.Lock()
				w.world.deleted = code == "deleted"
				w.people.keys[memberKey] = code == "deleted"
				w.mu.Unlock()
				w.write(t, "index.html", "too late")
			}
			if exit := w.run(t, 10); exit != want || w.looks > 5 {
				t.Errorf("exit code %d after %d looks, want %d; stderr %q", exit, w.looks, want, &w.err)
			}
		})
	}
}
