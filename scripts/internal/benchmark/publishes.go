package main

import (
	"context"
	"fmt"

	"vitrine/scripts/testkit/wire"
)

// flowRequests are the lines that a publish flow leaves in the request log: create, finalize and publish.
const flowRequests = 3

const publishesLegend = `
Each figure is of one whole flow: create, PUTs one after the other, finalize, publish. The PUTs go to S3 and are not
among the hosts' calls. Files are of about 1 KB and new. One key: each client uses its own again and again. A new key:
each flow is the first of its workspace. The jobs that follow run in the hosts' process. The engines' data is on disk.
`

// publishing is a whole publish flow as a plain client runs it: create, PUTs one after the other, finalize, publish.
// Each client has a workspace of its own.
func publishing(agents []*wire.Agent, files func() []wire.File) operation {
	return func(ctx context.Context, client int) error {
		_, err := agents[client%len(agents)].PublishFiles(ctx, "Report", "", files()...)
		return err
	}
}

// publishRows are the publish flows by number of files, of which a session may have 100 at most, and the flow of 3
// files of a key that is used again and again beside that of a key that is new.
func (b *bench) publishRows(context.Context) ([]row, error) {
	rows := []row{b.publishRow(), b.loneRow()}
	for _, n := range []int{2, 12, 48, 100} {
		rows = append(rows, row{
			name:  fmt.Sprint("publish-", n),
			title: fmt.Sprintf("Publish flow of %d files", n),
			work:  publishing(b.agents, func() []wire.File { return smallFiles(n) }),
			lines: flowRequests,
		})
	}
	return rows, nil
}

func (b *bench) publishRow() row {
	return row{
		name:  "publish",
		title: "Publish flow of 3 files, one key",
		work:  publishing(b.agents, site),
		lines: flowRequests,
	}
}

// loneRow has publish flows each of which is the first of its workspace and of its key. Making those is not measured.
func (b *bench) loneRow() row {
	return row{
		name:  "publish-lone",
		title: "Publish flow of 3 files, a new key",
		lines: flowRequests,
		stock: b.gated(gateMost, func(m *maker) operation {
			g, _ := m.provision()
			return publishing([]*wire.Agent{g}, site)
		}),
	}
}
