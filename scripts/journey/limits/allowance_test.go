package limits

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// withArtifactsPerDay lets an unclaimed workspace publish n artifacts a day.
func withArtifactsPerDay(n int) func(*stack.Options) {
	return func(o *stack.Options) {
		harness.WithPolicy(func(p *limits.Policy) { p.NewArtifactsPerDay = n })(&o.Limits)
	}
}

func TestF50ParallelPublicationsAtTheLastPlaceOfTheDay(t *testing.T) {
	t.Parallel()
	const day, rivals = 2 * limits.AllowanceShards, 10
	s := harness.NewFaultEnv(t, withArtifactsPerDay(day))
	g := s.NewAgent(t)
	for range day - 1 {
		d := s.DraftBlank(t, g, "")
		harness.Must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	}
	drafts := make([]contract.Finalized, rivals)
	for i := range drafts {
		drafts[i] = s.DraftBlank(t, g, "")
	}
	s.Clock.Advance(time.Minute) // the rate of requests is another matter
	answers := s.Concurrently(t, rivals, func(i int) (wire.Answer, error) {
		return s.Publish(g, wire.NewKey(), drafts[i].ArtifactID, drafts[i].RevisionID)
	})
	won := -1
	for i, a := range answers {
		revision := s.GetItem(t, "A#"+string(drafts[i].ArtifactID), "R#"+string(drafts[i].RevisionID))
		if a.Status == http.StatusOK {
			if won >= 0 {
				t.Error("the last place was given twice")
			}
			won = i
			continue
		}
		harness.WantRefused(t, a, 429, fault.WriteAllowanceExceeded)
		if harness.Text(revision["status"]) != "draft" {
			t.Errorf("a refused draft is %s", harness.Text(revision["status"]))
		}
	}
	if won < 0 {
		t.Fatal("nobody got the last place")
	}
	s.Clock.Advance(harness.RetryAfter(t, answers[(won+1)%rivals]))
	next := drafts[(won+1)%rivals]
	harness.Must(g.Publish(ctx, wire.NewKey(), next.ArtifactID, next.RevisionID))(t) // tomorrow
}

func TestF49TheLastMomentOfADayCountsForThatDay(t *testing.T) {
	t.Parallel()
	const day = limits.AllowanceShards
	s := harness.NewFaultEnv(t, withArtifactsPerDay(day))
	midnight := s.Options.Now().UTC().Truncate(limits.Day).Add(limits.Day)
	s.Clock.Advance(midnight.Add(-100 * time.Millisecond).Sub(s.Options.Now()))
	g := s.NewAgent(t)
	key := wire.NewKey()
	var drafts []contract.Finalized
	for range day + 2 {
		drafts = append(drafts, s.DraftBlank(t, g, ""))
	}
	for _, d := range drafts[:day] {
		harness.Must(g.Publish(ctx, key, d.ArtifactID, d.RevisionID))(t)
	}
	last := drafts[day]
	over := harness.TryPublish(t, g, key, last.ArtifactID, last.RevisionID, nil)
	if harness.WantRefused(t, over, 429, fault.WriteAllowanceExceeded); harness.RetryAfter(t, over) != time.Second {
		t.Errorf("a tenth of a second before midnight Retry-After is %s", harness.RetryAfter(t, over))
	}
	s.Clock.Advance(100 * time.Millisecond)
	for _, d := range drafts { // those of yesterday are answered again and count for yesterday
		if a := harness.TryPublish(t, g, key, d.ArtifactID, d.RevisionID, nil); a.Status != http.StatusOK {
			t.Errorf("at midnight it answers %d %s", a.Status, a.Code())
		}
	}
	for range day - 2 {
		d := s.DraftBlank(t, g, "")
		harness.Must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	}
	last = s.DraftBlank(t, g, "")
	over = harness.TryPublish(t, g, key, last.ArtifactID, last.RevisionID, nil)
	if harness.WantRefused(t, over, 429, fault.WriteAllowanceExceeded); harness.RetryAfter(t, over) != limits.Day {
		t.Errorf("at midnight Retry-After is %s", harness.RetryAfter(t, over))
	}
}

// The actions of a first publication, in their order.
const (
	ofArtifact = iota + 1
	ofRevision
	ofFence
	ofAllowance
)

// falseConditions cancels a transaction because of these actions.
func falseConditions(actions ...int) chaos.Action {
	reasons := make([]types.CancellationReason, ofAllowance+1)
	for i := range reasons {
		reasons[i].Code = aws.String("None")
	}
	for _, i := range actions {
		reasons[i].Code = aws.String("ConditionalCheckFailed")
	}
	return chaos.Cancel(reasons...)
}

func TestF48OfSeveralFalseConditionsTheFirstDecides(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	for _, tt := range []struct {
		name   string
		failed []int
		status int
		code   fault.Code
	}{
		{"artifact before all", []int{ofAllowance, ofFence, ofRevision, ofArtifact}, 404, fault.ArtifactNotFound},
		{"workspace before allowance", []int{ofAllowance, ofFence}, 401, fault.NotAuthenticated},
		{"a revision that moved is looked at again", []int{ofRevision, ofFence, ofAllowance}, 200, ""},
		{"another part of the allowance has room", []int{ofAllowance}, 200, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := s.DraftBlank(t, g, "")
			s.Faults.On("TransactWriteItems").Before(falseConditions(tt.failed...))
			a := harness.TryPublish(t, g, wire.NewKey(), d.ArtifactID, d.RevisionID, nil)
			if a.Status != tt.status || a.Code() != tt.code {
				t.Errorf("%d %s, want %d %s", a.Status, a.Code(), tt.status, tt.code)
			}
		})
	}
	d := s.DraftBlank(t, g, "")
	late := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
		return s.Publish(g, wire.NewKey(), d.ArtifactID, d.RevisionID)
	}, func() {
		if a := harness.TryDelete(t, g, d.ArtifactID); a.Status != http.StatusOK {
			t.Errorf("deleting answers %d", a.Status)
		}
		for n := range 8 { // the workspace is closed, too
			s.Put(t, harness.Item{}, map[string]any{
				"pk":   "W#" + string(harness.TokenOf(t, g).Workspace),
				"sk":   fmt.Sprint("FENCE#", n),
				"lock": "lkd_00000000000000000000000000",
			})
		}
	})
	harness.WantRefused(t, late, 404, fault.ArtifactNotFound)
	harness.WantRefused(
		t,
		harness.TryCreate(t, g, wire.NewKey(), wire.Declare("closed", harness.Page("closed"))),
		401,
		fault.NotAuthenticated,
	)
}

// TestADraftPutsNothingOffThatFallsDueBefore has the invariants look at an artifact whose draft may live longer than
// it.
func TestADraftPutsNothingOffThatFallsDueBefore(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	p := harness.PublishPage(t, g, "ends first")
	s.Clock.Advance(20 * time.Hour)
	d := s.DraftBlank(t, g, p.ArtifactID)
	s.CheckInvariants(t)
	harness.Must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
}
