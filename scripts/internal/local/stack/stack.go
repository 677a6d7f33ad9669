// Package stack runs all hosts on local engines, in this process or as Lambda functions, for
// scripts/dev and for journeys.
package stack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/aws/smithy-go/middleware"

	"vitrine/functions/assembly"
	"vitrine/functions/assembly/api"
	"vitrine/functions/assembly/app"
	"vitrine/functions/assembly/content"
	"vitrine/functions/assembly/mcp"
	"vitrine/functions/assembly/render"
	"vitrine/functions/assembly/upload"
	"vitrine/scripts/internal/localapi"
	"vitrine/scripts/local/edge"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/local/idp/provider"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/policy"
)

// Options configure a stack.
type Options struct {
	Engines *engines.Engines
	// BasePort selects the ports: api has BasePort+1 and so on; 0 takes free ports.
	BasePort int
	// Data is the folder of the key rings.
	Data string
	// Tables is the prefix of the table names; stacks with different prefixes share only the
	// bucket.
	Tables string
	Limits limits.Limits
	// PolicyFile is the path of a policy with its logo inside, whose numbers replace those of Limits; empty: the defaults
	// of a policy hold, but for the numbers of Limits.
	PolicyFile string
	Now        func() time.Time
	Middleware []func(*middleware.Stack) error
	Log        *slog.Logger
	// FetchOrigins are the origins that metadata documents of OAuth clients and keys of providers may have although they
	// are on this machine, besides that of the identity provider.
	FetchOrigins []string
	// NoClientDocuments leaves documents of OAuth clients out of the metadata.
	NoClientDocuments bool
	// Trust changes the list of providers whose agents may register, which has both issuers of the identity provider.
	Trust func([]provider.Trusted) []provider.Trusted
	// Billing is where plans are bought; its zero value: nowhere.
	Billing assembly.Billing
	// OwnOrigins gives each artifact an origin of its own, {label}.localhost on the port of the content host.
	OwnOrigins bool
	// DisableJobs leaves due work to the test.
	DisableJobs bool
	// JobsWait is asked before each run of the jobs whether they wait; nil: they never do.
	JobsWait func() bool
	// Watch stands in front of the MCP host, if it is not nil.
	Watch func(mcp http.Handler) http.Handler

	// Lambda runs the deployed functions behind the gateways of the synthesised templates, in
	// processes of their own. Now, Middleware and the numbers of Limits, other than Cache and Bundles, cannot reach
	// them: Start refuses those with ErrInProcess.
	Lambda bool
	// Output receives the output of functions and of their build, line by line and from several
	// goroutines. It may be nil.
	Output io.Writer

	identity Identity // made by Start
	root     string   // the repository; found by Start
}

// The hosts, in the order of their ports from BasePort+1.
const (
	apiHost = iota
	uploadHost
	contentHost
	appHost
	mcpHost
	hostCount
)

var hostNames = [hostCount]string(env.Hosts)

// Stack is a running set of hosts.
type Stack struct {
	Origins address.Origins
	Engines *engines.Engines
	// Identity is the identity provider.
	Identity Identity

	servers   []*http.Server
	functions *localapi.Hosts // nil without Lambda
	stop      func()          // ends the jobs
	failed    chan error
}

// Start makes the tables and serves all hosts. It returns when every port is taken; hosts answer from then on.
func Start(ctx context.Context, o Options) (*Stack, error) {
	var taken []net.Listener
	fail := func(err error) (*Stack, error) {
		for _, l := range taken {
			l.Close()
		}
		return nil, err
	}
	ports := [hostCount]int{}
	listeners := [hostCount][]net.Listener{}
	for host := range hostCount {
		port := 0
		if o.BasePort != 0 {
			port = o.BasePort + 1 + host
		}
		ls, err := listen(hostNames[host], port, host != contentHost || o.OwnOrigins)
		taken = append(taken, ls...)
		if err != nil {
			return fail(err)
		}
		listeners[host], ports[host] = ls, ls[0].Addr().(*net.TCPAddr).Port
	}
	s := &Stack{Origins: origins(ports), Engines: o.Engines, failed: make(chan error, 2*hostCount+2)}
	if o.OwnOrigins {
		s.Origins.Own = s.Origins.Wildcard(ownDomain)
	}
	identity, err := s.identify(o)
	taken = append(taken, identity...)
	if err != nil {
		return fail(err)
	}
	o.identity = s.Identity
	if o.root, err = engines.Root(); err != nil {
		return fail(err)
	}
	open := s.open
	if o.Lambda {
		open = s.openLambda
	}
	handlers, err := open(ctx, o)
	if err != nil {
		return fail(err)
	}
	if s.stop = func() {}; !o.DisableJobs {
		if s.stop, err = s.startJobs(ctx, o); err != nil {
			return fail(err)
		}
	}
	if o.Watch != nil {
		handlers[mcpHost] = o.Watch(handlers[mcpHost])
	}
	for host, h := range handlers {
		s.serve(h, listeners[host])
	}
	s.serve(s.Identity, identity)
	return s, nil
}

// open assembles the hosts, with the edge in front of the upload host.
func (s *Stack) open(ctx context.Context, o Options) (handlers [hostCount]http.Handler, err error) {
	services, err := s.services(ctx, o, filepath.Join(o.Data, "rings.json"))
	if err != nil {
		return handlers, err
	}
	for host, assemble := range [hostCount]func(*assembly.Services, *slog.Logger) (http.Handler, error){
		api.Handler, upload.Handler, content.Handler, app.Handler, mcp.Handler,
	} {
		if handlers[host], err = assemble(services, o.Log.With("host", hostNames[host])); err != nil {
			return handlers, err
		}
	}
	handlers[uploadHost] = withEdge(o, handlers[uploadHost])
	pages, err := render.Handler(services, o.Log.With("host", env.Pages))
	if err != nil {
		return handlers, err
	}
	shared := withPages(env.PagesPath, handlers[contentHost], pages)
	handlers[contentHost] = s.withOwn(shared, withPages(env.OwnPagesPath, handlers[contentHost], pages))
	return handlers, nil
}

// withPages leads to the pages of files what the gateway of the content host leads there.
func withPages(path string, content, pages http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.EscapedPath()+"/", path) {
			pages.ServeHTTP(w, r)
			return
		}
		content.ServeHTTP(w, r)
	})
}

// ownDomain is the domain of the origins of artifacts. Browsers know that its names are of this machine.
const ownDomain = "localhost"

// withOwn leads requests for the own origins of artifacts to what serves these, as the gateways of a deployment do.
func (s *Stack) withOwn(shared, own http.Handler) http.Handler {
	domain := s.Origins.OwnDomain()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name := (&url.URL{Host: r.Host}).Hostname(); domain != "" && strings.HasSuffix(name, domain) {
			own.ServeHTTP(w, r)
			return
		}
		shared.ServeHTTP(w, r)
	})
}

// services opens what the hosts share, with the rings of a file and with tables.
func (s *Stack) services(ctx context.Context, o Options, file string) (*assembly.Services, error) {
	rings, err := assembly.LocalRings(file)
	if err != nil {
		return nil, err
	}
	c, err := config(o, s.Origins, rings)
	if err != nil {
		return nil, err
	}
	services, err := assembly.Open(c)
	if err != nil {
		return nil, err
	}
	return services, services.CreateTables(ctx)
}

func withEdge(o Options, upload http.Handler) http.Handler {
	return edge.New(edge.Config{
		Address: hostOf(o.Engines.S3),
		Host:    o.Engines.S3Host(),
		Next:    upload,
		Log:     o.Log,
	})
}

// config is what all hosts and the jobs are made with, under the policy of the deployment.
func config(o Options, origins address.Origins, rings keyring.Set) (assembly.Config, error) {
	c := assembly.Config{
		Environment:       credential.Preview,
		Origins:           origins,
		Tables:            dynamo.Named(o.Tables),
		Bucket:            o.Engines.Bucket,
		Rings:             rings,
		OIDC:              o.identity.client,
		FetchOrigins:      o.fetchOrigins(o.identity.Issuer),
		NoClientDocuments: o.NoClientDocuments,
		Providers:         o.identity.Trusted,
		Billing:           o.Billing,
		AWS:               o.Engines.AWS(),
		DynamoDBEndpoint:  o.Engines.DynamoDB,
		S3Endpoint:        o.Engines.S3,
		S3Domain:          o.Engines.S3Domain,
		Root:              o.root,
		Policy:            policy.Default(o.Billing.On()),
		Limits:            o.Limits,
		Now:               o.Now,
		Middleware:        o.Middleware,
	}
	if o.PolicyFile == "" {
		return c, nil
	}
	return c, c.ReadPolicy(o.PolicyFile, o.Billing.On())
}

// OriginsAt returns the hosts' URLs on a BasePort.
func OriginsAt(base int) address.Origins {
	var ports [hostCount]int
	for host := range ports {
		ports[host] = base + 1 + host
	}
	return origins(ports)
}

// origins returns the hosts' URLs. The content host belongs to another site than the app's, as in a
// deployment.
func origins(ports [hostCount]int) address.Origins {
	local := func(name string, port int) string { return "http://" + net.JoinHostPort(name, strconv.Itoa(port)) }
	return address.Origins{
		API:     local("localhost", ports[apiHost]),
		Upload:  local("localhost", ports[uploadHost]),
		Content: local("127.0.0.1", ports[contentHost]),
		App:     local("localhost", ports[appHost]),
		MCP:     local("localhost", ports[mcpHost]),
	}
}

// listen takes a port on the loopback interface, also of IPv6 where "localhost" may mean it.
func listen(name string, port int, both bool) ([]net.Listener, error) {
	four, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, inUse(name, port)
	}
	out := []net.Listener{four}
	if both {
		six, err := net.Listen("tcp6", net.JoinHostPort("::1", strconv.Itoa(four.Addr().(*net.TCPAddr).Port)))
		switch {
		case err == nil:
			out = append(out, six)
		case errors.Is(err, syscall.EADDRNOTAVAIL), errors.Is(err, syscall.EAFNOSUPPORT): // a machine without IPv6
		case port == 0: // the next free port will do for a test
			four.Close()
			return listen(name, port, both)
		default:
			return out, inUse(name, port)
		}
	}
	return out, nil
}

func inUse(name string, port int) error {
	return fmt.Errorf(
		"port %d for the %s host is in use or forbidden: stop what listens there, or choose other ports with --ports", port,
		name)
}

// Time limits of the servers; bodies may take as long as they move.
const (
	headerTimeout = 10 * time.Second
	idleTimeout   = 2 * time.Minute
	headerBytes   = 32 << 10
)

func (s *Stack) serve(h http.Handler, listeners []net.Listener) {
	server := &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          slog.NewLogLogger(slog.NewTextHandler(io.Discard, nil), slog.LevelDebug), // may quote URLs
	}
	s.servers = append(s.servers, server)
	for _, l := range listeners {
		go func() {
			if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				s.failed <- err
			}
		}()
	}
}

// Failed returns a channel that reports when a host stops serving before Close.
func (s *Stack) Failed() <-chan error { return s.failed }

// Close lets running requests finish until ctx ends, then cuts them off. It leaves the caller's
// engines running.
func (s *Stack) Close(ctx context.Context) error {
	s.stop()
	errs := make([]error, len(s.servers))
	done := make(chan struct{})
	for i, server := range s.servers {
		go func() {
			if errs[i] = server.Shutdown(ctx); errs[i] != nil {
				server.Close()
			}
			done <- struct{}{}
		}()
	}
	for range s.servers {
		<-done
	}
	if s.functions != nil {
		s.functions.Close()
	}
	return errors.Join(errs...)
}

// hostOf returns the host and port of an endpoint.
func hostOf(endpoint string) string {
	_, host, _ := strings.Cut(endpoint, "://")
	return strings.TrimSuffix(host, "/")
}
