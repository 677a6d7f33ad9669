//go:build large

package machine

import (
	"testing"

	"github.com/aws/smithy-go/middleware"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/chaos"
)

// TestARunThatDiesAtEveryCallGoesOn lets a run from its beginning die at each of its calls in turn, before or after it
// took effect.
func TestARunThatDiesAtEveryCallGoesOn(t *testing.T) {
	e := newEnv(t)
	g := e.NewAgent(t)
	kept, gone := harness.PublishPage(t, g, "kept"), harness.PublishPage(t, g, "gone")
	c := e.copy(t)
	harness.DeleteArtifact(t, g, gone.ArtifactID)
	e.stop(t)
	r := e.restore(t, c)
	n := 1
	for ; ; n++ {
		faults := chaos.New()
		if rule := faults.On("").Nth(n); n%2 == 0 {
			rule.After(chaos.Crash)
		} else {
			rule.Before(chaos.Crash)
		}
		dying := r
		dying.Middleware = []func(*middleware.Stack) error{faults.Add}
		process := chaos.Process(t.Context())
		err := dying.Run(process)
		if !chaos.Died(process) {
			expect.OK(t, err)
			break
		}
		expect.OK(t, r.Run(t.Context()))
		expect.OK(t, r.Abandon(t.Context()))
	}
	t.Logf("a run makes %d calls", n-1)
	e.serve(t, r)
	e.WantContent(t, kept.RevisionContentURL, harness.Page("kept").Body)
	e.WantGone(t, gone.RevisionContentURL)
}
