package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// How much is made for a row that uses something up, unless the options say less.
const (
	stockSize = 240
	gateMost  = 100 // workspaces that the gate lets through in a minute, as far as it opens
)

func (b *bench) stocked() int { return cmp.Or(b.stock, stockSize) }

// each does something n times, some at once, and returns the results. The first error ends it.
func each[T any](ctx context.Context, n int, do func(ctx context.Context, i int) (T, error)) ([]T, error) {
	return atOnce(ctx, manyClients, n, do)
}

// atOnce is each with so many at once.
func atOnce[T any](ctx context.Context, most, n int, do func(ctx context.Context, i int) (T, error)) ([]T, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	out, next := make([]T, n), make(chan int, n)
	for i := range n {
		next <- i
	}
	close(next)
	var wait sync.WaitGroup
	for range most {
		wait.Go(func() {
			for i := range next {
				var err error
				if ctx.Err() == nil {
					out[i], err = do(ctx, i)
				}
				if err != nil {
					cancel(err)
				}
			}
		})
	}
	wait.Wait()
	return out, context.Cause(ctx)
}

// drafted is a draft and who may publish it.
type drafted struct {
	agent *wire.Agent
	draft contract.Finalized
}

func (b *bench) drafts(ctx context.Context, n int, of func(i int) *wire.Agent) ([]drafted, error) {
	return each(ctx, n, func(ctx context.Context, i int) (drafted, error) {
		g, files := of(i), site()
		draft, err := g.Draft(ctx, wire.NewKey(), wire.Declare("Report", files...), files...)
		return drafted{g, draft}, err
	})
}

// inTurn spreads what is made over the workspaces.
func (b *bench) inTurn(i int) *wire.Agent { return b.agents[i%len(b.agents)] }

func (d drafted) publish(ctx context.Context) error {
	_, err := d.agent.Publish(ctx, wire.NewKey(), d.draft.ArtifactID, d.draft.RevisionID)
	return err
}

func (b *bench) publications(ctx context.Context) (tasks []task, err error) {
	drafts, err := b.drafts(ctx, b.stocked(), b.inTurn)
	for _, d := range drafts {
		tasks = append(tasks, d.publish)
	}
	return tasks, err
}

func (b *bench) deletions(ctx context.Context) ([]task, error) {
	return each(ctx, b.stocked(), func(ctx context.Context, i int) (task, error) {
		g := b.inTurn(i)
		p, err := g.PublishFiles(ctx, "Report", "", site()[:1]...)
		return once(asking(g, 200, "DELETE", g.At.APIURL+"/v1/artifacts/"+string(p.ArtifactID))), err
	})
}

// finalizations are sessions whose files have come.
func (b *bench) finalizations(ctx context.Context) ([]task, error) {
	return b.sessions(ctx, site)
}

// reuses are sessions none of whose files has to come, because the workspace has them.
func (b *bench) reuses(ctx context.Context) ([]task, error) {
	known := marked("known")
	if _, err := each(ctx, len(b.agents), func(ctx context.Context, n int) (p contract.Published, err error) {
		if p, err = b.agents[n].PublishFiles(ctx, "Report", "", known...); err == nil {
			err = found(ctx, b.agents[n], known)
		}
		return p, err
	}); err != nil {
		return nil, err
	}
	return b.sessions(ctx, func() []wire.File { return known })
}

// found waits until sessions find what has been published: the hosts do that a moment later.
func found(ctx context.Context, g *wire.Agent, files []wire.File) error {
	ctx, cancel := context.WithTimeout(ctx, limits.UploadPatience+20*time.Second)
	defer cancel()
	for tick := time.NewTicker(100 * time.Millisecond); ; {
		session, err := g.Create(ctx, wire.NewKey(), wire.Declare("Report", files...))
		if err != nil || !slices.ContainsFunc(session.Files, func(f contract.UploadTarget) bool { return f.Status != "reused" }) {
			tick.Stop()
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// sessions are sessions of files that have come as far as they have to.
func (b *bench) sessions(ctx context.Context, make func() []wire.File) ([]task, error) {
	return each(ctx, b.stocked(), func(ctx context.Context, i int) (task, error) {
		g, files := b.inTurn(i), make()
		session, err := g.Create(ctx, wire.NewKey(), wire.Declare("Report", files...))
		for n, target := range session.Files {
			if err == nil && target.Status != "reused" {
				_, err = g.Put(ctx, target, files[n].Body)
			}
		}
		return func(ctx context.Context) error {
			_, err := g.Finalize(ctx, wire.NewKey(), session.UploadSessionID)
			return err
		}, err
	})
}

func (b *bench) provisions(ctx context.Context) ([]task, error) {
	tasks := make([]task, min(gateMost, b.stocked()))
	for n := range tasks {
		tasks[n] = func(ctx context.Context) error {
			_, _, err := b.anyone.Provision(ctx)
			return err
		}
	}
	return tasks, b.openGate(ctx)
}

// revocations are keys that have been used already, so that their use is not noted again.
func (b *bench) revocations(ctx context.Context) ([]task, error) {
	if err := b.openGate(ctx); err != nil {
		return nil, err
	}
	tasks, err := each(ctx, min(gateMost, b.stocked()), func(ctx context.Context, _ int) (task, error) {
		g, _, err := b.anyone.Provision(ctx)
		if err == nil {
			err = asking(g, 200, "GET", g.At.APIURL+"/v1/whoami")(ctx, 0)
		}
		return once(asking(g, 200, "POST", g.At.APIURL+"/v1/api-keys/current/revoke")), err
	})
	return tasks, err
}

// once makes a task of an operation.
func once(work operation) task {
	return func(ctx context.Context) error { return work(ctx, 0) }
}

// newAgent is an agent with a workspace of its own, without regard to the gate.
func (b *bench) newAgent(ctx context.Context) (*wire.Agent, error) {
	if err := b.openGate(ctx); err != nil {
		return nil, err
	}
	g, _, err := b.anyone.Provision(ctx)
	return g, err
}

// openGate raises the gate as far as it goes and forgets what the gates have counted in this minute and the next.
func (b *bench) openGate(ctx context.Context) error {
	client := b.place.dynamodb()
	tables := dynamo.Named(b.place.tables)
	now := time.Now()
	err := dynamo.New(client, tables).Workspaces.SetQuota(ctx, ephemeral.Quota{PerMinute: gateMost}, now)
	for minute := range 2 {
		start := now.Truncate(time.Minute).Add(time.Duration(minute) * time.Minute)
		for _, gate := range []string{"provision", "registration"} {
			if err == nil {
				_, err = client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: aws.String(tables.Hot), Key: map[string]types.AttributeValue{
					"pk": &types.AttributeValueMemberS{Value: fmt.Sprintf("r:gate::%s:%d", gate, start.UnixMilli())},
				}})
			}
		}
	}
	return err
}
