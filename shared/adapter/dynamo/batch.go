package dynamo

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/platform/async"
)

// batch collects keys of core and hot to read together. A key that stays unread makes the whole read fail, because an
// unread item must never look like a missing one.
type batch struct {
	core, hot []item
	strong    bool
}

const (
	maxBatch = 100 // keys that DynamoDB takes in one BatchGetItem
	maxReads = 4
)

func (b *batch) want(keys ...key) {
	for _, k := range keys {
		b.core = append(b.core, k.attributes())
	}
}

func batchOf(keys []key, strong bool) batch {
	b := batch{strong: strong}
	b.want(keys...)
	return b
}

func (b *batch) wantHot(pk string) { b.hot = append(b.hot, key{pk: pk}.attributes()) }

// found holds the items that a batch found.
type found map[key]item

func (f found) at(k key) item { return f[k] }

func (f found) hot(pk string) item { return f[key{pk: pk}] }

func (s *db) read(ctx context.Context, b batch) (found, error) {
	request := map[string]types.KeysAndAttributes{}
	if len(b.core) > 0 {
		core := types.KeysAndAttributes{Keys: attributes(b.core), ConsistentRead: aws.Bool(b.strong)}
		request[s.tables.Core] = core
	}
	if len(b.hot) > 0 {
		request[s.tables.Hot] = types.KeysAndAttributes{Keys: attributes(b.hot), ConsistentRead: aws.Bool(b.strong)}
	}
	out := make(found, len(b.core)+len(b.hot))
	for try := range maxReads {
		answer, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: request})
		if err != nil {
			return nil, unavailable(err)
		}
		for _, items := range answer.Responses {
			for _, i := range items {
				out[item(i).key()] = i
			}
		}
		if request = answer.UnprocessedKeys; len(request) == 0 {
			return out, nil
		}
		if err := pause(ctx, 10*time.Millisecond<<try); err != nil {
			return nil, err
		}
	}
	return nil, unavailable(errors.New("the tables left keys unread"))
}

// items reads items of core strongly.
func (s *db) items(ctx context.Context, keys ...key) (found, error) {
	return s.read(ctx, batchOf(keys, true))
}

// all reads any number of items of core, strongly or not.
func (s *db) all(ctx context.Context, keys []key, strong bool) (found, error) {
	out := make(found, len(keys))
	for some := range slices.Chunk(keys, maxBatch) {
		f, err := s.read(ctx, batchOf(some, strong))
		if err != nil {
			return nil, err
		}
		maps.Copy(out, f)
	}
	return out, nil
}

func attributes(items []item) []map[string]types.AttributeValue {
	out := make([]map[string]types.AttributeValue, len(items))
	for n, i := range items {
		out[n] = i
	}
	return out
}

// pause waits for d. It fails like a call that ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	if err := async.Sleep(ctx, d); err != nil {
		return unavailable(err)
	}
	return nil
}
