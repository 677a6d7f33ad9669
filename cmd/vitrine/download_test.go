package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/failure"
	"vitrine/scripts/testkit/expect"
)

func TestZipNamesAreSafeOnEverySystem(t *testing.T) {
	expect.Results(t, func(title string) string { return zipName(title, artifact) }, map[string]string{
		"Weekly report":               "Weekly-report.zip",
		"a/b\\c:d*e?f\"g<h>i|j":       "a-b-c-d-e-f-g-h-i-j.zip",
		"../../etc/passwd":            "etc-passwd.zip",
		".bashrc":                     "bashrc.zip",
		"--output":                    "output.zip",
		"v1.2_final.":                 "v1.2_final.zip",
		"été 2026 報告":                 "été-2026-報告.zip",
		"a\x1b[31m\u202eb\nc":         "a-31m-b-c.zip",
		"CON":                         "artifact-CON.zip",
		"nul.tar.gz":                  "artifact-nul.tar.gz.zip",
		"console":                     "console.zip",
		"...":                         artifact + ".zip",
		"":                            artifact + ".zip",
		strings.Repeat("é", 100):      strings.Repeat("é", 40) + ".zip",
		strings.Repeat("x", 79) + "é": strings.Repeat("x", 79) + ".zip",
	})
}

func TestAnInterruptedDownloadIsKept(t *testing.T) {
	p := newFakeServer()
	defer p.close()
	p.bundle = bundleState{
		status: "ready",
		body:   strings.Repeat("x", 100000),
		tag:    `"t"`,
		cuts:   []int{5000, 1},
	}
	second := func(route string) bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return route == "bundle" && len(p.bundle.cuts) == 1
	}
	file := filepath.Join(t.TempDir(), "a.zip")
	run := startInterrupted(t, p, second, os.Interrupt, nil, "download", artifact, "--output", file)
	lines := run.end(t, failure.Interrupted)
	for _, want := range []string{
		"error interrupted: interrupted before the zip was whole",
		"Run the command again: it continues after the 5 kB that have arrived.",
	} {
		if !slices.Contains(lines, want) {
			t.Errorf("stderr %q, want %q", lines, want)
		}
	}
	if part, err := os.ReadFile(file + ".part"); err != nil || len(part) != 5000 {
		t.Errorf("%d bytes are kept, %v", len(part), err)
	}
}
