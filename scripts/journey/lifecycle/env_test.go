package lifecycle

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

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

// wantNoObjects tells that nothing lies in the home of an agent any more.
func wantNoObjects(t testing.TB, s *harness.JobEnv, g *wire.Agent) {
	t.Helper()
	if left := objectsOf(t, s, g); len(left) > 0 {
		t.Errorf("%v are left", left)
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

// deleteArtifact ends an artifact.
func deleteArtifact(t testing.TB, g *wire.Agent, a id.Artifact) {
	t.Helper()
	if answer := harness.TryDelete(t, g, a); answer.Status != 200 {
		t.Fatalf("delete answers %d %s", answer.Status, answer.Body)
	}
}

// crashAtEachWrite prepares due work again and again, crashes the jobs after each of their writes, and lets another run
// end the work. prepare returns what has to hold then.
func crashAtEachWrite(t *testing.T, s *harness.JobEnv, prepare func(testing.TB) (check func(testing.TB))) {
	t.Helper()
	for n := 1; ; n++ {
		check := prepare(t)
		process := chaos.Process(ctx)
		s.JobFaults.On("").If(harness.IsWrite).Nth(n).After(chaos.Crash)
		err := s.Host.Run(process)
		s.JobFaults.Clear()
		if !chaos.Died(process) {
			harness.NoError(t, err)
			check(t)
			t.Logf("%d calls", n-1)
			return
		}
		s.CheckInvariants(t)
		s.RunJobs(t)
		if check(t); t.Failed() {
			t.Fatalf("after call %d", n)
		}
	}
}

// sessionsEnd is when every session of now is cleared away.
const sessionsEnd = limits.SessionLife + limits.CleanupSlack

// crashAfter lets the hosts die after the first call of a name.
func crashAfter(s *harness.JobEnv, call string) {
	s.Faults.On("").If(func(input any) bool { return harness.CallName(input) == call }).After(chaos.Crash)
}

// retire does to a published revision what nothing does yet by itself: it is not kept any more.
func retire(t testing.TB, s *harness.JobEnv, p contract.Published) {
	t.Helper()
	now := s.Options.Now()
	s.Update(t, "A#"+string(p.ArtifactID), "R#"+string(p.RevisionID), map[string]any{
		"status": "retained", "g2p": "DUE#PURGE#0", "g2s": sortKey(now),
	})
	meta := s.GetItem(t, "A#"+string(p.ArtifactID), "META")
	item := harness.Item{}
	harness.SetAttributes(item, map[string]any{
		"pk":      "W#" + harness.Text(meta["own"]),
		"sk":      sortKey(now) + "#" + string(id.NewEvent()),
		"action":  "revision.retained",
		"by_type": "system",
		"by_id":   "vitrine", "on_type": "revision", "on_id": string(p.RevisionID),
	})
	harness.Must(s.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.Tables.Events, Item: item}))(t)
}

func sortKey(at time.Time) string { return fmt.Sprintf("%013d", at.UnixMilli()) }

// deleteObject deletes an object.
func deleteObject(t testing.TB, s *harness.JobEnv, key string) {
	t.Helper()
	harness.Must(s.S3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.Options.Engines.Bucket, Key: &key}))(t)
}
