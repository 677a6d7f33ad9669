package dynamo

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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
	keys := make([]key, len(objects))
	for n, o := range objects {
		keys[n] = referenceKey(o, r)
	}
	return s.deleteAll(ctx, keys)
}

// How many writes one call has, and how often the unprocessed ones are sent again.
const (
	maxWriteBatch = 25
	maxWrites     = 8
	minWritePause = 10 * time.Millisecond
)

// writeAll makes independent writes to core. It fails unless all of them succeed.
func (s *db) writeAll(ctx context.Context, writes []types.WriteRequest) error {
	return inBatches(ctx, writes, maxWriteBatch, s.writeBatch)
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
