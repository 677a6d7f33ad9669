package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/publishing/artifact"
)

const routesLegend = `
Each figure is of one request; calls that overlap are one round trip. Artifacts that are read have 10 files, the list
has 50 rows. CPU and allocations are of the hosts' process. Requests that use something up find it prepared. Tests hold
calls, capacity and round trips (scripts/journey/budget).
`

// routeRows are a row for each route.
func (b *bench) routeRows(ctx context.Context) ([]row, error) {
	s, err := b.openShelf(ctx)
	if err != nil {
		return nil, err
	}
	archive, err := s.archive(ctx)
	if err != nil {
		return nil, err
	}
	people, err := b.people(ctx)
	if err != nil {
		return nil, err
	}
	return slices.Concat(
		b.readRoutes(s, archive), b.artifactRoutes(), b.agentRoutes(people), b.memberRoutes(people),
	), nil
}

// readRoutes are the rows of requests that may be repeated. archive is the URL of the bundle of what is read.
func (b *bench) readRoutes(s shelf, archive string) []row {
	anyone, file := b.anyone, s.RevisionContentURL
	described := func(name, path string) row {
		return row{name: name, title: "GET " + path, work: getting(anyone, path)}
	}
	content := func(status int, name, value string) operation {
		return asking(anyone, status, "GET", file, nil, name, value)
	}
	return []row{
		{name: "whoami", title: "GET whoami", work: getting(s.Agent, "/v1/whoami")},
		{name: "usage-policy", title: "GET usage-policy", work: getting(s.Agent, "/v1/usage-policy")},
		{name: "discovery", title: "GET discovery", work: getting(anyone, "/.well-known/vitrine")},
		{name: "cli-version", title: "GET cli-version", work: getting(anyone, "/v1/public/cli-version")},
		{name: "list", title: "GET list", work: getting(s.Agent, "/v1/artifacts")},
		{name: "agent-view", title: "GET agent view, latest", work: getting(s.Agent, s.path("/agent-view"))},
		{
			name:  "agent-view-pinned",
			title: "GET agent view, pinned",
			work:  getting(s.Agent, s.path("/revisions/"+string(s.RevisionID)+"/agent-view")),
		},
		{name: "agent-view-public", title: "GET agent view, public", work: getting(anyone, s.AgentViewURL)},
		{name: "resolve", title: "POST resolve", work: asking(anyone, 200, "POST", "/v1/access-links/resolve", s.link)},
		{name: "file-content", title: "GET file-content", work: getting(s.Agent, s.path("/file-content?path=index.html"))},
		{name: "revisions", title: "GET revisions", work: getting(s.Agent, s.path("/revisions"))},
		described("jwks", "/.well-known/jwks.json"),
		described("server-metadata", "/.well-known/oauth-authorization-server"),
		described("resource-metadata", "/.well-known/oauth-protected-resource"),
		described("guide", "/auth.md"),
		{name: "content", title: "GET content", work: getting(anyone, file)},
		{name: "content-link", title: "GET content through a link", work: getting(anyone, s.framed)},
		{name: "content-head", title: "HEAD content", work: asking(anyone, 200, "HEAD", file, nil)},
		{name: "content-304", title: "GET content, 304", work: content(304, "If-None-Match", s.etag)},
		{name: "content-range", title: "GET content, a range", work: content(206, "Range", "bytes=0-9")},
		{name: "bundle", title: "GET bundle", work: getting(anyone, archive)},
		{name: "bundle-head", title: "HEAD bundle", work: asking(anyone, 200, "HEAD", archive, nil)},
		{name: "viewer", title: "GET viewer page", work: getting(anyone, s.viewer)},
		{
			name:  "viewer-resolve",
			title: "POST resolve of the app",
			work:  asking(anyone, 200, "POST", anyone.At.AppURL+"/api/access-links/resolve", s.link),
		},
	}
}

// shelf is what the rows read: the newest of many artifacts.
type shelf struct {
	shown
	link           contract.ResolveRequest
	viewer, framed string // URLs of the page that opens the link, and of what that shows
	etag           string
}

// listed is how many artifacts the list shows.
const listed = 50

// archive returns the URL of the bundle of what is read. It waits for one that the hosts' own jobs are making.
func (s shelf) archive(ctx context.Context) (string, error) {
	for {
		view, err := s.AgentView(ctx, s.ArtifactID)
		if err != nil {
			return "", err
		}
		switch view.Bundle.Status {
		case string(artifact.BundleReady):
			return view.Bundle.URL, nil
		case string(artifact.BundlePending):
			pause(ctx, settleQuiet*settlePause)
		default:
			return "", fmt.Errorf("the bundle of what is read is %s", view.Bundle.Status)
		}
	}
}

// openShelf makes a workspace with a page full of artifacts, and opens the newest.
func (b *bench) openShelf(ctx context.Context) (s shelf, err error) {
	b.say("publishing what is read")
	if err := b.openGate(ctx); err != nil {
		return s, err
	}
	m := &maker{bench: b, ctx: ctx}
	owner := m.provision().Agent
	if m.err == nil {
		_, m.err = prepare(ctx, b, listed-1, func(m *maker) shown { return m.show(owner, onePage()...) })
	}
	s.shown = m.show(owner, tenFiles()...)
	s.viewer, s.link = m.opening(s.UnlistedURL)
	resolved := ask[contract.Resolved](m, b.anyone, http.StatusOK, "POST", "/v1/access-links/resolve", s.link)
	s.framed = resolved.IframeSrc
	m.first(func(ctx context.Context, _ int) error {
		a, err := call(ctx, b.anyone, http.StatusOK, "HEAD", s.RevisionContentURL, nil)
		s.etag = a.Header.Get("ETag")
		return err
	})
	return s, m.err
}

// opening returns the page that opens an access link, and what that asks for.
func (m *maker) opening(link string) (viewer string, ask contract.ResolveRequest) {
	if m.err == nil {
		ask.PublicID, ask.Blob, m.err = wire.SplitLink(link)
	}
	return m.anyone.At.AppURL + "/al/" + string(ask.PublicID), ask
}
