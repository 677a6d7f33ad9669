// Package replay does again in a restored set of tables what was done in the living one since the instant of the
// copy, as far as its events tell.
//
// A restored set does not know what came after its instant: what was deleted, revoked or locked since then would be
// back. Read takes the events of the living set, New decides which of them are done again, and Apply does them with
// the stores of the service and the original event, so that each action has exactly one event in the restored set.
package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/text"
)

// window is how long before the instant events are read again. An event has the time at which its request began, and
// a request may run that long before it commits.
const window = 5 * time.Minute

// most is how many deletions or revocations of one kind are done again without a decision of the operator.
const most = 100

// deletions are the actions that take content away.
var deletions = []event.Action{
	event.ArtifactDeleted, event.DeletionRequested, event.DeletionDone,
	event.FeedbackDeleted, event.FeedbackMessageDeleted, event.FeedbackDropped,
}

// revocations are the actions that end access.
var revocations = []event.Action{
	event.LinkRevoked, event.VisibilityUpdated, event.KeyRevoked, event.GrantRevoked, event.RefreshReused,
	event.TokenRevoked, event.DelegationRevoked, event.ClaimLocked, event.SessionsEnded,
}

// openings are the actions that give access or contents to others, or let them end. Like deletions they do harm if they
// are forged.
var openings = []event.Action{
	event.ArtifactExpired, event.ArtifactUnpinned, event.LinksUnlocked, event.LockdownLifted, event.DeletionCancelled,
	event.WorkspaceClaimed, event.ClaimCompleted,
}

// Plan is what Apply does with the events that were read.
type Plan struct {
	instant time.Time
	decided bool          // the operator gave exceptions, if only none
	applied []event.Event // to be done again, in the order of time
	left    []event.Event // left out by an exception
	others  []event.Event // cannot be done again from their events

	next     map[id.Event]event.Event // the next event about the same switch
	together map[id.Event]event.Event // a claim, and that its agent was let in: each the other
}

// New sorts events into those that are done again and the others. instant is the one of the restored set. A nil except
// says that the operator has not decided; an empty one that all is done again.
func New(events []event.Event, instant time.Time, except []Exception) (Plan, error) {
	p := Plan{instant: instant, decided: except != nil}
	for _, x := range except {
		if err := x.check(); err != nil {
			return Plan{}, err
		}
	}
	for _, e := range inOrder(events) {
		switch {
		case steps[e.Action] == nil:
			p.others = append(p.others, e)
		case slices.ContainsFunc(except, func(x Exception) bool { return x.matches(e) }):
			p.left = append(p.left, e)
		default:
			p.applied = append(p.applied, e)
		}
	}
	p.relate()
	return p, nil
}

// Newest returns the time of the newest event until now, by the clocks of the hosts; zero: there is none. A forged event
// may have a time to come.
func (p Plan) Newest(now time.Time) (at time.Time) {
	for _, e := range slices.Concat(p.applied, p.left, p.others) {
		if e.At.After(at) && !e.At.After(now) {
			at = e.At
		}
	}
	return at
}

// Since leaves out what the Apply of a plan has done whose newest event was of a time: events of long before. It is for
// the end of a restore, when people wait. Claims stay, because sources that could not be claimed again live from the
// last Apply on. The zero time keeps all.
func (p Plan) Since(newest time.Time) Plan {
	from := newest.Add(-2 * window)
	if from.Before(p.instant) {
		return p
	}
	p.instant = from
	for _, events := range []*[]event.Event{&p.applied, &p.left, &p.others} {
		*events = slices.DeleteFunc(slices.Clone(*events), func(e event.Event) bool {
			return e.At.Before(from) && e.Action != event.WorkspaceClaimed
		})
	}
	return p
}

// inOrder returns events by time and id, each once.
func inOrder(events []event.Event) []event.Event {
	all := slices.Clone(events)
	slices.SortFunc(all, func(x, y event.Event) int {
		return cmp.Or(x.At.Compare(y.At), strings.Compare(string(x.ID), string(y.ID)))
	})
	return slices.CompactFunc(all, func(x, y event.Event) bool { return x.ID == y.ID })
}

// Decided refuses a plan that would delete or revoke much without a decision of the operator, because a mistaken or
// malicious mass deletion writes the same events as many wanted ones.
func (p Plan) Decided() error {
	if p.decided {
		return nil
	}
	for _, action := range slices.Concat(deletions, revocations) {
		var found []event.Event
		for _, e := range p.applied {
			if e.Action == action {
				found = append(found, e)
			}
		}
		if len(found) > most {
			actor, hour, n := busiest(found)
			return fmt.Errorf("the plan has %d events %s, %d of them by %s in the hour of %s: nothing was applied. "+
				"Name in a file what to leave out, or write [] into it to leave out nothing, and give it with --except",
				len(found), action, n, actor, hour)
		}
	}
	return nil
}

// busiest returns the actor and the hour with most of the events.
func busiest(events []event.Event) (actor, hour string, n int) {
	counts := map[[2]string]int{}
	for _, e := range events {
		k := [2]string{actorOf(e), hourOf(e)}
		if counts[k]++; counts[k] > n {
			actor, hour = k[0], k[1]
			n = counts[k]
		}
	}
	return actor, hour, n
}

func actorOf(e event.Event) string { return line(e.Actor.Type + " " + e.Actor.ID) }

// line returns a text of an event as a part of one line. A forged event may hold what terminals obey.
func line(s string) string { return strings.Join(strings.Fields(text.Visible(s)), " ") }

func hourOf(e event.Event) string { return e.At.UTC().Format("2006-01-02 15h") }
