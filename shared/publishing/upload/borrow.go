package upload

import (
	"context"

	"golang.org/x/sync/errgroup"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

// ContentIndex is what sessions need of the store to reuse bytes that another revision of the same home brought.
type ContentIndex interface {
	// Lookup returns where bytes of a home lie, for the contents that have a hint. It may be behind, and the bytes may be
	// gone: they are looked for before the commit. Nobody may be told of another home than their own.
	Lookup(ctx context.Context, home id.Workspace, wanted []tree.Content) (map[tree.Content]tree.Object, error)
	// RemoveIndexEntry takes the hint of a content back if it names this object, and tells whether it did.
	RemoveIndexEntry(ctx context.Context, home id.Workspace, c tree.Content, o tree.Object) (was bool, err error)
	// AddReference stores references of a revision, which keep objects from being collected as long as it has its files. It
	// fails unless all are stored; a repetition stores the same again.
	AddReference(ctx context.Context, a id.Artifact, r id.Revision, objects []tree.Object) error
}

// lookup finds the bytes of declared files in a home, except those that are known already. A hint outlives the bytes'
// last use by no more than the collection waits, so that a session that is told of them has them until it ends.
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

// maxLookups is how many borrowed objects are looked for at a time.
const maxLookups = 16

// borrow makes sure of the bytes that a revision did not bring: first it refers to them, also to those of its base, then
// it looks whether they are there. From then on nobody collects them, and the revision may be committed.
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
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(maxLookups)
	for _, e := range a.Entries {
		if e.Borrowed {
			g.Go(func() error { return s.look(ctx, a.Session, e) })
		}
	}
	return g.Wait()
}

// look refuses an entry whose borrowed bytes are gone, and takes back what told of them, so that the next session is
// asked to upload them.
func (s *Service) look(ctx context.Context, session *Session, e Entry) error {
	size, err := s.Objects.Head(ctx, session.Home, e.Object)
	if err == nil && size == e.Size {
		return nil
	}
	if err != nil && fault.KindOf(err) != fault.KindNotFound {
		return err
	}
	if _, err := s.Index.RemoveIndexEntry(ctx, session.Home, tree.Content{SHA256: *e.SHA256, Size: e.Size}, e.Object); err != nil {
		return err
	}
	return fault.New(fault.UploadIncomplete, "%s: the bytes that it reuses are gone; create a new session", e.Path)
}
