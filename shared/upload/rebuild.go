package upload

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"

	"vitrine/shared/fault"
	"vitrine/shared/id"
	"vitrine/shared/limits"
	"vitrine/shared/patch"
	"vitrine/shared/tree"
)

// Patch says that an entry's upload is a diff against the base's file of the same path.
type Patch struct {
	Base   tree.Digest // of the base's file
	Result tree.Digest // of what comes out
}

// rebuilt is the result of a diff.
type rebuilt struct {
	file tree.File
	body []byte
}

// rebuild applies every diff of a session to its base and fills in what came out; nothing is written yet. Room is what all
// results may take together.
func (f *Finalizer) rebuild(ctx context.Context, a Attempt, base tree.Tree, files tree.Tree, p limits.Policy, room int64) ([]rebuilt, error) {
	var results []rebuilt
	n := -1
	for _, e := range a.Entries {
		if e.Deleted {
			continue
		}
		n++
		if e.Patch == nil {
			continue
		}
		body, err := f.apply(ctx, a.Session, e, base, min(room, p.FileSize))
		if errors.Is(err, patch.ErrTooLarge) {
			err = tooLarge(e.Path, room, p)
		}
		if err != nil {
			return nil, err
		}
		room -= int64(len(body))
		files[n].Size, files[n].SHA256 = int64(len(body)), e.Patch.Result
		if len(body) == 0 {
			files[n].Object = tree.Object{}
			continue
		}
		results = append(results, rebuilt{files[n], body})
	}
	return results, nil
}

// write stores what diffs gave; a repetition writes the same bytes again.
func (f *Finalizer) write(ctx context.Context, home id.Workspace, results []rebuilt) error {
	for _, r := range results {
		if err := f.Objects.Put(ctx, home, r.file.Object, r.body, r.file.SHA256); err != nil {
			return err
		}
	}
	return nil
}

// tooLarge refuses a result by the cap that left less room for it.
func tooLarge(path string, room int64, p limits.Policy) error {
	if room < p.FileSize {
		return fault.New(fault.RevisionSizeCapExceeded, "with the result of the patch of %q the files have more than %d bytes together", path, p.ArtifactSize)
	}
	return fault.New(fault.FileSizeCapExceeded, "the result of the patch of %q has more than %d bytes", path, p.FileSize)
}

// apply makes one result of at most `most` bytes; patch.ErrTooLarge if it has more.
func (f *Finalizer) apply(ctx context.Context, s *Session, e Entry, base tree.Tree, most int64) ([]byte, error) {
	old, ok := base.Find(e.Path)
	if !ok || old.SHA256 != e.Patch.Base {
		return nil, conflict(e.Path, patch.BaseMismatch)
	}
	before, err := f.read(ctx, s, e.Path, old.Object, old.Size)
	if err != nil {
		return nil, err
	}
	diff, err := f.read(ctx, s, e.Path, tree.Object{Session: s.ID, Entry: e.Object.Entry, Diff: true}, e.Size)
	if err != nil {
		return nil, err
	}
	after, err := patch.Apply(before, diff, most)
	var why patch.Reason
	switch {
	case errors.Is(err, patch.ErrTooLarge):
		return nil, err
	case errors.As(err, &why):
		return nil, conflict(e.Path, why)
	case sha256.Sum256(after) != e.Patch.Result:
		return nil, conflict(e.Path, patch.ResultMismatch)
	}
	return after, nil
}

// conflict is the refusal of a patch in the words that clients read.
func conflict(path string, why patch.Reason) error {
	return fault.New(fault.PatchConflict, "patch_conflict: %s: %s", path, why)
}

// read takes a whole object into memory.
func (f *Finalizer) read(ctx context.Context, s *Session, path string, o tree.Object, size int64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	body, err := f.Objects.Open(ctx, s.Home, o, 0, size)
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
