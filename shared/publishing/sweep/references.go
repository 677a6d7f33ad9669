package sweep

import (
	"context"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

// References reads what uses an object. Its reads are strong, because deletion is final.
type References interface {
	// Kept reports which sessions uploaded a revision that is not retained, of an artifact that is live.
	Kept(ctx context.Context, sessions []id.Session) (map[id.Session]bool, error)
	// ReferencesTo reports whether a revision that has its files references an object. If none does, dead lists revisions
	// without files that reference it: they are retained, were never committed, or are not committed yet.
	ReferencesTo(ctx context.Context, o tree.Object) (held bool, dead []id.Revision, err error)
}

// usage finds objects that are not in use. An object is in use by the artifact that it was uploaded for as long as that
// artifact is live and keeps the revision of the object's session: a published revision ends only with its artifact, and
// no other revision of it has files of a discarded draft without a reference. All other use is a reference.
type usage struct {
	References
	ended map[id.Session]bool // those that are not kept, which is final
}

func newUsage(r References) usage { return usage{r, map[id.Session]bool{}} }

// unused returns the files whose objects are not in use, and for each of them dead of ReferencesTo.
func (u usage) unused(ctx context.Context, files []tree.File) (out []tree.File, dead [][]id.Revision, err error) {
	kept, err := u.kept(ctx, files)
	if err != nil {
		return nil, nil, err
	}
	held, gone := make([]bool, len(files)), make([][]id.Revision, len(files))
	err = concurrently(ctx, files, func(ctx context.Context, n int) (err error) {
		if held[n] = kept[files[n].Object.Session]; !held[n] {
			held[n], gone[n], err = u.ReferencesTo(ctx, files[n].Object)
		}
		return err
	})
	for n, f := range files {
		if !held[n] {
			out, dead = append(out, f), append(dead, gone[n])
		}
	}
	return out, dead, err
}

// kept returns which sessions of the files are kept. It does not remember those, because they may end before the next
// call, and then nobody else would look at the objects again.
func (u usage) kept(ctx context.Context, files []tree.File) (map[id.Session]bool, error) {
	var sessions []id.Session
	asked := map[id.Session]bool{}
	for _, f := range files {
		if one := f.Object.Session; !u.ended[one] && !asked[one] {
			asked[one], sessions = true, append(sessions, one)
		}
	}
	if len(sessions) == 0 {
		return nil, nil
	}
	kept, err := u.Kept(ctx, sessions)
	for _, one := range sessions {
		u.ended[one] = err == nil && !kept[one]
	}
	return kept, err
}

// maxCalls is how many objects of one item of the queue are looked at, or changed, at once.
const maxCalls = 8

// concurrently calls do with the number of each element, for some at once. The first failure ends the others.
func concurrently[T any](ctx context.Context, all []T, do func(context.Context, int) error) error {
	g, ctx := async.WithContext(ctx)
	g.SetLimit(maxCalls)
	for n := range all {
		g.Go(func() error { return do(ctx, n) })
	}
	return g.Wait()
}
