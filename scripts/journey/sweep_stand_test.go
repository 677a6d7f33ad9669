package journey

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"

	"vitrine/functions/jobs"
	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/boot"
	bootjobs "vitrine/shared/boot/jobs"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// working lets the stack do by itself what falls due.
func working(o *stack.Options) { o.DisableJobs = false }

// jobStand is a deployment whose jobs the test runs itself. Their calls go through an injector of their own: s.worn.
type jobStand struct {
	*claimStand
	services *boot.Services
	host     *jobs.Host
}

func newJobStand(t testing.TB, change ...func(*stack.Options)) *jobStand {
	t.Helper()
	s := &jobStand{claimStand: newClaimStand(t, change...)}
	e := s.options.Engines
	s.services = must(boot.Open(boot.Config{
		Environment:      credential.Preview,
		Origins:          s.Origins,
		Tables:           s.names,
		Bucket:           e.Bucket,
		AWS:              e.AWS(),
		DynamoDBEndpoint: e.DynamoDB,
		S3Endpoint:       e.S3,
		S3Domain:         e.S3Domain,
		Limits:           s.options.Limits,
		Now:              s.options.Now,
		Middleware:       []func(*middleware.Stack) error{s.worn.Add},
	}))(t)
	s.host = bootjobs.Host(s.services, s.options.Log)
	return s
}

// works runs all jobs until nothing is due.
func (s *jobStand) works(t testing.TB) {
	t.Helper()
	succeed(t, s.host.Run(ctx))
	s.sound(t)
}

// collects runs all jobs at once and once more when everything may be collected that nothing needs now.
func (s *jobStand) collects(t testing.TB) {
	t.Helper()
	s.works(t)
	s.clock.pass(limits.CollectAfter)
	s.works(t)
	for _, left := range invariant.Collected(ctx, s.inside()) {
		t.Error(left)
	}
}

// workingUntil starts the jobs and returns when they are about to make a call; the result lets them go on and waits.
func (s *jobStand) workingUntil(t testing.TB, operation string) (release func()) {
	t.Helper()
	held, ended := make(chan struct{}), make(chan error, 1)
	rule := s.worn.On(operation).Before(chaos.Hold(held))
	go func() { ended <- s.host.Run(ctx) }()
	select {
	case <-rule.Reached():
	case err := <-ended:
		t.Fatalf("the jobs make no %s: %v", operation, err)
	}
	return func() {
		t.Helper()
		close(held)
		succeed(t, <-ended)
	}
}

// objectsOf are the keys of what lies in the home of an agent.
func (s *jobStand) objectsOf(t testing.TB, g *wire.Agent) []string {
	t.Helper()
	return s.keysIn(t, parsed(t, g).Workspace)
}

// holdsNothing tells that nothing lies in the home of an agent any more.
func (s *jobStand) holdsNothing(t testing.TB, g *wire.Agent) {
	t.Helper()
	if left := s.objectsOf(t, g); len(left) > 0 {
		t.Errorf("%v are left", left)
	}
}

func (s *jobStand) keysIn(t testing.TB, home id.Workspace) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(must(invariant.Objects(ctx, s.inside(), string(home)))(t)))
}

// declares opens a session for files, of a new artifact unless a is given, and tells the statuses of its files.
func declares(t testing.TB, g *wire.Agent, a id.Artifact, files ...wire.File) (contract.Session, string) {
	t.Helper()
	r := wire.Declare("declared", files...)
	r.ArtifactID = a
	u := must(g.Create(ctx, wire.NewKey(), r))(t)
	var statuses []string
	for _, f := range u.Files {
		statuses = append(statuses, f.Status)
	}
	return u, strings.Join(statuses, " ")
}

// finishes finalizes and publishes a session whose files are there.
func finishes(t testing.TB, g *wire.Agent, u contract.Session) contract.Published {
	t.Helper()
	d := must(g.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
	return must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
}

// deletes ends an artifact.
func deletes(t testing.TB, g *wire.Agent, a id.Artifact) {
	t.Helper()
	if answer := tryDelete(t, g, a); answer.Status != 200 {
		t.Fatalf("delete answers %d %s", answer.Status, answer.Body)
	}
}

// changesSomething tells a call from one that only reads.
func changesSomething(input any) bool {
	switch input.(type) {
	case *dynamodb.GetItemInput, *dynamodb.BatchGetItemInput, *dynamodb.QueryInput:
		return false
	}
	return true
}

// diesAnywhere prepares something due again and again, lets the jobs die after each of their calls that change something,
// which is before the next one, and lets others end the work. prepare returns what has to hold then.
func (s *jobStand) diesAnywhere(t *testing.T, prepare func(testing.TB) (check func(testing.TB))) {
	t.Helper()
	for n := 1; ; n++ {
		check := prepare(t)
		process := chaos.Process(ctx)
		s.worn.On("").If(changesSomething).Nth(n).After(chaos.Crash)
		err := s.host.Run(process)
		s.worn.Clear()
		if !chaos.Died(process) {
			succeed(t, err)
			check(t)
			t.Logf("%d calls", n-1)
			return
		}
		s.sound(t)
		s.works(t)
		if check(t); t.Failed() {
			t.Fatalf("after call %d", n)
		}
	}
}

// sessionsEnd is when every session of now is cleared away.
const sessionsEnd = limits.SessionLife + limits.CleanupSlack

// crashesAt lets the hosts die after the first call of a name.
func (s *jobStand) crashesAt(call string) {
	s.faults.On("").If(func(input any) bool { return faultCall(input) == call }).After(chaos.Crash)
}

// retire does to a published revision what nothing does yet by itself: it is not kept any more.
func (s *jobStand) retire(t testing.TB, p contract.Published) {
	t.Helper()
	now := s.options.Now()
	s.change(t, "A#"+string(p.ArtifactID), "R#"+string(p.RevisionID), map[string]any{
		"status": "retained", "g2p": "DUE#PURGE#0", "g2s": sortKey(now),
	})
	meta := s.item(t, "A#"+string(p.ArtifactID), "META")
	item := stored{}
	alter(item, map[string]any{
		"pk": "W#" + text(meta["own"]), "sk": sortKey(now) + "#" + string(id.NewEvent()), "action": "revision.retained", "by_type": "system",
		"by_id": "vitrine", "on_type": "revision", "on_id": string(p.RevisionID),
	})
	must(s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.names.Events, Item: item}))(t)
}

func sortKey(at time.Time) string { return fmt.Sprintf("%013d", at.UnixMilli()) }

// eraseKey deletes an object.
func (s *jobStand) eraseKey(t testing.TB, key string) {
	t.Helper()
	must(s.objects.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.options.Engines.Bucket, Key: &key}))(t)
}
