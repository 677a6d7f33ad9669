// Package cursor seals list positions for clients, so that clients can neither read nor forge them nor use them for
// another list.
//
// Form: "v1." and base64url of a sealed expiry, instant and id. The list and the workspace are authenticated with them.
// A cursor never decides which partition of the store is read.
package cursor

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/seal"
)

const prefix = "v1."

// Page selects a part of a list.
type Page struct {
	Cursor string // empty: the first page
	Limit  int    // from 1 to limits.MaxPage; each service defines zero
}

// List identifies a list of a workspace at an instant. A cursor is valid only for the list that made it.
type List struct {
	Workspace id.Workspace
	Name      string
	Now       time.Time
}

// Query selects rows of a list of a workspace. Its positions are strings of the store.
type Query[row any] struct {
	Workspace id.Workspace
	After     string // the position before the first row; empty: from the start
	Limit     int
	Live      func(row) bool // reports whether the list includes a row
}

// Position is the last list entry that was shown or examined. Its zero value is the start of the list.
type Position struct {
	At time.Time
	ID string
}

// Codec seals positions.
type Codec struct {
	box *seal.Box
}

// New makes a codec.
func New(ring keyring.Ring) (*Codec, error) {
	box, err := seal.New(ring, "cursor")
	if err != nil {
		return nil, err
	}
	return &Codec{box: box}, nil
}

// Start returns the position after which a page begins. It fails with invalid_request for a limit out of range, and
// with invalid_cursor for a cursor that was changed, belongs to another list or is older than limits.CursorLife.
func (c *Codec) Start(l List, p Page) (Position, error) {
	if p.Limit < 1 || p.Limit > limits.MaxPage {
		return Position{}, fault.New(fault.InvalidRequest, "limit must be an integer from 1 to %d", limits.MaxPage)
	}
	if p.Cursor == "" {
		return Position{}, nil
	}
	return c.Open(l, p.Cursor)
}

// Read reads one page of a list whose positions are strings of the store. read returns the rows after a position, and
// the position of the last row if more follow. Read returns the rows and the cursor of the next page, which is empty if
// there is none. A limit of zero means limits.DefaultPage. Errors are those of Start and read.
func Read[row any](
	c *Codec, l List, p Page, read func(after string, limit int) (rows []row, next string, err error),
) (rows []row, next string, err error) {
	if p.Limit == 0 {
		p.Limit = limits.DefaultPage
	}
	after, err := c.Start(l, p)
	if err != nil {
		return nil, "", err
	}
	rows, next, err = read(after.ID, p.Limit)
	if err == nil && next != "" {
		next, err = c.Seal(l, Position{ID: next})
	}
	return rows, next, err
}

// Seal encrypts a position into an opaque text of at most limits.CursorLength characters.
func (c *Codec) Seal(l List, p Position) (string, error) {
	plain := binary.BigEndian.AppendUint64(nil, uint64(l.Now.Add(limits.CursorLife).UnixMilli()))
	plain = binary.BigEndian.AppendUint64(plain, uint64(p.At.UnixMilli()))
	sealed, err := c.box.Seal(append(plain, p.ID...), l.bound())
	return prefix + base64.RawURLEncoding.EncodeToString(sealed), err
}

// Open decrypts what Seal made for the same list. Its only error is invalid_cursor.
func (c *Codec) Open(l List, text string) (Position, error) {
	body, ok := strings.CutPrefix(text, prefix)
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(body)
	if !ok || err != nil || len(text) > limits.CursorLength {
		return Position{}, invalid()
	}
	plain, err := c.box.Open(sealed, l.bound())
	if err != nil || len(plain) < 16 {
		return Position{}, invalid()
	}
	expires := time.UnixMilli(int64(binary.BigEndian.Uint64(plain)))
	if !l.Now.Before(expires) {
		return Position{}, invalid()
	}
	return Position{At: time.UnixMilli(int64(binary.BigEndian.Uint64(plain[8:]))).UTC(), ID: string(plain[16:])}, nil
}

func (l List) bound() string { return string(l.Workspace) + "\x00" + l.Name }

func invalid() error {
	return fault.New(fault.InvalidCursor,
		"this cursor is not valid here or is older than a day; start again without cursor")
}
