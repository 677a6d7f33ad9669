package app

import (
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/tree"
)

// exportIn is an export in a state.
func exportIn(status export.Status) *export.Export {
	return &export.Export{
		ID:        id.NewExport(),
		Status:    status,
		CreatedAt: noon.Add(-time.Hour),
		StartedAt: noon.Add(-time.Hour),
		ExpiresAt: noon.Add(limits.ExportLife),
		Reason:    map[export.Status]string{export.Failed: export.Unreadable}[status],
		Artifacts: 250,
		Next:      export.Position{Artifact: 120},
		Skipped:   2,
		Volumes: []export.Volume{
			{Size: 130_000_000, SHA256: tree.DigestOf("one")},
			{Size: 2_500_000, SHA256: tree.DigestOf("two")},
		},
	}
}

func TestTheSettingsSayHowFarAnExportIs(t *testing.T) {
	const button, again = `action="/settings/export"`, "Sign in again"
	withdrawn := exportIn(export.Expired)
	withdrawn.Reason = export.Withdrawn
	for name, c := range map[string]struct {
		export  *export.Export
		stale   bool
		shows   []string
		without []string
	}{
		"none":        {nil, false, []string{"Export the workspace", button}, []string{again}},
		"none, stale": {nil, true, []string{again, "fresh=1"}, []string{button}},
		"pending": {
			exportIn(export.Pending), false, []string{"120 of 250 artifacts", `href="/settings"`}, []string{button, again},
		},
		"pending, stale": {exportIn(export.Pending), true, []string{"120 of 250 artifacts"}, []string{button, again}},
		"ready": {exportIn(export.Ready), false, []string{
			"/x/vitrine-export-2026-", "1-of-2.zip", "2-of-2.zip", "130 MB", tree.DigestOf("two").String(),
			"listed in the manifest: 2", button,
		}, []string{again}},
		"ready, stale":    {exportIn(export.Ready), true, []string{"1-of-2.zip", again}, []string{"/x/vitrine", button}},
		"failed":          {exportIn(export.Failed), false, []string{"failed: " + export.Unreadable, button}, []string{".zip"}},
		"expired":         {exportIn(export.Expired), false, []string{"has expired", button}, []string{".zip"}},
		"withdrawn":       {withdrawn, false, []string{"has ended: " + export.Withdrawn, button}, []string{".zip"}},
		"not counted yet": {&export.Export{Status: export.Pending}, false, []string{"begins within a minute"}, []string{button}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServices()
			s.exports.newest = c.export
			if c.stale {
				s.actor.AuthenticatedAt = noon.Add(-limits.FreshSignIn)
			}
			body := text(t, signedIn(s.handler(), "GET", "/settings", nil))
			_, section, _ := strings.Cut(body, `<h2 id="export">`)
			expect.Has(t, "the page", section, c.shows...)
			expect.Lacks(t, "the page", section, c.without...)
		})
	}
}

func TestAnExportTakesAFreshSignIn(t *testing.T) {
	s := newServices()
	s.actor.AuthenticatedAt = noon.Add(-limits.FreshSignIn)
	wantAnswer(t, "an old sign-in", s.post("/settings/export", onlyNamed), 403,
		"Confirm that it is you", "Nothing was done", "fresh=1&amp;returnPathname=%2Fsettings")
	wantCalls(t, "an old sign-in", s)
}

func TestAReaderSeesNoExport(t *testing.T) {
	expect.Lacks(t, "a reader's page", page(t, "/settings", reader), `id="export"`)
}
