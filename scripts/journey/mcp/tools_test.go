package mcp

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// allTools are the tools in the order of their list.
var allTools = []string{
	"publish_artifact", "add_revision", "multi_edit", "list_artifacts", "read_artifact", "read_file", "list_revisions",
	"delete_artifact", "update_display_metadata", "set_visibility", "create_revision_link", "list_access_links",
	"revoke_access_link", "whoami", "prepare_upload", "publish_upload", "diff_revisions", "catch_up",
	"answer_feedback",
}

const tides = `<!doctype html><html lang="en"><title>Tides</title><p>High water at six`

// callTool calls a tool that succeeds.
type callTool func(tool string, args map[string]any, out any)

// TestAnAgentPublishesEditsReadsSharesAndDeletes goes through every tool with a client of the SDK.
func TestAnAgentPublishesEditsReadsSharesAndDeletes(t *testing.T) { inBothWays(t, usesEveryTool) }

func usesEveryTool(t *testing.T, p *harness.BackendEnv) {
	c, who := connected(t, p)
	s := c.session(t, stateless)
	var names []string
	for tool, err := range s.Tools(ctx, nil) {
		harness.NoError(t, err)
		if names = append(names, tool.Name); tool.Annotations == nil || tool.Annotations.Title == "" || tool.Title == "" {
			t.Errorf("%s has no title or annotations", tool.Name)
		}
	}
	if diff := cmp.Diff(allTools, names); diff != "" {
		t.Error(diff)
	}
	called := map[string]bool{}
	do := func(tool string, args map[string]any, out any) {
		t.Helper()
		called[tool] = true
		use(t, s, tool, args, out)
	}

	var me contract.MCPWhoami
	if do("whoami", nil, &me); me.WorkspaceMember.ID != who.ID || me.Workspace.ID != who.Workspace {
		t.Errorf("it acts for %+v", me)
	}
	var made contract.MCPPublished
	do("publish_artifact", map[string]any{"title": "Tides", "body": tides, "render_mode": "html"}, &made)
	if made.Title != "Tides" || made.PrivateURL != p.Origins.App+"/v/"+string(made.ArtifactID) ||
		made.Stats.UploadedFiles != 1 {
		t.Errorf("published %+v", made)
	}
	of := func(more map[string]any) map[string]any {
		args := map[string]any{"artifact_id": made.ArtifactID}
		maps.Copy(args, more)
		return args
	}
	var edited, revised contract.MCPPublished
	do("multi_edit", of(map[string]any{"path": "index.html", "edits": []map[string]any{
		{"old_string": "six", "new_string": "seven"}, {"old_string": "Tides", "new_string": "Tide tables"},
	}}), &edited)
	do("add_revision", of(map[string]any{"body": "# Notes", "render_mode": "markdown"}), &revised)
	if edited.RevisionID == made.RevisionID || revised.RevisionID == edited.RevisionID {
		t.Errorf("revisions %s %s %s", made.RevisionID, edited.RevisionID, revised.RevisionID)
	}
	var view contract.AgentView
	do("read_artifact", of(nil), &view)
	if len(view.Files) != 2 || view.Entrypoint != "index.md" || view.Title != "Tides" {
		t.Errorf("it reads %+v", view)
	}
	var file contract.MCPFile
	do("read_file", of(map[string]any{"path": "index.html"}), &file)
	if want := strings.NewReplacer("six", "seven", "Tides", "Tide tables").Replace(tides); file.Body == nil ||
		*file.Body != want {
		t.Errorf("the file is %+v", file)
	}
	var changes contract.Comparison
	do("diff_revisions", of(map[string]any{"from": made.RevisionID, "to": edited.RevisionID}), &changes)
	if len(changes.Files) != 1 || !strings.Contains(changes.Files[0].Diff, "+") {
		t.Errorf("changed is %+v", changes)
	}
	var list contract.ArtifactList
	if do("list_artifacts", nil, &list); len(list.Data) != 1 || list.Data[0].ID != made.ArtifactID {
		t.Errorf("listed are %+v", list)
	}
	var revisions contract.RevisionList
	if do("list_revisions", of(nil), &revisions); len(revisions.Items) != 3 {
		t.Errorf("revisions are %+v", revisions)
	}
	var named contract.DisplayMetadata
	if do("update_display_metadata", of(map[string]any{"title": "Water"}), &named); named.Title != "Water" {
		t.Errorf("it is called %+v", named)
	}
	discusses(t, who, do, made.ArtifactID, revised.RevisionID)
	shares(t, p, do, of, revised.RevisionID, edited.RevisionID)
	uploadsAndReads(t, s, do)
	var gone contract.DeletedArtifact
	do("delete_artifact", of(nil), &gone)
	c.refused(t, fault.NotFound, "read_artifact", of(nil))
	c.refused(t, fault.ArtifactNotFound, "multi_edit",
		of(map[string]any{"path": "index.html", "edits": []map[string]any{{"old_string": "a", "new_string": "b"}}}))
	for _, tool := range allTools {
		if !called[tool] {
			t.Errorf("%s was not called", tool)
		}
	}
}

// shares opens links of the newest and of an older revision, and closes them. Of completes the arguments of a tool.
func shares(
	t *testing.T, p *harness.BackendEnv, do callTool, of func(map[string]any) map[string]any, newest, older id.Revision,
) {
	t.Helper()
	var shown contract.Visibility
	do("set_visibility", of(map[string]any{"visibility": "unlisted"}), &shown)
	opened := harness.Must(p.Anyone.Resolve(ctx, shown.UnlistedURL))(t)
	if opened.AgentView.RevisionID != newest {
		t.Errorf("the link opens %+v", opened.AgentView)
	}
	var minted contract.MintedLink
	do("create_revision_link", of(map[string]any{"revision_id": older}), &minted)
	if opened := harness.Must(p.Anyone.Resolve(ctx, minted.URL))(t); opened.AgentView.RevisionID != older {
		t.Errorf("the link of a revision opens %+v", opened.AgentView)
	}
	var links contract.LinkList
	if do("list_access_links", of(nil), &links); len(links.Items) != 2 {
		t.Errorf("links are %+v", links)
	}
	var revoked contract.RevokedLink
	do("revoke_access_link", map[string]any{"access_link_id": links.Items[0].ID}, &revoked)
	var private contract.Visibility
	do("set_visibility", of(map[string]any{"visibility": "private"}), &private)
	for _, url := range []string{shown.UnlistedURL, minted.URL} {
		if _, err := p.Anyone.Resolve(ctx, url); err == nil {
			t.Error("a link opens a private artifact")
		}
	}
}

// uploadsAndReads uploads files by the lines for curl, publishes them, and reads them as resources.
func uploadsAndReads(t *testing.T, s *mcp.ClientSession, do callTool) {
	t.Helper()
	files := map[string][]byte{
		"index.html":      []byte(tides + " and at noon"),
		"img/it's é?.png": append([]byte("\x89PNG\r\n\x1a\n"), bytes.Repeat([]byte{0, 0xff}, 1<<18)...),
	}
	folder := t.TempDir()
	harness.NoError(t, os.Mkdir(filepath.Join(folder, "img"), 0o700))
	declared := []map[string]any{{"path": "data/empty.txt", "size_bytes": 0}}
	for path, body := range files {
		harness.NoError(t, os.WriteFile(filepath.Join(folder, path), body, 0o600))
		declared = append(declared, map[string]any{"path": path, "size_bytes": len(body), "sha256": wire.Digest(body)})
	}
	var ready contract.MCPUpload
	do("prepare_upload", map[string]any{"title": "Files", "files": declared}, &ready)
	if len(ready.Files) != 2 || !slices.Equal(ready.Known, []string{"data/empty.txt"}) {
		t.Fatalf("to upload is %+v", ready)
	}
	for _, f := range ready.Files {
		command := exec.CommandContext(ctx, "sh", "-c", f.Curl)
		command.Dir = folder
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("curl: %v %s", err, out)
		}
	}
	var made contract.MCPPublished
	for range 2 {
		do("publish_upload", map[string]any{"upload_session_id": ready.UploadSessionID}, &made)
		if made.RevisionID != ready.RevisionID || made.Title != "Files" {
			t.Errorf("uploaded is %+v", made)
		}
	}
	read := func(path string) *mcp.ResourceContents {
		t.Helper()
		uri := "artifact://" + string(made.ArtifactID) + path
		return harness.Must(s.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri}))(t).Contents[0]
	}
	if got := read("/index.html"); got.Text != string(files["index.html"]) || got.MIMEType != "text/html; charset=utf-8" {
		t.Errorf("the page is %.200q, %s", got.Text, got.MIMEType)
	}
	if got := read("/img/it%27s%20%C3%A9%3F.png"); !bytes.Equal(got.Blob, files["img/it's é?.png"]) {
		t.Errorf("the picture has %d bytes", len(got.Blob))
	}
	if got := read(""); !strings.Contains(got.Text, `"entrypoint":"index.html"`) {
		t.Errorf("the view is %s", got.Text)
	}
}

// use calls a tool that succeeds, with a client of the SDK.
func use(t testing.TB, s *mcp.ClientSession, tool string, args map[string]any, out any) {
	t.Helper()
	r := harness.Must(s.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: args}))(t)
	body := harness.Must(json.Marshal(r.StructuredContent))(t)
	if r.IsError {
		t.Fatalf("%s: %s", tool, harness.Must(json.Marshal(r.Content))(t))
	}
	harness.NoError(t, json.Unmarshal(body, out))
}

// TestAToolNeedsItsScopes holds the token's scopes, met with those of the member, against what each tool needs.
func TestAToolNeedsItsScopes(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	needs := map[string]string{
		"whoami": "", "list_artifacts": "read", "read_artifact": "read", "read_file": "read", "list_revisions": "read",
		"diff_revisions": "read", "delete_artifact": "publish", "update_display_metadata": "publish",
		"revoke_access_link": "publish", "catch_up": "read", "answer_feedback": "publish",
	}
	for _, has := range []credential.Scope{"", credential.Read, credential.Publish} {
		scopes := []credential.Scope{credential.Admin}
		if has != "" {
			scopes = append(scopes, has)
		}
		who := p.NewMember(t, scopes...)
		c := &rawClient{Env: p.Env, token: p.GrantTo(t, who, appClient, p.Origins.MCP).Key}
		for _, tool := range allTools {
			needed, listed := needs[tool]
			if !listed {
				needed = "publish read"
			}
			a := c.rpc(t, "tools/call", map[string]any{"name": tool, "arguments": map[string]any{}})
			allowed := needed == "" || needed == string(has)
			if allowed != (a.Status == http.StatusOK) {
				t.Errorf("%s with %q answers %d %s", tool, has, a.Status, a.Body)
			}
			if allowed {
				continue
			}
			challenge := a.Header.Get("WWW-Authenticate")
			if a.Status != http.StatusForbidden || a.Error == nil || a.Error.Code != -32000 ||
				a.Error.Data.Code != "insufficient_scope" || string(a.ID) == "" ||
				!strings.Contains(challenge, `error="insufficient_scope"`) ||
				!strings.Contains(challenge, `scope="`+needed+`"`) {
				t.Errorf("%s with %q: %d %s %s", tool, has, a.Status, challenge, a.Body)
			}
		}
	}
}

// TestNoToolReachesAnotherWorkspace gives every tool the ids of somebody else.
func TestNoToolReachesAnotherWorkspace(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	owner, who := connected(t, p)
	other, _ := connected(t, p)
	made := owner.page(t, "Theirs", tides)
	thread := harness.WriteAs(t, who, made.ArtifactID, contract.CreateThread{Body: "Which unit?"}).ID
	link := call[contract.Visibility](t, owner, "set_visibility",
		map[string]any{"artifact_id": made.ArtifactID, "visibility": "unlisted"})
	ready := call[contract.MCPUpload](t, owner, "prepare_upload",
		map[string]any{"title": "x", "files": []map[string]any{{"path": "a.txt", "size_bytes": 0}}})
	before := p.Snapshot(t)
	a := map[string]any{"artifact_id": made.ArtifactID}
	with := func(more map[string]any) map[string]any { maps.Copy(more, a); return more }
	for tool, tt := range map[string]struct {
		args map[string]any
		code fault.Code
	}{
		"add_revision": {with(map[string]any{"body": "x", "render_mode": "text"}), fault.ArtifactNotFound},
		"multi_edit": {with(map[string]any{"path": "index.html",
			"edits": []map[string]any{{"old_string": "six", "new_string": "x"}}}), fault.ArtifactNotFound},
		"read_artifact":           {a, fault.NotFound},
		"read_file":               {with(map[string]any{"path": "index.html"}), fault.NotFound},
		"list_revisions":          {a, fault.ArtifactNotFound},
		"delete_artifact":         {a, fault.ArtifactNotFound},
		"update_display_metadata": {with(map[string]any{"title": "Mine"}), fault.ArtifactNotFound},
		"set_visibility":          {with(map[string]any{"visibility": "private"}), fault.ArtifactNotFound},
		"create_revision_link":    {with(map[string]any{"revision_id": made.RevisionID}), fault.ArtifactNotFound},
		"list_access_links":       {a, fault.ArtifactNotFound},
		"revoke_access_link":      {map[string]any{"access_link_id": link.AccessLinkID}, fault.NotFound},
		"publish_upload":          {map[string]any{"upload_session_id": ready.UploadSessionID}, fault.NotFound},
		"diff_revisions":          {a, fault.NotFound},
		"catch_up":                {a, fault.ArtifactNotFound},
		"answer_feedback":         {with(map[string]any{"thread_id": thread, "reply": "x"}), fault.ArtifactNotFound},
		"prepare_upload": {with(map[string]any{"title": "x",
			"files": []map[string]any{{"path": "a.txt", "size_bytes": 0}}}), fault.ArtifactNotFound},
	} {
		other.refused(t, tt.code, tool, tt.args)
	}
	for _, path := range []string{"", "/index.html"} {
		got := other.rpc(t, "resources/read", map[string]any{"uri": "artifact://" + string(made.ArtifactID) + path})
		if got.Status != http.StatusBadRequest || got.Error == nil || got.Error.Data.Code != "not_found" {
			t.Errorf("the resource %q answers %d %.300s", path, got.Status, got.Body)
		}
	}
	p.WantUnchanged(t, before)
}
