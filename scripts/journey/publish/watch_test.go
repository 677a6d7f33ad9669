package publish

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/disk"
	"vitrine/shared/platform/contract"
)

// watch is a running vitrine watch.
type watch struct {
	*exec.Cmd
	events *bufio.Scanner
	said   strings.Builder
}

// watchEvent is a line of vitrine watch --json.
type watchEvent struct {
	Event string `json:"event"`
	contract.Published
	Number  int   `json:"revision_number"`
	Changed int   `json:"changed"`
	New     int   `json:"new"`
	Deleted int   `json:"deleted"`
	Sent    int64 `json:"bytes_sent"`
}

// newWatch starts to watch a folder with the key of an agent.
func newWatch(t *testing.T, d *harness.Env, key, dir string) *watch {
	t.Helper()
	w := &watch{Cmd: d.Command(t, t.TempDir(), key, "watch", dir, "--json")}
	w.Stderr = &w.said
	w.events = bufio.NewScanner(harness.Must(w.StdoutPipe())(t))
	harness.NoError(t, w.Start())
	return w
}

// next waits for the next event, which has to be of this kind.
func (w *watch) next(t *testing.T, kind string) (e watchEvent) {
	t.Helper()
	if !w.events.Scan() {
		t.Fatalf("the watch has ended: %v, %s", w.Wait(), &w.said)
	}
	if err := json.Unmarshal(w.events.Bytes(), &e); err != nil || e.Event != kind {
		t.Fatalf("%s, want %s: %v", w.events.Bytes(), kind, err)
	}
	return e
}

// interrupt ends the watch.
func (w *watch) interrupt(t *testing.T) {
	t.Helper()
	harness.NoError(t, w.Process.Signal(os.Interrupt))
	w.next(t, "stopped")
	if err := w.Wait(); w.ProcessState.ExitCode() != 130 {
		t.Errorf("the watch ends with %v, %s", err, &w.said)
	}
}

// wantSent checks the number of a revision and what it sent.
func wantSent(t *testing.T, e watchEvent, want string) {
	t.Helper()
	got := fmt.Sprintf("%d: %d changed, %d new, %d deleted, %d bytes", e.Number, e.Changed, e.New, e.Deleted, e.Sent)
	if got != want {
		t.Errorf("revision %s, want %s", got, want)
	}
}

// viewLog tells that an agent view was read.
type viewLog struct {
	slog.Handler
	views chan struct{}
}

func (l viewLog) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if a.Key == "route" && strings.HasSuffix(a.Value.String(), "agent-view") {
			l.views <- struct{}{}
		}
		return true
	})
	return l.Handler.Handle(ctx, r)
}

func (l viewLog) WithAttrs(attrs []slog.Attr) slog.Handler {
	return viewLog{l.Handler.WithAttrs(attrs), l.views}
}

func TestWatchPublishesEachChangeOfAFolder(t *testing.T) {
	t.Parallel()
	log := viewLog{views: make(chan struct{}, 100)}
	p := harness.NewEnv(t, func(o *stack.Options) {
		o.Lambda = false
		log.Handler = o.Log.Handler()
		o.Log = slog.New(log)
	})
	g := p.NewAgent(t)
	dir := t.TempDir()
	disk.Write(t, dir, map[string]string{"index.html": "<h1>One</h1>", "css/a.css": "a{}", ".DS_Store": "noise"})
	w := newWatch(t, p, g.Key, dir)
	a := w.next(t, "started").ArtifactID

	disk.Write(t, dir, map[string]string{"css/a.css": "a{color:red}"})
	wantSent(t, w.next(t, "revision"), "2: 1 changed, 0 new, 0 deleted, 12 bytes")

	disk.Write(t, dir, map[string]string{"index.html": "<h1>Two</h1>"})
	disk.Write(t, dir, map[string]string{"index.html": "<h1>Two, and more</h1>", "b/new.txt": "new"})
	wantSent(t, w.next(t, "revision"), "3: 1 changed, 1 new, 0 deleted, 25 bytes")

	harness.NoError(t, os.Remove(filepath.Join(dir, "css/a.css")))
	wantSent(t, w.next(t, "revision"), "4: 0 changed, 0 new, 1 deleted, 0 bytes")

	for len(log.views) > 0 {
		<-log.views
	}
	now := time.Now()
	harness.NoError(t, os.Chtimes(filepath.Join(dir, "index.html"), now, now))
	<-log.views // the folder is compared with the revision, and nothing is sent
	disk.Write(t, dir, map[string]string{"b/new.txt": "newer"})
	last := w.next(t, "revision")
	wantSent(t, last, "5: 1 changed, 0 new, 0 deleted, 5 bytes")
	w.interrupt(t)

	v := harness.Must(g.AgentView(ctx, a))(t)
	got := map[string]string{}
	for _, f := range v.Files {
		got[f.Path] = string(p.Get(t, f.URL).Body)
	}
	want := map[string]string{"index.html": "<h1>Two, and more</h1>", "b/new.txt": "newer"}
	if !maps.Equal(got, want) || v.RevisionID != last.RevisionID {
		t.Errorf("revision %s has %v, want %v in %s", v.RevisionID, got, want, last.RevisionID)
	}
}
