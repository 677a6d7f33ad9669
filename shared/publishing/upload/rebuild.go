package upload

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"

	"golang.org/x/sync/errgroup"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/patch"
	"vitrine/shared/publishing/tree"
)

// Patch says that an entry's upload is a diff against the base's file of the same path.
type Patch struct {
	Base   tree.Digest // of the base's file
	Result tree.Digest // of what comes out
}

// rebuilt is a file that comes as a diff, and what comes out.
type rebuilt struct {
	entry        Entry
	file         *tree.File
	before, diff []byte
	after        []byte
}

// patched are the declared files that come as diffs.
func patched(entries []Entry, files tree.Tree) (out []*rebuilt) {
	n := 0
	for _, e := range entries {
		if e.Deleted {
			continue
		}
		if e.Patch != nil {
			out = append(out, &rebuilt{entry: e, file: &files[n]})
		}
		n++
	}
	return out
}

// rebuild applies every diff of a session to its base and fills in what came out; nothing is written yet. Room is what all
// results may take together. What is read is bounded by the caps: the base is a revision, and so large may all diffs be.
func (s *Service) rebuild(ctx context.Context, a Attempt, base tree.Tree, files tree.Tree, p limits.Policy, room int64) ([]*rebuilt, error) {
	results := patched(a.Entries, files)
	if err := s.fetch(ctx, a.Session, base, results); err != nil {
		return nil, err
	}
	for _, r := range results {
		err := r.apply(min(room, p.FileSize))
		if errors.Is(err, patch.ErrTooLarge) {
			err = tooLarge(r.entry.Path, room, p)
		}
		if err != nil {
			return nil, err
		}
		room -= int64(len(r.after))
		r.file.Size, r.file.SHA256 = int64(len(r.after)), r.entry.Patch.Result
		if len(r.after) == 0 {
			r.file.Object = tree.Object{}
		}
	}
	return results, nil
}

// fetch reads what diffs are of, and the diffs.
func (s *Service) fetch(ctx context.Context, session *Session, base tree.Tree, results []*rebuilt) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxReads)
	for _, r := range results {
		e := r.entry
		old, ok := base.Find(e.Path)
		if !ok || old.SHA256 != e.Patch.Base {
			g.Go(func() error { return conflict(e.Path, patch.BaseMismatch) })
			break
		}
		g.Go(func() (err error) {
			r.before, err = s.read(ctx, session, e.Path, old.Object, old.Size)
			return err
		})
		g.Go(func() (err error) {
			r.diff, err = s.read(ctx, session, e.Path, tree.Object{Session: session.ID, Entry: e.Object.Entry, Diff: true}, e.Size)
			return err
		})
	}
	return g.Wait()
}

// write stores what diffs gave; a repetition writes the same bytes again.
func (s *Service) write(ctx context.Context, home id.Workspace, results []*rebuilt) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxReads)
	for _, r := range results {
		if len(r.after) > 0 {
			g.Go(func() error { return s.Objects.Put(ctx, home, r.file.Object, r.after, r.file.SHA256) })
		}
	}
	return g.Wait()
}

// tooLarge refuses a result by the cap that left less room for it.
func tooLarge(path string, room int64, p limits.Policy) error {
	if room < p.FileSize {
		return fault.New(fault.RevisionSizeCapExceeded, "with the result of the patch of %q the files have more than %d bytes together", path, p.ArtifactSize)
	}
	return fault.New(fault.FileSizeCapExceeded, "the result of the patch of %q has more than %d bytes", path, p.FileSize)
}

// apply makes a result of at most `most` bytes; patch.ErrTooLarge if it has more.
func (r *rebuilt) apply(most int64) (err error) {
	r.after, err = patch.Apply(r.before, r.diff, most)
	r.before, r.diff = nil, nil
	var why patch.Reason
	switch {
	case errors.Is(err, patch.ErrTooLarge):
		return err
	case errors.As(err, &why):
		return conflict(r.entry.Path, why)
	case sha256.Sum256(r.after) != r.entry.Patch.Result:
		return conflict(r.entry.Path, patch.ResultMismatch)
	}
	return nil
}

// conflict is the refusal of a patch in the words that clients read.
func conflict(path string, why patch.Reason) error {
	return fault.New(fault.PatchConflict, "patch_conflict: %s: %s", path, why)
}

// read takes a whole object into memory.
func (s *Service) read(ctx context.Context, session *Session, path string, o tree.Object, size int64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	body, err := s.Objects.Open(ctx, session.Home, o, 0, size)
	if fault.KindOf(err) == fault.KindNotFound {
		return nil, fault.New(fault.UploadIncomplete, "%s", path)
	}
	if err != nil {
		return nil, err
	}
	defer body.Close()
	out := make([]byte, size)
	if _, err := io.ReadFull(body, out); err != nil {
		return nil, fault.Wrap(fault.StorageUnavailable, err, "the files cannot be read now; repeat the request")
	}
	return out, nil
}
