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

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// app is a client that a person let in, with an artifact of theirs.
type app struct {
	*wire.Agent
	artifact id.Artifact
}

// toolRows are rows of the MCP host, whose one route serves every tool. Their clients are let in no sooner than a row
// asks for them, because a baseline may have no such host.
func (b *bench) toolRows() []row {
	apps := sync.OnceValues(func() ([]app, error) { return b.apps(context.Background()) })
	use := func(name, title string, of func(app) task) row {
		return row{name: name, title: "POST mcp, " + title, stock: func(context.Context) (tasks []task, err error) {
			all, err := apps()
			for n := 0; err == nil && n < b.stocked(); n++ {
				tasks = append(tasks, of(all[n%len(all)]))
			}
			return tasks, err
		}}
	}
	return []row{
		use("mcp-tools", "tools/list", func(a app) task { return a.sends("tools/list", map[string]any{}, nil) }),
		use("mcp-list", "list_artifacts", func(a app) task { return a.calls("list_artifacts", map[string]any{}, nil) }),
		use("mcp-read", "read_file", func(a app) task {
			return a.calls("read_file", map[string]any{"artifact_id": a.artifact, "path": "index.html"}, nil)
		}),
		use("mcp-publish", "publish_artifact", func(a app) task { return a.publishes(nil) }),
		{name: "mcp-edit", title: "POST mcp, multi_edit", stock: func(ctx context.Context) ([]task, error) {
			all, err := apps()
			if err != nil {
				return nil, err
			}
			return each(ctx, b.stocked(), func(ctx context.Context, n int) (task, error) {
				a := all[n%len(all)]
				err := a.publishes(&a)(ctx)
				return a.calls("multi_edit", map[string]any{
					"artifact_id": a.artifact, "path": "index.html",
					"edits": []any{map[string]any{"old_string": "page", "new_string": "next page"}},
				}, nil), err
			})
		}},
	}
}

// apps lets clients of as many people in.
func (b *bench) apps(ctx context.Context) ([]app, error) {
	b.say("letting MCP clients in")
	return each(ctx, manyClients, func(ctx context.Context, n int) (a app, err error) {
		w, err := b.enter(ctx, fmt.Sprintf("bench-mcp-%d@example.org", n))
		if err == nil {
			a.Agent, err = b.letIn(ctx, w)
		}
		if err == nil {
			err = a.publishes(&a)(ctx)
		}
		return a, err
	})
}

// backWithCode is the address that a browser goes back to a client with, on the page that sends it there.
var backWithCode = regexp.MustCompile(`[?&](?:amp;)?code=([^"&]+)`)

// letIn has the person in a browser let a new client in, and returns it with its token.
func (b *bench) letIn(ctx context.Context, w *browser) (*wire.Agent, error) {
	c, err := b.registerClient(ctx)
	if err != nil {
		return nil, err
	}
	a, err := w.Do(ctx, "GET", b.authorization(c, "read publish"), nil)
	if err := expect(a, err, http.StatusSeeOther); err != nil {
		return nil, err
	}
	page, err := url.Parse(a.Header.Get("Location"))
	if err != nil {
		return nil, err
	}
	a, err = w.ask(ctx, "POST", w.app+"/oauth/consent/allow", url.Values{"req": {page.Query().Get("req")}})
	if err := expect(a, err, http.StatusOK); err != nil {
		return nil, err
	}
	code := backWithCode.FindSubmatch(a.Body)
	if code == nil {
		return nil, errors.New("the page does not lead back to the client with a code")
	}
	var token contract.Token
	err = b.form(ctx, "/oauth2/token", url.Values{
		"grant_type":    {contract.GrantCode},
		"client_id":     {string(c.ClientID)},
		"redirect_uri":  {redirect},
		"code":          {string(code[1])},
		"code_verifier": {"dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"}, // of the challenge
	}, &token)
	return &wire.Agent{HTTP: b.anyone.HTTP, At: b.anyone.At, Key: token.AccessToken}, err
}

// sends sends a message, and unpacks its result if it is wanted.
func (a app) sends(method string, params map[string]any, out any) task {
	return func(ctx context.Context) error {
		message := map[string]any{"jsonrpc": "2.0", "id": string(id.NewPublic()), "method": method, "params": params}
		got, err := a.Do(ctx, "POST", a.At.MCPURL+"/", message, "Content-Type", "application/json")
		if err := expect(got, err, http.StatusOK); err != nil || out == nil {
			return err
		}
		var answer struct{ Result json.RawMessage }
		return errors.Join(json.Unmarshal(got.Body, &answer), json.Unmarshal(answer.Result, out))
	}
}

// calls calls a tool, and unpacks what it answers if it is wanted.
func (a app) calls(name string, arguments map[string]any, out any) task {
	return func(ctx context.Context) error {
		var answer struct {
			IsError           bool
			Content           json.RawMessage
			StructuredContent json.RawMessage
		}
		err := a.sends("tools/call", map[string]any{"name": name, "arguments": arguments}, &answer)(ctx)
		switch {
		case err != nil:
			return err
		case answer.IsError:
			return fmt.Errorf("tool %s answers %s", name, answer.Content)
		case out == nil:
			return nil
		}
		return json.Unmarshal(answer.StructuredContent, out)
	}
}

// publishes publishes a page of 4 KB, as the artifact of into if there is one.
func (a app) publishes(into *app) task {
	return func(ctx context.Context) error {
		var made contract.MCPPublished
		err := a.calls("publish_artifact", map[string]any{
			"title": "Report", "render_mode": "html",
			"body": fmt.Sprintf("<h1>page</h1>%s %x", id.NewPublic(), noise(2000)), // other bytes each time
		}, &made)(ctx)
		if into != nil {
			into.artifact = made.ArtifactID
		}
		return err
	}
}
