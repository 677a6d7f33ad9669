package blob_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/blob"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

// env is a store on the engine behind an edge, with a session of its own.
type env struct {
	*blob.Store
	client  *s3.Client
	bucket  string
	edge    string
	chaos   *chaos.Injector
	home    id.Workspace
	session id.Session
}

func start(t testing.TB, options ...func(*s3.Options)) env {
	t.Helper()
	e := engine.Shared(t)
	inj := chaos.For(t)
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, strings.TrimPrefix(e.S3, "http://"))
	}
	transport := &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 8}
	t.Cleanup(transport.CloseIdleConnections)
	client := s3.NewFromConfig(e.AWS(), append([]func(*s3.Options){func(o *s3.Options) {
		o.BaseEndpoint = aws.String("http://" + e.S3Domain)
		o.HTTPClient = &http.Client{Transport: transport}
		o.APIOptions = append(o.APIOptions, inj.Add)
	}}, options...)...)
	edge := newEdge(t, e)
	return env{
		Store:   blob.New(client, e.Bucket, edge),
		client:  client,
		bucket:  e.Bucket,
		edge:    edge,
		chaos:   inj,
		home:    id.NewWorkspace(),
		session: id.NewSession(),
	}
}

// newEdge passes every request on to S3 with only the host replaced.
func newEdge(t testing.TB, e *engines.Engines) string {
	t.Helper()
	to := expect.Value(url.Parse(e.S3))(t)
	server := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Host = e.S3Host()
	}})
	t.Cleanup(server.Close)
	return server.URL
}

func (e env) object(entry int) tree.Object { return tree.Object{Session: e.session, Entry: entry} }

func (e env) sign(t testing.TB, entry int, bytes []byte) upload.PutTarget {
	t.Helper()
	digest := tree.Digest(sha256.Sum256(bytes))
	target, err := e.Presign(t.Context(), e.home, e.object(entry), int64(len(bytes)), &digest, time.Now().Add(time.Minute))
	expect.OK(t, err)
	return target
}

func (e env) store(t testing.TB, entry int, bytes []byte) {
	t.Helper()
	if status, answer := put(t, e.sign(t, entry, bytes), bytes); status != http.StatusOK {
		t.Fatalf("put %d: %d %s", entry, status, answer)
	}
}

// put sends exactly the headers of the target. It may be called from any goroutine.
func put(t testing.TB, target upload.PutTarget, body []byte) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, target.URL, bytes.NewReader(body))
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	for name, value := range target.Headers {
		request.Header.Set(name, value) // net/http computes content-length from the body
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Error(err)
	}
	return response.StatusCode, string(answer)
}

func (e env) wantBytes(t testing.TB, entry int, want []byte) {
	t.Helper()
	body := expect.Value(e.Open(t.Context(), e.home, e.object(entry), 0, int64(len(want))))(t)
	defer body.Close()
	if got, err := io.ReadAll(body); err != nil || !bytes.Equal(got, want) {
		t.Errorf("entry %d: %d bytes, %v; want %d", entry, len(got), err, len(want))
	}
}

func (e env) wantNothing(t testing.TB, entry int) {
	t.Helper()
	_, err := e.Head(t.Context(), e.home, e.object(entry))
	expect.Code(t, err, fault.NotFound)
}
