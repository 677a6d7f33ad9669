// Package invariant checks what must hold in the tables and the bucket of a deployment after any
// sequence of requests and faults.
package invariant

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/testkit/rows"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/limits"
)

// Deployment is what Check reads. Its clients must meet no injected fault.
type Deployment struct {
	DynamoDB *dynamodb.Client
	Tables   dynamo.Tables
	S3       *s3.Client
	Bucket   string // may be shared: objects of workspaces that the tables do not have are ignored
	Limits   limits.Limits
	Gap      Gap
}

// Rows returns the tables of the deployment.
func (d Deployment) Rows() rows.Set { return rows.Set{Client: d.DynamoDB, Tables: d.Tables} }

// Gap is a time of which a restored deployment has events without what they tell, such as publications that were lost.
// The zero Gap has none.
type Gap struct{ From, To time.Time }

// has reports whether an event was written in the gap. An event has the time at which its request began, which may be
// some minutes before its commit.
func (g Gap) has(e rows.Item) bool {
	ms, _, _ := strings.Cut(e.Text("sk"), "#")
	at, err := strconv.ParseInt(ms, 10, 64)
	return err == nil && g != Gap{} && at >= g.From.Add(-gapStart).UnixMilli() && at <= g.To.UnixMilli()
}

// forgets reports whether the event of an action at an instant in milliseconds has expired in a restored deployment. An
// action whose time is not known counts as remembered.
func (g Gap) forgets(at int64) bool {
	return at != 0 && at < g.To.Add(time.Hour-limits.EventLife).UnixMilli()
}

// gapStart is how long before the gap a request may have begun that committed in it.
const gapStart = 5 * time.Minute

// Breaches that a restore expects while it is under way, and what Check wraps for each.
var (
	ErrStray   = errors.New("I2: nothing leads to the")
	ErrObject  = errors.New("I1: a file and its object differ")
	ErrCounted = errors.New("I5: what was published first on a day is not what was counted")
)

// Check reads everything and returns one error for each breach, named by the invariant:
//
//	I1  every object of a published revision and of a draft of a live artifact exists, with its size, and so does the
//	    archive of each bundle that is ready, and each archive that an export records
//	I2  every object is reachable from a revision, a session that falls due, or what is queued for deletion; what ended
//	    is queued for purge, and each falls due exactly when it ends; a revision refers to what it borrowed, and
//	    hints lead to objects; so is every diff from a session that falls due; a bundle that is pending falls due, and
//	    every archive belongs to one, to one that is ready, or is queued for deletion; those of exports likewise
//	I4  an artifact has at most one draft, its published revisions are numbered 1, 2, 3 … and the last one is current
//	I5  no counter exceeds its cap; the allowance used on a day is the artifacts published first on it, the pins of a
//	    workspace are its pinned artifacts; ttl is in seconds
//	I6  there is exactly one event for each committed action, and what one action makes exists as a whole; events of the
//	    gap of a restored deployment may be more than the actions
//	I7  a workspace that was claimed is closed for writing, by exactly one token, and what is moved is moved as a whole
//	I8  a finished command has a result, one in flight an owner and a lease; no secret and no URL is stored
//	I9  the threads of an artifact are counted, and each has one place in the order of changes, at its last one
//
// I3, that no read succeeds after an ending, is for tests to ask by reading. No other process may write meanwhile.
func Check(ctx context.Context, d Deployment) []error {
	return d.check(ctx, func(s *snapshot, b *breaches) {
		s.checkObjects(b)
		s.checkBundles(b)
		s.checkExports(b)
		s.checkRevisions(b)
		s.checkCounters(b, &d.Limits)
		s.checkBilling(b)
		s.checkEvents(b, d.Gap)
		s.checkFeedback(b, d.Gap)
		s.checkAtomicity(b)
		s.checkWorkspaces(b)
		s.checkRecords(b)
		s.checkSecrets(b)
	})
}

// Collected returns one error for each item that jobs should have collected by now. No other
// process may write meanwhile.
func Collected(ctx context.Context, d Deployment) []error {
	return d.check(ctx, func(s *snapshot, b *breaches) {
		s.checkCollected(b)
		s.checkCollectedBundles(b)
		s.checkCollectedExports(b)
		s.checkCollectedFeedback(b)
	})
}

func (d Deployment) check(ctx context.Context, look func(*snapshot, *breaches)) []error {
	s, err := d.read(ctx)
	if err != nil {
		return []error{fmt.Errorf("the deployment cannot be read: %w", err)}
	}
	b := &breaches{}
	look(s, b)
	return b.all
}

// Objects returns the sizes of the objects in a home, by key.
func Objects(ctx context.Context, d Deployment, home string) (map[string]int64, error) {
	out := map[string]int64{}
	return out, d.List(ctx, "o/"+home+"/", out)
}

// breaches collects the errors.
type breaches struct{ all []error }

func (b *breaches) add(format string, args ...any) {
	b.all = append(b.all, fmt.Errorf(format, args...))
}
