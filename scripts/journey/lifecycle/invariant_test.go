package lifecycle

import (
	"errors"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/invariant"
)

func TestTheInvariantsSeeWhatKeepsNoBytesOrCollectsNone(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	first := publishWithLogo(t, s, m.Agent, "first")
	second := finish(t, m.Agent, borrowOnlyLogo(t, s, m.Agent, ""))
	gone := harness.PublishPage(t, m.Agent, "gone")
	deleteArtifact(t, m.Agent, gone.ArtifactID)
	s.RunJobs(t)
	for _, b := range []struct {
		name, pk, sk string
		set          map[string]any // nil removes the item
	}{
		{"a borrowed file without reference", "O#", "R#", nil},
		{"a hint at nothing", "B#", "H", map[string]any{"obj": "upl_X#0"}},
		{"an object that nobody will delete", "JOB#DELETE#", "J", nil},
		{"a deletion that never falls due", "JOB#DELETE#", "J", map[string]any{"g2p": nil}},
		{
			"a retained revision that is not purged", "A#" + string(second.ArtifactID), "R#",
			map[string]any{"status": "retained"},
		},
		{"an ended artifact that is not purged", "A#" + string(first.ArtifactID), "META", map[string]any{
			"status": "expired",
			"g2p":    nil,
		}},
	} {
		t.Run(b.name, func(t *testing.T) {
			repair := s.Damage(t, s.Tables.Core, b.pk, b.sk, b.set)
			s.WantBreach(t, "I2")
			repair()
		})
	}
	s.CheckInvariants(t)
	left := errors.Join(invariant.Collected(ctx, s.Deployment())...)
	for _, part := range []string{"nothing refers to the object", "still waits to be deleted", "still queued as"} {
		if strings.Count(left.Error(), part) != 1 {
			t.Errorf("what is left to collect is told as %v", left)
		}
	}
	s.RunCollector(t)
}
