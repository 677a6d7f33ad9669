package edge

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/expect"
)

// tenMB is a real file: S3 refuses it while the client still sends.
var tenMB = bytes.Repeat([]byte("0123456789"), 1_000_000)

// A refusal arrives while the client still sends.
func TestASignedPutPassesAndStoresExactlyTheSignedBytes(t *testing.T) {
	e := engine.Shared(t)
	server := serve(t, e)
	wrong := bytes.Clone(tenMB)
	wrong[len(wrong)-1]++
	for name, c := range map[string]struct {
		sent   []byte
		status int
		says   string
	}{
		"F12 other bytes of the length":         {wrong, 400, "<Code>BadDigest</Code>"},
		"F12 a longer body":                     {append(bytes.Clone(tenMB), '!'), 403, "<Code>SignatureDoesNotMatch</Code>"},
		"F83 two forms of é, +, space, %, %2F…": {tenMB, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			key := newKey() + "/é e\u0301 +%2F%25 '()!*~;,=&$@:?#[]\"<>/" + name
			status, body := send(t, server, presignPut(t, e, key, tenMB), c.sent)
			if status != c.status || !strings.Contains(body, c.says) {
				t.Errorf("answer %d %s, want %d %s", status, body, c.status, c.says)
			}
			wantStored(t, e, key, c.status == 200)
		})
	}
}

// newKey is a key that no other run of a test has used.
func newKey() string { return "o/" + rand.Text() }

// serve runs the edge in front of a host that answers 418.
func serve(t *testing.T, e *engines.Engines) *httptest.Server {
	t.Helper()
	return serveConfig(t, Config{Address: strings.TrimPrefix(e.S3, "http://"), Host: e.S3Host()})
}

func serveConfig(t *testing.T, c Config) *httptest.Server {
	t.Helper()
	c.Next = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	server := httptest.NewServer(New(c))
	t.Cleanup(server.Close)
	return server
}

// presignPut signs a PUT of body as the product does.
func presignPut(t *testing.T, e *engines.Engines, key string, body []byte) *v4.PresignedHTTPRequest {
	t.Helper()
	client := s3.NewFromConfig(e.AWS(), func(o *s3.Options) { o.BaseEndpoint = aws.String("http://" + e.S3Domain) })
	digest := sha256.Sum256(body)
	signed, err := s3.NewPresignClient(client).PresignPutObject(t.Context(), &s3.PutObjectInput{
		Bucket:         &e.Bucket,
		Key:            &key,
		ContentLength:  aws.Int64(int64(len(body))),
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(digest[:])),
		IfNoneMatch:    aws.String("*"),
	}, s3.WithPresignExpires(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// send makes the signed request, with only the host replaced by the server's.
func send(t *testing.T, server *httptest.Server, signed *v4.PresignedHTTPRequest, body []byte) (int, string) {
	t.Helper()
	_, target, _ := strings.Cut(strings.TrimPrefix(signed.URL, "http://"), "/")
	request, err := http.NewRequestWithContext(t.Context(), signed.Method, server.URL+"/"+target, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range signed.SignedHeader {
		request.Header[name] = values
	}
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, expect.Body(t, response)
}

func wantStored(t *testing.T, e *engines.Engines, key string, want bool) {
	t.Helper()
	client := e.S3Client()
	_, err := client.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &e.Bucket, Key: &key})
	if (err == nil) != want {
		t.Errorf("object %q: %v, want it stored: %v", key, err, want)
	}
}
