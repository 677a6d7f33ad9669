package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// tooled calls the tools of the MCP host with the token of a member's client.
type tooled struct {
	t      *testing.T
	client *wire.Agent
	called map[string]bool // tools that succeeded
}

// rpc sends a message to the MCP host and unpacks its result.
func (t *tooled) rpc(method string, params, out any) {
	t.t.Helper()
	message := map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
	a, err := t.client.Do(t.t.Context(), "POST", t.client.At.MCPURL+"/", message, "Content-Type", "application/json")
	var answer struct{ Result json.RawMessage }
	if err == nil {
		err = json.Unmarshal(a.Body, &answer)
	}
	if err == nil && answer.Result != nil {
		err = json.Unmarshal(answer.Result, out)
	}
	if err != nil || a.Status != http.StatusOK || answer.Result == nil {
		t.t.Fatalf("%s: %d %s %v", method, a.Status, a.Body, err)
	}
}

// try calls a tool, unpacks what it answers, and returns the code of its failure; empty: none.
func (t *tooled) try(name string, arguments, out any) string {
	t.t.Helper()
	var answer struct {
		IsError           bool
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
	}
	t.rpc("tools/call", map[string]any{"name": name, "arguments": arguments}, &answer)
	if answer.IsError {
		var failure contract.Envelope
		if err := json.Unmarshal([]byte(answer.Content[0].Text), &failure); err != nil {
			t.t.Fatal(name, err)
		}
		return failure.Error.Code
	}
	t.called[name] = true
	if err := json.Unmarshal(answer.StructuredContent, out); err != nil {
		t.t.Fatalf("%s answers %s: %v", name, answer.StructuredContent, err)
	}
	return ""
}

// call calls a tool that has to succeed.
func call[Out any](c *tooled, name string, arguments map[string]any) (out Out) {
	c.t.Helper()
	if code := c.try(name, arguments, &out); code != "" {
		c.t.Fatalf("%s fails with %s", name, code)
	}
	return out
}

// tool is what a client is told of a tool.
type tool struct {
	Name        string
	Annotations struct{ ReadOnlyHint bool }
	InputSchema struct{ Required []string }
}

// tools calls every tool of the MCP host with the token of Ada's client.
func (h *harness) tools(t *testing.T, client *wire.Agent) {
	t.Helper()
	c := &tooled{t: t, client: client, called: map[string]bool{}}
	var listed struct{ Tools []tool }
	c.rpc("tools/list", map[string]any{}, &listed)
	made := c.edits()
	c.uploads(made.ArtifactID)
	h.finds(c)
	key := h.diffs(c, made.ArtifactID)
	c.answers(key, made.ArtifactID)
	c.reads(listed.Tools, map[string]any{"artifact_id": made.ArtifactID, "path": "index.html"})
	c.shares(made)
	ada := h.signIn(t, "cli", provider.Person{Email: "ada@example.org"})
	ask[any](t, ada, "POST", "/v1/web/artifacts/"+string(made.ArtifactID)+"/pin", nil, "Idempotency-Key", wire.NewKey())
	call[any](c, "delete_artifact", map[string]any{"artifact_id": made.ArtifactID})
	for _, tool := range listed.Tools {
		if !c.called[tool.Name] {
			t.Errorf("tool %s is not called", tool.Name)
		}
	}
}

// edits publishes a text and changes it in both ways.
func (t *tooled) edits() contract.MCPPublished {
	t.t.Helper()
	made := call[contract.MCPPublished](t, "publish_artifact", map[string]any{
		"title": "Text", "body": "<p>first</p>", "render_mode": "html",
	})
	call[any](t, "multi_edit", map[string]any{
		"artifact_id": made.ArtifactID, "path": "index.html",
		"edits": []any{map[string]any{"old_string": "first", "new_string": "second"}},
	})
	call[any](t, "update_display_metadata", map[string]any{"artifact_id": made.ArtifactID, "title": "Another title"})
	return made
}

// knownText is a file that two artifacts have.
const knownText = "1, 2, 3"

// uploads adds a revision of two files, which is refused until both are there, and replaces one of them.
func (t *tooled) uploads(a id.Artifact) {
	t.t.Helper()
	files := map[string]string{"index.html": "<p>third</p>", "data.txt": knownText}
	var declared []any
	for path, body := range files {
		declared = append(declared, map[string]any{"path": path, "size_bytes": len(body)})
	}
	session := call[contract.MCPUpload](t, "prepare_upload", map[string]any{
		"title": "Files", "artifact_id": a, "files": declared,
	})
	finish := map[string]any{"upload_session_id": session.UploadSessionID}
	if code := t.try("publish_upload", finish, new(any)); code != "upload_incomplete" {
		t.t.Errorf("a session without its files fails with %q", code)
	}
	for _, f := range session.Files {
		var headers []string
		for name, value := range f.RequiredHeaders {
			headers = append(headers, name, value)
		}
		put, err := t.client.Do(t.t.Context(), "PUT", f.PutURL, files[f.Path], headers...)
		if err != nil || put.Status != http.StatusOK {
			t.t.Fatal(f.Path, put.Status, err)
		}
	}
	call[any](t, "publish_upload", finish)
	call[any](t, "add_revision", map[string]any{"artifact_id": a, "body": "<p>fourth</p>", "render_mode": "html"})
}

// finds publishes a new artifact of bytes that the workspace has.
func (h *harness) finds(c *tooled) {
	c.t.Helper()
	if err := h.jobs.Run(c.t.Context()); err != nil { // it makes uploads known
		c.t.Fatal(err)
	}
	session := call[contract.MCPUpload](c, "prepare_upload", map[string]any{
		"title": "Known",
		"files": []any{map[string]any{
			"path": "copy.txt", "size_bytes": len(knownText), "sha256": wire.Digest([]byte(knownText)),
		}},
	})
	if !slices.Equal(session.Known, []string{"copy.txt"}) {
		c.t.Errorf("known are %q", session.Known)
	}
	call[any](c, "publish_upload", map[string]any{"upload_session_id": session.UploadSessionID})
}

// answers replies in a thread that an API key begins.
func (t *tooled) answers(key *wire.Agent, a id.Artifact) {
	t.t.Helper()
	begun := ask[contract.ThreadSummary](t.t, key, "POST", "/v1/artifacts/"+string(a)+"/feedback",
		contract.CreateThread{Body: "A remark"}, "Idempotency-Key", wire.NewKey())
	call[any](t, "answer_feedback", map[string]any{"artifact_id": a, "thread_id": begun.ID, "reply": "A reply"})
	call[any](t, "catch_up", map[string]any{"artifact_id": a, "since": 2, "wait": 1})
	call[any](t, "catch_up", map[string]any{})
}

// diffs finishes a session of an API key whose file is a diff, and returns that key.
func (h *harness) diffs(c *tooled, a id.Artifact) *wire.Agent {
	c.t.Helper()
	ada := h.signIn(c.t, "cli", provider.Person{Email: "ada@example.org"})
	key := ask[contract.CreatedKey](c.t, ada, "POST", "/v1/web/keys", contract.CreateKey{Name: "for diffs"},
		"Idempotency-Key", wire.NewKey())
	g := *h.anyone
	g.Key = key.Secret
	before, err := g.AgentView(c.t.Context(), a)
	if err != nil {
		c.t.Fatal(err)
	}
	const was, is, none = "<p>fourth</p>", "<p>fifth</p>", "\n\\ No newline at end of file\n"
	diff := wire.File{Path: "index.html", Body: fmt.Append(nil, "--- a\n+++ b\n@@ -1 +1 @@\n-", was, none, "+", is, none)}
	request := wire.Declare("Files", diff)
	request.ArtifactID, request.BaseRevisionID = a, before.RevisionID
	request.Files[0].SHA256, request.Files[0].Patch = "", &contract.DeclaredPatch{
		BaseSHA256: wire.Digest([]byte(was)), Format: "unified", ResultSHA256: wire.Digest([]byte(is)),
	}
	session, err := g.Create(c.t.Context(), wire.NewKey(), request)
	if err != nil {
		c.t.Fatal(err)
	}
	if put, err := g.Put(c.t.Context(), session.Files[0], diff.Body); err != nil || put.Status != http.StatusOK {
		c.t.Fatal(put.Status, err)
	}
	call[any](c, "publish_upload", map[string]any{"upload_session_id": session.UploadSessionID})
	return &g
}

// reads calls the tools that only read, with what each has to be told.
func (t *tooled) reads(all []tool, known map[string]any) {
	t.t.Helper()
	for _, each := range all {
		if !each.Annotations.ReadOnlyHint {
			continue
		}
		arguments := map[string]any{}
		for _, name := range each.InputSchema.Required {
			arguments[name] = known[name]
		}
		call[any](t, each.Name, arguments)
	}
}

// shares shares an artifact and one revision of it, and ends both.
func (t *tooled) shares(made contract.MCPPublished) {
	t.t.Helper()
	one := map[string]any{"artifact_id": made.ArtifactID}
	for _, word := range []string{"unlisted", "private"} {
		call[any](t, "set_visibility", map[string]any{"artifact_id": made.ArtifactID, "visibility": word})
	}
	call[any](t, "create_revision_link", map[string]any{"artifact_id": made.ArtifactID, "revision_id": made.RevisionID})
	links := call[contract.LinkList](t, "list_access_links", one)
	live := slices.DeleteFunc(links.Items, func(l contract.LinkRow) bool { return l.RevokedAt != nil })
	if len(live) != 1 {
		t.t.Fatalf("%d links are live, want one", len(live))
	}
	call[any](t, "revoke_access_link", map[string]any{"access_link_id": live[0].ID})
}
