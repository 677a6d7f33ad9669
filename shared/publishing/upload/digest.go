package upload

import (
	"context"
	"crypto/sha256"
	"io"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// maxReads bounds how many objects are read or written at a time.
const maxReads = 4

// build returns the tree of a revision: what the session declared, over its base if there is one, within the caps of p.
// It refuses what it can before it reads any bytes, as if every patch resulted in an empty file.
func (s *Service) build(ctx context.Context, a Attempt, base *artifact.Contents, p limits.Policy) (tree.Tree, error) {
	files, unknown := declaredFiles(a.Entries)
	if base == nil { // the plan may be smaller than when the session was made
		if err := checkTree(files, p, a.Session.Entrypoint); err != nil {
			return nil, err
		}
		return files, s.hashAll(ctx, a, files, unknown)
	}
	least, err := s.merged(a, base, files, p)
	if err != nil {
		return nil, err
	}
	if err := s.hashAll(ctx, a, files, unknown); err != nil {
		return nil, err
	}
	results, err := s.rebuild(ctx, a, base.Tree, files, p, p.ArtifactSize-least.Size())
	if err != nil {
		return nil, err
	}
	whole, err := s.merged(a, base, files, p)
	if err != nil {
		return nil, err
	}
	return whole, s.write(ctx, a.Session.Home, results) // only now, because a refusal must not write
}

// merged merges files into the base, within the caps.
func (s *Service) merged(a Attempt, base *artifact.Contents, files tree.Tree, p limits.Policy) (tree.Tree, error) {
	out, err := merge(base.Tree, a.Entries, files)
	if err != nil {
		return nil, err
	}
	return out, checkTree(out, p, a.Session.Entrypoint)
}

// declaredFiles returns the declared files, and the indices of those to be hashed, which have no digest that the store
// checked. Files that come as diffs are empty until they are rebuilt.
func declaredFiles(entries []Entry) (files tree.Tree, unknown []int) {
	for _, e := range entries {
		if e.Deleted {
			continue
		}
		file := tree.File{
			Path:     e.Path,
			Size:     e.Size,
			Object:   e.Object,
			Borrowed: e.Borrowed,
		}
		switch {
		case e.SHA256 != nil:
			file.SHA256 = *e.SHA256
		case e.Patch != nil:
			file.Size = 0
		default:
			unknown = append(unknown, len(files))
		}
		files = append(files, file)
	}
	return files, unknown
}

// hashAll computes the digests of files that were declared without one.
func (s *Service) hashAll(ctx context.Context, a Attempt, files tree.Tree, unknown []int) error {
	g, ctx := async.WithContext(ctx)
	g.SetLimit(maxReads)
	for _, i := range unknown {
		g.Go(func() error { return s.hash(ctx, a, &files[i]) })
	}
	return g.Wait()
}

func (s *Service) hash(ctx context.Context, a Attempt, file *tree.File) error {
	body, err := s.Objects.Open(ctx, a.Session.Home, file.Object, 0, file.Size)
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
