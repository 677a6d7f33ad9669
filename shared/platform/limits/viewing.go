package limits

import "time"

// BundleLease is how long a function has a bundle to itself that it makes: longer than it may run.
const BundleLease = 6 * time.Minute

// LiveWait is when an open page asks again; later where many pages of one artifact are open.
const LiveWait = 3 * time.Second

// ArtifactRenders is how many pages of one artifact a process makes at once, views included that were given up and go
// on. Beyond that readers are told to come again.
const ArtifactRenders = 2
