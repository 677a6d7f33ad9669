package comparison

import (
	"fmt"

	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// position is where an answer begins.
type position struct {
	from, to id.Revision
	first    bool // to is the first revision, and there is no from
	change   int  // index of the change
	piece    int  // index in its diff
}

const noRevision = "-"

// String returns the position as a cursor holds it.
func (p position) String() string {
	from := string(p.from)
	if p.first {
		from = noRevision
	}
	return fmt.Sprintf("%s %s %d %d", from, p.to, p.change, p.piece)
}

// start returns where the answer to a query begins. Revisions in a query with a cursor have to be those of the cursor.
func (s *Service) start(list cursor.List, q Query) (position, error) {
	if q.Cursor == "" {
		return position{from: q.From, to: q.To}, nil
	}
	at, err := s.Cursors.Open(list, q.Cursor)
	if err != nil {
		return position{}, err
	}
	var p position
	if _, err := fmt.Sscanf(at.ID, "%s %s %d %d", &p.from, &p.to, &p.change, &p.piece); err != nil {
		return position{}, err
	}
	if p.from == noRevision {
		p.from, p.first = "", true
	}
	if q.From != "" && q.From != p.from || q.To != "" && q.To != p.to {
		return position{}, fault.New(fault.InvalidCursor, "this cursor is of a comparison of other revisions")
	}
	return p, nil
}
