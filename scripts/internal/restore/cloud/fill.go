package cloud

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"vitrine/scripts/internal/restore/objects"
	"vitrine/shared/publishing/tree"
)

// uploads is how many files are put at once.
const uploads = 16

// fill puts the files into the bucket that the restored set needs and no version in it has. The journal names them
// before, so that an abandoned restore deletes them again.
func (w *work) fill(ctx context.Context) error {
	if w.Files == nil {
		return errors.New("say again where the files come from, with --files")
	}
	_, lost, err := w.examine(ctx)
	if err != nil {
		return err
	}
	var absent []marker
	for key := range lost {
		absent = append(absent, marker{Key: key})
	}
	if err := w.note(absent); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(uploads)
	for key, want := range lost {
		group.Go(func() error { return w.put(ctx, key, want) })
	}
	return group.Wait()
}

// put puts one file, unless the bucket has it. The restored set says what its bytes are.
func (w *work) put(ctx context.Context, key string, want tree.Content) error {
	err := objects.Bucket{S3: w.objects(), Name: w.Set.Bucket}.Put(ctx, key, want.SHA256, w.Files)
	if errors.Is(err, objects.ErrGone) {
		w.sayf("  %s is lost: its copy is missing or damaged", key)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s cannot be copied: %w", key, err)
	}
	return nil
}
