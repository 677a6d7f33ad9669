package app

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/tree"
)

// exporters answers in place of what exports workspaces.
type exporters struct{ *house }

func (s exporters) Request(
	ctx context.Context, _ credential.Actor, c idempotency.Command, _ *idempotency.Record,
) (export.Export, error) {
	s.commands = append(s.commands, c)
	return export.Export{Status: export.Pending}, s.called(ctx, "Export")
}

func (s exporters) Find(ctx context.Context, _ credential.Actor) (*export.Export, error) {
	return s.exported, s.called(ctx, "Find export")
}

func (s exporters) URL(by credential.Actor, e export.Export, volume int) (string, error) {
	if by.SignedInLately(noon) != nil {
		return "", nil
	}
	return "http://127.0.0.1:8703/x/" + e.FileName(volume), nil
}

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

// exporting is a house whose member may export, with an export.
func exporting(e *export.Export) *house {
	s := justSignedIn()
	s.exported = e
	return s
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
			s := exporting(c.export)
			if c.stale {
				s.authenticated = noon.Add(-limits.FreshSignIn)
			}
			body := text(t, signedIn(s.handler(), "GET", "/settings", nil))
			_, section, _ := strings.Cut(body, `<h2 id="export">`)
			for _, want := range c.shows {
				if !strings.Contains(section, want) {
					t.Errorf("it lacks %q:\n%s", want, section)
				}
			}
			for _, bad := range c.without {
				if strings.Contains(section, bad) {
					t.Errorf("it has %q:\n%s", bad, section)
				}
			}
		})
	}
}

func TestAFormAsksForAnExportOnce(t *testing.T) {
	s := exporting(nil)
	h := s.handler()
	_, section, _ := strings.Cut(text(t, signedIn(h, "GET", "/settings", nil)), `<h2 id="export">`)
	fields := url.Values{"once": {onceOf(t, section)}}
	for range 2 {
		r := signedIn(h, "POST", "/settings/export", fields)
		if r.StatusCode != 303 || r.Header.Get("Location") != "/settings#export" {
			t.Errorf("%d %v", r.StatusCode, r.Header)
		}
	}
	if c := s.commands; c[0] != c[1] || c[0].Key.Operation != idempotency.CreateExport ||
		c[0].Key.Client != fields.Get("once") || c[0].Key.Actor != string(memberID) {
		t.Errorf("commands %+v", c)
	}
	if r := signedIn(h, "POST", "/settings/export", url.Values{"once": {"short"}}); r.StatusCode != 400 ||
		len(s.commands) != 2 {
		t.Errorf("a form without a name: %d", r.StatusCode)
	}
}

func TestAnExportTakesAFreshSignInAndTheScope(t *testing.T) {
	fields := url.Values{"once": {"page-0123456789"}}
	s := newHouse()
	r := signedIn(s.handler(), "POST", "/settings/export", fields)
	body := text(t, r)
	if r.StatusCode != 403 || !strings.Contains(body, "Confirm that it is you") ||
		!strings.Contains(body, "Nothing was done") ||
		!strings.Contains(body, "fresh=1&amp;returnPathname=%2Fsettings") {
		t.Errorf("an old sign-in: %d\n%s", r.StatusCode, body)
	}
	reader := exporting(nil)
	reader.scopes = reader.scopes[:2]
	if r := signedIn(reader.handler(), "POST", "/settings/export", fields); r.StatusCode != 403 {
		t.Errorf("a reader: %d", r.StatusCode)
	}
	if body := text(t, signedIn(reader.handler(), "GET", "/settings", nil)); strings.Contains(body, `id="export"`) {
		t.Error("a reader sees the export")
	}
	if slices.Contains(append(s.calls, reader.calls...), "Export") {
		t.Error("one of them got through")
	}
}
