package limits

import "time"

// LiveWait is when an open page asks again; later where many pages of one artifact are open.
const LiveWait = 3 * time.Second

// ArtifactRenders is how many pages of one artifact a process makes at once, views included that were given up and go
// on. Beyond that readers are told to come again.
const ArtifactRenders = 2
