package upload

import (
	"context"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

// ContentIndex finds bytes that another revision of the same home uploaded.
type ContentIndex interface {
	// Lookup returns where bytes of a home lie, for those contents that have an index entry. It may be stale and the bytes
	// may be gone: Finalize checks them before the commit. It must never return another home's objects.
	Lookup(ctx context.Context, home id.Workspace, wanted []tree.Content) (map[tree.Content]tree.Object, error)
	// Remove removes the entry of a content if it names this object, and reports whether it did.
	Remove(ctx context.Context, home id.Workspace, c tree.Content, o tree.Object) (was bool, err error)
	// AddReference stores references of a revision, which keep objects from being collected while the revision has its
	// files. It fails unless all are stored; repeating it is no error.
	AddReference(ctx context.Context, a id.Artifact, r id.Revision, objects []tree.Object) error
}

// lookup finds bytes of declared files in a home, except known ones. An object is collected no sooner than
// limits.CollectAfter after its index entry was removed, so a session that was told of it can use it until the session
// ends.
func (s *Service) lookup(ctx context.Context, home id.Workspace, files []declared, known tree.Tree) (tree.Tree, error) {
	seen := make(map[tree.Content]bool, len(known))
	for _, f := range known {
		seen[f.Content()] = true
	}
	var wanted []tree.Content
	for _, f := range files {
		if f.digest == nil || f.size == 0 {
			continue
		}
		if content := (tree.Content{SHA256: *f.digest, Size: f.size}); !seen[content] {
			seen[content] = true
			wanted = append(wanted, content)
		}
	}
	if len(wanted) == 0 {
		return nil, nil
	}
	found, err := s.Index.Lookup(ctx, home, wanted)
	out := make(tree.Tree, 0, len(found))
	for content, o := range found {
		out = append(out, tree.File{
			Size:     content.Size,
			SHA256:   content.SHA256,
			Object:   o,
			Borrowed: true,
		})
	}
	return out, err
}

// maxLookups bounds how many borrowed objects are checked at a time.
const maxLookups = 16

// borrow secures the bytes that a revision did not upload. It adds references to them, including those of the base,
// before it checks that they exist, because from then on they are not collected and the revision may be committed.
func (s *Service) borrow(ctx context.Context, a Attempt, files tree.Tree) error {
	var objects []tree.Object
	seen := map[tree.Object]bool{}
	for _, file := range files {
		if file.Borrowed && !seen[file.Object] {
			seen[file.Object] = true
			objects = append(objects, file.Object)
		}
	}
	if len(objects) == 0 {
		return nil
	}
	if err := s.Index.AddReference(ctx, a.Session.Artifact, a.Session.Revision, objects); err != nil {
		return err
	}
	g, ctx := async.WithContext(ctx)
	g.SetLimit(maxLookups)
	for _, e := range a.Entries {
		if e.Borrowed {
			g.Go(func() error { return s.checkBorrowed(ctx, a.Session, e) })
		}
	}
	return g.Wait()
}

// checkBorrowed refuses an entry whose borrowed bytes are gone, and removes their index entry, so that the next session
// is asked to upload them.
func (s *Service) checkBorrowed(ctx context.Context, session *Session, e Entry) error {
	size, err := s.Objects.Head(ctx, session.Home, e.Object)
	if err == nil && size == e.Size {
		return nil
	}
	if err != nil && fault.KindOf(err) != fault.KindNotFound {
		return err
	}
	content := tree.Content{SHA256: *e.SHA256, Size: e.Size}
	if _, err := s.Index.Remove(ctx, session.Home, content, e.Object); err != nil {
		return err
	}
	return fault.New(fault.UploadIncomplete, "%s: the bytes that it reuses are gone; create a new session", e.Path)
}
