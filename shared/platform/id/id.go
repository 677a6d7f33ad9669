// Package id makes, checks and packs the identifiers of the contract.
//
// Each kind is a type, so that ids cannot be swapped. Entity ids are a prefix and 26 Crockford characters that carry
// 128 random bits. No code may rely on their order.
package id

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
)

// Bits is the 128-bit body of an id, as signed tokens carry it.
type Bits [16]byte

// The identifiers of the contract.
type (
	Workspace    string // RFC 4122 UUID, lower case
	Artifact     string // art_ + 26
	Revision     string // rev_ + 26
	Session      string // upl_ + 26, an upload session
	Key          string // key_ + 26, an API key
	ClaimToken   string // ct_ + 26
	Link         string // al_ + 26, an access link
	Event        string // evt_ + 26
	Member       string // mem_ + 26
	Registration string // reg_ + 26, an agent's registration
	Client       string // an OAuth client: cli, dashboard, oc_ + 26, or the URL of its metadata document
	Lockdown     string // lkd_ + 26
	Report       string // rpt_ + 26, a report of abuse
	Export       string // exp_ + 26, an export of a workspace
	Thread       string // thr_ + 26, a remark about an artifact with its replies
	Message      string // msg_ + 26, one of them
	Public       string // 16 Crockford characters: the public part of a credential or link, safe to log
)

// NoWorkspace is the workspace of a credential that belongs to none yet: 16 zero bytes.
const NoWorkspace Workspace = "00000000-0000-0000-0000-000000000000"

// ErrMalformed reports that a text is not an id of the expected kind.
var ErrMalformed = errors.New("malformed id")

func random() (b Bits) {
	rand.Read(b[:]) // never fails: the runtime aborts first
	return b
}

// NewWorkspace returns a random version 4 UUID.
func NewWorkspace() Workspace {
	b := random()
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return WorkspaceOf(b)
}

// WorkspaceOf returns the workspace id with the given bits.
func WorkspaceOf(b Bits) Workspace {
	h := hex.EncodeToString(b[:])
	return Workspace(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:])
}

// Bits packs the id. It fails with ErrMalformed if the id is not a UUID in canonical form.
func (w Workspace) Bits() (b Bits, err error) {
	raw, err := hex.DecodeString(strings.ReplaceAll(string(w), "-", ""))
	if err != nil || len(raw) != len(b) || WorkspaceOf(Bits(raw)) != w {
		return b, ErrMalformed
	}
	return Bits(raw), nil
}

// NewArtifact returns a random artifact id.
func NewArtifact() Artifact { return ArtifactOf(random()) }

// ArtifactOf returns the artifact id with the given bits.
func ArtifactOf(b Bits) Artifact { return Artifact("art_" + encode128(b)) }

// Bits packs the id. It fails with ErrMalformed if the id is not an artifact id.
func (a Artifact) Bits() (Bits, error) { return unpack(string(a), "art_") }

// NewRevision returns a random revision id.
func NewRevision() Revision { return RevisionOf(random()) }

// RevisionOf returns the revision id with the given bits.
func RevisionOf(b Bits) Revision { return Revision("rev_" + encode128(b)) }

// Bits packs the id. It fails with ErrMalformed if the id is not a revision id.
func (r Revision) Bits() (Bits, error) { return unpack(string(r), "rev_") }

// NewSession returns a random upload session id.
func NewSession() Session { return Session("upl_" + encode128(random())) }

// Valid reports whether the id has the form of an upload session id.
func (s Session) Valid() bool { _, err := unpack(string(s), "upl_"); return err == nil }

// NewKey returns an id for the API key with a public id. The public id is its first 80 bits, so that a key is found by
// its id without an index. The other 48 bits are random.
func NewKey(p Public) Key {
	b := random()
	public, err := p.Bits()
	if err != nil {
		panic("id: a key was made for a malformed public id")
	}
	copy(b[:], public[:])
	return Key("key_" + encode128(b))
}

// Public returns the public id of the key. It fails with ErrMalformed if k is not a key id.
func (k Key) Public() (Public, error) {
	b, err := unpack(string(k), "key_")
	if err != nil {
		return "", err
	}
	return PublicOf(PublicBits(b[:])), nil
}

// NewClaimToken returns a random claim token id.
func NewClaimToken() ClaimToken { return ClaimToken("ct_" + encode128(random())) }

// NewEvent returns a random event id.
func NewEvent() Event { return Event("evt_" + encode128(random())) }

// NewMember returns a random member id.
func NewMember() Member { return Member("mem_" + encode128(random())) }

// Valid reports whether the id has the form of a member id.
func (m Member) Valid() bool { _, err := unpack(string(m), "mem_"); return err == nil }

// NewLockdown returns a random lockdown id.
func NewLockdown() Lockdown { return Lockdown("lkd_" + encode128(random())) }

// NewReport returns a random report id.
func NewReport() Report { return Report("rpt_" + encode128(random())) }

// NewThread returns a random thread id.
func NewThread() Thread { return Thread("thr_" + encode128(random())) }

// Valid reports whether the id has the form of a thread id.
func (t Thread) Valid() bool { _, err := unpack(string(t), "thr_"); return err == nil }

// NewMessage returns a random message id.
func NewMessage() Message { return Message("msg_" + encode128(random())) }

// NewExport returns a random export id.
func NewExport() Export { return ExportOf(random()) }

// ExportOf returns the export id with the given bits.
func ExportOf(b Bits) Export { return Export("exp_" + encode128(b)) }

// Bits packs the id. It fails with ErrMalformed if the id is not an export id.
func (e Export) Bits() (Bits, error) { return unpack(string(e), "exp_") }

// Valid reports whether the id has the form of a registration id.
func (r Registration) Valid() bool { _, err := unpack(string(r), "reg_"); return err == nil }

// Valid reports whether the id has the form of the id of a client that registered itself.
func (c Client) Valid() bool { _, err := unpack(string(c), "oc_"); return err == nil }

// NewClient returns a random id for an OAuth client that registers itself.
func NewClient() Client { return Client("oc_" + encode128(random())) }

// Valid reports whether the id has the form of a key id.
func (k Key) Valid() bool { _, err := unpack(string(k), "key_"); return err == nil }

func unpack(s, prefix string) (Bits, error) {
	body, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return Bits{}, ErrMalformed
	}
	return decode128(body)
}
