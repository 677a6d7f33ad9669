package mcp

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// TestWhatPagesLoadIsOneList holds the warnings about a page, the policy of its frame and the skill against one file.
func TestWhatPagesLoadIsOneList(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "policy.json")
	const text = `{"anonymous": {"scripts": "on"}, "members": {"files": 7, "file_bytes": 524288},
		"loads_from": {"scripts": ["cdn.example"], "images": "none"}}`
	expect.OK(t, os.WriteFile(file, []byte(text), 0o600))
	d := harness.NewBackendEnv(t, func(o *stack.Options) { o.PolicyFile = file })
	c, _ := connected(t, d)
	const body = `<!doctype html><html lang=en><title>L</title><meta name=viewport content="width=device-width">
<script src="https://cdn.example/x.js"></script><script src="https://unpkg.com/x.js"></script>
<img alt="" src="https://unpkg.com/x.png">`
	made := call[contract.MCPPublished](t, c, "publish_artifact",
		map[string]any{"title": "Loads", "render_mode": "html", "body": body})
	view := call[contract.AgentView](t, c, "read_artifact", map[string]any{"artifact_id": made.ArtifactID})
	agent := d.NewAgent(t)
	page := wire.File{Path: "index.html", Body: []byte(body)}
	published := harness.Must(agent.PublishFiles(t.Context(), "Loads", "", page))(t)
	over := harness.Must(agent.AgentView(t.Context(), published.ArtifactID))(t)
	for host, found := range map[string][]contract.PageWarning{"mcp": view.PageWarnings, "api": over.PageWarnings} {
		var said []string
		for _, w := range found {
			said = append(said, w.Message)
		}
		const own = "put the file into the artifact and name it by a relative path"
		want := "script-src blocks scripts from https://unpkg.com; " + own + ", or load it from cdn.example\n" +
			"img-src blocks images from https://unpkg.com; " + own + ", or write it as a data: URL"
		if got := strings.Join(said, "\n"); got != want {
			t.Errorf("%s warns of %s\nwant %s", host, got, want)
		}
	}
	policy := d.Get(t, view.RevisionContentURL, "Sec-Fetch-Dest", "iframe", "Sec-Fetch-Mode", "navigate").
		Header.Get("Content-Security-Policy")
	expect.Has(t, "the policy", policy, " blob: data: https://cdn.example; worker-src", " data: blob:; connect-src")
	expect.Lacks(t, "the policy of scripts", policy[:strings.Index(policy, "style-src")], "unpkg.com")

	d.Anyone.HTTP.Transport = http.DefaultTransport // the document lists no 405
	s := c.session(t, "2025-11-25")
	expect.Has(t, "the instructions", s.InitializeResult().Instructions, "one text of at most 512 KiB. For")
	skill, err := s.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "skill://vitrine/SKILL.md"})
	expect.OK(t, err)
	expect.Has(t, "the skill", skill.Contents[0].Text, "- Libraries may come from cdn.example. No other",
		"- Images are files of the artifact, or data: and blob: URLs.", "Limits: 7 files, 512 KiB a file, ")
}
