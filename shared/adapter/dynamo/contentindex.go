package dynamo

import (
	"context"
	"slices"
	"time"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

// ContentIndex finds stored files of a workspace by their content.
type ContentIndex struct {
	*db
	cleanup
}

var (
	_ sweep.Index         = ContentIndex{}
	_ sweep.IndexStore    = ContentIndex{}
	_ upload.ContentIndex = ContentIndex{}
)

// Lookup implements upload.ContentIndex.
func (s ContentIndex) Lookup(
	ctx context.Context, home id.Workspace, wanted []tree.Content,
) (map[tree.Content]tree.Object, error) {
	keys := make([]key, len(wanted))
	for n, c := range wanted {
		keys[n] = contentKey(home, c)
	}
	f, err := s.all(ctx, keys, false)
	if err != nil {
		return nil, err
	}
	out := make(map[tree.Content]tree.Object, len(f))
	for _, c := range wanted {
		if name := f.at(contentKey(home, c)).getStr("obj"); name != "" {
			out[c] = readObject(name)
		}
	}
	return out, nil
}

// Remove implements upload.ContentIndex and sweep.Index.
func (s ContentIndex) Remove(ctx context.Context, home id.Workspace, c tree.Content, o tree.Object) (bool, error) {
	return s.deleteIf(ctx, s.tables.Core, contentKey(home, c), "#obj = :obj", values{"obj": objectName(o)})
}

// Indexed implements sweep.Index. It exists because a read that finds no entry is cheaper than deleting one that may
// not exist.
func (s ContentIndex) Indexed(
	ctx context.Context, home id.Workspace, objects []tree.File,
) (named []tree.File, err error) {
	keys := make([]key, len(objects))
	for n, f := range objects {
		keys[n] = contentKey(home, f.Content())
	}
	found, err := s.all(ctx, keys, true)
	for _, f := range objects {
		if found.at(contentKey(home, f.Content())).getStr("obj") == objectName(f.Object) {
			named = append(named, f)
		}
	}
	return named, err
}

// Add implements sweep.IndexStore. It keeps an entry that exists.
func (s ContentIndex) Add(ctx context.Context, home id.Workspace, f tree.File) error {
	_, err := s.putNew(ctx, s.tables.Core, newItem(contentKey(home, f.Content())).str("obj", objectName(f.Object)))
	return err
}

// DueUploads implements sweep.IndexStore.
func (s ContentIndex) DueUploads(ctx context.Context, now time.Time, n int) ([]sweep.Session, error) {
	var due, early []sweep.Session
	err := async.All(func() (err error) {
		due, err = s.dueSessions(ctx, indexDue, now, n)
		return err
	}, func() (err error) {
		early, err = s.dueSessions(ctx, uploadDue, now, n)
		return err
	})
	if err != nil {
		return nil, err
	}
	return append(due, early...), nil
}

// AwaitEnd implements sweep.IndexStore.
func (s ContentIndex) AwaitEnd(ctx context.Context, u upload.Session) error {
	queue, due := endDue(u)
	_, _, err := s.change(ctx, uploadKey(u.ID), "SET #g2p = :queue, #g2s = :due",
		"#status <> :finalized AND #g2p = :early", values{
			"queue":     queue,
			"due":       due,
			"finalized": string(upload.Finalized),
			"early":     queueOf(uploadDue, string(u.ID)),
		})
	return err
}

// NewObjects implements sweep.IndexStore.
func (s ContentIndex) NewObjects(ctx context.Context, u upload.Session) (tree.Tree, error) {
	f, err := s.items(ctx,
		artifactKey(u.Artifact), revisionKey(u.Artifact, u.Revision), treeKey(u.Artifact, u.Revision))
	if err != nil {
		return nil, err
	}
	a := readArtifact(f.at(artifactKey(u.Artifact)), u.Artifact)
	r := readRevision(f.at(revisionKey(u.Artifact, u.Revision)), u.Artifact, u.Revision)
	packed := f.packedTree(u.Artifact, u.Revision)
	if a == nil || a.Status != artifact.Live || r == nil || r.Status == artifact.Retained || packed == nil {
		return nil, nil
	}
	all, err := unpackTree(packed)
	return slices.DeleteFunc(all, func(f tree.File) bool { return f.Size == 0 || f.Object.Session != u.ID }), err
}
