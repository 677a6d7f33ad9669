package dynamo

import (
	"context"
	"time"

	"vitrine/shared/publishing/lookup"
)

// Copies stores when the data was last copied. Programs write it that copy data; there is no item where none ever did.
type Copies struct{ *db }

var _ lookup.Copies = Copies{}

// Record stores the instant of a finished copy.
func (s Copies) Record(ctx context.Context, at time.Time) error {
	t := s.begin()
	t.put(newItem(copyKey()).time("at", at), "", nil, nil)
	return s.commit(ctx, t)
}

// Newest implements lookup.Copies.
func (s Copies) Newest(ctx context.Context) (time.Time, error) {
	i, err := s.get(ctx, copyKey())
	return i.getTime("at"), err
}
