package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/blob"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/adapter/meter"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

// bareCalls are the inputs of the three AWS calls that reading a file takes, as the hosts' stores make them.
type bareCalls struct {
	gates   *dynamodb.BatchGetItemInput
	counter *dynamodb.UpdateItemInput
	object  *s3.GetObjectInput
}

// keep is an entry of aws.Config.APIOptions that keeps inputs.
func (c *bareCalls) keep(stack *middleware.Stack) error {
	return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("benchmark.keep", func(
		ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
	) (middleware.InitializeOutput, middleware.Metadata, error) {
		switch in := in.Parameters.(type) {
		case *dynamodb.BatchGetItemInput:
			c.gates = in
		case *dynamodb.UpdateItemInput:
			c.counter = in
		case *s3.GetObjectInput:
			c.object = in
		}
		return next.HandleInitialize(ctx, in)
	}), middleware.Before)
}

// engineClients have the SDK's own settings, and their calls are counted.
func (b *bench) engineClients(more ...func(*middleware.Stack) error) (*dynamodb.Client, *s3.Client) {
	cfg := b.engines.AWS()
	cfg.HTTPClient, cfg.APIOptions = httpClient(), append(more, meter.Add)
	cfg.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	return dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = &b.engines.DynamoDB }),
		s3.NewFromConfig(cfg, func(o *s3.Options) { o.BaseEndpoint, o.UsePathStyle = &b.engines.S3, true })
}

// bareRead publishes a small file, asks the stores once for what a read of it asks them, and repeats their calls.
func (m *maker) bareRead() operation {
	p, file := m.provision(), wire.File{Path: "read.bin", Body: freshNoise(smallSize)}
	if m.err != nil {
		return nil
	}
	d, err := p.Draft(m.ctx, wire.NewKey(), wire.Declare("Report", file), file)
	if err == nil {
		_, err = p.Publish(m.ctx, wire.NewKey(), d.ArtifactID, d.RevisionID)
	}
	if err != nil {
		m.err = err
		return nil
	}
	var c bareCalls
	tables, objects := m.engineClients(c.keep)
	stores := dynamo.New(tables, dynamo.Named(m.tables))
	_, err1 := stores.Artifacts.ReadState(m.ctx, readaccess.Query{Workspace: p.WorkspaceID, Artifact: d.ArtifactID})
	window := rate.WindowAt("artifact", "", string(d.ArtifactID), limits.ReadWindow, time.Now())
	_, _, err2 := stores.Counters.Count(m.ctx, window, 1, lifted().Tiers[limits.Ephemeral].Reads)
	object := tree.Object{Session: d.UploadSessionID}
	body, err3 := blob.New(objects, m.engines.Bucket, "").Open(m.ctx, p.WorkspaceID, object, 0, smallSize)
	if m.err = errors.Join(err1, err2, err3); m.err == nil {
		m.err = body.Close()
	}
	return m.calling(c)
}

// calling makes the three calls with nothing around them: gates and counter in parallel, then the object.
func (b *bench) calling(c bareCalls) operation {
	tables, objects := b.engineClients()
	return func(ctx context.Context, _ int) error {
		ctx, counts := meter.With(ctx)
		defer func() { b.own.add(counts) }()
		counted := make(chan error, 1)
		go func() {
			_, err := tables.UpdateItem(ctx, c.counter)
			counted <- err
		}()
		_, err := tables.BatchGetItem(ctx, c.gates)
		if err := errors.Join(err, <-counted); err != nil {
			return err
		}
		out, err := objects.GetObject(ctx, c.object)
		if err != nil {
			return err
		}
		_, err = io.Copy(io.Discard, out.Body)
		return errors.Join(err, out.Body.Close())
	}
}

// compareBare prints the rows, and what each GET of 4 KB takes beside the bare calls, and one at an own origin beside the
// shared one. Budgets are only shown, because the figures depend on the machine.
func (b *bench) compareBare(w io.Writer, rows []*row) error {
	const text = "\n- %s, %d at once: %.2f times the time of the bare calls (budget of a cold one: 1.3), " +
		"%+.0f µs of CPU (budget: +200)\n"
	printRows(w, b.columns, rows...)
	p50 := latency(50).of
	for _, bare := range rows {
		for _, r := range rows {
			if bare.name == "content-4k" && r.name == "content-own-4k" && r.clients == bare.clients {
				fmt.Fprintf(w, "\n- own origin, %d at once: %.2f times the time of the shared one\n", r.clients, p50(r)/p50(bare))
			}
			if bare.own && !r.own && r.clients == bare.clients && strings.HasSuffix(r.name, "-4k") {
				added := 1000 * (hostCPU.of(r) - hostCPU.of(bare))
				fmt.Fprintf(w, text, r.title, r.clients, p50(r)/p50(bare), added)
			}
		}
	}
	return nil
}
