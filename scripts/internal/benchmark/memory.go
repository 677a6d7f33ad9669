package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// What is read, and by how much the hosts' resident memory may grow then.
const (
	hugeSize     = 25 << 20
	hugeReads    = 5
	warmReads    = 500 // of a small file
	memoryBudget = 8 << 20
)

// memory reads a large file and fails if that takes more memory than the budget. The hosts are started anew before, since
// the upload has passed through them.
func (b *bench) memory(ctx context.Context, stdout io.Writer) error {
	view, err := b.publishHuge(ctx)
	if err != nil {
		return err
	}
	if err := b.warm(ctx, view.Files[0]); err != nil {
		return err
	}
	before, err := b.resident()
	if err != nil {
		return err
	}
	b.say("reading %d MB, %d times", hugeSize>>20, hugeReads)
	read := fetching(httpClient(nil), view.Files[1].URL, hugeSize)
	for range hugeReads {
		if err := read(ctx, 0); err != nil {
			return err
		}
	}
	after, err := b.resident()
	if err != nil {
		return err
	}
	grown := after.peak - before.now
	fmt.Fprintf(stdout, "Resident memory of the hosts: %.1f MB before, %.1f MB after %d GETs of %d MB, %.1f MB at most: it grows by %.1f MB (budget %d MB).\n",
		megabytes(before.now), megabytes(after.now), hugeReads, hugeSize>>20, megabytes(after.peak), megabytes(grown), memoryBudget>>20)
	if grown >= memoryBudget {
		return fmt.Errorf("reading %d MB takes %.1f MB of memory; the budget is %d MB", hugeSize>>20, megabytes(grown), memoryBudget>>20)
	}
	return nil
}

// publishHuge publishes a small and a large file and returns their view by hosts that have served no other.
func (b *bench) publishHuge(ctx context.Context) (v contract.AgentView, err error) {
	b.say("publishing %d MB", hugeSize>>20)
	g := b.agents[0]
	p, err := g.PublishFiles(ctx, "Huge", "", wire.File{Path: "a.txt", Body: noise(smallSize)}, wire.File{Path: "huge.bin", Body: noise(hugeSize)})
	if err != nil {
		return v, err
	}
	err = b.hosts.close()
	b.hosts = nil
	if err == nil {
		err = b.serve()
	}
	if err != nil {
		return v, err
	}
	fresh, err := wire.Discover(ctx, httpClient(nil), b.hosts.Origins.API)
	if err != nil {
		return v, err
	}
	fresh.Key = g.Key
	if v, err = fresh.AgentView(ctx, p.ArtifactID); err == nil && len(v.Files) != 2 {
		err = fmt.Errorf("the view has %d files, expected 2", len(v.Files))
	}
	return v, err
}

// warm reads a small file until the hosts have what they need for any file, then lets the kernel forget their peak.
func (b *bench) warm(ctx context.Context, f contract.AgentViewFile) error {
	read := fetching(httpClient(nil), f.URL, f.SizeBytes)
	for range warmReads {
		if err := read(ctx, 0); err != nil {
			return err
		}
	}
	const resetPeak = "5" // proc_pid_clear_refs(5)
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", b.hosts.process.Process.Pid), []byte(resetPeak), 0)
}

// resident is the resident memory of a process in bytes.
type resident struct{ now, peak int64 }

func (b *bench) resident() (resident, error) { return residentOf(b.hosts.process.Process.Pid) }

func residentOf(pid int) (resident, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return resident{}, fmt.Errorf("memory is read from /proc, which only Linux has: %w", err)
	}
	return parseResident(string(status))
}

var residentLines = regexp.MustCompile(`(?m)^Vm(HWM|RSS):\s+(\d+) kB$`)

// parseResident reads proc_pid_status(5).
func parseResident(status string) (r resident, err error) {
	for _, line := range residentLines.FindAllStringSubmatch(status, -1) {
		n, _ := strconv.ParseInt(line[2], 10, 64) // digits
		if line[1] == "RSS" {
			r.now = n << 10
		} else {
			r.peak = n << 10
		}
	}
	if r.now == 0 || r.peak == 0 {
		err = fmt.Errorf("the status of the hosts tells no memory: %q", status)
	}
	return r, err
}

func megabytes(n int64) float64 { return float64(n) / (1 << 20) }
