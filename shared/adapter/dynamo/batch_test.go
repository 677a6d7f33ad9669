package dynamo

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

func TestAPauseEndsLikeACall(t *testing.T) {
	late, cancel := context.WithDeadline(ctx, time.Unix(1, 0))
	defer cancel()
	if err := pause(late, time.Hour); fault.CodeOf(err) != fault.DatabaseUnavailable {
		t.Errorf("pause after the deadline = %v, want %s", err, fault.DatabaseUnavailable)
	}
	left, cancel := context.WithCancel(ctx)
	cancel()
	err := pause(left, time.Hour)
	if !errors.Is(err, context.Canceled) || fault.CodeOf(err) == fault.DatabaseUnavailable {
		t.Errorf("pause of a request whose client left = %v, want %v", err, context.Canceled)
	}
}

func TestMoreItemsThanOneReadFetchesAreReadInSeveral(t *testing.T) {
	s := newStore(t)
	var keys []key
	var writes []types.WriteRequest
	for range maxBatch + 1 {
		k := workspaceKey(id.NewWorkspace())
		keys = append(keys, k)
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: newItem(k)}})
	}
	noError(t, s.writeAll(ctx, writes))
	missing := workspaceKey(id.NewWorkspace())
	f, err := s.all(ctx, append(keys, missing), true)
	if err != nil || len(f) != len(keys) || f.at(missing) != nil {
		t.Fatalf("%d of %d items (%v)", len(f), len(keys), err)
	}
	for _, k := range keys {
		if f.at(k).key() != k {
			t.Errorf("%v is not where it was asked for", k)
		}
	}
}

func TestAtMostEightBatchesAreUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := make([]int, 101)
		for n := range all {
			all[n] = n
		}
		var begun, seen atomic.Int64
		goOn := make(chan struct{})
		done := async.Start(func() error {
			return inBatches(ctx, all, 5, func(_ context.Context, some []int) error {
				begun.Add(1)
				<-goOn
				for _, n := range some {
					seen.Add(int64(n))
				}
				return nil
			})
		})
		synctest.Wait()
		if n := begun.Load(); n != maxBatches {
			t.Errorf("%d batches are under way", n)
		}
		close(goOn)
		if err := done(); err != nil || begun.Load() != 21 || seen.Load() != 100*101/2 {
			t.Errorf("%v after %d batches, whose numbers add up to %d", err, begun.Load(), seen.Load())
		}
	})
}

func TestTheFirstBatchThatFailsEndsTheOthers(t *testing.T) {
	broken := errors.New("broken")
	err := inBatches(ctx, []int{0, 1, 2}, 1, func(ctx context.Context, some []int) error {
		if some[0] == 1 {
			return broken
		}
		<-ctx.Done()
		return ctx.Err()
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
}

func TestOnlyTheKeysOfItemsAreRead(t *testing.T) {
	s := newStore(t)
	w := workspaceKey(id.NewWorkspace())
	store(t, s, newItem(w).str("name", "W"))
	f, err := s.existing(ctx, []key{w, workspaceKey(id.NewWorkspace())})
	wantSame(t, "what exists", f, found{w: newItem(w)}, err)
}
