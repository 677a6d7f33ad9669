package lifecycle

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/export"
)

// small bounds archives so that few artifacts make several.
func small(o *stack.Options) {
	o.Limits.ExportVolume = limits.ExportVolume{Bytes: 1 << 20, Files: 5, Artifacts: 2}
}

func TestALargeWorkspaceHasSeveralArchives(t *testing.T) {
	t.Parallel()
	x := newExporter(t, harness.Unlimited, small)
	var all []contract.Published
	for n := range 5 {
		all = append(all, publishPair(t, x.agent, fmt.Sprint("artifact ", n)))
	}
	for n := 2; n <= 7; n++ { // more files than one archive takes
		words := fmt.Sprint("revision ", n)
		harness.Must(x.agent.PublishFiles(ctx, words, all[0].ArtifactID, harness.Page(words), logo))(t)
	}
	x.ask(t)
	e := x.ready(t)
	volumes := x.unpacked(t, e)
	if len(volumes) < 4 || e.ArtifactsDone != 5 {
		t.Errorf("%d archives, %+v", len(volumes), e)
	}
	for n, p := range all {
		wantExported(t, volumes, p.ArtifactID, 1, harness.Page(fmt.Sprint("artifact ", n)), logo)
	}
	for n := 2; n <= 7; n++ {
		wantExported(t, volumes, all[0].ArtifactID, n, harness.Page(fmt.Sprint("revision ", n)), logo)
	}
	for _, v := range volumes {
		if len(v.files) > 5 || len(v.Artifacts) > 2 {
			t.Errorf("archive %d has %d files of %d artifacts", v.Volume, len(v.files), len(v.Artifacts))
		}
		if (v.Volume == 1) != (len(v.Members) == 1) {
			t.Errorf("archive %d has %d members", v.Volume, len(v.Members))
		}
	}
}

// TestF89AnExporterThatDiesAtAnyCallLeavesTheRestToTheNext kills it before each AWS call of an export, and after each
// that writes. After one that reads is the same as before the next.
func TestF89AnExporterThatDiesAtAnyCallLeavesTheRestToTheNext(t *testing.T) {
	t.Parallel()
	x := newExporter(t, harness.Unlimited, small)
	large := wire.File{Path: "large.bin", Body: harness.RandomBytes(1, 9*limits.MiB)} // an archive of two parts
	first := harness.Must(x.agent.PublishFiles(ctx, "large", "", harness.Page("large"), large))(t)
	second := publishPair(t, x.agent, "second")
	x.run(t) // bundles
	calls := 0
	for _, operation := range []string{
		"", "UpdateItem", "PutObject", "CreateMultipartUpload", "UploadPart", "CompleteMultipartUpload",
	} {
		died := true
		for n := 1; died; n++ {
			x.signIn(t)
			x.ask(t)
			process := chaos.Process(ctx)
			rule := x.JobFaults.On(operation).Nth(n)
			if operation == "" {
				rule.Before(chaos.Crash)
			} else {
				rule.After(chaos.Crash)
			}
			err := x.Bundler.Run(process)
			x.JobFaults.Clear()
			x.CheckInvariants(t)
			if died = chaos.Died(process); died {
				calls++
			} else {
				harness.NoError(t, err)
			}
			x.Clock.Advance(limits.ExportLease + time.Second)
			x.signIn(t)
			volumes := x.unpacked(t, x.ready(t))
			wantExported(t, volumes, first.ArtifactID, 1, harness.Page("large"), large)
			wantExported(t, volumes, second.ArtifactID, 1, harness.Page("second"), logo)
			if t.Failed() {
				t.Fatalf("at call %d of %q", n, operation)
			}
		}
	}
	t.Logf("killed at %d calls", calls)
	x.RunCollector(t)
}

// TestManyArtifactsAreExportedThoughTheFunctionDiesAgainAndAgain kills it at calls that differ, so that an archive is made
// between. Two deletions make it begin anew.
func TestManyArtifactsAreExportedThoughTheFunctionDiesAgainAndAgain(t *testing.T) {
	t.Parallel()
	const many = 250
	x := newExporter(t, harness.Unlimited, func(o *stack.Options) {
		o.Limits.ExportVolume = limits.ExportVolume{Bytes: 1 << 20, Files: 60, Artifacts: 30}
	})
	all := make([]contract.Published, many)
	var publishers errgroup.Group
	publishers.SetLimit(8)
	for n := range all {
		publishers.Go(func() (err error) {
			words := fmt.Sprint("number ", n)
			all[n], err = x.agent.PublishFiles(ctx, words, "", harness.Page(words))
			return err
		})
	}
	harness.NoError(t, publishers.Wait())
	x.run(t) // bundles
	x.signIn(t)
	x.ask(t)
	gone := map[id.Artifact]bool{}
	kills := 0
	for n := 0; x.look(t).Status == "pending"; n++ {
		process := chaos.Process(ctx)
		rule := x.JobFaults.On("").Nth([]int{13, 700, 77, 420, 310}[n%5])
		if n%2 == 0 {
			rule.Before(chaos.Crash)
		} else {
			rule.After(chaos.Crash)
		}
		err := x.Bundler.Run(process)
		x.JobFaults.Clear()
		if !chaos.Died(process) {
			harness.NoError(t, err)
			break
		}
		kills++
		x.CheckInvariants(t)
		if e := x.look(t); e.ArtifactsTotal > 0 && len(gone) < 2 {
			deleteArtifact(t, x.agent, all[n].ArtifactID)
			gone[all[n].ArtifactID] = true
		}
		x.Clock.Advance(limits.ExportLease + time.Second)
		x.signIn(t)
	}
	e := x.ready(t)
	volumes := x.unpacked(t, e)
	left := many - len(gone)
	if kills < 5 || len(gone) != 2 || len(volumes) < 8 || e.ArtifactsTotal != left {
		t.Errorf("%d kills, %d archives, %+v", kills, len(volumes), e)
	}
	if there, skipped := archived(volumes); there != left || len(skipped)+e.Skipped > 0 {
		t.Errorf("%d files and %d skipped artifacts of %d", there, len(skipped), left)
	}
	for n, p := range all {
		if !gone[p.ArtifactID] {
			wantExported(t, volumes, p.ArtifactID, 1, harness.Page(fmt.Sprint("number ", n)))
		}
	}
	t.Logf("%d kills, %d archives", kills, len(volumes))
	x.RunCollector(t)
}

// TestF90AnArtifactThatIsDeletedWhileItIsExportedIsSkipped deletes it before each AWS call of an export, and lets every
// other one be purged at once.
func TestF90AnArtifactThatIsDeletedWhileItIsExportedIsSkipped(t *testing.T) {
	t.Parallel()
	x := newExporter(t, harness.Unlimited, small)
	stays := publishPair(t, x.agent, "stays")
	deleted := true
	for n := 1; deleted; n++ {
		p := publishPair(t, x.agent, "goes")
		x.signIn(t)
		x.ask(t)
		deleted = false
		x.JobFaults.On("").Nth(n).Before(chaos.Run(func() {
			deleted = true
			deleteArtifact(t, x.agent, p.ArtifactID)
			if n%2 == 0 {
				harness.NoError(t, x.Host.Run(ctx))
			}
		}))
		harness.NoError(t, x.Bundler.Run(ctx))
		x.JobFaults.Clear()
		x.CheckInvariants(t)
		volumes := x.unpacked(t, x.ready(t))
		wantExported(t, volumes, stays.ArtifactID, 1, harness.Page("stays"), logo)
		x.wantWholeOrSkipped(t, volumes, p.ArtifactID)
		if t.Failed() {
			t.Fatalf("before call %d", n)
		}
	}
	x.RunCollector(t)
}

// wantWholeOrSkipped checks that an artifact is in the archives as a whole, is skipped because it was deleted, or was
// not listed any more.
func (x *exporter) wantWholeOrSkipped(t testing.TB, volumes []volume, a id.Artifact) {
	t.Helper()
	for _, v := range volumes {
		if slices.ContainsFunc(v.Artifacts, func(one export.Artifact) bool { return one.ID == a }) {
			wantExported(t, volumes, a, 1, harness.Page("goes"), logo)
			return
		}
	}
	_, skipped := archived(volumes)
	for _, one := range skipped {
		if one.Artifact == a && one.Reason != export.WasDeleted && one.Reason != export.FilesLetGo {
			t.Errorf("skipped: %+v", one)
		}
	}
}

func TestF91AnExportWhoseFilesCannotBeReadFails(t *testing.T) {
	t.Parallel()
	x := newExporter(t)
	publishPair(t, x.agent, "fails")
	x.run(t) // bundles
	x.ask(t)
	x.JobFaults.On("GetObject").Always().Before(chaos.ServerError)
	runs := 0
	for x.signIn(t); x.look(t).Status == "pending"; x.signIn(t) {
		if runs++; runs > 50 {
			t.Fatal("it is tried for ever")
		}
		if err := x.Bundler.Run(ctx); err == nil && runs == 1 {
			t.Error("the first run reports no failure")
		}
		x.CheckInvariants(t)
		x.Clock.Advance(limits.MaxRetry)
	}
	x.JobFaults.Clear()
	e := x.look(t)
	if e.Status != "failed" || e.FailureReason == nil || *e.FailureReason != export.Unreadable || len(e.Volumes) > 0 {
		t.Errorf("%+v", e)
	}
	t.Logf("%d runs", runs)
	x.RunCollector(t)
	x.signIn(t)
	x.ask(t)
	x.unpacked(t, x.ready(t))
}
