package token

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
)

// The layout of the blob of an access link, big endian, base64url without padding: version (1 byte), key id (1), expiry
// in unix seconds (4; noEnd: never), scopes (2), workspace and artifact ids (16 each), and 16 bytes of HMAC-SHA-256 over
// label, host, the bytes before and the link's public id. 56 bytes are 75 characters. The blob is in the fragment of the
// URL, so that no server logs it.
const (
	blobVersion = 1
	blobBody    = 40
	blobMAC     = 16
	blobText    = 75

	noEnd = math.MaxUint32 // 2106, for codecs that know no blobs without an end
)

// Scopes are the rights of a link as bits.
type Scopes uint16

// The bits of Scopes.
const (
	View          Scopes = 1
	ListRevisions Scopes = 2
	Raw           Scopes = 4
	AllScopes            = View | ListRevisions | Raw
)

// ErrBlob reports that a blob is not valid for a link. It does not say why.
var ErrBlob = errors.New("invalid link blob")

// Blob is the content of the fragment of an access-link URL.
type Blob struct {
	Expires   time.Time // whole seconds; zero: never
	Scopes    Scopes
	Workspace id.Workspace
	Artifact  id.Artifact
}

// LinkCodec mints and checks blobs for one app host.
type LinkCodec struct {
	app  string
	keys keyring.Derived
}

// NewLinkCodec makes a codec; app is the origin of the app host.
func NewLinkCodec(ring keyring.Ring, app string) (*LinkCodec, error) {
	keys, err := ring.Derive("access-link")
	if err != nil {
		return nil, err
	}
	return &LinkCodec{app: app, keys: keys}, nil
}

// Mint signs a blob for a link.
func (c *LinkCodec) Mint(public id.Public, b Blob) (string, error) {
	kid, key := c.keys.Active()
	ws, err1 := b.Workspace.Bits()
	art, err2 := b.Artifact.Bits()
	pub, err3 := public.Bits()
	if err := errors.Join(err1, err2, err3); err != nil {
		return "", err
	}
	out := make([]byte, 0, blobBody+blobMAC)
	out = append(out, blobVersion, kid)
	out = binary.BigEndian.AppendUint32(out, b.end())
	out = binary.BigEndian.AppendUint16(out, uint16(b.Scopes))
	out = append(append(out, ws[:]...), art[:]...)
	return base64.RawURLEncoding.EncodeToString(append(out, c.mac(key, out, pub)...)), nil
}

// Parse checks a blob for a link without any lookup.
func (c *LinkCodec) Parse(public id.Public, text string, now time.Time) (Blob, error) {
	pub, err := public.Bits()
	if err != nil || len(text) != blobText {
		return Blob{}, ErrBlob
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(text)
	// The decoder skips line ends, so a text of the right length may decode to fewer bytes.
	if err != nil || len(raw) != blobBody+blobMAC || raw[0] != blobVersion {
		return Blob{}, ErrBlob
	}
	body, mac := raw[:blobBody], raw[blobBody:]
	key := c.keys.Key(body[1])
	if key == nil || !hmac.Equal(c.mac(key, body, pub), mac) {
		return Blob{}, ErrBlob
	}
	b := Blob{
		Scopes:    Scopes(binary.BigEndian.Uint16(body[6:])),
		Workspace: id.WorkspaceOf(id.Bits(body[8:24])),
		Artifact:  id.ArtifactOf(id.Bits(body[24:40])),
	}
	if end := binary.BigEndian.Uint32(body[2:]); end != noEnd {
		b.Expires = time.Unix(int64(end), 0)
	}
	if !b.Expires.IsZero() && !now.Before(b.Expires) || b.Scopes&View == 0 {
		return Blob{}, ErrBlob
	}
	return b, nil
}

func (b Blob) end() uint32 {
	if b.Expires.IsZero() {
		return noEnd
	}
	return uint32(min(b.Expires.Unix(), noEnd))
}

func (c *LinkCodec) mac(key, body []byte, public id.PublicBits) []byte {
	m := hmac.New(sha256.New, key)
	m.Write([]byte("vitrine-link\x00" + c.app + "\x00"))
	m.Write(body)
	m.Write(public[:])
	return m.Sum(nil)[:blobMAC]
}
