package main

import (
	"encoding/json"
	"io/fs"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// outcome EXIT CODE ARG... runs vitrine with these arguments, plain, with --quiet and with --json. Each run must end
// with EXIT, leave stdout empty, and write CODE and what to do next to stderr: as lines whose last is the hint, the
// same ones with --quiet, and as one object with --json.
func outcome(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: outcome EXIT CODE ARG...")
	}
	run := func(mode ...string) string {
		exits(ts, false, append(append([]string{args[0], "vitrine"}, args[2:]...), mode...))
		if out := ts.ReadFile("stdout"); out != "" {
			ts.Fatalf("%v: stdout %q", mode, out)
		}
		return ts.ReadFile("stderr")
	}
	for _, text := range []string{run(), run("--quiet")} {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		last := lines[len(lines)-1]
		if !strings.HasPrefix(lines[0], "error "+args[1]+": ") || len(lines) != 3 ||
			!strings.HasPrefix(lines[1], "  request  ") || strings.HasPrefix(last, " ") {
			ts.Fatalf("stderr %q", text)
		}
	}
	var got struct {
		Error struct {
			Code, Message, Hint string
			RequestID           string `json:"request_id"`
		} `json:"error"`
	}
	text := run("--json")
	if err := json.Unmarshal([]byte(text), &got); err != nil || strings.Count(text, "\n") != 1 {
		ts.Fatalf("stderr %q: %v", text, err)
	}
	if e := got.Error; e.Code != args[1] || e.Message == "" || e.Hint == "" || e.RequestID == "" {
		ts.Fatalf("stderr %q", text)
	}
}

func countFiles(ts *testscript.TestScript, dir fs.FS) (n int) {
	ts.Check(fs.WalkDir(dir, ".", func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	}))
	return n
}
