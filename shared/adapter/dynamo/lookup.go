package dynamo

import (
	"context"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/lookup"
)

// Lookups reads what operators look up, and records each look-up.
type Lookups struct {
	*db
	metadata
}

var _ lookup.Store = Lookups{}

// Link implements lookup.Store.
func (s Lookups) Link(ctx context.Context, p id.Public) (*link.Link, error) {
	i, err := s.get(ctx, linkKey(p))
	return readLink(i, p), err
}

// Key implements lookup.Store.
func (s Lookups) Key(ctx context.Context, p id.Public) (*credential.Key, error) {
	i, err := s.get(ctx, apiKeyKey(p))
	return readAPIKey(i, p), err
}

// Record implements lookup.Store.
func (s Lookups) Record(ctx context.Context, all ...event.Event) error {
	t := s.begin()
	for _, e := range all {
		t.record(e)
	}
	return s.commit(ctx, t)
}
