// Package claim moves the contents of an ephemeral workspace into a member's workspace.
//
// A claim is one transaction of constant size that points the source at its destination. Readers follow that pointer at
// once. Migrator moves the artifacts afterwards, and may die and start again anywhere.
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
	Registration id.Registration // the registration of the token; empty: it was provisioned
	Hash         credential.Hash
	ClaimCode    string
	CreatedAt    time.Time
	ExpiresAt    time.Time
	RedeemedAt   time.Time // zero: not yet
}

// Preview is the content of the page before a claim.
type Preview struct {
	Workspace id.Workspace
	CreatedAt time.Time
	ExpiresAt time.Time // of the claim token
	Titles    []string  // newest first, at most limits.ClaimTitles
	Count     int       // of all artifacts, up to limits.ClaimListed
}
