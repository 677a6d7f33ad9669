package comparison

import (
	"context"
	"strings"

	"golang.org/x/sync/errgroup"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// maxParallel is how many changes are read at a time, each from both revisions.
const maxParallel = 4

// page is an answer that is being filled.
type page struct {
	*Service
	home  id.Workspace
	room  int // bytes of diffs that it still takes
	read  int // changes of which files were read
	files []contract.ComparedFile
}

// fill adds changes from a position on, and returns where the next page begins; nil after the last change.
func (p *page) fill(ctx context.Context, changes []change, at position) (next *position, err error) {
	p.files = []contract.ComparedFile{}
	for at.change < len(changes) {
		if p.read >= limits.ComparedFiles {
			return &at, nil
		}
		texts, err := p.readAll(ctx, changes[at.change:min(at.change+maxParallel, len(changes))])
		if err != nil {
			return nil, err
		}
		for _, t := range texts {
			piece, whole, err := p.add(t, at.piece)
			if err != nil {
				return nil, err
			}
			if at.piece = piece; !whole {
				return &at, nil
			}
			at.change++
			at.piece = 0
		}
	}
	return nil, nil
}

// readAll reads the files of changes.
func (p *page) readAll(ctx context.Context, changes []change) ([]texts, error) {
	out := make([]texts, len(changes))
	g, ctx := errgroup.WithContext(ctx)
	for n, c := range changes {
		out[n] = texts{change: c, omitted: c.unread()}
		if c.kind == renamed || out[n].omitted != "" {
			continue
		}
		p.read++
		g.Go(func() error { return p.text(ctx, p.home, c.from, &out[n].before) })
		g.Go(func() error { return p.text(ctx, p.home, c.to, &out[n].after) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for n := range out {
		if out[n].omitted == "" {
			out[n].omitted = out[n].unfit()
		}
	}
	return out, nil
}

// add adds a change with its diff from a piece on, and returns the piece that did not fit any more unless all did.
func (p *page) add(t texts, piece int) (next int, whole bool, err error) {
	entry := t.entry()
	if entry.DiffOmitted = t.omitted; t.kind == renamed || t.omitted != "" {
		p.files = append(p.files, entry)
		return 0, true, nil
	}
	pieces, err := diff(t.before, t.after)
	if err != nil {
		return 0, false, err
	}
	var out strings.Builder
	out.WriteString(t.header())
	next = piece
	for next < len(pieces) && out.Len()+len(pieces[next]) <= p.room {
		out.WriteString(pieces[next])
		next++
	}
	if next > piece {
		entry.Diff = out.String()
		p.room -= out.Len()
	}
	if whole = next >= len(pieces); whole || next > piece {
		entry.DiffContinues = !whole
		p.files = append(p.files, entry)
	}
	return next, whole, nil
}
