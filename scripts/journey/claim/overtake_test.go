package claim

import (
	"context"
	"fmt"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/id"
)

// TestAReadThatAClaimOrAMoveOvertakesSucceeds has a claim, a move, or what ends it seconds later happen before and
// after each call that a request makes.
func TestAReadThatAClaimOrAMoveOvertakesSucceeds(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t, harness.Unlimited)
	for _, happens := range []string{aClaim, aMove, itsEnd} {
		for _, r := range overtaken {
			if r.owner && happens == aClaim {
				continue // before the claim it is not theirs
			}
			t.Run(r.name+", "+happens, func(t *testing.T) {
				prepared := prepareOverlap(t, s, happens)
				calls := s.Calls(func() { r.answers(t, prepared) })
				for n := range calls {
					for _, after := range []bool{false, true} {
						overtakeRead(t, s, r, happens, n+1, after)
					}
				}
			})
		}
	}
}

// What happens. The end follows the last artifact that is moved by claim.Recheck.
const (
	aClaim = "a claim"
	aMove  = "a move"
	itsEnd = "the end of a move"
)

// overtakenRead is a request that reads; owner tells that it is the claimant's.
type overtakenRead struct {
	name  string
	owner bool
	ask   func(w *claimScenario) (wire.Answer, error)
}

var overtaken = []overtakenRead{
	{"content", false, func(w *claimScenario) (wire.Answer, error) {
		return w.source.Do(ctx, "GET", w.all[0].RevisionContentURL, nil)
	}},
	{"public view", false, func(w *claimScenario) (wire.Answer, error) {
		return w.source.Do(ctx, "GET", w.all[0].AgentViewURL, nil)
	}},
	{"link", false, func(w *claimScenario) (wire.Answer, error) {
		r, err := w.source.Resolve(ctx, w.all[0].UnlistedURL)
		if err == nil && r.AgentView.ArtifactID != w.ids[0] {
			err = fmt.Errorf("it opens %s", r.AgentView.ArtifactID)
		}
		return wire.Answer{Status: http.StatusOK}, err
	}},
	{"content by a new URL", true, func(w *claimScenario) (wire.Answer, error) {
		return w.source.Do(ctx, "GET", w.all[0].PrivateURL, nil)
	}},
	{"view", true, func(w *claimScenario) (wire.Answer, error) {
		return w.owner.Do(ctx, "GET", w.owner.At.APIURL+"/v1/artifacts/"+string(w.ids[0])+"/agent-view", nil)
	}},
	{"list", true, func(w *claimScenario) (wire.Answer, error) {
		ids, err := harness.ListAllArtifacts(w.owner.Agent, 1)
		seen := map[id.Artifact]bool{}
		for _, a := range ids {
			seen[a] = true
		}
		if err == nil && (len(ids) != 2 || len(seen) != 2) {
			err = fmt.Errorf("the list shows %v, want %v", ids, w.ids)
		}
		return wire.Answer{Status: http.StatusOK}, err
	}},
}

func (r overtakenRead) answers(t testing.TB, w *claimScenario) {
	t.Helper()
	if a, err := r.ask(w); err != nil || a.Status != http.StatusOK {
		t.Errorf("%s answers %d %s (%v)", r.name, a.Status, a.Body, err)
	}
}

// prepareOverlap is claimed, unless a claim is what will happen. Without its key a request of the source is a
// stranger's.
func prepareOverlap(t testing.TB, s *harness.ClaimEnv, happens string) *claimScenario {
	t.Helper()
	if happens == aClaim {
		w := newUnclaimedScenario(t, s)
		w.source.Key = ""
		return w
	}
	w := newClaimScenario(t, s)
	if w.source.Key = ""; happens == itsEnd {
		harness.Must(s.Migrator.Run(ctx, w.source.WorkspaceID))(t)
	}
	return w
}

// overtakeRead asks once more, and lets it happen at the n-th call.
func overtakeRead(t testing.TB, s *harness.ClaimEnv, r overtakenRead, happens string, n int, after bool) {
	t.Helper()
	w := prepareOverlap(t, s, happens)
	happen := chaos.Run(func() {
		var err error
		switch happens {
		case aClaim:
			_, err = s.Claim(t, w.owner, wire.NewKey(), w.source.ClaimToken)
		case aMove:
			_, err = s.Migrator.Run(ctx, w.source.WorkspaceID)
		case itsEnd:
			for done := false; !done && err == nil; {
				s.Clock.Advance(harness.BetweenSteps)
				done, err = s.Migrator.Run(ctx, w.source.WorkspaceID)
			}
		}
		if err != nil {
			t.Error(err)
		}
	})
	rule := s.Faults.On("").Nth(n)
	if after {
		rule.After(happen)
	} else {
		rule.Before(happen)
	}
	if r.answers(t, w); rule.Fired() != 1 {
		t.Errorf("nothing happened at call %d", n)
	}
	s.Faults.Clear()
	r.answers(t, w)
	s.Migrate(t, w.source.WorkspaceID)
	r.answers(t, w)
}

// TestGatesFromBeforeAndAfterAMoveLetThrough has a batch hold the source as it was before its claim, and the artifact
// as it is after the move: no snapshot is promised.
func TestGatesFromBeforeAndAfterAMoveLetThrough(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t)
	w := newClaimScenario(t, s)
	w.source.Key = ""
	s.Migrate(t, w.source.WorkspaceID)
	for _, r := range overtaken[:3] {
		source := chaos.Key("pk", "W#"+string(w.source.WorkspaceID))
		old := s.Faults.On("BatchGetItem").If(source).After(func(_ context.Context, c *chaos.Call) error {
			for _, i := range c.Output.(*dynamodb.BatchGetItemOutput).Responses[s.Tables.Core] {
				if harness.Text(i["pk"]) == "W#"+string(w.source.WorkspaceID) {
					harness.SetAttributes(i, map[string]any{"into": nil, "floor": nil, "claimed_at": nil})
				}
			}
			return nil
		})
		if r.answers(t, w); old.Fired() != 1 {
			t.Errorf("%s asked nothing", r.name)
		}
		s.Faults.Clear()
	}
}
