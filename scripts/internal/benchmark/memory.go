package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"vitrine/scripts/testkit/wire"
)

// What is read, and by how much the hosts' resident memory may grow then.
const (
	hugeSize     = 25 << 20
	hugeReads    = 5
	warmReads    = 500 // of a small file
	memoryBudget = 8 << 20
)

const memoryLegend = `
Memory is that of the hosts' process: resident when the row ended, and at most while it ran.
`

// memoryRows read a small file until the hosts have what they need for any file, and then a large one. The hosts are
// started anew before, since the upload has passed through them.
func (b *bench) memoryRows(ctx context.Context) ([]row, error) {
	files := []wire.File{{Path: "a.txt", Body: noise(smallSize)}, {Path: "huge.bin", Body: noise(hugeSize)}}
	owner := b.agents[0].Key
	p, err := b.agents[0].PublishFiles(ctx, "Huge", "", files...)
	if err != nil {
		return nil, err
	}
	if err := b.serve(ctx, b.tables); err != nil {
		return nil, err
	}
	view, err := b.with(owner).AgentView(ctx, p.ArtifactID)
	if err == nil && len(view.Files) != len(files) {
		err = fmt.Errorf("the view has %d files, expected %d", len(view.Files), len(files))
	}
	if err != nil {
		return nil, err
	}
	small := fetching(httpClient(), view.Files[0].URL, smallSize)
	huge := fetching(httpClient(), view.Files[1].URL, hugeSize)
	return []row{
		{name: "small", title: "Content GET, 4 KB", stock: repeated(small, warmReads), whole: true},
		{name: "huge", title: "Content GET, 25 MB", stock: repeated(huge, hugeReads), whole: true},
	}, nil
}

// compareMemory fails if the large file takes more memory than the budget.
func (b *bench) compareMemory(w io.Writer, rows []*row) error {
	printRows(w, b.columns, rows...)
	if len(rows) < 2 { // there is nothing to compare
		return nil
	}
	grown, budget := rows[1].used.Peak-rows[0].used.Resident, int64(memoryBudget)
	text := fmt.Sprintf("reading 25 MB takes %.1f MB of memory (budget %.0f MB)", megabytes(grown), megabytes(budget))
	fmt.Fprintln(w, "\n- "+text)
	if grown >= budget {
		return errors.New(text)
	}
	return nil
}
