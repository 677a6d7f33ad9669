package journey

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/conform"
	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

var ctx = context.Background()

// deployment is a running stack with a client that holds every answer against the golden documents.
type deployment struct {
	*stack.Stack
	options stack.Options
	anyone  *wire.Agent // without credential
	log     *logBook
}

// deploy starts a stack of its own tables for a test; change may set options first. It is the one place where journeys
// start a stack in their own process, because its end scans the whole log for secrets.
func deploy(t testing.TB, change ...func(*stack.Options)) *deployment {
	t.Helper()
	d := &deployment{log: &logBook{}}
	d.options = stack.Options{
		Engines:     engine.Shared(t),
		Data:        t.TempDir(),
		Tables:      "journey-" + string(id.NewPublic()),
		Limits:      limits.Default(),
		Now:         time.Now,
		Log:         slog.New(slog.NewJSONHandler(d.log, nil)),
		Output:      d.log,
		Lambda:      os.Getenv("VITRINE_MODE") == "lambda",
		DisableJobs: true, // what is stored changes by requests alone
	}
	for _, f := range change {
		f(&d.options)
	}
	var err error
	d.Stack, err = stack.Start(ctx, d.options)
	if errors.Is(err, stack.ErrInProcess) { // what the test changes cannot be told to functions
		d.options.Lambda = false
		d.Stack, err = stack.Start(ctx, d.options)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		closing, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		d.Close(closing)
		keepsSecrets(t, d.log.String())
	})
	if d.anyone, err = wire.Discover(ctx, d.client(t), d.Origins.API); err != nil {
		t.Fatal(err)
	}
	return d
}

// secretForms are what no log line may hold: bearer secrets, presigned URLs, signed tokens and link blobs.
var secretForms = map[string]*regexp.Regexp{
	"a credential":           regexp.MustCompile(`ap_[a-z]{2}_(preview|production)_[0-9A-Z]{16}[^\s"]*_[A-Za-z0-9_-]{60,}`),
	"a presigned URL":        regexp.MustCompile(`X-Amz-(Signature|Credential)`),
	"a signed token or blob": regexp.MustCompile(`[A-Za-z0-9_-]{75,}`),
	"an Authorization":       regexp.MustCompile(`(?i)bearer [A-Za-z0-9_-]{20,}`),
}

// loggedRequestID is left out of the scan, because callers choose them.
var loggedRequestID = regexp.MustCompile(`"request_id":"[^"]*"`)

// keepsSecrets scans the whole log of a deployment, whatever its test did.
func keepsSecrets(t testing.TB, text string) {
	t.Helper()
	text = loggedRequestID.ReplaceAllLiteralString(text, "")
	for name, form := range secretForms {
		if at := form.FindStringIndex(text); at != nil {
			t.Errorf("T76: the log holds %s, after %q", name, text[max(0, at[0]-120):at[0]])
		}
	}
}

// client comes from one address and checks every answer of api, upload and content against their documents.
func (d *deployment) client(t testing.TB) *http.Client {
	t.Helper()
	documents := map[string]*conform.Document{}
	for host, document := range must(goldenDocuments())(t) {
		documents[strings.TrimPrefix(d.origin(host), "http://")] = document
	}
	dial := func(ctx context.Context, _, address string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp4", address)
	}
	transport := &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true, DialContext: dial}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{
		Transport:     &conform.Transport{Base: transport, Documents: documents, Fail: func(err error) { t.Error(err) }},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

func (d *deployment) origin(host string) string {
	return map[string]string{"api": d.Origins.API, "upload": d.Origins.Upload, "content": d.Origins.Content}[host]
}

// agent provisions a workspace.
func (d *deployment) agent(t testing.TB) *wire.Agent {
	t.Helper()
	g, _, err := d.anyone.Provision(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// logBook keeps what the hosts logged.
type logBook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBook) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBook) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// clock is a deployment's clock that a test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) rule(o *stack.Options) {
	o.Now = func() time.Time {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.now
	}
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
