package repair

import (
	"context"

	"vitrine/scripts/testkit/invariant"
)

// Torn repairs the rows of torn transactions and leaves the bucket alone, because a living set may use it, too. It may
// stop anywhere and be called again. No other process may write to the restored set meanwhile.
func (s Set) Torn(ctx context.Context) error {
	for _, step := range []func(context.Context, invariant.Damage) error{s.dropSessions, s.tell, s.addReferences} {
		found, err := invariant.Find(ctx, s.Deployment)
		if err == nil {
			err = step(ctx, found)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
