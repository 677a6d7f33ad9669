package lifecycle

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/export"
)

// TestF90AnArtifactThatIsDeletedWhileItIsExportedIsSkipped deletes it before each call of an export, and lets every
// other one be purged at once.
func TestF90AnArtifactThatIsDeletedWhileItIsExportedIsSkipped(t *testing.T) {
	t.Parallel()
	x := newExporter(t, harness.Unlimited)
	stays := publishPair(t, x.agent, "stays")
	var p contract.Published
	beforeEachCall(t, x.JobEnv, func() {
		p = publishPair(t, x.agent, "goes")
		x.signIn(t)
		x.ask(t)
	}, func(n int) {
		deleteArtifacts(t, x.agent, p)
		if n%2 == 0 {
			harness.NoError(t, x.Host.Run(ctx))
		}
	}, func(bool) {
		volumes := x.unpacked(t, x.ready(t))
		wantExported(t, volumes, stays.ArtifactID, 1, harness.Page("stays"), logo)
		wantWholeOrSkipped(t, volumes, p.ArtifactID)
	})
	x.RunCollector(t)
}

// wantWholeOrSkipped checks that an artifact is in the archives as a whole, is skipped because it was deleted, or was
// not listed any more.
func wantWholeOrSkipped(t testing.TB, volumes []volume, a id.Artifact) {
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

func TestF72F91WhatCannotBeMadeFails(t *testing.T) {
	t.Parallel()
	x := newExporter(t)
	p := publishPair(t, x.agent, "fails")
	x.ask(t)
	x.JobFaults.On("GetObject").Always().Before(chaos.ServerError)
	bundle := func() string { return bundleOf(t, x.agent, p.ArtifactID).Status }
	for runs := 1; bundle() == "pending" || x.look(t).Status == "pending"; runs++ {
		if err := x.Bundler.Run(ctx); err == nil && runs == 1 || runs > 50 {
			t.Fatalf("run %d says %v", runs, err)
		}
		x.CheckInvariants(t)
		x.Clock.Advance(limits.MaxRetry)
		x.signIn(t)
	}
	x.JobFaults.Clear()
	e := x.look(t)
	if e.Status != "failed" || e.FailureReason == nil || *e.FailureReason != export.Unreadable || len(e.Volumes) > 0 {
		t.Errorf("%+v, want it failed as unreadable, without volumes", e)
	}
	x.RunCollector(t)
	if b := bundleOf(t, x.agent, p.ArtifactID); b.Status != "failed" || b.URL != "" {
		t.Errorf("%+v, want it failed, without a URL", b)
	}
	x.signIn(t)
	x.ask(t)
	x.unpacked(t, x.ready(t))
}

func TestTheInvariantsSeeWhatKeepsNoBytesOrCollectsNone(t *testing.T) {
	t.Parallel()
	x := newExporter(t)
	first := publishWithLogo(t, x.JobEnv, x.agent, "first")
	second := finish(t, x.agent, borrowOnlyLogo(t, x.agent, ""))
	deleteArtifacts(t, x.agent, harness.PublishPage(t, x.agent, "gone"))
	x.RunJobs(t)
	x.ask(t)
	x.ready(t)
	one, other := "A#"+string(first.ArtifactID), "A#"+string(second.ArtifactID)
	workspace := "W#" + string(x.member.Workspace)
	for name, b := range map[string]struct {
		pk, sk string
		set    map[string]any // nil removes the item
	}{
		"a borrowed file without reference":        {"O#", "R#", nil},
		"a hint at nothing":                        {"B#", "H", map[string]any{"obj": "upl_X#0"}},
		"an object that nobody will delete":        {"JOB#DELETE#", "J", nil},
		"a deletion that never falls due":          {"JOB#DELETE#", "J", map[string]any{"g2p": nil}},
		"a retained revision that is not purged":   {other, "R#", map[string]any{"status": "retained"}},
		"an ended artifact that is not purged":     {one, "META", map[string]any{"status": "expired", "g2p": nil}},
		"an export that never expires":             {workspace, "EXPORT", map[string]any{"g2p": nil}},
		"archives of another export":               {workspace, "EXPORT", map[string]any{"id": string(id.NewExport())}},
		"an export that is to be made again":       {workspace, "EXPORT", map[string]any{"g2p": "DUE#EXPORT#0"}},
		"an export that failed, which nobody ends": {workspace, "EXPORT", map[string]any{"status": "failed", "g2p": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			repair := x.Damage(t, x.Tables.Core, b.pk, b.sk, b.set)
			x.WantBreach(t, "I2")
			repair()
		})
	}
	x.CheckInvariants(t)
	left := errors.Join(invariant.Collected(ctx, x.Deployment())...)
	for _, part := range []string{"nothing refers to the object", "still waits to be deleted", "still queued as"} {
		if strings.Count(left.Error(), part) != 1 {
			t.Errorf("what is left to collect is told as %v", left)
		}
	}
	x.RunCollector(t)
}
