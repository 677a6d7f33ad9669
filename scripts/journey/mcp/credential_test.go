package mcp

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// TestT04OtherCredentialsAreRefusedByThisHost sends everything that opens another host.
func TestT04OtherCredentialsAreRefusedByThisHost(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t)
	browser := p.SignedIn(t, "ada@example.org")
	cli := browser.CLIToken(t)
	who := p.NewMember(t)
	made := harness.CreatedKey(t, harness.TryCreateKey(t, who, "key", "a-key-of-mine"))
	session := browser.Cookies[harness.SessionCookie]
	metadata := p.Origins.MCP + "/.well-known/oauth-protected-resource"
	for name, tt := range map[string]struct {
		headers []string
		says    string
	}{
		"nothing":                {[]string{"Authorization", ""}, "OAuth"},
		"an API key":             {[]string{"Authorization", "Bearer " + made.Secret}, "API keys"},
		"an ephemeral key":       {[]string{"Authorization", "Bearer " + p.NewAgent(t).Key}, "API keys"},
		"the command's token":    {[]string{"Authorization", "Bearer " + cli.AccessToken}, "unknown, expired or ended"},
		"a member's web token":   {[]string{"Authorization", "Bearer " + who.Key}, "unknown, expired or ended"},
		"a session in a cookie":  {[]string{"Authorization", "", "Cookie", harness.SessionCookie + "=" + session}, "OAuth"},
		"a session as a token":   {[]string{"Authorization", "Bearer " + session}, ""},
		"a foreign session":      {[]string{"Authorization", "Bearer wos_session"}, "browser sessions"},
		"a basic credential":     {[]string{"Authorization", "Basic YTpi"}, "Bearer"},
		"two in one header":      {[]string{"Authorization", "Bearer a, Bearer b"}, "exactly one"},
		"a token and a space":    {[]string{"Authorization", "Bearer a b"}, "Bearer"},
		"a token with no scheme": {[]string{"Authorization", cli.AccessToken}, "Bearer"},
	} {
		c := &rawClient{Env: p.Env}
		for _, body := range []string{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `{`, `[]`} {
			a := c.send(t, body, tt.headers...)
			challenge := a.Header.Get("WWW-Authenticate")
			if a.Status != http.StatusUnauthorized || a.Error == nil || a.Error.Code != -32000 || a.ID != nil ||
				a.Error.Data.Code != "invalid_token" || !strings.Contains(a.Error.Message, tt.says) {
				t.Errorf("%s: %d %s", name, a.Status, a.Body)
			}
			sent := tt.headers[1] != ""
			if !strings.HasPrefix(challenge, `Bearer realm="`) || strings.Contains(challenge, `error="invalid_token"`) != sent ||
				!strings.Contains(challenge, `resource_metadata="`+metadata+`"`) ||
				!strings.Contains(challenge, `scope="read publish"`) {
				t.Errorf("%s is challenged by %s", name, challenge)
			}
		}
	}
	// T81: a token in the query is none
	a := harness.Do(t, p.Anyone, "POST", p.Origins.MCP+"/?access_token="+cli.AccessToken, `{}`)
	if a.Status != http.StatusUnauthorized {
		t.Errorf("a token in the query answers %d", a.Status)
	}
}

// TestT03ATokenOfThisHostOpensNoOther is the other way round.
func TestT03ATokenOfThisHostOpensNoOther(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	c, _ := connected(t, p)
	g := p.WithBearer(c.token)
	for _, path := range []string{"/v1/whoami", "/v1/artifacts", "/v1/web/workspace"} {
		harness.WantRefused(t, harness.Do(t, g, "GET", p.Origins.API+path, nil), 401, fault.NotAuthenticated)
	}
	harness.WantRefused(
		t, harness.Must(harness.Create(g, wire.NewKey(), map[string]any{}))(t), 401, fault.NotAuthenticated,
	)
	if got := p.StatusFor(t, c.token, "/v1/mcp/whoami"); got != http.StatusOK {
		t.Errorf("the route for MCP answers %d", got)
	}
}

// stateless is the newest revision of the protocol, which has no handshake.
const stateless = "2026-07-28"

// revisions are all that clients may speak.
var revisions = []string{"2025-03-26", "2025-06-18", "2025-11-25", stateless}

// TestTheClientOfTheSDKSpeaksEveryRevision connects as clients of each revision do. Older ones also ask for a stream of
// messages, which this host does not have.
func TestTheClientOfTheSDKSpeaksEveryRevision(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	p.Anyone.HTTP.Transport = http.DefaultTransport // the document lists no 405
	for _, revision := range revisions {
		c, who := connected(t, p)
		s := c.session(t, revision)
		var me contract.MCPWhoami
		if use(t, s, "whoami", nil, &me); me.WorkspaceMember.ID != who.ID {
			t.Errorf("in %s it acts for %+v", revision, me)
		}
	}
}

// FuzzMessages sends bodies that are nearly messages: none breaks the host.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"whoami","arguments":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"multi_edit","arguments":{"artifact_id":"art_00000000000000000000000000","path":"a","edits":[{"old_string":"a","new_string":"b"}]}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"artifact://art_00000000000000000000000000/a"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"publish-report","arguments":{"topic":"x"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"skills/get","params":{"name":"vitrine"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`[{"jsonrpc":"2.0"}]`, `{"jsonrpc":"2.0","id":null}`, `{"id":1.5}`, "\xff", `{"a":{"a":{"a":[`, "",
	} {
		f.Add(seed)
	}
	p := harness.NewBackendEnv(f, harness.Unlimited)
	c, _ := connected(f, p)
	f.Fuzz(func(t *testing.T, body string) {
		newest := []string{"MCP-Protocol-Version", stateless, "Mcp-Method", "tools/call", "Mcp-Name", "whoami"}
		for _, headers := range [][]string{nil, newest} {
			if a := c.send(t, body, headers...); a.Status >= http.StatusInternalServerError || a.Status < http.StatusOK {
				t.Errorf("%q answers %d %.300s", body, a.Status, a.Body)
			}
		}
	})
}

// TestALargeTextIsPublishedEditedAndRead sends as much text as a tool takes, of the character that JSON encoders escape
// most, in plain and in escaped JSON.
func TestALargeTextIsPublishedEditedAndRead(t *testing.T) {
	t.Parallel()
	p := newFunctions(t)
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
