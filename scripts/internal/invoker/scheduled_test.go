package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/limits"
)

// wake sends the event of its schedule to a function.
func wake(t *testing.T, d *deployment, host string) {
	t.Helper()
	if _, err := d.function(t, host).Invoke(t.Context(), event(t, host, "schedule")); err != nil {
		t.Errorf("%s: %v\n%s", host, err, d.log.String())
	}
}

func TestEveryScheduledFunctionTakesItsEvent(t *testing.T) {
	d := deploy(t)
	for _, host := range env.Scheduled {
		wake(t, d, host)
	}
}

var peakLine = regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB$`)

// peak returns the most memory that a running program took, in bytes.
func peak(t *testing.T, program string) int64 {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/exe")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if to, _ := os.Readlink(link); to != program {
			continue
		}
		status, err := os.ReadFile(filepath.Join(filepath.Dir(link), "status"))
		if found := peakLine.FindSubmatch(status); err == nil && found != nil {
			n, _ := strconv.ParseInt(string(found[1]), 10, 64) // digits
			return n << 10
		}
	}
	t.Fatalf("%s does not run", program)
	return 0
}

// bundleMemory is a quarter of what the function has.
const bundleMemory = 256 * limits.MiB

func TestABundleOfAHundredFilesFitsIntoItsFunction(t *testing.T) {
	d := deploy(t)
	g := d.NewAgent(t)
	var files []wire.File
	for n := range limits.ViewFiles {
		files = append(files, wire.File{
			Path: fmt.Sprintf("%02d.bin", n),
			Body: harness.RandomBytes(uint64(n), 24*limits.MiB/limits.ViewFiles),
		})
	}
	p := harness.Must(g.PublishFiles(t.Context(), "Large", "", files...))(t)
	wake(t, d, "bundle")
	used := peak(t, program(t, "bundle"))
	t.Logf("the function took %d MiB", used/limits.MiB)
	if used > bundleMemory {
		t.Errorf("it took %d MiB, more than %d", used/limits.MiB, bundleMemory/limits.MiB)
	}
	if view := harness.Must(g.AgentView(t.Context(), p.ArtifactID))(t); view.Bundle.Status != "ready" {
		t.Errorf("%+v\n%s, want a bundle that is ready", view.Bundle, d.log.String())
	}
}
