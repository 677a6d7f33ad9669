package function

import (
	"context"
	"sync"
	"time"

	"vitrine/functions/assembly"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

// warmBudget is how long a start waits for its first connections.
const warmBudget = time.Second

// Warm makes one cheap call to the tables and, for hosts that read objects, one to the bucket. So names are resolved,
// certificates checked and connections open before the first request. Calling the result waits for these calls, at most
// warmBudget.
func Warm(ctx context.Context, s *assembly.Services, objects bool) (wait func()) {
	ctx, cancel := context.WithTimeout(ctx, warmBudget)
	var calls sync.WaitGroup
	// Errors are dropped, because a request that meets the same fault reports it.
	calls.Go(func() { s.Stores.Artifacts.ReadState(ctx, readaccess.Query{}) })
	if objects {
		calls.Go(func() { s.Blobs.Head(ctx, id.NewWorkspace(), tree.Object{Session: id.NewSession()}) })
	}
	return func() {
		calls.Wait()
		cancel()
	}
}
