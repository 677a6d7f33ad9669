package upload

import (
	"context"
	"crypto/sha256"
	"io"
	"sync"

	"vitrine/shared/fault"
	"vitrine/shared/tree"
)

// hashers is how many undeclared files are hashed at a time.
const hashers = 4

// build makes the tree of a session. The store checked every declared digest; files without one are read and hashed.
func (f *Finalizer) build(ctx context.Context, a Attempt) (tree.Tree, error) {
	files := make(tree.Tree, len(a.Entries))
	var unknown []int
	for i, e := range a.Entries {
		files[i] = tree.File{Path: e.Path, Size: e.Size, Object: e.Object}
		if e.SHA256 == nil {
			unknown = append(unknown, i)
			continue
		}
		files[i].SHA256 = *e.SHA256
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wg sync.WaitGroup
	slots := make(chan struct{}, hashers)
	for _, i := range unknown {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if err := f.hash(ctx, a, &files[i]); err != nil {
				cancel(err)
			}
		})
	}
	wg.Wait()
	return files, context.Cause(ctx)
}

func (f *Finalizer) hash(ctx context.Context, a Attempt, file *tree.File) error {
	body, err := f.Objects.Open(ctx, a.Session.Home, file.Object, 0, file.Size)
	if fault.KindOf(err) == fault.KindNotFound {
		return fault.New(fault.UploadIncomplete, "%s", file.Path)
	}
	if err != nil {
		return err
	}
	defer body.Close()
	h := sha256.New()
	if _, err := io.Copy(h, body); err != nil {
		return fault.Wrap(fault.StorageUnavailable, err, "the files cannot be read now; repeat the request")
	}
	file.SHA256 = tree.Digest(h.Sum(nil))
	return nil
}
