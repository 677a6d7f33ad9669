package limits

import "time"

// The limits of billing.
const (
	BillingLease     = 5 * time.Minute // how long one delivery of an event holds it
	BillingTolerance = 5 * time.Minute // greatest age of an event's signature
	BillingPatience  = 3 * Day         // how long a removal waits until a subscription is cancelled
)
