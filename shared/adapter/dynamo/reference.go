package dynamo

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/sweep"
	"vitrine/shared/publishing/tree"
)

// references stores which revisions need an object that another session uploaded.
type references struct{ *db }

var _ sweep.ReferenceRemover = references{}

// AddReference implements upload.ContentIndex.
func (s references) AddReference(ctx context.Context, a id.Artifact, r id.Revision, objects []tree.Object) error {
	var writes []types.WriteRequest
	for _, o := range objects {
		reference := newItem(referenceKey(o, r)).str("art", string(a))
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: reference}})
	}
	return s.writeAll(ctx, writes)
}

// RemoveReference implements sweep.ReferenceRemover.
func (s references) RemoveReference(ctx context.Context, r id.Revision, objects []tree.Object) error {
	var writes []types.WriteRequest
	for _, o := range objects {
		writes = append(writes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: referenceKey(o, r).attributes()}})
	}
	return s.writeAll(ctx, writes)
}

// How many writes one call has, and how often the unprocessed ones are sent again.
const (
	maxWriteBatch = 25
	maxWrites     = 8
	minWritePause = 10 * time.Millisecond
)

// writeAll makes independent writes to core, a batch at a time. It fails unless all of them succeed.
func (s *db) writeAll(ctx context.Context, writes []types.WriteRequest) error {
	var steps []func() error
	for chunk := range slices.Chunk(writes, maxWriteBatch) {
		steps = append(steps, func() error { return s.writeBatch(ctx, chunk) })
	}
	return async.All(steps...)
}

func (s *db) writeBatch(ctx context.Context, chunk []types.WriteRequest) error {
	request := map[string][]types.WriteRequest{s.tables.Core: chunk}
	for try := range maxWrites {
		out, err := s.client.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{RequestItems: request})
		if err != nil {
			return unavailable(err)
		}
		if request = out.UnprocessedItems; len(request) == 0 {
			return nil
		}
		if err := pause(ctx, minWritePause<<try); err != nil {
			return err
		}
	}
	return unavailable(errors.New("the tables left writes undone"))
}
