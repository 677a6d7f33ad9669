// Package session keeps people signed in to the app host by an opaque id in a cookie and a stored record.
package session

import (
	"crypto/sha256"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/platform/id"
)

// Hash is the SHA-256 of a session id, which has 256 random bits. The store knows sessions by hash only.
type Hash [sha256.Size]byte

// Session is one browser of a member.
type Session struct {
	Hash      Hash
	Member    id.Member
	Workspace id.Workspace
	Epoch     int64     // of the workspace at the start; another epoch ends the session
	Operator  time.Time // when the identity provider authenticated the member as an operator; zero: it did not
	// AuthenticatedAt is when the identity provider authenticated the member; zero: not known.
	AuthenticatedAt time.Time
	CreatedAt       time.Time // also the time of the sign-in
	SeenAt          time.Time // at most limits.SessionSeenEvery old while in use
	Browser         string    // from the User-Agent, so that the member recognises the session
	Network         string    // address prefix of the client at the start
}

// Authenticated is the result of authenticating a request.
type Authenticated struct {
	Session Session
	Member  member.Member
	Actor   credential.Actor
}
