package lifecycle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

func TestWhatIsDeletedLosesItsBytesADayLaterAndNoSooner(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	p := publishWithLogo(t, s, m.Agent, "gone")
	harness.Must(m.PublishFiles(ctx, "newer", p.ArtifactID, harness.Page("newer"), logo))(t)
	deleteArtifacts(t, m.Agent, p)
	s.RunJobs(t)
	wantObjects(t, s, m.Agent, 3)
	s.Clock.Advance(limits.CollectAfter - limits.UploadPatience - time.Second)
	s.RunJobs(t)
	wantObjects(t, s, m.Agent, 3)
	s.Clock.Advance(time.Second)
	s.RunJobs(t)
	wantObjects(t, s, m.Agent, 0)
	s.RunCollector(t)
}

func TestF68WhatASessionWasToldOfIsThereUntilTheSessionEnds(t *testing.T) {
	t.Parallel()
	t.Run("finalized after the purge", func(t *testing.T) {
		s, m, first := newLogoEnv(t)
		u := borrowOnlyLogo(t, m.Agent, "")
		deleteArtifacts(t, m.Agent, first)
		s.RunJobs(t)
		wantNoLogo(t, m.Agent, "after the purge")
		s.Clock.Advance(limits.SessionLife - 2*limits.UploadPatience - time.Second)
		s.RunJobs(t)
		shown := finish(t, m.Agent, u)
		s.RunCollector(t)
		wantLogo(t, s, shown)
	})
	t.Run("told of a hint that came back", func(t *testing.T) {
		s, m, first := newLogoEnv(t)
		hint := s.GetItem(t, fmt.Sprintf("B#%s#%s#%d", m.Workspace, wire.Digest(logo.Body), len(logo.Body)), "H")
		deleteArtifacts(t, m.Agent, first)
		s.RunJobs(t)
		s.Clock.Advance(limits.CollectAfter - time.Minute)
		s.Put(t, hint, nil) // by a writer that was late
		u := borrowOnlyLogo(t, m.Agent, "")
		s.Clock.Advance(time.Minute)
		s.RunJobs(t)
		wantNoLogo(t, m.Agent, "a day after the purge")
		s.Clock.Advance(limits.SessionLife - 2*time.Minute)
		s.RunJobs(t)
		shown := finish(t, m.Agent, u)
		s.RunCollector(t)
		wantLogo(t, s, shown)
	})
}

func TestTwoThatLetGoOfOneObjectAtOnceLeaveNothing(t *testing.T) {
	t.Parallel()
	s, m, first := newLogoEnv(t)
	second := finish(t, m.Agent, borrowOnlyLogo(t, m.Agent, ""))
	third := finish(t, m.Agent, borrowOnlyLogo(t, m.Agent, ""))
	deleteArtifacts(t, m.Agent, first, second, third)
	done := make(chan error, 3)
	for range cap(done) {
		go func() { done <- s.Host.Run(ctx) }()
	}
	for range cap(done) {
		harness.NoError(t, <-done)
	}
	s.RunCollector(t)
	wantObjects(t, s, m.Agent, 0)
}

func TestDiffsGoWhenTheirSessionIsFinalized(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	before := harness.Lines(20, "line")
	first := harness.Must(m.PublishFiles(ctx, "T", "", harness.Page("one"), wire.File{
		Path: "log.txt",
		Body: []byte(before),
	}))(t)
	s.RunJobs(t)
	diffsLeft := func() (left []string) {
		for _, err := range invariant.Collected(ctx, s.Deployment()) {
			if strings.Contains(err.Error(), "the diff ") {
				left = append(left, err.Error())
			}
		}
		return left
	}
	for name, after := range map[string]string{"some bytes": harness.Lines(21, "line"), "none": ""} {
		r := harness.Revise(first, "T2")
		declared, diff := harness.Patch("log.txt", before, after)
		r.Files = []contract.DeclaredFile{declared}
		d := harness.Must(m.Draft(ctx, wire.NewKey(), r, diff))(t)
		s.CheckInvariants(t)
		if len(diffsLeft()) == 0 {
			t.Errorf("%s: the diff went with the request", name)
		}
		s.RunJobs(t)
		if left := diffsLeft(); len(left) > 0 {
			t.Errorf("%s: %v are left", name, left)
		}
		harness.Must(m.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	}
}

// purgeWork counts the AWS calls of jobs and the keys that they read.
type purgeWork struct{ calls, keys int }

// countWork runs all jobs and counts their work.
func countWork(t testing.TB, s *harness.JobEnv) (w purgeWork) {
	t.Helper()
	for _, c := range s.JobFaults.Record(func() { s.RunJobs(t) }) {
		w.calls++
		if b, ok := c.Input.(*dynamodb.BatchGetItemInput); ok {
			w.keys += len(b.RequestItems[s.Tables.Core].Keys)
		}
	}
	t.Logf("%+v", w)
	return w
}

// TestAPurgeLooksAtEachObjectOnceAndAtFewReferences purges what brought files that the first of many revisions of another
// artifact refers to, and then those.
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
	var second contract.Published
	for range revisions {
		u, _ := declare(t, m.Agent, second.ArtifactID, files...)
		second = finish(t, m.Agent, u)
	}
	s.RunJobs(t)
	if n := s.CountItems(t, s.Tables.Core, "O#"); n != objects {
		t.Fatalf("%d references, want those of the first revision, %d", n, objects)
	}
	idle := countWork(t, s)
	deleteArtifacts(t, m.Agent, first)
	if one := countWork(t, s); one.calls > idle.calls+2*objects+10 || one.keys > 10*objects+10 {
		t.Errorf("a purge of %d objects takes %+v", objects, one)
	}
	deleteArtifacts(t, m.Agent, second)
	if all := countWork(t, s); all.calls > idle.calls+2*revisions+4*objects+10 || all.keys > 10 {
		t.Errorf("a purge of %d revisions of %d objects takes %+v", revisions, objects, all)
	}
	s.Clock.Advance(limits.CollectAfter)
	s.RunJobs(t)
	wantObjects(t, s, m.Agent, 0)
	if n := s.CountItems(t, s.Tables.Core, "O#"); n > 0 {
		t.Errorf("%d references are left", n)
	}
}
