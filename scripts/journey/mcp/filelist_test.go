package mcp

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// large is an artifact of as many files as one can have, with what its views have to list.
type large struct {
	*harness.BackendEnv
	client *rawClient
	author *wire.Agent
	made   contract.Published
	link   string
	want   []string // paths and digests, in order
}

func publishLarge(t *testing.T) *large {
	t.Helper()
	p := harness.NewBackendEnv(t, harness.Unlimited, func(o *stack.Options) {
		harness.WithPolicy(func(p *limits.Policy) {})(&o.Limits) // a map of its own
		free := o.Limits.Tiers[limits.Free]
		free.FileCount = limits.FilesPerTree
		o.Limits.Tiers[limits.Free] = free
	})
	l := &large{BackendEnv: p}
	var who *harness.Member
	l.client, who = connected(t, p)
	key := harness.CallAs[contract.CreatedKey](
		t, who, 201, "POST", "/v1/web/keys", contract.CreateKey{Name: "K"}, harness.KeyHeader()...,
	)
	l.author = p.WithBearer(key.Secret)
	files := []wire.File{harness.Page("the pictures")}
	for n := range limits.FilesPerTree - 1 {
		body := fmt.Sprintf("%d", n%50)
		files = append(files, wire.File{Path: fmt.Sprintf("d%d/%04d \"ö\".txt", n%7, n), Body: []byte(body)})
	}
	l.made = harness.Must(l.author.PublishFiles(ctx, "Pictures", "", files...))(t)
	l.link = harness.ShareURL(t, l.author, l.made.ArtifactID)
	slices.SortFunc(files[1:], func(x, y wire.File) int { return cmp.Compare(x.Path, y.Path) })
	for _, f := range files {
		l.want = append(l.want, f.Path+" "+wire.Digest(f.Body))
	}
	return l
}

// views are the ways to read a page of the files: at a cursor, if one is given.
func (l *large) views(t *testing.T) map[string]func(cursor string) contract.PublicAgentView {
	at := func(u, cursor string) string {
		if cursor == "" {
			return u
		}
		return u + "?" + url.Values{"files_cursor": {cursor}}.Encode()
	}
	own := l.Origins.API + "/v1/artifacts/" + string(l.made.ArtifactID)
	get := func(u string) func(string) contract.PublicAgentView {
		return func(cursor string) (v contract.PublicAgentView) {
			a := harness.Do(t, l.author, "GET", at(u, cursor), nil)
			if harness.Decode(t, a, &v); a.Status != 200 || cursor != "" && len(a.Body) > limits.MiB {
				t.Errorf("%s answers %d with %d bytes", u, a.Status, len(a.Body))
			}
			return v
		}
	}
	return map[string]func(string) contract.PublicAgentView{
		"newest": get(own + "/agent-view"),
		"pinned": get(own + "/revisions/" + string(l.made.RevisionID) + "/agent-view"),
		"public": get(l.made.AgentViewURL),
		"link": func(cursor string) contract.PublicAgentView {
			public, blob, err := wire.SplitLink(l.link)
			harness.NoError(t, err)
			q := contract.ResolveRequest{PublicID: public, Blob: blob, FilesCursor: cursor}
			a := harness.Do(t, l.Anyone, "POST", l.Origins.API+"/v1/access-links/resolve", q)
			var r contract.Resolved
			harness.Decode(t, a, &r)
			return r.AgentView
		},
		"mcp": func(cursor string) contract.PublicAgentView {
			in := map[string]any{"artifact_id": l.made.ArtifactID}
			if cursor != "" {
				in["files_cursor"] = cursor
			}
			return call[contract.AgentView](t, l.client, "read_artifact", in).PublicAgentView
		},
	}
}

func TestEveryViewListsTwoThousandFilesInPages(t *testing.T) {
	t.Parallel()
	l := publishLarge(t)
	for name, read := range l.views(t) {
		var got []string
		var size int64
		pages := 0
		for cursor, more := "", true; more; pages++ {
			v := read(cursor)
			if v.FilesTotal != len(l.want) || v.RevisionID != l.made.RevisionID || v.SizeTotal == 0 {
				t.Fatalf("%s: page %d is of %d files of %s", name, pages, v.FilesTotal, v.RevisionID)
			}
			if pages == 0 && len(v.Files) != limits.ViewFiles || name == "mcp" && len(v.Files) != limits.ViewFiles {
				t.Errorf("%s: page %d has %d files", name, pages, len(v.Files))
			}
			for _, f := range v.Files {
				got = append(got, f.Path+" "+f.SHA256)
				size += f.SizeBytes
			}
			last := v.Files[len(v.Files)-1]
			if a := l.Get(t, last.URL); a.Status != 200 || wire.Digest(a.Body) != last.SHA256 {
				t.Errorf("%s: %s answers %d", name, last.Path, a.Status)
			}
			cursor, more = v.FilesNextCursor, v.FilesNextCursor != ""
			if !more && size != v.SizeTotal {
				t.Errorf("%s: the files have %d bytes of %d", name, size, v.SizeTotal)
			}
		}
		if !slices.Equal(got, l.want) {
			t.Errorf("%s: %d pages have %d files, or in another order", name, pages, len(got))
		}
	}
	l.tellsHowToGoOn(t)
	l.refusesOthers(t)
}

// tellsHowToGoOn checks what people and models read about the other files.
func (l *large) tellsHowToGoOn(t *testing.T) {
	t.Helper()
	checked := l.Anyone.HTTP.Transport
	defer func() { l.Anyone.HTTP.Transport = checked }()
	l.Anyone.HTTP.Transport = http.DefaultTransport // the document lists no 405
	s := l.client.session(t, "2025-11-25")
	const more = "These are 100 of 2000 files."
	out, err := s.CallTool(ctx, &mcp.CallToolParams{
		Name: "read_artifact", Arguments: map[string]any{"artifact_id": l.made.ArtifactID},
	})
	expect.OK(t, err)
	expect.Has(t, "the tool", out.Content[1].(*mcp.TextContent).Text, more, "files_cursor")
	seen, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "artifact://" + string(l.made.ArtifactID)})
	expect.OK(t, err)
	expect.Has(t, "the resource", seen.Contents[0].Text, `"files_next_cursor":`, `"files_total":2000`)
	page := l.Get(t, l.made.AgentViewURL, "Accept", "text/html")
	expect.Has(t, "the page of the public view", string(page.Body), more, `<a href="?files_cursor=v1.`)
}

// refusesOthers sends cursors of other files.
func (l *large) refusesOthers(t *testing.T) {
	t.Helper()
	own := l.Origins.API + "/v1/artifacts/" + string(l.made.ArtifactID)
	next := harness.Must(l.author.AgentView(ctx, l.made.ArtifactID))(t).FilesNextCursor
	second := harness.Must(l.author.PublishFiles(ctx, "One", l.made.ArtifactID, harness.Page("one")))(t)
	for path, cursor := range map[string]string{
		own + "/agent-view": "x",
		own + "/revisions/" + string(second.RevisionID) + "/agent-view": next,
		second.AgentViewURL: next,
	} {
		a := harness.Do(t, l.author, "GET", path+"?files_cursor="+url.QueryEscape(cursor), nil)
		harness.WantRefused(t, a, 400, fault.InvalidRequest)
		expect.Has(t, path, string(a.Body), "read the view again without it")
	}
	goes := harness.Do(t, l.author, "GET", own+"/agent-view?files_cursor="+url.QueryEscape(next), nil)
	if v := string(goes.Body); goes.Status != 200 || !strings.Contains(v, string(l.made.RevisionID)) {
		t.Errorf("after a publish the next page answers %d", goes.Status)
	}
}
