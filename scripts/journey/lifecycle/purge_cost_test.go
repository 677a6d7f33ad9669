package lifecycle

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/functions/jobs"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/boot"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// purgeWork counts the AWS calls of jobs and the keys that they read.
type purgeWork struct{ calls, keys int }

// countWork runs all jobs and counts their work.
func countWork(t testing.TB, s *harness.JobEnv) (w purgeWork) {
	t.Helper()
	s.JobFaults.On("").If(func(input any) bool {
		w.calls++
		if b, ok := input.(*dynamodb.BatchGetItemInput); ok {
			w.keys += len(b.RequestItems[s.Tables.Core].Keys)
		}
		return false
	})
	s.RunJobs(t)
	s.JobFaults.Clear()
	return w
}

// publishRevisions publishes many revisions of one artifact that all have the same files, of which others brought none
// or all.
func publishRevisions(t testing.TB, g *wire.Agent, revisions int, files []wire.File) (p contract.Published) {
	t.Helper()
	for range revisions {
		u, _ := declare(t, g, p.ArtifactID, files...)
		p = finish(t, g, u)
	}
	return p
}

// TestAPurgeLooksAtEachObjectOnceAndAtFewReferences purges what brought files that many revisions of another artifact
// refer to, and then those.
func TestAPurgeLooksAtEachObjectOnceAndAtFewReferences(t *testing.T) {
	t.Parallel()
	const objects, revisions = 20, 25
	s := harness.NewJobEnv(t, harness.Unlimited)
	m := s.NewClaimant(t)
	files := []wire.File{{Path: "index.html"}}
	for n := range objects {
		files = append(files, wire.File{Path: fmt.Sprintf("f%d.txt", n), Body: fmt.Appendf(nil, "bytes of %d", n)})
	}
	first := harness.Must(m.PublishFiles(ctx, "first", "", files...))(t)
	s.RunJobs(t)
	second := publishRevisions(t, m.Agent, revisions, files)
	s.RunJobs(t)
	if n := s.CountItems(t, s.Tables.Core, "O#"); n != objects*revisions {
		t.Fatalf("%d references, want %d", n, objects*revisions)
	}
	idle := countWork(t, s)

	deleteArtifact(t, m.Agent, first.ArtifactID)
	one := countWork(t, s)
	t.Logf("idle: %+v; %d objects with %d references each: %+v", idle, objects, revisions, one)
	if one.calls > idle.calls+2*objects+10 || one.keys > 10*objects+10 {
		t.Errorf("a purge of %d objects takes %+v", objects, one)
	}
	deleteArtifact(t, m.Agent, second.ArtifactID)
	all := countWork(t, s)
	t.Logf("%d revisions of %d objects: %+v", revisions, objects, all)
	if all.calls > idle.calls+2*revisions+4*objects+10 || all.keys > 10 {
		t.Errorf("a purge of %d revisions of %d objects takes %+v", revisions, objects, all)
	}
	s.Clock.Advance(limits.CollectAfter)
	s.RunJobs(t)
	if left := objectsOf(t, s, m.Agent); len(left)+s.CountItems(t, s.Tables.Core, "O#") > 0 {
		t.Errorf("%v are left", left)
	}
}

// shortenDeadline lets every round of purges be over after its first step, and every run after its first round.
func shortenDeadline(s *harness.JobEnv) {
	purger, began := boot.Scheduled{Services: s.Services}.Purger(), time.Now()
	var looks atomic.Int64
	purger.Watch = func() time.Time { return began.Add(time.Duration(looks.Add(1)) * limits.PurgeRound) }
	n := slices.IndexFunc(s.Host.Jobs, func(j jobs.Job) bool { return j.Name == "purges" })
	s.Host.Jobs[n].Due = func(ctx context.Context) (jobs.Round, error) {
		r, err := purger.Due(ctx)
		return jobs.Round(r), err
	}
	machine := time.Now()
	s.Host.Now = func() time.Time { machine = machine.Add(jobs.Most/2 + time.Second); return machine }
}

func TestAPurgeThatDoesNotEndIsInNobodysWay(t *testing.T) {
	t.Parallel()
	const revisions = 4
	s := harness.NewJobEnv(t, harness.Unlimited)
	m := s.NewClaimant(t)
	long, short := publishRevisions(
		t, m.Agent, revisions, []wire.File{{Path: "index.html"}},
	), harness.PublishPage(t, m.Agent, "short")
	condemned := harness.PublishPage(t, m.Agent, "condemned")
	deleteArtifact(t, m.Agent, condemned.ArtifactID)
	s.RunJobs(t)
	s.Clock.Advance(limits.CollectAfter - 2*time.Second)
	deleteArtifact(t, m.Agent, long.ArtifactID)
	s.Clock.Advance(time.Second)
	deleteArtifact(t, m.Agent, short.ArtifactID)
	s.Clock.Advance(time.Second)
	shortenDeadline(s)
	trees := func(p contract.Published) (n int) {
		for _, i := range s.Scan(t, s.Tables.Core) {
			if harness.Text(i["pk"]) == "A#"+string(p.ArtifactID) && i["files"] != nil {
				n++
			}
		}
		return n
	}
	s.RunJobs(t)
	if trees(long) != revisions-1 || len(objectsOf(t, s, m.Agent)) != 1 {
		t.Errorf(
			"after a round %d of %d revisions have files, and there are %v", trees(long), revisions, objectsOf(t, s, m.Agent),
		)
	}
	if s.RunJobs(t); trees(short) != 0 || trees(long) != revisions-1 {
		t.Errorf("the next purge waits for one that does not end: %d files, %d of the other", trees(short), trees(long))
	}
	for range revisions - 1 {
		s.RunJobs(t)
	}
	if trees(long) != 0 {
		t.Errorf("%d revisions still have files", trees(long))
	}
	s.RunJobs(t)
	s.Clock.Advance(limits.CollectAfter)
	s.RunJobs(t)
	wantNoObjects(t, s, m.Agent)
}
