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

// artifactsPerDay is how many an unclaimed workspace may publish here.
const artifactsPerDay = limits.AllowanceShards

func withFewArtifacts(o *stack.Options) {
	harness.WithPolicy(func(p *limits.Policy) { p.NewArtifactsPerDay = artifactsPerDay })(&o.Limits)
}

// remainingToday is what the usage policy says is left of the day.
func remainingToday(t *testing.T, g *wire.Agent) int {
	t.Helper()
	policy := harness.Call[contract.UsagePolicy](t, g, 200, "GET", "/v1/usage-policy", nil)
	return *policy.DailyNewArtifactsRemaining
}

func TestF49TheDaysAllowanceEndsAtMidnightUTC(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t, withFewArtifacts)
	g := s.NewAgent(t)
	midnight := s.Options.Now().UTC().Truncate(limits.Day).Add(limits.Day)
	s.Clock.Advance(midnight.Add(-100 * time.Millisecond).Sub(s.Options.Now())) // 23:59:59.9
	key := wire.NewKey()
	var drafts []contract.Finalized
	for range artifactsPerDay + 1 {
		drafts = append(drafts, s.DraftBlank(t, g, ""))
	}
	last := drafts[artifactsPerDay]
	publish := func(d contract.Finalized) wire.Answer {
		return harness.Must(harness.Publish(g, key, d.ArtifactID, d.RevisionID))(t)
	}
	for n, d := range drafts[:artifactsPerDay] {
		if left := remainingToday(t, g); left != artifactsPerDay-n {
			t.Errorf("%d are left after %d", left, n)
		}
		if a := publish(d); a.Status != http.StatusOK {
			t.Fatal(a.Status, a.Code())
		}
	}
	before, over := s.Snapshot(t), publish(last)
	if harness.WantRefused(t, over, 429, fault.WriteAllowanceExceeded); harness.RetryAfter(t, over) != time.Second {
		t.Errorf("100 ms before midnight Retry-After is %s", harness.RetryAfter(t, over))
	}
	s.WantUnchanged(t, before)
	s.Clock.Advance(100 * time.Millisecond)
	for _, d := range drafts { // those of yesterday are answered again and count for yesterday
		if a := publish(d); a.Status != http.StatusOK {
			t.Errorf("at midnight it answers %d %s", a.Status, a.Code())
		}
	}
	if left := remainingToday(t, g); left != artifactsPerDay-1 {
		t.Errorf("on the next day %d are left", left)
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
			a := harness.Must(harness.Publish(g, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
			if a.Status != tt.status || a.Code() != tt.code {
				t.Errorf("%d %s, want %d %s", a.Status, a.Code(), tt.status, tt.code)
			}
		})
	}
	d := s.DraftBlank(t, g, "")
	late := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
		return harness.Publish(g, wire.NewKey(), d.ArtifactID, d.RevisionID)
	}, func() {
		harness.DeleteArtifact(t, g, d.ArtifactID)
		for n := range 8 { // the workspace is closed, too
			s.Put(t, harness.Item{}, map[string]any{
				"pk":   "W#" + string(harness.TokenOf(t, g).Workspace),
				"sk":   fmt.Sprint("FENCE#", n),
				"lock": "lkd_00000000000000000000000000",
			})
		}
	})
	harness.WantRefused(t, late, 404, fault.ArtifactNotFound)
	closed := harness.Must(harness.Create(g, wire.NewKey(), wire.Declare("closed", harness.Page("closed"))))(t)
	harness.WantRefused(t, closed, 401, fault.NotAuthenticated)
}
