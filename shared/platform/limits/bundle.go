package limits

import "time"

// BundleLease is how long a function has a bundle to itself that it makes: longer than it may run.
const BundleLease = 6 * time.Minute

// MaxBundleSize is the length of the longest bundle, which the content host streams in one answer. Lambda streams at
// most 200 MB.
const MaxBundleSize = 180 * MiB

// BundleSize returns the length of the longest bundle of a tier.
func (p Policy) BundleSize() int64 { return min(p.ArtifactSize, MaxBundleSize) }
