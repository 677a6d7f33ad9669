package journey

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/functions/jobs"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// work is what jobs ask of the engines.
type work struct{ calls, keys int }

// counts tells what a run of all jobs asks.
func (s *jobStand) counts(t testing.TB) (w work) {
	t.Helper()
	s.worn.On("").If(func(input any) bool {
		w.calls++
		if b, ok := input.(*dynamodb.BatchGetItemInput); ok {
			w.keys += len(b.RequestItems[s.names.Core].Keys)
		}
		return false
	})
	s.works(t)
	s.worn.Clear()
	return w
}

// republished publishes many revisions of one artifact that all have the same files, of which others brought none or all.
func republished(t testing.TB, g *wire.Agent, revisions int, files []wire.File) (p contract.Published) {
	t.Helper()
	for range revisions {
		u, _ := declares(t, g, p.ArtifactID, files...)
		p = finishes(t, g, u)
	}
	return p
}

// TestAPurgeLooksAtEachObjectOnceAndAtFewReferences purges what brought files that many revisions of another artifact
// refer to, and then those.
func TestAPurgeLooksAtEachObjectOnceAndAtFewReferences(t *testing.T) {
	t.Parallel()
	const objects, revisions = 20, 25
	s := newJobStand(t, unlimited)
	m := s.claimant(t)
	files := []wire.File{{Path: "index.html"}}
	for n := range objects {
		files = append(files, wire.File{Path: fmt.Sprintf("f%d.txt", n), Body: fmt.Appendf(nil, "bytes of %d", n)})
	}
	first := must(m.PublishFiles(ctx, "first", "", files...))(t)
	s.works(t)
	second := republished(t, m.Agent, revisions, files)
	s.works(t)
	if n := s.count(t, s.names.Core, "O#"); n != objects*revisions {
		t.Fatalf("%d references, want %d", n, objects*revisions)
	}
	idle := s.counts(t)

	deletes(t, m.Agent, first.ArtifactID)
	one := s.counts(t)
	t.Logf("idle: %+v; %d objects with %d references each: %+v", idle, objects, revisions, one)
	if one.calls > idle.calls+2*objects+10 || one.keys > 10*objects+10 {
		t.Errorf("a purge of %d objects takes %+v", objects, one)
	}
	deletes(t, m.Agent, second.ArtifactID)
	all := s.counts(t)
	t.Logf("%d revisions of %d objects: %+v", revisions, objects, all)
	if all.calls > idle.calls+2*revisions+4*objects+10 || all.keys > 10 {
		t.Errorf("a purge of %d revisions of %d objects takes %+v", revisions, objects, all)
	}
	s.clock.pass(limits.CollectAfter)
	s.works(t)
	if left := s.objectsOf(t, m.Agent); len(left)+s.count(t, s.names.Core, "O#") > 0 {
		t.Errorf("%v are left", left)
	}
}

// hurries lets every round of purges be over after its first step, and every run after its first round.
func (s *jobStand) hurries() {
	purger, began := s.services.Purger(), time.Now()
	var looks atomic.Int64
	purger.Watch = func() time.Time { return began.Add(time.Duration(looks.Add(1)) * limits.PurgeRound) }
	n := slices.IndexFunc(s.host.Jobs, func(j jobs.Job) bool { return j.Name == "purges" })
	s.host.Jobs[n].Due = func(ctx context.Context) (jobs.Round, error) {
		r, err := purger.Due(ctx)
		return jobs.Round(r), err
	}
	machine := time.Now()
	s.host.Now = func() time.Time { machine = machine.Add(jobs.Most/2 + time.Second); return machine }
}

func TestAPurgeThatDoesNotEndIsInNobodysWay(t *testing.T) {
	t.Parallel()
	const revisions = 4
	s := newJobStand(t, unlimited)
	m := s.claimant(t)
	long, short := republished(t, m.Agent, revisions, []wire.File{{Path: "index.html"}}), published(t, m.Agent, "short")
	condemned := published(t, m.Agent, "condemned")
	deletes(t, m.Agent, condemned.ArtifactID)
	s.works(t)
	s.clock.pass(limits.CollectAfter - 2*time.Second)
	deletes(t, m.Agent, long.ArtifactID)
	s.clock.pass(time.Second)
	deletes(t, m.Agent, short.ArtifactID)
	s.clock.pass(time.Second)
	s.hurries()
	trees := func(p contract.Published) (n int) {
		return s.count(t, s.names.Core, "A#"+string(p.ArtifactID)) - 1 - len(revisionsOf(t, s, p))
	}
	s.works(t)
	if trees(long) != revisions-1 || len(s.objectsOf(t, m.Agent)) != 1 {
		t.Errorf("after a round %d of %d revisions have files, and there are %v", trees(long), revisions, s.objectsOf(t, m.Agent))
	}
	if s.works(t); trees(short) != 0 || trees(long) != revisions-1 {
		t.Errorf("the next purge waits for one that does not end: %d files, %d of the other", trees(short), trees(long))
	}
	for range revisions - 1 {
		s.works(t)
	}
	if trees(long) != 0 {
		t.Errorf("%d revisions still have files", trees(long))
	}
	s.works(t)
	s.clock.pass(limits.CollectAfter)
	s.works(t)
	s.holdsNothing(t, m.Agent)
}

// revisionsOf are the items of an artifact's revisions.
func revisionsOf(t testing.TB, s *jobStand, p contract.Published) (out []stored) {
	t.Helper()
	for _, i := range s.all(t, s.names.Core) {
		if text(i["pk"]) == "A#"+string(p.ArtifactID) && text(i["sk"])[0] == 'R' {
			out = append(out, i)
		}
	}
	return out
}
