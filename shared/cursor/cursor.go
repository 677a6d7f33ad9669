// Package cursor seals places in lists for clients, so that they can neither read, forge nor carry them elsewhere.
//
// Form: "v1." and base64url of a sealed expiry, instant and id; the list and the workspace are authenticated with it.
// Partitions of the store are never taken from a cursor.
package cursor

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"time"

	"vitrine/shared/account"
	"vitrine/shared/artifact"
	"vitrine/shared/fault"
	"vitrine/shared/id"
	"vitrine/shared/keyring"
	"vitrine/shared/limits"
	"vitrine/shared/lockdown"
	"vitrine/shared/seal"
)

const prefix = "v1."

// Codec implements artifact.Cursors.
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

// Seal implements artifact.Cursors.
func (c *Codec) Seal(w id.Workspace, list string, p artifact.Position, now time.Time) (string, error) {
	return c.seal(w, list, p.CreatedAt, string(p.ID), now)
}

// Open implements artifact.Cursors.
func (c *Codec) Open(w id.Workspace, list, text string, now time.Time) (artifact.Position, error) {
	at, last, err := c.open(w, list, text, now)
	return artifact.Position{CreatedAt: at, ID: id.Artifact(last)}, err
}

// Events implements account.Cursors.
type Events struct{ Codec *Codec }

// Seal implements account.Cursors.
func (e Events) Seal(w id.Workspace, list string, p account.Position, now time.Time) (string, error) {
	return e.Codec.seal(w, list, p.At, string(p.ID), now)
}

// Open implements account.Cursors.
func (e Events) Open(w id.Workspace, list, text string, now time.Time) (account.Position, error) {
	at, last, err := e.Codec.open(w, list, text, now)
	return account.Position{At: at, ID: id.Event(last)}, err
}

// Lockdowns implements lockdown.Cursors.
type Lockdowns struct{ Codec *Codec }

// Seal implements lockdown.Cursors.
func (l Lockdowns) Seal(w id.Workspace, list string, p lockdown.Position, now time.Time) (string, error) {
	return l.Codec.seal(w, list, p.At, string(p.ID), now)
}

// Open implements lockdown.Cursors.
func (l Lockdowns) Open(w id.Workspace, list, text string, now time.Time) (lockdown.Position, error) {
	at, last, err := l.Codec.open(w, list, text, now)
	return lockdown.Position{At: at, ID: id.Lockdown(last)}, err
}

func (c *Codec) seal(w id.Workspace, list string, at time.Time, last string, now time.Time) (string, error) {
	plain := binary.BigEndian.AppendUint64(nil, uint64(now.Add(limits.CursorLife).UnixMilli()))
	plain = binary.BigEndian.AppendUint64(plain, uint64(at.UnixMilli()))
	sealed, err := c.box.Seal(append(plain, last...), bound(w, list))
	return prefix + base64.RawURLEncoding.EncodeToString(sealed), err
}

func (c *Codec) open(w id.Workspace, list, text string, now time.Time) (at time.Time, last string, err error) {
	body, ok := strings.CutPrefix(text, prefix)
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(body)
	if !ok || err != nil || len(text) > limits.CursorLength {
		return time.Time{}, "", invalid()
	}
	plain, err := c.box.Open(sealed, bound(w, list))
	if err != nil || len(plain) < 16 {
		return time.Time{}, "", invalid()
	}
	expires := time.UnixMilli(int64(binary.BigEndian.Uint64(plain)))
	if !now.Before(expires) {
		return time.Time{}, "", invalid()
	}
	return time.UnixMilli(int64(binary.BigEndian.Uint64(plain[8:]))).UTC(), string(plain[16:]), nil
}

func bound(w id.Workspace, list string) string { return string(w) + "\x00" + list }

func invalid() error {
	return fault.New(fault.InvalidCursor, "this cursor is not valid here or is older than a day; start again without cursor")
}
