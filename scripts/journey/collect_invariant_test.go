package journey

import (
	"strings"
	"testing"

	"vitrine/scripts/testkit/invariant"
)

func TestTheInvariantsSeeWhatKeepsNoBytesOrCollectsNone(t *testing.T) {
	t.Parallel()
	s := newJobStand(t)
	m := s.claimant(t)
	first := s.withLogo(t, m.Agent, "first")
	second := finishes(t, m.Agent, s.borrowsAlone(t, m.Agent, ""))
	gone := published(t, m.Agent, "gone")
	deletes(t, m.Agent, gone.ArtifactID)
	s.works(t)
	for _, b := range []breach{
		{"a borrowed file without reference", "I2", faultCore, "O#", "R#", nil},
		{"a hint at nothing", "I2", faultCore, "B#", "H", map[string]any{"obj": "upl_X#0"}},
		{"an object that nobody will delete", "I2", faultCore, "JOB#DELETE#", "J", nil},
		{"a deletion that never falls due", "I2", faultCore, "JOB#DELETE#", "J", map[string]any{"g2p": nil}},
		{"a retained revision that is not purged", "I2", faultCore, "A#" + string(second.ArtifactID), "R#", map[string]any{"status": "retained"}},
		{"an ended artifact that is not purged", "I2", faultCore, "A#" + string(first.ArtifactID), "META", map[string]any{"status": "expired", "g2p": nil}},
	} {
		t.Run(b.name, func(t *testing.T) {
			whole := s.first(t, b)
			s.rewrite(t, b.table(s.faultStand), whole, b.set)
			s.sees(t, b.invariant)
			s.rewrite(t, b.table(s.faultStand), whole, map[string]any{})
		})
	}
	s.sound(t)
	left := invariant.Collected(ctx, s.inside())
	if len(left) != 2 || !strings.Contains(left[0].Error()+left[1].Error(), "still waits to be deleted") {
		t.Errorf("what is left to collect is told as %v", left)
	}
	s.collects(t)
}
