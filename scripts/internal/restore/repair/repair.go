// Package repair makes a restored set of tables and its bucket consistent, as far as that can be done without guessing.
package repair

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

// window is how far from the instant of a restore a transaction may be torn, because tables are restored one by one.
const window = 2 * time.Second

// Set is a restored set at work.
type Set struct {
	invariant.Deployment
	Instant time.Time // of the copy
	Now     time.Time
	Out     io.Writer
}

// Repair repairs what it can, and returns what is left: one error for each breach of an invariant. It may stop anywhere
// and be called again. No other process may write meanwhile.
func (s Set) Repair(ctx context.Context) ([]error, error) {
	err := s.mend(ctx, s.dropSessions, // first, because the objects of a session that is pending again belong to it
		s.tell, s.removeHints, s.addReferences, s.removeObjects)
	if err != nil {
		return nil, err
	}
	return invariant.Check(ctx, s.Deployment), nil
}

// Torn repairs the rows of torn transactions as Repair does, and leaves the bucket alone, because a living set may use
// it, too.
func (s Set) Torn(ctx context.Context) error {
	return s.mend(ctx, s.dropSessions, s.tell, s.addReferences)
}

// DropTorn takes back finalizations whose revisions are missing. It comes before events are done again, because what
// was done later hides them: an artifact that is deleted again names no draft.
func (s Set) DropTorn(ctx context.Context) error { return s.mend(ctx, s.dropSessions) }

// step repairs some of the damage and reports whether it did anything.
type step func(context.Context, invariant.Damage) (did bool, err error)

// mend takes steps. It looks for damage again after each that did anything, because that reads everything.
func (s Set) mend(ctx context.Context, steps ...step) error {
	did, found := true, invariant.Damage{}
	for _, take := range steps {
		var err error
		if did {
			found, err = invariant.Find(ctx, s.Deployment)
		}
		if err == nil {
			did, err = take(ctx, found)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (s Set) stores() dynamo.Stores { return dynamo.New(s.DynamoDB, s.Tables) }

// torn reports whether a transaction of this time may be torn.
func (s Set) torn(at time.Time) bool { return at.Sub(s.Instant).Abs() <= window }

// dropSessions takes back what is left of the finalizations whose revisions are missing. Such a session is pending
// again, so its uploader can finalize it again, or it ends.
func (s Set) dropSessions(ctx context.Context, found invariant.Damage) (did bool, err error) {
	for _, u := range found.Unfinished {
		if !u.At.IsZero() && !s.torn(u.At) {
			continue
		}
		did = true
		for _, key := range u.Events {
			if err := s.Rows().Remove(ctx, s.Tables.Events, key); err != nil {
				return did, err
			}
		}
		if err := s.stores().Recoveries.Unfinalize(ctx, u.Unfinalized, s.Now); err != nil {
			return did, err
		}
		s.say("session %s was finalized without its revision: it can be finalized again", u.Session)
	}
	return did, nil
}

// tell records the events that a torn transaction lacks. Who acted is not known any more.
func (s Set) tell(ctx context.Context, found invariant.Damage) (did bool, err error) {
	for _, e := range found.Untold {
		if !s.torn(e.At) {
			continue
		}
		did = true
		e.ID = id.NewEvent()
		e.Actor = event.BySystem()
		e.Detail = "recorded by a restore, because the copy had the change without its event"
		if err := s.stores().Lookups.Record(ctx, e); err != nil {
			return did, err
		}
		s.say("%s of %s had no event: recorded", e.Action, e.Target.ID)
	}
	return did, nil
}

// removeHints removes entries of the content index whose objects are not there, because the next upload would reuse
// them.
func (s Set) removeHints(ctx context.Context, found invariant.Damage) (bool, error) {
	for _, key := range found.Hints {
		if err := s.Rows().Remove(ctx, s.Tables.Core, key); err != nil {
			return false, err
		}
	}
	s.count(len(found.Hints), "entries of the content index led to no object: removed")
	return len(found.Hints) > 0, nil
}

// addReferences adds the references without which a borrowed file would be deleted with its lender.
func (s Set) addReferences(ctx context.Context, found invariant.Damage) (bool, error) {
	for _, r := range found.Missing {
		err := s.stores().ContentIndex.AddReference(ctx, r.Artifact, r.Revision, []tree.Object{r.Object})
		if err != nil {
			return false, err
		}
	}
	s.count(len(found.Missing), "references of borrowed files were missing: added")
	return len(found.Missing) > 0, nil
}

// removeObjects removes objects that no item leads to. The copy still has them.
func (s Set) removeObjects(ctx context.Context, found invariant.Damage) (bool, error) {
	for _, key := range found.Objects {
		if _, err := s.S3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.Bucket, Key: &key}); err != nil {
			return false, fmt.Errorf("the object %s cannot be deleted: %w", key, err)
		}
	}
	s.count(len(found.Objects), "objects belonged to nothing: deleted")
	return len(found.Objects) > 0, nil
}

func (s Set) say(format string, args ...any) { fmt.Fprintf(s.Out, format+"\n", args...) }

// count says what was done to n things, if there were any.
func (s Set) count(n int, what string) {
	if n > 0 {
		s.say("%d %s", n, what)
	}
}
