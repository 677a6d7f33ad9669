//go:build conformance

package conformance

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
)

// TestClientsUseOurProgram has the clients start vitrine mcp, which is signed in once for all of them.
func TestClientsUseOurProgram(t *testing.T) {
	d := newDesk(t)
	d.trust(t)
	clients := []string{"claude-code", "codex", "gemini-cli", "opencode", "--local"}
	for _, c := range d.connect(t, clients...) {
		if c.Kind != "local" || c.State != "listed" {
			t.Errorf("signed out, %s is %s and %s", c.Client, c.Kind, c.State)
		}
	}
	if asked, _ := d.wire.take(); len(asked) > 0 {
		t.Errorf("signed out, they ask %q", asked)
	}
	d.signIn(t, 2, d.program+" mcp login --server "+d.Origins.API) // for this machine, and for the tools of the host
	d.wire.take()
	for _, c := range d.connect(t, clients...) {
		if want := map[bool]string{true: "listed", false: "works"}[c.Client == "codex"]; c.State != want {
			t.Errorf("signed in, %s is %s, want %s", c.Client, c.State, want)
		}
	}
	d.wantAsked(t, "2026-07-28 tools/list", "2025-06-18 initialize", "2025-11-25 tools/list")
	if got := d.codexCalls(t, d.home, "whoami", struct{}{}); !strings.Contains(got, "ada@example.org") {
		t.Errorf("a tool of the host answers %s", got)
	}
	d.wantAsked(t, "2025-06-18 initialize", "2025-06-18 tools/list", "2025-06-18 tools/call whoami")
	d.publishesByCodex(t)
	d.disconnect(t)
}

// publishesByCodex has Codex publish a file of a folder, which it may from that folder and not from the home.
func (d *desk) publishesByCodex(t *testing.T) {
	t.Helper()
	folder := filepath.Join(d.home, "site")
	harness.NoError(t, os.Mkdir(folder, 0o755))
	harness.NoError(t, os.WriteFile(filepath.Join(folder, "page.html"),
		[]byte("<!doctype html><title>A page of this machine</title><p>Made here."), 0o600))
	got := d.codexCalls(t, d.home, "publish_path", map[string]string{"path": "site/page.html"})
	if !strings.Contains(got, "there is no folder that may be published from") {
		t.Errorf("in the home, our own tool answers %s", got)
	}
	got = d.codexCalls(t, folder, "publish_path", map[string]string{"path": "page.html"})
	var made struct {
		StructuredContent struct {
			Link string `json:"private_url"`
		}
	}
	harness.NoError(t, json.Unmarshal([]byte(got), &made))
	if made.StructuredContent.Link == "" {
		t.Fatalf("our own tool answers %s", got)
	}
	d.page.Go(made.StructuredContent.Link)
	d.page.WaitText("A page of this machine")
}
