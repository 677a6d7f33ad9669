package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/restore/machine"
	"vitrine/scripts/testkit/disk"
	"vitrine/scripts/testkit/expect"
)

// newTool returns a tool, and what it prints.
func newTool() (t tool, out, complaints *bytes.Buffer) {
	out, complaints = &bytes.Buffer{}, &bytes.Buffer{}
	return tool{out, complaints, time.Now}, out, complaints
}

func TestCommandLinesThatAreRefused(t *testing.T) {
	const known = "art_00000000000000000000000001"
	for says, line := range map[string]string{
		"say what to do":            "",
		"lists the forms":           "undo --data n",
		"name the copy":             "plan --data n",
		"name the new data folder":  "run --from c",
		"names a deployment in AWS": "run prod --from c --at 2026-01-31T10:00:00Z",
		"are for AWS":               "run --from c --data n --at 2026-01-31T10:00:00Z",
		"goes on with what run":     "switch --data n --except f",
		"is for open":               "switch --data n --expire",
		"is no option":              "check one two",
		"holds no copy":             "plan --from nowhere --data n",
		"is no restore":             "abandon --data nowhere",
		"-nonsense":                 "plan --nonsense",
		"invalid value":             "plan prod --at yesterday",
		"name one artifact":         "artifact --from c",
		"be the id of the work":     "workspace x --from c",
		"be the id of the artifact": "artifact rev_1 --from c",
		"name the copy: --from":     "artifact " + known,
		"x names a deployment":      "artifact " + known + " x --from c",
		"takes --from, --data":      "artifact " + known + " --from c --expire",
		"are for artifact":          "check --data n --plan",
		"-fro":                      "artifact " + known + " --fro c",
	} {
		tool, _, complaints := newTool()
		if code := run(t.Context(), strings.Fields(line), tool); code != 1 || !strings.Contains(complaints.String(), says) {
			t.Errorf("%q exits with %d and says %q, want %q", line, code, complaints, says)
		}
	}
}

func TestFormsThatPutAPartBack(t *testing.T) {
	const known = "art_00000000000000000000000001"
	for line, aws := range map[string]bool{
		"artifact " + known + " --from c":                        false,
		"artifact " + known + " --from c --plan":                 false,
		"artifact --data d --from c " + known:                    false,
		"artifact " + known + " Trial --at 2026-01-31T10:00:00Z": true,
	} {
		tool, _, _ := newTool()
		o, err := parse(strings.Fields(line), tool)
		if expect.OK(t, err); o.part.Artifact != known || (o.name != "") != aws || aws == o.at.IsZero() {
			t.Errorf("%s is %+v", line, o)
		}
	}
}

func TestHelpListsTheForms(t *testing.T) {
	tool, _, complaints := newTool()
	if code := run(t.Context(), []string{"--help"}, tool); code != 0 {
		t.Errorf("exit %d", code)
	}
	expect.Has(t, "the help", complaints.String(), "scripts/restore artifact|workspace ID", "In AWS:", "-living")
}

func TestOptionsMakeARestore(t *testing.T) {
	folder := t.TempDir()
	disk.Write(t, folder, map[string]string{
		"c/copy.json": `{"format": 1, "at": "2026-01-31T10:00:00Z"}`,
		"none.json":   "[]",
	})
	tool, _, _ := newTool()
	o, err := parse([]string{"plan", "--from", filepath.Join(folder, "c"), "--except", filepath.Join(folder, "none.json"),
		"--data", "n"}, tool)
	expect.OK(t, err)
	got, err := o.restore(t.Context())
	expect.OK(t, err)
	r, _ := got.(machine.Restore)
	if r.Except == nil || filepath.Base(r.Living) != ".vitrine" || r.Data != "n" ||
		r.From.At.Year() != 2026 {
		t.Errorf("got %+v", r)
	}
}
