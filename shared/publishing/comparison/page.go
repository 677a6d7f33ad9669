package comparison

import (
	"context"
	"math"
	"path"
	"strings"
	"time"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// maxParallel is how many changes are read at once, each from both revisions.
const maxParallel = 4

// The bounds of a piece of a file: more than one line of a text, and less than an answer.
const (
	maxPiece      = 2 * limits.ComparedLine
	maxPieceLines = 500
)

// weight is the share of an answer that a piece takes.
type weight struct{ bytes, lines int }

// page is an answer that is being filled.
type page struct {
	*Service
	home    id.Workspace
	content bool
	room    weight    // what is left of it
	until   time.Time // when it takes no more changes
	read    int       // changes whose files were read
	files   []File
}

const (
	maxAnswerBytes = 64 << 10 // of diffs in one answer
	maxFiles       = 200      // of one answer, with those that have no diff
	// maxFillTime is when an answer takes no more files, so that it does not come too late.
	maxFillTime = 1200 * time.Millisecond
)

func newPage(s *Service, a *artifact.Artifact, q Query) page {
	p := page{
		Service: s,
		home:    a.StorageWorkspace,
		content: q.Content,
		room:    weight{maxAnswerBytes, math.MaxInt},
		until:   s.Now().Add(maxFillTime),
		files:   []File{},
	}
	if q.Most > 0 {
		p.room.lines = max(q.Most, maxPieceLines)
	}
	return p
}

// fill adds changes from a position on. It returns the position of the next page, nil after the last change.
func (p *page) fill(ctx context.Context, changes []tree.Change, at position) (next *position, err error) {
	for at.change < len(changes) {
		if p.read >= limits.ComparedFiles {
			return &at, nil
		}
		texts, err := p.readAll(ctx, changes[at.change:min(at.change+maxParallel, len(changes))])
		if err != nil {
			return nil, err
		}
		for _, t := range texts {
			// never on an empty page, so that every page makes progress
			if n := len(p.files); n == maxFiles || n > 0 && p.Now().After(p.until) {
				return &at, nil
			}
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
func (p *page) readAll(ctx context.Context, changes []tree.Change) ([]texts, error) {
	out := make([]texts, len(changes))
	g, ctx := async.WithContext(ctx)
	for n, c := range changes {
		out[n] = texts{Change: c, omitted: unread(c)}
		if c.Kind == tree.Renamed || out[n].omitted != "" {
			continue
		}
		p.read++
		g.Go(func() error { return p.text(ctx, p.home, c.From, &out[n].before) })
		g.Go(func() error { return p.text(ctx, p.home, c.To, &out[n].after) })
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

// add adds a change with its pieces from one on. It returns the first piece that did not fit, and whether all did.
func (p *page) add(t texts, piece int) (next int, whole bool, err error) {
	f := File{Change: t.Change, Omitted: t.omitted, Resumed: piece > 0}
	if t.Kind != tree.Renamed && t.omitted == "" {
		if next, whole, err = p.compare(&f, t, piece); err != nil || next == piece && !whole {
			return next, false, err
		}
		f.Continues = !whole
	}
	p.files = append(p.files, f)
	return next, !f.Continues, nil
}

// compare adds the pieces that fit to a file. It returns the first piece that did not fit, and whether all did.
func (p *page) compare(f *File, t texts, piece int) (next int, whole bool, err error) {
	switch kindOfText(t.Path(), p.content) {
	case byBlock:
		if blocks := compareBlocks(t.before, t.after); len(blocks) > 0 {
			f.Blocks, next, whole = fit(p, blocks, piece, 0)
			return next, whole, nil
		}
	case byRow:
		if head, rows, ok := compareTables(t.before, t.after); ok && (len(rows) > 0 || head.Op != Same) {
			f.Table = &Table{Head: head}
			f.Table.Rows, next, whole = fit(p, rows, piece, head.weight().bytes)
			return next, whole, nil
		}
	}
	hunks, err := hunksOf(t.before, t.after)
	if err != nil {
		return 0, false, err
	}
	f.Hunks, next, whole = fit(p, hunks, piece, len(header(t.Change)))
	return next, whole, nil
}

// The ways in which texts are compared.
const (
	byLine = iota
	byBlock
	byRow
)

func kindOfText(file string, content bool) int {
	switch kind, _, _ := strings.Cut(media.Of(file).ContentType, ";"); {
	case !content:
		return byLine
	case kind == "text/markdown":
		return byBlock
	case kind == "text/csv", strings.EqualFold(path.Ext(file), ".tsv"):
		return byRow
	}
	return byLine
}

// fit returns the pieces from one on that fit into the page after extra bytes, and takes their room. An empty page
// takes at least one piece, so that every page makes progress.
func fit[T interface{ weight() weight }](p *page, pieces []T, from, extra int) (out []T, next int, whole bool) {
	next = min(from, len(pieces))
	room := weight{p.room.bytes - extra, p.room.lines}
	for ; next < len(pieces); next++ {
		w := pieces[next].weight()
		full := w.bytes > room.bytes || w.lines > room.lines
		if full && (len(p.files) > 0 || next > from) {
			break
		}
		room.bytes -= w.bytes
		room.lines -= w.lines
	}
	if next > from {
		p.room = room
	}
	return pieces[min(from, next):next], next, next == len(pieces)
}
