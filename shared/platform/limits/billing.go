package limits

import "time"

// What has to do with the payment provider.
const (
	BillingLease     = 5 * time.Minute // one delivery of an event has it for so long
	BillingTolerance = 5 * time.Minute // age of an event's signature
	BillingPatience  = 3 * Day         // how long a removal waits until a subscription is cancelled
)
