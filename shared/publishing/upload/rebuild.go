package upload

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/patch"
	"vitrine/shared/publishing/tree"
)

// maxReads bounds how many objects are read or written at once.
const maxReads = 4

// hash computes the digests of files that were declared without one.
func (s *Service) hash(ctx context.Context, a Attempt, files tree.Tree) error {
	g, ctx := async.WithContext(ctx)
	g.SetLimit(maxReads)
	at := files.Index()
	for _, e := range a.Entries {
		if e.SHA256 == nil && e.Patch == nil && !e.Deleted {
			file := &files[at[e.Path]]
			g.Go(func() error { return s.hashFile(ctx, a.Session, file) })
		}
	}
	return g.Wait()
}

func (s *Service) hashFile(ctx context.Context, session *Session, file *tree.File) error {
	body, err := s.Objects.Open(ctx, session.Home, file.Object, 0, file.Size)
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

// Patch marks an entry whose upload is a diff against the base's file of the same path.
type Patch struct {
	Base   tree.Digest // of the base's file
	Result tree.Digest // of the rebuilt file
}

func havePatches(entries []Entry) bool {
	return slices.ContainsFunc(entries, func(e Entry) bool { return e.Patch != nil })
}

// patchedFile is a file that is uploaded as a diff, with its result.
type patchedFile struct {
	entry        Entry
	old          *tree.File // in the base; nil if it has none
	file         *tree.File // in the merged tree
	before, diff []byte
	after        []byte
}

// size returns how many bytes its base and its diff have.
func (f *patchedFile) size() int64 {
	if f.old == nil {
		return f.entry.Size
	}
	return f.old.Size + f.entry.Size
}

// patchedFiles returns the declared files that are uploaded as diffs.
func patchedFiles(entries []Entry, base, files tree.Tree) (out []*patchedFile) {
	if !havePatches(entries) {
		return nil // as for most sessions, which need no index
	}
	before, after := base.Index(), files.Index()
	for _, e := range entries {
		if e.Patch == nil {
			continue
		}
		r := &patchedFile{entry: e, file: &files[after[e.Path]]}
		if n, ok := before[e.Path]; ok {
			r.old = &base[n]
		}
		out = append(out, r)
	}
	return out
}

// checkPatches refuses files that are uploaded as diffs against a base of this tree, where they or their bases are larger
// than memory should hold. What is not in the tree is refused when it is applied.
func checkPatches(files []declared, base tree.Tree) error {
	together, at := int64(0), base.Index()
	for _, f := range files {
		if f.patch == nil {
			continue
		}
		old := int64(0)
		if n, ok := at[f.path]; ok {
			old = base[n].Size
		}
		if together += old + f.size; max(old, f.size) > limits.PatchedFile || together > limits.PatchedTogether {
			return patchTooLarge(f.path)
		}
	}
	return nil
}

// rebuild applies every diff of a session to its base, fills in the results and stores them, all within the caps of p and
// those of patches. It holds all results in memory, but of the base and the diffs only readTogether bytes.
func (s *Service) rebuild(ctx context.Context, a Attempt, base, files tree.Tree, p limits.Policy) error {
	results, fetched := patchedFiles(a.Entries, base, files), 0
	room, left := p.ArtifactSize-files.Size(), int64(limits.PatchedTogether)
	for _, r := range results {
		left -= r.size()
	}
	for n, r := range results {
		if n == fetched {
			fetched += together(results[n:])
			if err := s.fetch(ctx, a.Session, results[n:fetched]); err != nil {
				return err
			}
		}
		most := min(limits.PatchedFile, left)
		err := r.apply(min(room, p.FileSize, most))
		if errors.Is(err, patch.ErrTooLarge) {
			err = tooLarge(r.entry.Path, room, most, p)
		}
		if err != nil {
			return err
		}
		room -= int64(len(r.after))
		left -= int64(len(r.after))
		r.file.Size, r.file.SHA256 = int64(len(r.after)), r.entry.Patch.Result
		if len(r.after) == 0 {
			r.file.Object = tree.Object{}
		}
	}
	return s.write(ctx, a.Session.Home, results) // after the last diff, because a refusal must not write
}

// readTogether bounds the bytes of bases and diffs that are held at once, unless one file has more.
const readTogether = 32 * limits.MiB

// together returns how many of the files, from the first on, are read at once. It is at least one.
func together(files []*patchedFile) int {
	size := int64(0)
	for n, r := range files {
		if size += r.size(); n > 0 && size > readTogether {
			return n
		}
	}
	return len(files)
}

// fetch reads the diffs and the files that they apply to.
func (s *Service) fetch(ctx context.Context, session *Session, results []*patchedFile) error {
	g, ctx := async.WithContext(ctx)
	g.SetLimit(maxReads)
	for _, r := range results {
		e := r.entry
		if r.old == nil || r.old.SHA256 != e.Patch.Base {
			g.Go(func() error { return patchConflict(e.Path, patch.BaseMismatch) }) // so that Wait ends the reads under way
			break
		}
		g.Go(func() (err error) {
			r.before, err = s.read(ctx, session, e.Path, r.old.Object, r.old.Size)
			return err
		})
		g.Go(func() (err error) {
			diff := tree.Object{Session: session.ID, Entry: e.Object.Entry, Diff: true}
			r.diff, err = s.read(ctx, session, e.Path, diff, e.Size)
			return err
		})
	}
	return g.Wait()
}

// write stores the results of diffs. A repetition writes the same bytes again.
func (s *Service) write(ctx context.Context, home id.Workspace, results []*patchedFile) error {
	g, ctx := async.WithContext(ctx)
	g.SetLimit(maxReads)
	for _, r := range results {
		if len(r.after) > 0 {
			g.Go(func() error { return s.Objects.Put(ctx, home, r.file.Object, r.after, r.file.SHA256) })
		}
	}
	return g.Wait()
}

// tooLarge returns the refusal of the cap that leaves the least room for a result; most is that of patches.
func tooLarge(path string, room, most int64, p limits.Policy) error {
	switch {
	case most < min(room, p.FileSize):
		return patchTooLarge(path)
	case room < p.FileSize:
		return fault.New(fault.RevisionSizeCapExceeded,
			"with the result of the patch of %q the files have more than %d bytes together", path, p.ArtifactSize)
	}
	return fault.New(fault.FileSizeCapExceeded, "the result of the patch of %q has more than %d bytes", path, p.FileSize)
}

// apply computes a result of at most limit bytes. It fails with patch.ErrTooLarge if the result is longer.
func (f *patchedFile) apply(limit int64) (err error) {
	f.after, err = patch.Apply(f.before, f.diff, limit)
	f.before, f.diff = nil, nil // frees their memory while other files are rebuilt
	var why patch.Reason
	switch {
	case errors.Is(err, patch.ErrTooLarge):
		return err
	case errors.As(err, &why):
		return patchConflict(f.entry.Path, why)
	case sha256.Sum256(f.after) != f.entry.Patch.Result:
		return patchConflict(f.entry.Path, patch.ResultMismatch)
	}
	return nil
}

// patchTooLarge returns the refusal of a patch that its file should not be uploaded by.
func patchTooLarge(path string) error {
	return fault.New(fault.PatchConflict,
		"patch_conflict: %s: %s: base, diff and result may have %d bytes each, and those of all files %d; upload the whole file",
		path, patch.Inapplicable, limits.PatchedFile, limits.PatchedTogether)
}

// patchConflict returns the refusal of a patch, in the words that clients know.
func patchConflict(path string, why patch.Reason) error {
	return fault.New(fault.PatchConflict, "patch_conflict: %s: %s", path, why)
}

// read reads a whole object.
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
