package dynamo

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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
