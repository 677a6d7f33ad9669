package machine

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/internal/restore/objects"
	"vitrine/shared/platform/async"
	"vitrine/shared/publishing/tree"
)

const (
	loadsAtOnce   = 8
	progressEvery = 1000 // objects
)

// loadObjects puts the objects of the copy into the new bucket. An object that is damaged in the copy is left out and
// named, so that one bad file does not keep all others away; the check names the artifact that misses it.
func (w *work) loadObjects(ctx context.Context) error {
	all := w.From.Objects
	w.say("objects  %d, %s", len(all), size(bytesOf(all)))
	var mu sync.Mutex // of done and of what is said
	done := 0
	bucket, from := objects.Bucket{S3: w.set.S3, Name: w.set.Bucket}, objects.Of(w.From)
	group, ctx := async.WithContext(ctx)
	group.SetLimit(loadsAtOnce)
	for _, o := range all {
		group.Go(func() error {
			sum, _ := tree.ParseDigest(o.SHA256) // other text is no digest of the bytes
			err := bucket.Put(ctx, o.Key, sum, from)
			mu.Lock()
			defer mu.Unlock()
			if done++; done%progressEvery == 0 {
				w.say("         %d of %d objects", done, len(all))
			}
			if errors.Is(err, objects.ErrGone) {
				w.say("damaged  %s in the copy: %v", o.Key, err)
				return nil
			}
			if err != nil {
				return fmt.Errorf("the object %s cannot be stored: %w", o.Key, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func bytesOf(all []copies.Object) (n int64) {
	for _, o := range all {
		n += o.Size
	}
	return n
}
