package faults

import (
	"net/http"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
)

// TestF99ADraftIsMadeAlthoughItsPagesCannotBeRead reads the page to warn about it, in vain.
func TestF99ADraftIsMadeAlthoughItsPagesCannotBeRead(t *testing.T) {
	never := make(chan struct{})
	for name, rule := range map[string]func(*harness.FaultEnv){
		"S3 cannot be reached":    func(s *harness.FaultEnv) { s.Faults.On("GetObject").Always().Before(chaos.Unreachable) },
		"S3 fails":                func(s *harness.FaultEnv) { s.Faults.On("GetObject").Always().Before(chaos.ServerError) },
		"the bytes end early":     func(s *harness.FaultEnv) { s.Faults.On("GetObject").Always().After(chaos.Cut(3)) },
		"the bytes break off":     func(s *harness.FaultEnv) { s.Faults.On("GetObject").Always().After(chaos.Break(3)) },
		"S3 does not answer":      func(s *harness.FaultEnv) { s.Faults.On("GetObject").Always().Before(chaos.Hold(never)) },
		"the answers are dropped": func(s *harness.FaultEnv) { s.Faults.On("GetObject").Always().After(chaos.Timeout) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := harness.NewFaultEnv(t)
			g := s.NewAgent(t)
			u := s.Upload(t, g, "", "<img src=gone.png>")
			rule(s)
			a := harness.TryFinalize(t, g, wire.NewKey(), u.UploadSessionID)
			var draft contract.Finalized
			harness.Decode(t, a, &draft)
			if a.Status != http.StatusOK || len(draft.Warnings) > 0 {
				t.Errorf("finalize answers %d %s", a.Status, a.Body)
			}
			s.Faults.Clear()
			published := harness.Must(g.Publish(ctx, wire.NewKey(), u.ArtifactID, u.RevisionID))(t)
			if published.RevisionID != u.RevisionID {
				t.Errorf("published is %+v", published)
			}
			s.CheckInvariants(t)
		})
	}
}
