package lifecycle

import (
	"errors"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/platform/id"
)

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
