package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"vitrine/scripts/testkit/wire"
)

// What is read, and by how much the hosts' resident memory may grow then.
const (
	hugeSize     = 25 << 20
	hugeReads    = 5
	warmReads    = 500 // of a small file
	memoryBudget = 8 << 20
)

// memory reads a large file and fails if that takes more memory than the budget. The hosts are started anew before,
// since the upload has passed through them, and read a small file until they have what they need for any file.
func (b *bench) memory(ctx context.Context, stdout io.Writer) error {
	b.say("publishing %d MB", hugeSize>>20)
	files := []wire.File{{Path: "a.txt", Body: noise(smallSize)}, {Path: "huge.bin", Body: noise(hugeSize)}}
	p, err := b.agents[0].PublishFiles(ctx, "Huge", "", files...)
	if err != nil {
		return err
	}
	if err := b.serve(ctx); err != nil {
		return err
	}
	view, err := b.with(b.agents[0].Key).AgentView(ctx, p.ArtifactID)
	if err == nil && len(view.Files) != len(files) {
		err = fmt.Errorf("the view has %d files, expected %d", len(view.Files), len(files))
	}
	if err != nil {
		return err
	}
	if err := readAgain(ctx, view.Files[0].URL, smallSize, warmReads); err != nil {
		return err
	}
	const resetPeak = "5" // proc_pid_clear_refs(5)
	pid := b.running().hosts
	if err := os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte(resetPeak), 0); err != nil {
		return err
	}
	before := b.running().usage().resident
	b.say("reading %d MB, %d times", hugeSize>>20, hugeReads)
	if err := readAgain(ctx, view.Files[1].URL, hugeSize, hugeReads); err != nil {
		return err
	}
	most, err := peak(pid)
	if err != nil {
		return err
	}
	grown, budget := megabytes(most-before), megabytes(memoryBudget)
	fmt.Fprintf(stdout, "Resident memory of the hosts: %.1f MB before, %.1f MB after %d GETs of %d MB, %.1f MB at most: "+
		"it grows by %.1f MB (budget %.0f MB).\n", megabytes(before), megabytes(b.running().usage().resident), hugeReads,
		hugeSize>>20, megabytes(most), grown, budget)
	if grown >= budget {
		return fmt.Errorf("reading %d MB takes %.1f MB of memory; the budget is %.0f MB", hugeSize>>20, grown, budget)
	}
	return nil
}

func readAgain(ctx context.Context, target string, size int64, times int) error {
	read := fetching(httpClient(nil), target, size)
	for range times {
		if err := read(ctx, 0); err != nil {
			return err
		}
	}
	return nil
}
