package main

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/platform/contract"
)

// How much is made for a row that uses something up, unless the options say less.
const (
	stockSize = 240
	gateMost  = 100 // workspaces that the gate lets through in a minute, as far as it opens
)

// atMost is n, or less if the options say so.
func (b *bench) atMost(n int) int { return min(n, cmp.Or(b.stock, n)) }

// inTurn spreads what is made over the workspaces.
func (b *bench) inTurn(i int) *wire.Agent { return b.agents[i%len(b.agents)] }

// maker prepares one of several things. After an error it does nothing more.
type maker struct {
	*bench
	ctx context.Context
	n   int // which one
	err error
}

// prepare makes n things, some at once.
func prepare[T any](ctx context.Context, b *bench, n int, do func(m *maker) T) ([]T, error) {
	return each(ctx, n, func(ctx context.Context, i int) (T, error) {
		m := &maker{bench: b, ctx: ctx, n: i}
		return do(m), m.err
	})
}

// ask makes a request and unpacks its answer.
func ask[T any](m *maker, g *wire.Agent, status int, method, target string, body any, headers ...string) (out T) {
	if m.err == nil {
		out, m.err = answered[T](call(m.ctx, g, status, method, target, body, headers...))
	}
	return out
}

// first does an operation that is not measured.
func (m *maker) first(work operation) {
	if m.err == nil {
		m.err = work(m.ctx, 0)
	}
}

// show publishes files as a new artifact.
func (m *maker) show(g *wire.Agent, files ...wire.File) shown {
	s := shown{Agent: g}
	if m.err == nil {
		s.Published, m.err = g.PublishFiles(m.ctx, "Report", "", files...)
	}
	return s
}

// page is an artifact of one file, in the workspace whose turn it is.
func (m *maker) page() shown { return m.show(m.inTurn(m.n), onePage()...) }

// provisioned is a workspace of its own.
type provisioned struct {
	*wire.Agent
	contract.Provisioned
}

// provision makes a workspace.
func (m *maker) provision() (p provisioned) {
	if m.err == nil {
		p.Agent, p.Provisioned, m.err = m.anyone.Provision(m.ctx)
	}
	return p
}

// stocked prepares operations, as many as a row usually uses up.
func (b *bench) stocked(do func(m *maker) operation) stock { return b.making(stockSize, do) }

// making prepares operations.
func (b *bench) making(most int, do func(m *maker) operation) stock {
	return func(ctx context.Context) ([]operation, error) { return prepare(ctx, b, b.atMost(most), do) }
}

// gated prepares operations that make or need a workspace of their own, as many as the gate lets through.
func (b *bench) gated(most int, do func(m *maker) operation) stock {
	return func(ctx context.Context) ([]operation, error) {
		if err := b.openGate(ctx); err != nil {
			return nil, err
		}
		return prepare(ctx, b, b.atMost(most), do)
	}
}

// same prepares the same operation each time.
func same(work operation) func(*maker) operation { return func(*maker) operation { return work } }

// openGate raises the gate as far as it goes and forgets what the gates have counted in this minute and the next.
func (b *bench) openGate(ctx context.Context) error {
	client, tables := b.engines.DynamoDBClient(), dynamo.Named(b.tables)
	now := time.Now()
	err := dynamo.New(client, tables).Workspaces.SetQuota(ctx, ephemeral.Quota{PerMinute: gateMost}, now)
	for _, minute := range []time.Time{now, now.Add(time.Minute)} {
		for _, gate := range []string{"provision", "registration"} {
			if err == nil {
				key := fmt.Sprintf("r:gate::%s:%d", gate, minute.Truncate(time.Minute).UnixMilli())
				_, err = client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
					TableName: aws.String(tables.Hot),
					Key:       item{"pk": text(key)},
				})
			}
		}
	}
	return err
}

// shown is a published artifact with whose it is.
type shown struct {
	*wire.Agent
	contract.Published
}

func (s shown) path(verb string) string { return "/v1/artifacts/" + string(s.ArtifactID) + verb }

// web is the path for members.
func (s shown) web(verb string) string { return "/v1/web/artifacts/" + string(s.ArtifactID) + verb }

// toRevision asks for a link to what was published.
func (s shown) toRevision() contract.CreateLink {
	return contract.CreateLink{Type: "revision", RevisionID: s.RevisionID}
}

// change is a command on an artifact.
type change func(s shown, turn int) (path string, body any)

// commands are commands on artifacts, some on each, so that what one has does not grow much.
func (b *bench) commands(on func(ctx context.Context) ([]shown, error), status int, method string, of change) stock {
	return func(ctx context.Context) (all []operation, err error) {
		artifacts, err := on(ctx)
		for n := 0; err == nil && n < b.atMost(stockSize); n++ {
			s := artifacts[n%len(artifacts)]
			path, body := of(s, n/len(artifacts))
			all = append(all, asking(s.Agent, status, method, path, body, command))
		}
		return all, err
	}
}

// fewArtifacts are artifacts of one file, in turn in the workspaces of the clients, for four commands each.
func (b *bench) fewArtifacts(ctx context.Context) ([]shown, error) {
	return prepare(ctx, b, max(b.atMost(stockSize)/4, 1), (*maker).page)
}
