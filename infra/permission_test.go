package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/middleware"

	"vitrine/functions/assembly"
	"vitrine/functions/assembly/api"
	"vitrine/functions/assembly/app"
	"vitrine/functions/assembly/bundle"
	"vitrine/functions/assembly/content"
	assemblyjobs "vitrine/functions/assembly/jobs"
	"vitrine/functions/assembly/mcp"
	"vitrine/functions/assembly/render"
	"vitrine/functions/assembly/upload"
	"vitrine/functions/jobs"
	"vitrine/scripts/local/edge"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/entry/claim"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// harness runs the hosts on the local engines, each with exactly what its template gives it: the
// environment, with the names of AWS resources replaced by local ones, and the rights of its role,
// enforced at every call of the SDK.
type harness struct {
	anyone   *wire.Agent
	own      http.Client
	jobs     *jobs.Host
	bundler  *jobs.Host
	clock    clock
	provider *provider.Provider     // signs people in, and vouches for the persons of agents
	sells    *seller                // stands in for Stripe
	made     []contract.Provisioned // unclaimed workspaces

	fails func(input any) bool // calls that AWS does not answer; nil: none

	mu      sync.Mutex
	refused []string
	used    map[string]map[string]bool // rights that each host used, with the leading key where there is one
	visited visited
}

// clock is the time of the jobs, which the test advances.
type clock struct{ passed atomic.Int64 }

func (c *clock) now() time.Time { return time.Now().Add(time.Duration(c.passed.Load())) }

var assemble = map[string]func(*assembly.Services, *slog.Logger) (http.Handler, error){
	"api": api.Handler, "upload": upload.Handler, "content": content.Handler, "app": app.Handler,
	"mcp": mcp.Handler, env.Pages: render.Handler,
}

func newHarness(t *testing.T) *harness {
	t.Helper()
	e := engine.Shared(t)
	h := &harness{used: map[string]map[string]bool{}, sells: newSeller(t)}
	tables := dynamo.Named("infra-" + string(id.NewPublic()))
	makeTables(t, e, tables)
	listeners, urls := map[string]net.Listener{}, map[string]string{}
	for _, host := range hostNames {
		l, err := net.Listen("tcp4", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listeners[host], urls[host] = l, "http://"+l.Addr().String()
	}
	rings := filepath.Join(t.TempDir(), "rings.json")
	local := map[string]string{
		"Core":          tables.Core,
		"Events":        tables.Events,
		"Hot":           tables.Hot,
		"Objects":       e.Bucket,
		"ContentRing":   "file:" + rings,
		"LinksRing":     "file:" + rings,
		"PepperRing":    "file:" + rings,
		"SealRing":      "file:" + rings,
		"AssertionRing": "file:" + rings,
	}
	environment := map[string]string{
		env.APIURL: urls["api"], env.UploadURL: urls["upload"], env.ContentURL: urls["content"], env.AppURL: urls["app"],
		env.MCPURL: urls["mcp"], env.DynamoDBEndpoint: e.DynamoDB, env.S3Endpoint: e.S3, env.S3Domain: e.S3Domain,
		env.PutMode: "edge", env.ResponseMode: "",
	}
	var told map[string]string
	h.provider, told = newProvider(t, urls["app"], urls["api"])
	maps.Copy(environment, told)
	for name, value := range map[string]string{
		"AWS_REGION":            e.Region,
		"AWS_ACCESS_KEY_ID":     e.AccessKey,
		"AWS_SECRET_ACCESS_KEY": e.SecretKey,
	} {
		environment[name] = value
		t.Setenv(name, value)
	}
	var pages http.Handler // below the content host
	for _, host := range functionNames {
		tpl := read(t, "Plain-"+strings.ToUpper(host[:1])+host[1:])
		declared := tpl.variables(t)
		getenv := func(name string) string {
			if _, there := declared[name]; !there && !strings.HasPrefix(name, "AWS_") {
				if name == env.TaskRoot { // Lambda sets it
					return ".."
				}
				return ""
			}
			if v, given := environment[name]; given {
				return v
			}
			if v, given := local[declared[name]]; given {
				return v
			}
			return declared[name]
		}
		services := h.open(t, host, getenv, policyOf(t, tpl))
		quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
		switch host {
		case "jobs":
			h.jobs = assemblyjobs.Host(services, quiet)
		case "bundle":
			h.bundler = bundle.Host(services, quiet)
		case env.Pages:
			pages = h.handler(t, e, host, services)
		case "content":
			contentHost := h.handler(t, e, host, services)
			h.serve(t, listeners[host], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, env.PagesPath) {
					pages.ServeHTTP(w, r)
					return
				}
				contentHost.ServeHTTP(w, r)
			}))
		default:
			h.serve(t, listeners[host], h.handler(t, e, host, services))
		}
	}
	var err error
	if h.anyone, err = wire.Discover(t.Context(), &h.own, urls["api"]); err != nil {
		t.Fatal(err)
	}
	return h
}

// makeTables does what a deployment does: tables and the provision quota.
func makeTables(t *testing.T, e *engines.Engines, tables dynamo.Tables) {
	t.Helper()
	client := dynamodb.NewFromConfig(e.AWS(), func(o *dynamodb.Options) { o.BaseEndpoint = aws.String(e.DynamoDB) })
	err := dynamo.CreateTables(t.Context(), client, tables)
	if err == nil {
		err = dynamo.New(client, tables).Workspaces.InitQuota(t.Context(),
			ephemeral.Quota{PerMinute: limits.ProvisionQuota}, time.Now())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// open returns the services of a host with its rights.
func (h *harness) open(t *testing.T, host string, getenv func(string) string, p rolePolicy) *assembly.Services {
	t.Helper()
	c, err := assembly.FromEnvironment(t.Context(), getenv, needed[host]...)
	if err != nil {
		t.Fatalf("%s: %v", host, err)
	}
	c.Middleware = []func(*middleware.Stack) error{h.guard(host, p, c.Tables)}
	c.Limits.Actor.Limit *= 4 // one person is on every page within a minute
	if slices.Contains(env.Scheduled, host) {
		c.Now = h.clock.now
	}
	if host == "api" || host == "app" {
		c.Billing = h.sells.account()
	}
	if host == "api" {
		c.Providers = append(c.Providers, trusted(h.provider.Second))
		c.FetchOrigins = append(c.FetchOrigins, h.provider.First.URL)
	}
	services, err := assembly.Open(c)
	if err != nil {
		t.Fatalf("%s: %v", host, err)
	}
	return services
}

// handler assembles a host.
func (h *harness) handler(t *testing.T, e *engines.Engines, host string, services *assembly.Services) http.Handler {
	t.Helper()
	log := slog.New(&h.visited).With("host", host)
	handler, err := assemble[host](services, log)
	if err != nil {
		t.Fatalf("%s: %v", host, err)
	}
	if host == "upload" {
		handler = edge.New(edge.Config{
			Address: strings.TrimPrefix(e.S3, "http://"),
			Host:    e.S3Host(),
			Next:    handler,
			Log:     log,
		})
	}
	return handler
}

func (h *harness) serve(t *testing.T, l net.Listener, handler http.Handler) {
	t.Helper()
	server := &http.Server{Handler: handler}
	go server.Serve(l)
	t.Cleanup(func() { server.Close() })
}

// guard refuses what the role does not grant, as IAM would.
func (h *harness) guard(host string, p rolePolicy, tables dynamo.Tables) func(*middleware.Stack) error {
	h.used[host] = map[string]bool{}
	check := func(ctx context.Context, in middleware.InitializeInput,
		next middleware.InitializeHandler) (middleware.InitializeOutput, middleware.Metadata, error) {
		for _, n := range permissionsOf(in.Parameters, tables) {
			h.mu.Lock()
			h.used[host][n.String()] = true
			allowed := p.allows(n.action, n.resource, n.about)
			if !allowed {
				h.refused = append(h.refused, host+" needs "+n.String())
			}
			h.mu.Unlock()
			if !allowed {
				return middleware.InitializeOutput{}, middleware.Metadata{},
					&smithy.GenericAPIError{Code: "AccessDenied", Message: n.action}
			}
		}
		if h.fails != nil && h.fails(in.Parameters) {
			return middleware.InitializeOutput{}, middleware.Metadata{}, errors.New("no answer")
		}
		return next.HandleInitialize(ctx, in)
	}
	return func(s *middleware.Stack) error {
		return s.Initialize.Add(middleware.InitializeMiddlewareFunc("Permissions", check), middleware.After)
	}
}

func TestRolesSufficeForEveryRoute(t *testing.T) {
	h := newHarness(t)
	defer func() { // also when a route failed for want of a right
		if len(h.refused) > 0 {
			t.Errorf("rights are missing:\n%s", strings.Join(h.refused, "\n"))
		}
	}()
	var g *wire.Agent
	for range 5 { // so often that a proof of work is required
		var made contract.Provisioned
		var err error
		if g, made, err = h.anyone.Provision(t.Context()); err != nil {
			t.Fatal(err)
		}
		h.made = append(h.made, made)
	}
	page := wire.File{Path: "index.html", Body: []byte("<p>page</p>")}
	plain := wire.File{Path: "notes.txt", Body: []byte("notes")}
	published, err := g.PublishFiles(t.Context(), "Title", "", page, plain)
	if err != nil {
		t.Fatal(err)
	}
	h.bundles(t, g)
	h.publishAgain(t, g, published.ArtifactID)
	h.reuses(t, g, page)
	h.operator(t, g, published.ArtifactID)
	h.console(t, published)
	h.visit(t, g, published)
	h.documents(t)
	h.vouched(t)
	h.member(t)
	h.person(t)
	h.leaves(t)
	h.rest(t)
	h.works(t)
	h.reportUnused(t)
	h.reportUnvisited(t)
}

// publishAgain covers what a first publication does not: a file without a declared digest, and a
// finalize before its files.
func (h *harness) publishAgain(t *testing.T, g *wire.Agent, a id.Artifact) {
	t.Helper()
	file := wire.File{Path: "index.html", Body: []byte("<p>another page</p>")}
	request := wire.Declare("Title", file)
	request.ArtifactID, request.Files[0].SHA256 = a, ""
	idem := wire.NewKey()
	s, err := g.Create(t.Context(), idem, request)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Finalize(t.Context(), wire.NewKey(), s.UploadSessionID); err == nil {
		t.Fatal("a session without its files was finalized")
	}
	if put, err := g.Put(t.Context(), s.Files[0], file.Body); err != nil || put.Status != http.StatusOK {
		t.Fatalf("%d %s %v", put.Status, put.Body, err)
	}
	draft, err := g.Finalize(t.Context(), idem, s.UploadSessionID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Publish(t.Context(), idem, draft.ArtifactID, draft.RevisionID); err != nil {
		t.Fatal(err)
	}
}

// reuses publishes a file that another artifact has, and a revision that is a diff of it, and
// leaves a session behind.
func (h *harness) reuses(t *testing.T, g *wire.Agent, file wire.File) {
	t.Helper()
	h.clock.passed.Store(int64(limits.UploadPatience))
	if err := h.jobs.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	published, err := g.PublishFiles(t.Context(), "Title", "", file)
	if err != nil {
		t.Fatal(err)
	}
	diff := wire.File{
		Path: file.Path,
		Body: []byte(
			"--- a\n+++ b\n@@ -1 +1 @@\n-<p>page</p>\n\\ No newline at end of file\n+<p>next</p>\n\\ No newline at end of " +
				"file\n"),
	}
	request := wire.Declare("Title", diff)
	request.ArtifactID, request.BaseRevisionID = published.ArtifactID, published.RevisionID
	request.Files[0].SHA256, request.Files[0].Patch = "", &contract.DeclaredPatch{
		BaseSHA256: wire.Digest(file.Body), Format: "unified", ResultSHA256: wire.Digest([]byte("<p>next</p>")),
	}
	draft, err := g.Draft(t.Context(), wire.NewKey(), request, diff)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Publish(t.Context(), wire.NewKey(), draft.ArtifactID, draft.RevisionID); err != nil {
		t.Fatal(err)
	}
	request.BaseRevisionID = draft.RevisionID
	left, err := g.Create(t.Context(), wire.NewKey(), request)
	if err != nil {
		t.Fatal(err)
	}
	if put, err := g.Put(t.Context(), left.Files[0], diff.Body); err != nil || put.Status != http.StatusOK {
		t.Fatalf("%d %s %v", put.Status, put.Body, err)
	}
}

// works makes everything due: the claim is moved, sessions, drafts, artifacts and bytes end, and workspaces that are
// deleted are removed.
func (h *harness) works(t *testing.T) {
	t.Helper()
	const begun, waited = 100 * limits.Day, 102 * limits.Day
	for _, passed := range []time.Duration{
		0, claim.Recheck, 2 * limits.Day, begun, begun + time.Hour, begun + 2*time.Hour, waited, waited + time.Hour,
		waited + 2*time.Hour, waited + 3*time.Hour,
	} {
		h.clock.passed.Store(int64(passed))
		if err := h.jobs.Run(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

// visit requests the routes of the hosts that an unclaimed artifact has, deletes it and revokes the key.
func (h *harness) visit(t *testing.T, g *wire.Agent, p contract.Published) {
	t.Helper()
	view, err := g.AgentView(t.Context(), p.ArtifactID)
	if err != nil {
		t.Fatal(err)
	}
	linked, err := h.anyone.Resolve(t.Context(), p.UnlistedURL)
	if err != nil {
		t.Fatal(err)
	}
	h.ok(t, g, "GET", linked.AgentView.Files[0].URL, nil) // a token that names the link
	artifact := g.At.APIURL + "/v1/artifacts/" + string(p.ArtifactID)
	public, blob, err := wire.SplitLink(p.UnlistedURL)
	if err != nil {
		t.Fatal(err)
	}
	h.ok(t, g, "POST", g.At.AppURL+"/api/access-links/resolve", contract.ResolveRequest{PublicID: public, Blob: blob})
	h.ok(t, g, "POST", g.At.AppURL+"/api/access-links/qr", contract.ResolveRequest{PublicID: public, Blob: blob})
	h.ok(t, g, "GET", g.At.AppURL+"/al/"+string(public), nil)
	h.ok(t, g, "POST", g.At.AppURL+"/al/"+string(public), encoded(map[string]string{"link": p.UnlistedURL}), "Content-Type",
		"application/x-www-form-urlencoded")
	h.ok(t, g, "GET", g.At.AppURL+"/report?link="+string(public), nil)
	h.ok(t, h.anyone, "POST", g.At.AppURL+"/report",
		encoded(map[string]string{"target": string(public), "reason": "phishing_report"}),
		"Content-Type", "application/x-www-form-urlencoded")
	h.ok(t, g, "GET", p.AgentViewURL, nil)
	h.ok(t, g, "GET", view.Files[0].URL, nil)
	h.ok(t, g, "HEAD", view.Files[0].URL, nil)
	page := strings.Replace(view.Files[0].URL, "/v/", env.PagesPath, 1)
	of := strings.Replace(linked.AgentView.Files[0].URL, "/v/", env.PagesPath, 1) // a token that names the link
	for _, target := range []string{page, of, strings.TrimSuffix(page, "/index.html")} {
		h.ok(t, g, "GET", target, nil)
		h.ok(t, g, "HEAD", target, nil)
	}
	h.discuss(t, g, artifact+"/feedback")
	h.ok(t, g, "DELETE", artifact, nil, "Idempotency-Key", wire.NewKey())
	h.ok(t, g, "POST", g.At.APIURL+"/v1/api-keys/current/revoke", nil)
}

// discuss writes about a file of an artifact, reads that and replies.
func (h *harness) discuss(t *testing.T, g *wire.Agent, threads string) {
	t.Helper()
	h.ok(t, g, "POST", threads, contract.CreateThread{Body: "A remark", Path: "index.html"}, "Idempotency-Key", wire.NewKey())
	h.ok(t, g, "GET", threads, nil)
	var list contract.ThreadList
	a, err := g.Do(t.Context(), "GET", threads+"?since=0", nil)
	if err == nil {
		err = json.Unmarshal(a.Body, &list)
	}
	if err != nil || len(list.Threads) != 1 {
		t.Fatalf("%d %s %v", a.Status, a.Body, err)
	}
	thread := threads + "/" + string(list.Threads[0].ID)
	h.ok(t, g, "POST", thread, contract.AnswerThread{Reply: "A reply"}, "Idempotency-Key", wire.NewKey())
	h.ok(t, g, "GET", thread, nil)
}

func (h *harness) ok(t *testing.T, g *wire.Agent, method, target string, body any, headers ...string) {
	t.Helper()
	a, err := g.Do(t.Context(), method, target, body, headers...)
	if err != nil || a.Status/100 != 2 {
		t.Errorf("%s %s: %d %s %v", method, strings.TrimPrefix(target, "http://"), a.Status, a.Body, err)
	}
}

// unreached are rights whose use no route causes yet.
var unreached = map[string]string{
	"upload dynamodb:DeleteItem Core.Arn if ForAllValues:StringLike dynamodb:LeadingKeys B#*": "a hint at bytes that " +
		"are gone",
	"bundle dynamodb:BatchGetItem Core.Arn if ForAllValues:StringLike dynamodb:LeadingKeys AL#* or K#*": "API keys of " +
		"before there were logins",
	"mcp dynamodb:DeleteItem Core.Arn if ForAllValues:StringLike dynamodb:LeadingKeys B#*": "the same",
	"app dynamodb:DeleteItem Core.Arn if ForAllValues:StringLike dynamodb:LeadingKeys B#*": "the same",
}

// unproven are services whose calls do not go through the guard.
var unproven = []string{"logs", "secretsmanager", "kms"}
