package mcp

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/edit"
	"vitrine/shared/publishing/upload"
	"vitrine/shared/publishing/view"
)

func TestTheHostTellsItsExtensions(t *testing.T) {
	for _, version := range []string{"", "2025-11-25", "2025-06-18"} {
		have := newEnv(t).client(t, version, nil).InitializeResult().Capabilities.Extensions
		names := slices.Sorted(maps.Keys(have))
		if !slices.Equal(names, []string{skillsExtension, appExtension}) {
			t.Errorf("%s: %v", version, have)
		}
	}
}

// TestTheCardMayLoadNothing looks at what clients make their policies of.
func TestTheCardMayLoadNothing(t *testing.T) {
	client := newEnv(t).client(t, "", nil)
	out, err := client.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: cardURI})
	if err != nil {
		t.Fatal(err)
	}
	got := out.Contents[0]
	ui, _ := got.Meta["ui"].(map[string]any)
	if got.MIMEType != appMedia || ui["prefersBorder"] != true {
		t.Errorf("%s, %v", got.MIMEType, got.Meta)
	}
	csp, _ := ui["csp"].(map[string]any)
	for _, name := range []string{"connectDomains", "resourceDomains", "frameDomains", "baseUriDomains"} {
		if domains, ok := csp[name].([]any); !ok || len(domains) > 0 {
			t.Errorf("%s: %v", name, csp[name])
		}
	}
	expect.Lacks(t, "the card", got.Text,
		"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "createContextualFragment", "<iframe", "import(",
		"src=", "url(",
	)
}

func TestToolsThatPublishOrReadShowTheCard(t *testing.T) {
	client := newEnv(t).client(t, "", nil)
	list, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var shown []string
	for _, tool := range list.Tools {
		if ui, ok := tool.Meta["ui"].(map[string]any); ok && ui["resourceUri"] == cardURI {
			shown = append(shown, tool.Name)
		}
	}
	want := []string{"publish_artifact", "add_revision", "multi_edit", "read_artifact", "publish_upload"}
	if !slices.Equal(shown, want) {
		t.Error(shown)
	}
}

// TestTheCardLearnsWhoSeesAnArtifact calls tools and looks at what only the card gets.
func TestTheCardLearnsWhoSeesAnArtifact(t *testing.T) {
	shared := func(a *artifact.Artifact) { a.ShareLink = "AAAAAAAAAAAAAAAAAAAAAA" }
	for name, c := range map[string]struct {
		tool string
		set  func(*env)
		want map[string]any
	}{
		"a new artifact": {"publish_artifact", nil, map[string]any{"visibility": "private"}},
		"the repetition of a call that made one": {
			"publish_artifact", func(e *env) { e.members.record = &idempotency.Record{} }, nil,
		},
		"a private one":     {"read_artifact", nil, map[string]any{"visibility": "private"}},
		"a revision of one": {"add_revision", nil, map[string]any{"visibility": "private"}},
		"a shared one": {
			"read_artifact", func(e *env) { shared(e.artifact) }, map[string]any{"visibility": "unlisted"},
		},
		"a shared one whose links are locked": {
			"read_artifact", func(e *env) { shared(e.artifact); e.artifact.LinksLockedAt = noon },
			map[string]any{"visibility": "private"},
		},
		"one with a link to a revision": {
			"read_artifact", func(e *env) { e.artifact.NewestLinkAt = noon }, map[string]any{},
		},
		"a pinned one": {
			"read_artifact", func(e *env) { e.artifact.PinnedAt = noon.Add(-time.Hour) },
			map[string]any{"visibility": "private", "pinned": true},
		},
		"an upload that made one": {
			"publish_upload", func(e *env) { e.members.session.New = true }, map[string]any{"visibility": "private"},
		},
		"an upload to one": {"publish_upload", nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			e.publishing()
			if c.set != nil {
				c.set(e)
			}
			out, err := e.client(t, "", nil).CallTool(t.Context(), &mcp.CallToolParams{
				Name:      c.tool,
				Arguments: e.arguments(c.tool),
			})
			if err != nil || out.IsError {
				t.Fatalf("%v, %+v", err, out)
			}
			got, _ := out.Meta[cardKey].(map[string]any)
			if !maps.Equal(got, c.want) || (out.Meta[cardKey] == nil) != (c.want == nil) {
				t.Errorf("%v, want %v", out.Meta, c.want)
			}
		})
	}
}

// publishing lets all tools that show the card succeed.
func (e *env) publishing() {
	e.members.session = &upload.Session{ID: id.NewSession(), Workspace: e.artifact.Owner, Artifact: e.artifact.ID}
	e.edits.publish = func(edit.Request, string, edit.Text) (edit.Result, error) { return edit.Result{}, nil }
	e.edits.revise = func(edit.Request, *artifact.Artifact, id.Artifact, edit.Text) (edit.Result, error) {
		return edit.Result{}, nil
	}
	e.edits.finish = func(edit.Request, *upload.Session, []upload.Entry) (edit.Result, error) { return edit.Result{}, nil }
	e.views.latest = func(*artifact.Artifact) (view.View, error) { return view.View{}, nil }
}

// arguments are enough for a tool that shows the card.
func (e *env) arguments(tool string) map[string]any {
	switch tool {
	case "publish_artifact":
		return map[string]any{"title": "Seals", "body": "x", "render_mode": "text"}
	case "add_revision":
		return map[string]any{"artifact_id": e.artifact.ID, "body": "x", "render_mode": "text"}
	case "publish_upload":
		return map[string]any{"upload_session_id": e.members.session.ID}
	}
	return map[string]any{"artifact_id": e.artifact.ID}
}
