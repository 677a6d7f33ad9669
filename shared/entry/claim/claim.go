// Package claim moves an ephemeral workspace with everything in it into a member's workspace.
//
// One transaction of constant size is the moment of the claim: it points the source at its destination. Readers follow
// that pointer at once; Migrator moves the artifacts one by one afterwards, and may die and start again anywhere.
package claim

import (
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/id"
)

// Token is a stored claim token.
type Token struct {
	ID           id.ClaimToken
	Public       id.Public
	Workspace    id.Workspace    // the ephemeral one
	Registration id.Registration // that it belongs to; empty: a plain provision
	Hash         credential.Hash
	ClaimCode    string
	CreatedAt    time.Time
	ExpiresAt    time.Time
	RedeemedAt   time.Time // zero: not yet
}

// Preview is what a person sees before they claim.
type Preview struct {
	Workspace id.Workspace
	CreatedAt time.Time
	ExpiresAt time.Time // of the claim token
	Titles    []string  // newest first, at most limits.ClaimTitles
	Count     int       // of all artifacts, up to limits.ClaimListed
}
