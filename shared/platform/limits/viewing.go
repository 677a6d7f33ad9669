package limits

import "time"

// A bundle is made by one function at a time, which has it for BundleLease: longer than that function may run. After
// BundleAttempts it is given up.
const (
	BundleLease    = 6 * time.Minute
	BundleAttempts = 5
	BundleRetry    = 5 * time.Second // when a client asks again for one that is late
	BundlesAtOnce  = 2               // made at once by one function
	BundleAhead    = 32 * MiB        // bytes of files that a function reads ahead
)

// An open page asks again after LiveWait, and later where many pages of one artifact are open.
const (
	LiveWait  = 3 * time.Second
	LiveRetry = 15 * time.Second // Retry-After of a poll that the tables did not answer
)
