// Package session keeps people signed in to the app host: an opaque id in a cookie, everything else in the store.
package session

import (
	"crypto/sha256"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/platform/id"
)

// Hash is SHA-256 of a session id, which has 256 random bits; the store knows sessions by nothing else.
type Hash [sha256.Size]byte

// Session is one browser of a member.
type Session struct {
	Hash      Hash
	Member    id.Member
	Workspace id.Workspace
	Epoch     int64     // of the workspace when it began; another one ends it
	Operator  time.Time // when the identity provider vouched for the member as an operator; zero: it did not
	CreatedAt time.Time // also when the member signed in
	SeenAt    time.Time // at most limits.SessionSeenEvery behind
	Browser   string    // of the User-Agent, for the member to recognise it
	Network   string    // address prefix of where it began
}

// Authenticated is the member behind a request.
type Authenticated struct {
	Session Session
	Member  member.Member
	Actor   credential.Actor
}
