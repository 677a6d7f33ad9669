package limits

import "time"

// The limits of a bundle. One function at a time makes a bundle. It holds the bundle for BundleLease, which is longer
// than that function may run. A bundle fails for good after BundleAttempts.
const (
	BundleLease    = 6 * time.Minute
	BundleAttempts = 5
	BundleRetry    = 5 * time.Second // when a client asks again for a pending bundle
	BundlesAtOnce  = 2               // bundles that one function makes at once
	BundleAhead    = 32 * MiB        // bytes of files that the function reads ahead
)

// The waits between two polls of an open page. A page polls after LiveWait, or after up to MaxLiveWait where many pages
// of one artifact are open.
const (
	LiveWait    = 3 * time.Second
	MaxLiveWait = time.Minute
	LiveRetry   = 15 * time.Second // Retry-After of a poll that the tables did not answer
)
