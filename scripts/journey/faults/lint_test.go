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
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	for name, fails := range map[string]func(*chaos.Rule){
		"S3 cannot be reached":    func(r *chaos.Rule) { r.Before(chaos.Unreachable) },
		"S3 fails":                func(r *chaos.Rule) { r.Before(chaos.ServerError) },
		"the bytes end early":     func(r *chaos.Rule) { r.After(chaos.Cut(3)) },
		"the bytes break off":     func(r *chaos.Rule) { r.After(chaos.Break(3)) },
		"S3 does not answer":      func(r *chaos.Rule) { r.Before(chaos.Hold(make(chan struct{}))) },
		"the answers are dropped": func(r *chaos.Rule) { r.After(chaos.Timeout) },
	} {
		u := s.Upload(t, g, "", "<img src=gone.png>")
		fails(s.Faults.On("GetObject").Always())
		a := harness.TryFinalize(t, g, wire.NewKey(), u.UploadSessionID)
		s.Faults.Clear()
		var draft contract.Finalized
		if harness.Decode(t, a, &draft); a.Status != http.StatusOK || len(draft.Warnings) > 0 {
			t.Errorf("%s: finalize answers %d %s", name, a.Status, a.Body)
		}
		harness.Must(g.Publish(ctx, wire.NewKey(), u.ArtifactID, u.RevisionID))(t)
	}
}
