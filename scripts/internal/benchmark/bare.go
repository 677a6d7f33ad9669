package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"

	"vitrine/shared/adapter/blob"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/adapter/meter"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

// bareCalls are the inputs of the three AWS calls that reading a file takes, as our own stores make them.
type bareCalls struct {
	gates   *dynamodb.BatchGetItemInput
	counter *dynamodb.UpdateItemInput
	object  *s3.GetObjectInput
}

// recordCalls asks the stores once for what a content GET asks them, and keeps the inputs on their way to the engines.
func recordCalls(ctx context.Context, p place, f published, file int) (c bareCalls, err error) {
	keep := func(stack *middleware.Stack) error {
		return stack.Initialize.Add(middleware.InitializeMiddlewareFunc("benchmark.record", func(
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
	store, bytes := dynamo.New(p.dynamodb(keep), dynamo.Named(p.tables)), blob.New(p.s3(keep), p.engines.Bucket, "")
	_, err1 := store.Artifacts.ReadState(ctx, readaccess.Query{Workspace: f.workspace, Artifact: f.artifact})
	window := rate.WindowAt("artifact", "", string(f.artifact), limits.ReadWindow, time.Now())
	_, _, err2 := store.Counters.Count(ctx, window, 1, lifted().Tiers[limits.Ephemeral].Reads)
	body, err3 := bytes.Open(ctx, f.workspace, tree.Object{Session: f.session, Entry: file}, 0, f.sizes[file])
	if err3 == nil {
		err3 = body.Close()
	}
	return c, errors.Join(err1, err2, err3)
}

// calling makes the three calls with nothing around them: gates and counter in parallel, then the object.
func calling(p place, c bareCalls, size int64, sum *totals) operation {
	tables, objects := p.dynamodb(), p.s3()
	return func(ctx context.Context, _ int) error {
		ctx, counts := meter.With(ctx)
		defer func() { sum.add(spentOf(counts)) }()
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
		defer out.Body.Close()
		return swallow(out.Body, size)
	}
}

// signedLife is longer than any run.
const signedLife = 24 * time.Hour

// downloading is the S3 engine's own GET of the same object, by a URL that is signed once.
func downloading(ctx context.Context, p place, c bareCalls, size int64, sum *totals) (operation, error) {
	plain := *c.object
	plain.Range = nil
	signed, err := s3.NewPresignClient(p.s3()).PresignGetObject(ctx, &plain, s3.WithPresignExpires(signedLife))
	if err != nil {
		return nil, err
	}
	fetch := fetching(p.engineClient(), signed.URL, size)
	return func(ctx context.Context, client int) error {
		defer sum.add(spent{Calls: 1, RoundTrips: 1})
		return fetch(ctx, client)
	}, nil
}

// unquoted is an error of net/http without the URL that it begins with: a URL may be a credential.
func unquoted(err error) error {
	if u := (*url.Error)(nil); errors.As(err, &u) {
		return fmt.Errorf("%s: %w", u.Op, u.Err)
	}
	return err
}
