package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"sync"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// toolRows are rows of the MCP host, whose one route serves every tool. Their clients are let in no sooner than a row
// asks for them, because a baseline may have no such host.
func (b *bench) toolRows() []row {
	apps := sync.OnceValues(func() ([]shown, error) {
		b.say("letting MCP clients in")
		return prepare(context.Background(), b, manyClients, (*maker).app)
	})
	using := func(tool string, arguments func(a shown) fields) stock {
		return b.stocked(func(m *maker) operation {
			all, err := apps()
			if err != nil {
				m.err = err
				return nil
			}
			a := all[m.n%len(all)]
			if tool == "multi_edit" { // of a page that was not edited
				a, m.err = use(m.ctx, a, publishTool, newPage(a))
			}
			return func(ctx context.Context, _ int) error {
				_, err := use(ctx, a, tool, arguments(a))
				return err
			}
		})
	}
	nothing := func(shown) fields { return fields{} }
	read := func(a shown) fields { return fields{"artifact_id": a.ArtifactID, "path": "index.html"} }
	edit := func(a shown) fields {
		edits := []any{fields{"old_string": "page", "new_string": "next page"}}
		return fields{"artifact_id": a.ArtifactID, "path": "index.html", "edits": edits}
	}
	return []row{
		{name: "mcp-tools", title: "POST mcp, tools/list", stock: using(listTools, nothing)},
		{name: "mcp-list", title: "POST mcp, list_artifacts", stock: using("list_artifacts", nothing)},
		{name: "mcp-read", title: "POST mcp, read_file", stock: using("read_file", read)},
		{name: "mcp-publish", title: "POST mcp, publish_artifact", stock: using(publishTool, newPage)},
		{name: "mcp-edit", title: "POST mcp, multi_edit", stock: using("multi_edit", edit)},
	}
}

type fields = map[string]any

// newPage is a page of 4 KB, other bytes each time.
func newPage(shown) fields {
	body := fmt.Sprintf("<h1>page</h1>%s %x", id.NewPublic(), noise(2000))
	return fields{"title": "Report", "render_mode": "html", "body": body}
}

const (
	listTools   = "tools/list"
	publishTool = "publish_artifact"
)

// use calls a tool, or lists all, and returns the app with the artifact that it has published.
func use(ctx context.Context, a shown, tool string, arguments fields) (shown, error) {
	method, params := "tools/call", fields{"name": tool, "arguments": arguments}
	if tool == listTools {
		method, params = tool, fields{}
	}
	message := fields{"jsonrpc": "2.0", "id": string(id.NewPublic()), "method": method, "params": params}
	got, err := answered[struct {
		Result struct {
			IsError                    bool
			Content, StructuredContent json.RawMessage
		}
	}](call(ctx, a.Agent, http.StatusOK, "POST", a.At.MCPURL+"/", message, "Content-Type", "application/json"))
	if err == nil && got.Result.IsError {
		err = fmt.Errorf("tool %s answers %s", tool, got.Result.Content)
	}
	if err == nil && tool == publishTool {
		var made contract.MCPPublished
		err = json.Unmarshal(got.Result.StructuredContent, &made)
		a.ArtifactID = made.ArtifactID
	}
	return a, err
}

// backWithCode is the address that a browser goes back to a client with, on the page that sends it there.
var backWithCode = regexp.MustCompile(`[?&](?:amp;)?code=([^"&]+)`)

// app is a new client that a person lets in, with an artifact.
func (m *maker) app() shown {
	w := m.enter(fmt.Sprintf("bench-mcp-%d@example.org", m.n))
	c, target := m.authorization("read publish")
	consent, _ := m.browse(m.newBrowser(), http.StatusSeeOther, "GET", target, nil)
	form := url.Values{"req": {consent.Query().Get("req")}}
	_, page := m.browse(w, http.StatusOK, "POST", w.app+"/oauth/consent/allow", form)
	code := backWithCode.FindSubmatch(page)
	if m.err == nil && code == nil {
		m.err = errors.New("the page does not lead back to the client with a code")
	}
	if m.err != nil {
		return shown{}
	}
	a := shown{Agent: m.with(ask[contract.Token](m, m.anyone, http.StatusOK, "POST", tokenPath, url.Values{
		"grant_type":    {contract.GrantCode},
		"client_id":     {string(c.ClientID)},
		"redirect_uri":  {redirect},
		"code":          {string(code[1])},
		"code_verifier": {verifier},
	}).AccessToken)}
	m.first(func(ctx context.Context, _ int) (err error) {
		a, err = use(ctx, a, publishTool, newPage(a))
		return err
	})
	return a
}
