// Package deletion has the journeys of workspaces that are deleted.
package deletion

import "context"

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()
