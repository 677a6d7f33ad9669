package credential

import (
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
)

// Record is a key without its secret, for stored results and exports.
type Record struct {
	ID         id.Key           `json:"id"`
	Workspace  id.Workspace     `json:"workspace_id"`
	Name       string           `json:"name"`
	Public     id.Public        `json:"public_id"`
	Scopes     []Scope          `json:"scopes"`
	RevokedAt  idempotency.Time `json:"revoked_at"`
	ExpiresAt  idempotency.Time `json:"expires_at"`
	CreatedAt  idempotency.Time `json:"created_at"`
	LastUsedAt idempotency.Time `json:"last_used_at"`
}

// Record returns the record of a key.
func (k Key) Record() Record {
	return Record{
		ID:         k.ID,
		Workspace:  k.Workspace,
		Name:       k.Name,
		Public:     k.Public,
		Scopes:     k.Scopes,
		RevokedAt:  idempotency.Time{Time: k.RevokedAt},
		ExpiresAt:  idempotency.Time{Time: k.ExpiresAt},
		CreatedAt:  idempotency.Time{Time: k.CreatedAt},
		LastUsedAt: idempotency.Time{Time: k.LastUsedAt},
	}
}

// key returns the fields of a key that its record holds.
func (r Record) key() Key {
	return Key{
		ID:         r.ID,
		Workspace:  r.Workspace,
		Name:       r.Name,
		Public:     r.Public,
		Scopes:     r.Scopes,
		RevokedAt:  r.RevokedAt.Time,
		ExpiresAt:  r.ExpiresAt.Time,
		CreatedAt:  r.CreatedAt.Time,
		LastUsedAt: r.LastUsedAt.Time,
	}
}
