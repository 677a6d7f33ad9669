package main

import (
	"context"
	"fmt"

	"vitrine/scripts/testkit/wire"
)

// publishedSizes are the numbers of files of the publish flows; the last is the most that a session may have.
var publishedSizes = []int{2, 12, 48, 100}

// flowRequests are the lines that a publish flow leaves in the request log: create, finalize and publish.
const flowRequests = 3

const publishesLegend = `
Each figure is of one whole flow: create, PUTs one after the other, finalize, publish. The PUTs go to S3 and are not
among the hosts' calls. Files are of about 1 KB and new. One key: each client uses its own again and again. A new key:
each flow is the first of its workspace. The jobs that follow run in the hosts' process. The engines' data is on disk.
`

// smallFiles returns so many small files, other bytes each time.
func smallFiles(n int) []wire.File {
	const size = 1 << 10
	files := site()[:1]
	for i := 1; i < n; i++ {
		files = append(files, wire.File{Path: fmt.Sprintf("data/part-%d.bin", i), Body: freshNoise(size)})
	}
	return files
}

// publishRows are the publish flows by number of files, and the flow of 3 files of a key that is used again and again
// beside that of a key that is new.
func (b *bench) publishRows(context.Context) ([]row, error) {
	rows := []row{b.publishRow(), b.loneRow()}
	for _, n := range publishedSizes {
		rows = append(rows, row{
			name:   fmt.Sprint("publish-", n),
			title:  fmt.Sprintf("Publish flow of %d files", n),
			work:   publishing(b.agents, func() []wire.File { return smallFiles(n) }),
			logged: flowRequests,
		})
	}
	return rows, nil
}

func (b *bench) publishRow() row {
	return row{
		name:   "publish",
		title:  "Publish flow of 3 files, one key",
		work:   publishing(b.agents, site),
		logged: flowRequests,
	}
}

func (b *bench) loneRow() row {
	return row{
		name:   "publish-lone",
		title:  "Publish flow of 3 files, a new key",
		stock:  b.loneFlows,
		logged: flowRequests,
	}
}

// loneFlows are publish flows each of which is the first of its workspace and of its key. Making those is not measured.
func (b *bench) loneFlows(ctx context.Context) ([]task, error) {
	if err := b.openGate(ctx); err != nil {
		return nil, err
	}
	return each(ctx, min(gateMost, b.stocked()), func(ctx context.Context, _ int) (task, error) {
		g, _, err := b.anyone.Provision(ctx)
		return once(publishing([]*wire.Agent{g}, site)), err
	})
}
