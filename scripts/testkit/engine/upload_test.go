package engine

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"vitrine/scripts/testkit/expect"
)

// tenMB is a real file: S3 refuses it while the client still sends.
var tenMB = bytes.Repeat([]byte("0123456789"), 1_000_000)

func TestASignedPutStoresExactlyTheSignedBytes(t *testing.T) {
	e := Shared(t)
	wrong := bytes.Clone(tenMB)
	wrong[len(wrong)-1]++
	for name, c := range map[string]struct {
		sent   []byte
		status int
		says   string
	}{
		"the signed bytes are stored":               {tenMB, 200, ""},
		"F12 other bytes of the length are refused": {wrong, 400, "BadDigest"},
		"F12 a shorter body is refused":             {tenMB[1:], 403, "SignatureDoesNotMatch"},
		"F12 a longer body is refused":              {append(bytes.Clone(tenMB), '!'), 403, "SignatureDoesNotMatch"},
	} {
		t.Run(name, func(t *testing.T) {
			key := newKey() + name
			status, body := send(t, e, presignPut(t, e, key, tenMB), c.sent)
			if status != c.status || !strings.Contains(body, c.says) {
				t.Errorf("answer %d %s, want %d %s", status, body, c.status, c.says)
			}
			if status == 200 {
				wantObject(t, e, key, string(tenMB))
				return
			}
			wantNoObject(t, e, key)
		})
	}
}

func TestF10ASecondPutIsRefusedAndChangesNothing(t *testing.T) {
	e := Shared(t)
	key := newKey()
	signed := presignPut(t, e, key, tenMB)
	if status, body := send(t, e, signed, tenMB); status != 200 {
		t.Fatalf("first: %d %s", status, body)
	}
	if status, body := send(t, e, signed, tenMB); status != 412 {
		t.Errorf("second: %d %s", status, body)
	}
	wantObject(t, e, key, string(tenMB))
}

func TestAPutThatIsCutOffStoresNothing(t *testing.T) {
	e := Shared(t)
	for name, digest := range map[string]bool{"with a signed digest": true, "without one": false} {
		t.Run(name, func(t *testing.T) {
			key := newKey() + name
			signed := presignPut(t, e, key, tenMB, func(in *s3.PutObjectInput) {
				if !digest {
					in.ChecksumSHA256 = nil
				}
			})
			sendHalf(t, e, signed, tenMB)
			wantNoObject(t, e, key)
		})
	}
}

func TestARequestWithoutAGoodSignatureIsRefused(t *testing.T) {
	e := Shared(t)
	putObject(t, e, "o/private", "secret bytes")
	signed := presignPut(t, e, "o/private", []byte("secret bytes"))
	path, query, _ := strings.Cut(signed.URL, "?")
	for name, r := range map[string]v4.PresignedHTTPRequest{
		"unsigned GET":         {Method: "GET", URL: path},
		"unsigned DELETE":      {Method: "DELETE", URL: path},
		"signed PUT as GET":    {Method: "GET", URL: signed.URL},
		"signed PUT as HEAD":   {Method: "HEAD", URL: signed.URL},
		"signed PUT as DELETE": {Method: "DELETE", URL: signed.URL},
		"other key":            {Method: "PUT", URL: path + "x?" + query, SignedHeader: signed.SignedHeader},
		"unsigned header": {Method: "PUT", URL: signed.URL,
			SignedHeader: with(signed.SignedHeader, "X-Amz-Acl", "public-read")},
	} {
		t.Run(name, func(t *testing.T) {
			var sent []byte
			if r.Method == "PUT" {
				sent = []byte("secret bytes")
			}
			status, body := send(t, e, &r, sent)
			if status != 403 || strings.Contains(body, "secret bytes") {
				t.Errorf("answer %d %s", status, body)
			}
		})
	}
	wantObject(t, e, "o/private", "secret bytes")
}

func TestAnUnknownAccessKeyIsInvalidAccessKeyId(t *testing.T) {
	stranger := *Shared(t)
	stranger.AccessKey = "stranger"
	_, err := objects(&stranger).ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: &stranger.Bucket})
	expect.Error(t, err, "StatusCode: 403", "InvalidAccessKeyId")
}

func TestTheTimeThatAnObjectGaveIsNotOlderThanTheObject(t *testing.T) {
	e := Shared(t)
	putObject(t, e, "o/timed", "bytes")
	key := aws.String("o/timed")
	head, err := objects(e).HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &e.Bucket, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	_, err = objects(e).GetObject(t.Context(),
		&s3.GetObjectInput{Bucket: &e.Bucket, Key: key, IfModifiedSince: head.LastModified})
	expect.Error(t, err, "StatusCode: 304")
	_, err = objects(e).HeadObject(t.Context(), &s3.HeadObjectInput{
		Bucket:            &e.Bucket,
		Key:               key,
		IfUnmodifiedSince: head.LastModified,
	})
	if err != nil {
		t.Error(err)
	}
}

// presignPut signs a PUT of body as the product does: length, digest and
// if-none-match are signed headers.
func presignPut(
	t *testing.T,
	e *Engines,
	key string,
	body []byte,
	change ...func(*s3.PutObjectInput),
) *v4.PresignedHTTPRequest {
	t.Helper()
	digest := sha256.Sum256(body)
	in := &s3.PutObjectInput{
		Bucket:         &e.Bucket,
		Key:            &key,
		ContentLength:  aws.Int64(int64(len(body))),
		ChecksumSHA256: aws.String(base64.StdEncoding.EncodeToString(digest[:])),
		IfNoneMatch:    aws.String("*"),
	}
	for _, f := range change {
		f(in)
	}
	client := s3.New(s3.Options{
		Region:       e.Region,
		Credentials:  credentials.NewStaticCredentialsProvider(e.AccessKey, e.SecretKey, ""),
		BaseEndpoint: aws.String("http://" + e.S3Domain),
	})
	signed, err := s3.NewPresignClient(client).PresignPutObject(t.Context(), in, s3.WithPresignExpires(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	return signed
}

// send makes the request with the signed headers, to the engine regardless of what the URL's host resolves
// to.
func send(t *testing.T, e *Engines, signed *v4.PresignedHTTPRequest, body []byte) (int, string) {
	t.Helper()
	request := newRequest(t, signed, body)
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(e.S3, "http://"))
	}}
	defer transport.CloseIdleConnections()
	response, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, expect.Body(t, response)
}

func newRequest(t *testing.T, signed *v4.PresignedHTTPRequest, body []byte) *http.Request {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), signed.Method, signed.URL, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range signed.SignedHeader {
		request.Header[name] = values
	}
	return request
}

// sendHalf sends half of the body, ends the stream, and returns when the server
// has answered or closed, so that it has decided.
func sendHalf(t *testing.T, e *Engines, signed *v4.PresignedHTTPRequest, body []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(e.S3, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var whole bytes.Buffer
	if err := newRequest(t, signed, body).Write(&whole); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(whole.Bytes()[:whole.Len()-len(body)/2]); err != nil {
		t.Fatal(err)
	}
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err == nil && response.StatusCode < 400 {
		t.Errorf("half a body was answered %s", response.Status)
	}
}

func with(h http.Header, name, value string) http.Header {
	h = h.Clone()
	h.Set(name, value)
	return h
}

func wantNoObject(t *testing.T, e *Engines, key string) {
	t.Helper()
	_, err := objects(e).HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: &e.Bucket, Key: &key})
	if missing := (*types.NotFound)(nil); !errors.As(err, &missing) {
		t.Errorf("object %s: %s", key, fmt.Sprint(err))
	}
}
