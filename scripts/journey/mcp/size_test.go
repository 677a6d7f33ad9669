package mcp

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// TestALargeTextIsPublishedEditedAndRead sends as much text as a tool takes, of the character that JSON encoders escape
// most, in plain and in escaped JSON.
func TestALargeTextIsPublishedEditedAndRead(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited, asFunctions)
	c, _ := connected(t, p)
	large := strings.Repeat("<", limits.MCPText-1) + "!"
	made := call[contract.MCPPublished](t, c, "publish_artifact",
		map[string]any{"title": "Large", "body": large, "render_mode": "html"})
	edited := call[contract.MCPPublished](t, c, "multi_edit", map[string]any{
		"artifact_id": made.ArtifactID, "path": "index.html",
		"edits": []map[string]any{{"old_string": "!", "new_string": "?"}},
	})
	read := func(args map[string]any) contract.MCPFile {
		t.Helper()
		args["artifact_id"], args["path"] = made.ArtifactID, "index.html"
		return call[contract.MCPFile](t, c, "read_file", args)
	}
	for want, args := range map[string]map[string]any{
		large: {"revision_id": made.RevisionID}, large[:len(large)-1] + "?": {"revision_id": edited.RevisionID},
	} {
		f := read(args)
		if f.Body != nil || f.ContentURL == "" || f.SizeBytes != limits.MCPText {
			t.Fatalf("reading answers %d bytes, body %t, url %q", f.SizeBytes, f.Body != nil, f.ContentURL)
		}
		a := harness.Must(c.Anyone.HTTP.Get(f.ContentURL))(t)
		got := harness.Must(io.ReadAll(a.Body))(t)
		a.Body.Close()
		if string(got) != want {
			t.Errorf("the content URL answers %d and %d bytes", a.StatusCode, len(got))
		}
	}
	// A text that fits comes with the answer, however it has to be encoded.
	short := strings.Repeat("<", 1<<20)
	small := call[contract.MCPPublished](t, c, "publish_artifact",
		map[string]any{"title": "Short", "body": short, "render_mode": "text"})
	f := call[contract.MCPFile](t, c, "read_file",
		map[string]any{"artifact_id": small.ArtifactID, "path": "content.txt"})
	if f.Body == nil || *f.Body != short {
		t.Errorf("a text of a MiB comes with %t", f.Body != nil)
	}
	escaped := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"publish_artifact","arguments":{"title":"Large",` +
		`"render_mode":"html","body":"` + strings.Repeat(`\u003c`, limits.MCPText) + `"}}}`
	if a := c.send(t, escaped); a.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("an escaped text of %d bytes answers %d %.200s", len(escaped), a.Status, a.Body)
	}
}

// TestNoTextMakesAnAnswerTooLarge reads texts that grow in JSON by different factors.
func TestNoTextMakesAnAnswerTooLarge(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	c, _ := connected(t, p)
	for unit, times := range map[string]int{`"`: 1 << 20, "\x01": 800 << 10, "☃": 1 << 20} {
		made := call[contract.MCPPublished](t, c, "publish_artifact", map[string]any{
			"title": "Long", "render_mode": "text", "body": strings.Repeat(unit, times),
		})
		a := c.rpc(t, "tools/call", map[string]any{"name": "read_file", "arguments": map[string]any{
			"artifact_id": made.ArtifactID, "path": "content.txt",
		}})
		used, _ := limits.FunctionBody(a.Body)
		if a.Status != http.StatusOK || a.Error != nil || used > limits.FunctionAnswer {
			t.Errorf("%d of %q: %d, %d bytes of answer, error %v", times, unit, a.Status, used, a.Error)
		}
	}
}
