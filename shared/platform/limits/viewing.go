package limits

import "time"

// LiveWait is when an open page asks again; later where many pages of one artifact are open.
const LiveWait = 3 * time.Second

// FeedbackWait is when a client that waits for feedback asks again. The rate of its workspace keeps the polls of an artifact
// so few that more waiting clients need no longer pause.
const FeedbackWait = 10 * time.Second

// AddressedThreads is how many threads one publication says to have dealt with. The contract repeats it.
const AddressedThreads = 20

// ArtifactRenders is how many pages of one artifact a process makes at once, views included that were given up and go
// on. Beyond that readers are told to come again.
const ArtifactRenders = 2
