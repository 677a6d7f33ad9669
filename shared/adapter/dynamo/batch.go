package dynamo

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/platform/async"
)

// maxBatches is how many batches of one call are under way at once.
const maxBatches = 8

// inBatches calls do with parts of at most size elements, some at once. The first failure ends the others.
func inBatches[T any](ctx context.Context, all []T, size int, do func(context.Context, []T) error) error {
	g, ctx := async.WithContext(ctx)
	g.SetLimit(maxBatches)
	for some := range slices.Chunk(all, size) {
		g.Go(func() error { return do(ctx, some) })
	}
	return g.Wait()
}

// batch collects keys of core and hot to read together. A key that stays unread makes the whole read fail, because an
// unread item must never look like a missing one.
type batch struct {
	core, hot []item
	strong    bool
	keysOnly  bool // the other items of core are not wanted
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
		if b.keysOnly {
			core.ProjectionExpression, core.ExpressionAttributeNames = aws.String(keysOnly), names(keysOnly)
		}
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
	return s.readAll(ctx, keys, batch{strong: strong})
}

// keysOnly is the projection of an item on its key.
const keysOnly = "#pk, #sk"

// existing reads strongly which items of core exist.
func (s *db) existing(ctx context.Context, keys []key) (found, error) {
	return s.readAll(ctx, keys, batch{strong: true, keysOnly: true})
}

// readAll reads any number of items of core in the way of an empty batch, each once, because DynamoDB refuses a key that a
// batch has twice.
func (s *db) readAll(ctx context.Context, keys []key, way batch) (found, error) {
	once := make(map[key]bool, len(keys))
	keys = slices.DeleteFunc(slices.Clone(keys), func(k key) bool {
		again := once[k]
		once[k] = true
		return again
	})
	var mu sync.Mutex
	out := make(found, len(keys))
	err := inBatches(ctx, keys, maxBatch, func(ctx context.Context, some []key) error {
		b := way
		b.want(some...)
		f, err := s.read(ctx, b)
		mu.Lock()
		defer mu.Unlock()
		maps.Copy(out, f)
		return err
	})
	if err != nil {
		return nil, err
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
