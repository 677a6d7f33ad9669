package upload

import (
	"context"
	"crypto/sha256"
	"io"
	"sync"

	"vitrine/shared/artifact"
	"vitrine/shared/fault"
	"vitrine/shared/limits"
	"vitrine/shared/tree"
)

// hashers is how many undeclared files are hashed at a time.
const hashers = 4

// build makes the tree of a revision: what the session declared, over its base if there is one, within the caps of p.
func (f *Finalizer) build(ctx context.Context, a Attempt, base *artifact.Contents, p limits.Policy) (tree.Tree, error) {
	files, err := f.hashed(ctx, a)
	if err != nil || base == nil {
		return files, err
	}
	results, err := f.rebuild(ctx, a, base.Tree, files, p)
	if err != nil {
		return nil, err
	}
	merged, err := merge(base.Tree, a.Entries, files)
	if err != nil {
		return nil, err
	}
	if err := checkTree(merged, p, a.Session.Entrypoint); err != nil {
		return nil, err
	}
	return merged, f.write(ctx, a.Session.Home, results) // a refusal has left nothing behind
}

// hashed are the declared files. The store checked every declared digest; files without one are read and hashed. Those
// that come as diffs have to be rebuilt yet.
func (f *Finalizer) hashed(ctx context.Context, a Attempt) (tree.Tree, error) {
	files := make(tree.Tree, 0, len(a.Entries))
	var unknown []int
	for _, e := range a.Entries {
		if e.Deleted {
			continue
		}
		file := tree.File{Path: e.Path, Size: e.Size, Object: e.Object, Borrowed: e.Borrowed}
		switch {
		case e.SHA256 != nil:
			file.SHA256 = *e.SHA256
		case e.Patch == nil:
			unknown = append(unknown, len(files))
		}
		files = append(files, file)
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
