package replay

import (
	"context"
	"time"

	"vitrine/scripts/testkit/invariant"
)

// CloseGap ends what may have been ended in a time of which no events are left.
func CloseGap(ctx context.Context, set invariant.Deployment, now time.Time) (Report, error) {
	return Report{}, nil
}

// EndCredentials ends what people and agents hold.
func EndCredentials(ctx context.Context, set invariant.Deployment, now time.Time) (Report, error) {
	return Report{}, nil
}

// ForgetRetries deletes the records of commands that began after the instant.
func ForgetRetries(ctx context.Context, set, living invariant.Deployment, instant time.Time) (Report, error) {
	return Report{}, nil
}

// Finish records that the deployment was restored.
func Finish(ctx context.Context, set invariant.Deployment, instant, now time.Time) error { return nil }
