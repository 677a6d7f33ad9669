package feedback

import (
	"context"
	"time"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/id"
)

// awaitEvery is how often Await reads.
const awaitEvery = 2 * time.Second

// Await waits until the threads of an artifact have a change after since, for at most a time, and reports whether they
// have. It does not check the caller, who may have lost the artifact meanwhile.
func (s *Service) Await(ctx context.Context, a id.Artifact, since int64, most time.Duration) (changed bool, err error) {
	for most > 0 && !changed && err == nil {
		pause := min(most, awaitEvery)
		most -= pause
		if err = async.Sleep(ctx, pause); err == nil {
			var seq int64
			seq, err = s.Store.Seq(ctx, a)
			changed = seq > since
		}
	}
	return changed, err
}
