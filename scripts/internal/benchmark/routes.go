package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

const routesLegend = `
Each figure is of one request; calls that overlap are one round trip. Artifacts that are read have 10 files, the list has
50 rows. CPU and allocations are of the hosts' process. Requests that use something up find it prepared.
The engines' data is on disk. Designed are the round trips / RRU / WRU that the tables were designed for, where there is a
figure.
`

// routeRows are a row for each route.
func (b *bench) routeRows(ctx context.Context) ([]row, error) {
	s, err := b.openShelf(ctx)
	if err != nil {
		return nil, err
	}
	people, err := b.people(ctx)
	if err != nil {
		return nil, err
	}
	packed, err := s.owner.AgentView(ctx, s.published.ArtifactID)
	if err != nil {
		return nil, err
	}
	rows := slices.Concat(
		b.apiRoutes(s), b.documentRoutes(), b.uploadRoutes(), b.readRoutes(s, packed.Bundle.URL), b.sharingRoutes(),
		b.identityRoutes(people), b.providerRoutes(), b.authorizationRoutes(people), b.memberRoutes(people), b.webRoutes(people),
		b.toolRows(),
	)
	for n := range rows {
		rows[n].logged = 1
	}
	return rows, nil
}

// tabled measures rows with 1 client and with many, and prints their table with a legend.
func tabled(prepare rowsOf, legend string) func(b *bench, ctx context.Context, stdout io.Writer) error {
	return func(b *bench, ctx context.Context, stdout io.Writer) error {
		rows, err := prepare(b, ctx)
		if err != nil {
			return err
		}
		var groups [][]*row
		for _, r := range byClients(rows) {
			if b.rows.MatchString(r.id()) {
				groups = append(groups, []*row{&r})
			}
		}
		if groups == nil {
			return fmt.Errorf("no row matches %q", b.rows)
		}
		if err := b.runGroups(ctx, groups); err != nil {
			return err
		}
		table(stdout, groups)
		fmt.Fprint(stdout, legend[1:])
		sayMachine(stdout)
		return nil
	}
}

// shelf is what the rows read.
type shelf struct {
	owner     *wire.Agent
	published contract.Published
	resolved  contract.Resolved
	link      contract.ResolveRequest
	etag      string
}

// listed is how many artifacts the list shows.
const listed = 50

// openShelf makes a workspace with a page full of artifacts, of which the newest is read.
func (b *bench) openShelf(ctx context.Context) (shelf, error) {
	b.say("publishing what is read")
	owner, err := b.newAgent(ctx)
	if err != nil {
		return shelf{}, err
	}
	s, err := fillShelf(ctx, b.anyone, owner)
	if err == nil {
		err = b.makeBundles(ctx)
	}
	return s, err
}

// fillShelf publishes a page full of artifacts in the workspace of an owner and opens the newest.
func fillShelf(ctx context.Context, anyone, owner *wire.Agent) (s shelf, err error) {
	s.owner = owner
	small := site()[:1]
	if _, err = each(ctx, listed-1, func(ctx context.Context, _ int) (contract.Published, error) {
		return owner.PublishFiles(ctx, "Report", "", small...)
	}); err != nil {
		return s, err
	}
	if s.published, err = owner.PublishFiles(ctx, "Report", "", tenFiles()...); err != nil {
		return s, err
	}
	if s.resolved, err = anyone.Resolve(ctx, s.published.UnlistedURL); err != nil {
		return s, err
	}
	if s.link.PublicID, s.link.Blob, err = wire.SplitLink(s.published.UnlistedURL); err != nil {
		return s, err
	}
	a, err := anyone.Do(ctx, "HEAD", s.published.RevisionContentURL, nil)
	s.etag = a.Header.Get("ETag")
	return s, err
}

// tenFiles are the files that budgets are for, other bytes each time.
func tenFiles() []wire.File {
	files := site()[:1]
	for n := range 9 {
		files = append(files, wire.File{Path: fmt.Sprintf("data/table-%d.csv", n), Body: append(files[0].Body, noise(2000+n)...)})
	}
	return files
}

// apiRoutes are the rows of the api host.
func (b *bench) apiRoutes(s shelf) []row {
	api := b.anyone.At.APIURL
	artifact := api + "/v1/artifacts/" + string(s.published.ArtifactID)
	return []row{
		{
			name:     "whoami",
			title:    "GET whoami",
			designed: "2 / 2 / 2",
			work:     asking(s.owner, 200, "GET", api+"/v1/whoami"),
		},
		{
			name:     "usage-policy",
			title:    "GET usage-policy",
			designed: "2 / 4 / 2",
			work:     asking(s.owner, 200, "GET", api+"/v1/usage-policy"),
		},
		{name: "discovery", title: "GET discovery", work: asking(b.anyone, 200, "GET", api+"/.well-known/vitrine")},
		{name: "cli-version", title: "GET cli-version", work: asking(b.anyone, 200, "GET", api+"/v1/public/cli-version")},
		{
			name:     "provision",
			title:    "POST provision",
			designed: "2 / 0 / 12",
			stock:    b.provisions,
		},
		{
			name:     "publish",
			title:    "POST publish, first",
			designed: "3 / 5 / 20",
			stock:    b.publications,
		},
		{
			name:     "delete",
			title:    "DELETE artifact",
			designed: "3 / 4 / 13",
			stock:    b.deletions,
		},
		{name: "revoke", title: "POST revoke", stock: b.revocations},
		{
			name:     "list",
			title:    "GET list",
			designed: "2 / 6 / 2",
			work:     asking(s.owner, 200, "GET", api+"/v1/artifacts"),
		},
		{
			name:     "agent-view",
			title:    "GET agent view, latest",
			designed: "2 / 5.5 / 2",
			work:     asking(s.owner, 200, "GET", artifact+"/agent-view"),
		},
		{
			name:     "agent-view-pinned",
			title:    "GET agent view, pinned",
			designed: "2 / 6 / 2",
			work:     asking(s.owner, 200, "GET", artifact+"/revisions/"+string(s.published.RevisionID)+"/agent-view"),
		},
		{
			name:     "agent-view-public",
			title:    "GET agent view, public",
			designed: "2 / 5.5 / 1",
			work:     asking(b.anyone, 200, "GET", s.published.AgentViewURL),
		},
		{
			name:     "resolve",
			title:    "POST resolve",
			designed: "1 / 3 / 1",
			work:     sending(b.anyone, api+"/v1/access-links/resolve", s.link),
		},
		{name: "file-content", title: "GET file-content", work: asking(s.owner, 200, "GET", artifact+"/file-content?path=index.html")},
		{name: "revisions", title: "GET revisions", work: asking(s.owner, 200, "GET", artifact+"/revisions")},
	}
}

// uploadRoutes are the rows of the upload host.
func (b *bench) uploadRoutes() []row {
	create := func(ctx context.Context, client int) error {
		_, err := b.agents[client].Create(ctx, wire.NewKey(), wire.Declare("Report", tenFiles()...))
		return err
	}
	return []row{
		{
			name:     "session-create",
			title:    "POST session create, 10 files",
			designed: "3 / 8 / 13",
			work:     create,
		},
		{
			name:     "finalize",
			title:    "POST finalize, 3 files",
			designed: "4 / 5 / 23",
			stock:    b.finalizations,
		},
		{name: "finalize-reuse", title: "POST finalize, 3 files that are known", stock: b.reuses},
	}
}

// readRoutes are the rows of the content host and of the app host. archive is the URL of the bundle of what is read.
func (b *bench) readRoutes(s shelf, archive string) []row {
	file, app := s.published.RevisionContentURL, b.hosts.Origins.App
	return []row{
		{
			name:     "content",
			title:    "GET content",
			designed: "2 / 2 / 1",
			work:     asking(b.anyone, 200, "GET", file),
		},
		{
			name:     "content-link",
			title:    "GET content through a link",
			designed: "2 / 3 / 1",
			work:     asking(b.anyone, 200, "GET", s.resolved.IframeSrc),
		},
		{
			name:     "content-head",
			title:    "HEAD content",
			designed: "1 / 2 / 1",
			work:     asking(b.anyone, 200, "HEAD", file),
		},
		{
			name:     "content-304",
			title:    "GET content, 304",
			designed: "1 / 2 / 1",
			work:     asking(b.anyone, 304, "GET", file, "If-None-Match", s.etag),
		},
		{
			name:     "content-range",
			title:    "GET content, a range",
			designed: "2 / 2 / 1",
			work:     asking(b.anyone, 206, "GET", file, "Range", "bytes=0-9"),
		},
		{name: "bundle", title: "GET bundle", designed: "2 / 3 / 1", work: asking(b.anyone, 200, "GET", archive)},
		{name: "bundle-head", title: "HEAD bundle", work: asking(b.anyone, 200, "HEAD", archive)},
		{name: "viewer", title: "GET viewer page", work: asking(b.anyone, 200, "GET", app+"/al/"+string(s.link.PublicID))},
		{name: "viewer-resolve", title: "POST resolve of the app", work: sending(b.anyone, app+"/api/access-links/resolve", s.link)},
	}
}

// asking makes a request whose answer has this status.
func asking(g *wire.Agent, status int, method, target string, headers ...string) operation {
	return func(ctx context.Context, _ int) error {
		a, err := g.Do(ctx, method, target, nil, headers...)
		return expect(a, err, status)
	}
}

// sending posts a body.
func sending(g *wire.Agent, target string, body any) operation {
	return func(ctx context.Context, _ int) error {
		a, err := g.Do(ctx, "POST", target, body)
		return expect(a, err, http.StatusOK)
	}
}

func expect(a wire.Answer, err error, status int) error {
	if err == nil && a.Status != status {
		err = &wire.Refused{Answer: a, Asked: "a request"}
	}
	return err
}
