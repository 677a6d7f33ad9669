package claim

import (
	"context"
	"slices"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

// wantSameArtifacts checks that two lists hold the same artifacts, in any order.
func wantSameArtifacts(t testing.TB, what string, got, want []id.Artifact) {
	t.Helper()
	got, want = slices.Clone(got), slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d artifacts %v, want %d %v", what, len(got), got, len(want), want)
	}
}

// newLister is what members see of their workspaces.
func newLister(s *harness.ClaimEnv) *artifact.Service {
	return &artifact.Service{Store: s.Store.Artifacts, Now: s.Options.Now}
}

// migratorDies lets the next run of the migrator die at a call, and tells whether it did.
func migratorDies(s *harness.ClaimEnv, w id.Workspace, rule func(*chaos.Rule)) (died bool) {
	process := chaos.Process(ctx)
	r := s.JobFaults.On("")
	rule(r)
	for !chaos.Died(process) {
		done, err := s.Migrator.Run(process, w)
		if done || err != nil && !chaos.Died(process) {
			break
		}
		s.Rest(harness.BetweenSteps)
	}
	s.JobFaults.Clear()
	return chaos.Died(process)
}
