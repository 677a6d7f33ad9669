package feedback

import (
	"context"
	"net/netip"
	"time"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

// Guest is a person who came through an access link. Author.ID is a digest of the token by which the guest is known.
const Guest Kind = "guest"

// Held is what a guest wrote and no member has let through. Its words are in no thread, so that nothing that agents read
// can have them.
type Held struct {
	Artifact id.Artifact
	Number   int64     // Counts.HeldSeq as it was then
	Thread   id.Thread // that it replies in, or that it begins
	Reply    bool
	Revision id.Revision // of a thread that it begins, as are Path and Anchor
	Path     string
	Anchor   Anchor
	Author   Author
	Body     string
	At       time.Time
}

// Letter is what a guest sends.
type Letter struct {
	Public id.Public // of the access link
	Blob   string
	Token  string // by which the guest is known; empty: it is the first letter
	Name   string
	Key    string // makes a repetition of the letter harmless
	Thread id.Thread
	Remark        // to a Thread only its body
	Proof  *Proof // nil: none
	From   netip.Addr

	RequestID string
}

// Proof is a solved challenge.
type Proof struct {
	Challenge contract.Challenge
	Solution  contract.Solution
}

// Sent is what becomes of a letter.
type Sent struct {
	Token  string // of the guest from now on
	Thread id.Thread
	Held   bool // no member has let it through
}

// Correspondence is what a guest may see: what guests wrote and members let through, with the replies in these threads, and
// what waits of the guest's own.
type Correspondence struct {
	Artifact *artifact.Artifact
	Seq      int64
	Writes   bool // the guest may write
	Threads  []Talk
	Waiting  []Held
}

// Talk is a thread with its messages.
type Talk struct {
	Thread
	Said []Message
	Own  bool // the guest has begun it
}

// Guests is what the pages of access links ask.
type Guests interface {
	// Write takes a letter. Errors: not_found (the link does not open, or its artifact takes no letters of guests),
	// invalid_request, feedback_conflict, rate_limited_actor, rate_limited_artifact, *pow.Required, pow_invalid.
	Write(ctx context.Context, l Letter) (Sent, error)
	// Read returns what a guest may see; token may be empty. Errors: not_found.
	Read(ctx context.Context, public id.Public, blob, token string) (Correspondence, error)
}
