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

// Warm makes one cheap call to the tables, and to the objects for hosts that read them, so that names are resolved,
// certificates checked and connections open before the first request. The result waits for the calls, not long; what
// fails is met again by a request, which can say so.
func Warm(ctx context.Context, s *assembly.Services, objects bool) (wait func()) {
	ctx, cancel := context.WithTimeout(ctx, warmBudget)
	var calls sync.WaitGroup
	calls.Go(func() { s.Stores.Artifacts.ReadState(ctx, readaccess.Query{}) })
	if objects {
		calls.Go(func() { s.Blobs.Head(ctx, id.NewWorkspace(), tree.Object{Session: id.NewSession()}) })
	}
	return func() {
		calls.Wait()
		cancel()
	}
}
