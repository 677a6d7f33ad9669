package lifecycle

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

// sessionsEnd is when every session of now is cleared away.
const sessionsEnd = limits.SessionLife + limits.CleanupSlack

// runJobsUntil starts the jobs and returns when they are about to make a call; the result lets them go on and waits.
func runJobsUntil(t testing.TB, s *harness.JobEnv, operation string) (release func()) {
	t.Helper()
	held, ended := make(chan struct{}), make(chan error, 1)
	rule := s.JobFaults.On(operation).Before(chaos.Hold(held))
	go func() { ended <- s.Host.Run(ctx) }()
	select {
	case <-rule.Reached():
	case err := <-ended:
		t.Fatalf("the jobs make no %s: %v", operation, err)
	}
	return func() {
		t.Helper()
		close(held)
		harness.NoError(t, <-ended)
	}
}

// objectsOf are the keys of what lies in the home of an agent.
func objectsOf(t testing.TB, s *harness.JobEnv, g *wire.Agent) []string {
	t.Helper()
	return objectKeys(t, s, harness.TokenOf(t, g).Workspace)
}

// wantObjects tells how many objects lie in the home of an agent.
func wantObjects(t testing.TB, s *harness.JobEnv, g *wire.Agent, n int) {
	t.Helper()
	if left := objectsOf(t, s, g); len(left) != n {
		t.Errorf("objects %v, want %d", left, n)
	}
}

func objectKeys(t testing.TB, s *harness.JobEnv, home id.Workspace) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(harness.Must(invariant.Objects(ctx, s.Deployment(), string(home)))(t)))
}

// declare opens a session for files, of a new artifact unless a is given, and tells the statuses of its files.
func declare(t testing.TB, g *wire.Agent, a id.Artifact, files ...wire.File) (contract.Session, string) {
	t.Helper()
	r := wire.Declare("declared", files...)
	r.ArtifactID = a
	u := harness.Must(g.Create(ctx, wire.NewKey(), r))(t)
	var statuses []string
	for _, f := range u.Files {
		statuses = append(statuses, f.Status)
	}
	return u, strings.Join(statuses, " ")
}

// finish finalizes and publishes a session after its uploads.
func finish(t testing.TB, g *wire.Agent, u contract.Session) contract.Published {
	t.Helper()
	d := harness.Must(g.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
	return harness.Must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
}

// deleteArtifacts ends artifacts.
func deleteArtifacts(t testing.TB, g *wire.Agent, all ...contract.Published) {
	t.Helper()
	for _, p := range all {
		harness.DeleteArtifact(t, g, p.ArtifactID)
	}
}

// gateOf is the item of an artifact that its reads begin with.
func gateOf(t testing.TB, s *harness.JobEnv, a id.Artifact) harness.Item {
	t.Helper()
	return s.GetItem(t, "A#"+string(a), "META")
}

func sortKey(at time.Time) string { return fmt.Sprintf("%013d", at.UnixMilli()) }
