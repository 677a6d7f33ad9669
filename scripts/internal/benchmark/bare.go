package main

import (
	"context"
	"errors"
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
)

// bareCalls are the inputs of the three AWS calls that reading a file takes, as our own stores make them.
type bareCalls struct {
	gates   *dynamodb.BatchGetItemInput
	counter *dynamodb.UpdateItemInput
	object  *s3.GetObjectInput
}

// recordCalls asks the stores once for what a content GET asks them, and keeps the inputs on their way to the engines.
func (b *bench) recordCalls(ctx context.Context, f content) (c bareCalls, err error) {
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
	store := dynamo.New(b.place.dynamodb(keep), dynamo.Named(b.place.tables))
	_, err1 := store.Artifacts.ReadState(ctx, readaccess.Query{Workspace: f.workspace, Artifact: f.artifact})
	window := rate.WindowAt("artifact", "", string(f.artifact), limits.ReadWindow, time.Now())
	_, _, err2 := store.Counters.Count(ctx, window, 1, lifted().Tiers[limits.Ephemeral].Reads)
	objects := blob.New(b.place.s3(keep), b.place.engines.Bucket, "")
	body, err3 := objects.Open(ctx, f.workspace, f.object, 0, f.size)
	if err3 == nil {
		err3 = body.Close()
	}
	return c, errors.Join(err1, err2, err3)
}

// calling makes the three calls with nothing around them: gates and counter in parallel, then the object.
func (b *bench) calling(c bareCalls, size int64) operation {
	tables, objects := b.place.dynamodb(), b.place.s3()
	return func(ctx context.Context, _ int) error {
		ctx, counts := meter.With(ctx)
		defer func() { b.bare.add(readingOf(counts)) }()
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

// downloading is the S3 engine's own GET of the same object, by a URL that is signed once.
func (b *bench) downloading(ctx context.Context, c bareCalls, size int64) (operation, error) {
	plain := *c.object
	plain.Range = nil
	signed, err := s3.NewPresignClient(b.place.s3()).PresignGetObject(ctx, &plain, s3.WithPresignExpires(forever))
	if err != nil {
		return nil, err
	}
	fetch := fetching(b.place.engineClient(), signed.URL, size)
	return func(ctx context.Context, client int) error {
		defer b.bare.add(reading{Calls: 1, RoundTrips: 1})
		return fetch(ctx, client)
	}, nil
}
