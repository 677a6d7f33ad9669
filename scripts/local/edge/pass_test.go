package edge

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
)

func TestMethodPathAndQueryArriveAsTheClientWroteThem(t *testing.T) {
	got := make(chan *http.Request, 1)
	server := serveStub(t, func(_ http.ResponseWriter, r *http.Request) { got <- r })
	for target, method := range map[string]string{
		"/o/plain?a=b": "GET",
		"/o/%7Euser/a%2fb%2Fc/%C3%A9?X-Amz-Signature=a%2Bb+c;d&&e=%zz": "PUT",
		"/o/\"quoted\"/<é>/a|b?q=\"x\"":                                "DELETE",
		"/o//double/./../dots/?":                                       "POST",
		"/d/x?":                                                        "PUT",
		"http://localhost:8702/o/absolute%20form?a=b":                  "PATCH",
	} {
		conn := dial(t, server)
		fmt.Fprintf(conn, "%s %s HTTP/1.1\r\nHost: localhost:8702\r\nContent-Length: 0\r\nX-Forwarded-For: x\r\n"+
			"Connection: close\r\n\r\n", method, target)
		if response, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil || response.StatusCode != 200 {
			t.Errorf("%s: %v, %v", target, response, err)
			continue
		}
		r := <-got
		if want := strings.TrimSuffix(strings.TrimPrefix(target, "http://localhost:8702"), "?"); r.RequestURI != want {
			t.Errorf("S3 saw %s, want %s", r.RequestURI, want)
		}
		if r.Host != "bucket.s3.test:1" || r.Method != method {
			t.Errorf("S3 saw %s at host %s, want %s", r.Method, r.Host, method)
		}
	}
}

func TestEverythingElseGoesToTheHost(t *testing.T) {
	server := serveStub(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("S3 saw %s", r.RequestURI) })
	for _, path := range []string{"/", "/o", "/d", "/v1/o/x", "/%6F/x", "/O/x", "/openapi.json?x=/o/"} {
		response, err := server.Client().Get(server.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if response.Body.Close(); response.StatusCode != http.StatusTeapot {
			t.Errorf("%s: %s", path, response.Status)
		}
	}
}

func TestAChunkedBodyNeverReachesS3(t *testing.T) {
	server := serveStub(t, func(http.ResponseWriter, *http.Request) { t.Error("S3 saw it") })
	body := struct{ io.Reader }{bytes.NewReader(tenMB)} // of unknown length
	request, _ := http.NewRequest(http.MethodPut, server.URL+"/o/x?X-Amz-Signature=y", body)
	response, err := server.Client().Do(request)
	if err != nil {
		t.Fatal(err)
	}
	if body := expect.Body(t, response); response.StatusCode != 411 ||
		!strings.Contains(body, "<Code>MissingContentLength</Code>") {
		t.Errorf("answer %s %s", response.Status, body)
	}
}

func TestBothBodiesStream(t *testing.T) {
	first := make([]byte, 1)
	server := serveStub(t, func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength != 2 || len(r.TransferEncoding) != 0 {
			t.Errorf("S3 saw length %d, encoding %v", r.ContentLength, r.TransferEncoding)
		}
		_, _ = io.ReadFull(r.Body, first)
		_ = http.NewResponseController(w).EnableFullDuplex()
		_, _ = w.Write(first)
		_ = http.NewResponseController(w).Flush()
		_, _ = io.Copy(w, r.Body)
	})
	conn := dial(t, server)
	fmt.Fprint(conn, "PUT /o/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n1")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(response.Body, first); err != nil || first[0] != '1' {
		t.Fatalf("the first byte did not pass alone: %q, %v", first, err)
	}
	fmt.Fprint(conn, "2")
	if rest := expect.Body(t, response); rest != "2" {
		t.Errorf("the rest is %q", rest)
	}
}

func TestAClientThatGoesAwayEndsTheRequestQuietly(t *testing.T) {
	ended := make(chan error, 1)
	s3 := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		ended <- err
	}))
	defer s3.Close()
	var log bytes.Buffer
	server := serveConfig(t, Config{
		Address: s3.Listener.Addr().String(), Host: "bucket.s3.test:1", Log: slog.New(slog.NewTextHandler(&log, nil)),
	})
	conn := dial(t, server)
	fmt.Fprint(conn, "PUT /o/x?X-Amz-Signature=secret HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n1")
	conn.Close()
	if err := <-ended; err == nil {
		t.Error("S3 got a whole body")
	}
	server.Close() // waits for the handler
	if strings.Contains(log.String(), "secret") {
		t.Errorf("logged %s", &log)
	}
}

func TestAClientMayWaitForContinue(t *testing.T) {
	e := engine.Shared(t)
	server := serve(t, e)
	key := newKey()
	signed := presignPut(t, e, key, tenMB)
	_, target, _ := strings.Cut(strings.TrimPrefix(signed.URL, "http://"), "/")
	conn := dial(t, server)
	fmt.Fprintf(conn, "PUT /%s HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n", target)
	signed.SignedHeader.Del("Host")
	signed.SignedHeader.Set("Content-Length", fmt.Sprint(len(tenMB)))
	_ = signed.SignedHeader.Write(conn)
	fmt.Fprint(conn, "\r\n")

	answers := bufio.NewReader(conn)
	response, err := http.ReadResponse(answers, nil)
	if err != nil || response.StatusCode != http.StatusContinue {
		t.Fatalf("first answer %v, %v", response, err)
	}
	if _, err := conn.Write(tenMB); err != nil {
		t.Fatal(err)
	}
	response, err = http.ReadResponse(answers, nil)
	if err != nil || response.StatusCode != 200 {
		t.Fatalf("last answer %v, %v", response, err)
	}
	wantStored(t, e, key, true)
}

func TestWithoutS3TheAnswerIsAnEnvelopeAndNoLogHoldsTheURL(t *testing.T) {
	gone := httptest.NewServer(nil)
	gone.Close()
	cut := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer cut.Close()
	for name, address := range map[string]string{
		"nobody listens":          gone.Listener.Addr().String(),
		"the connection breaks":   cut.Listener.Addr().String(),
		"the address is no place": "address.invalid:1",
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			server := serveConfig(t, Config{
				Address: address, Host: "bucket.s3.test:1", Log: slog.New(slog.NewTextHandler(&log, nil)),
			})
			request, _ := http.NewRequest(http.MethodPut, server.URL+"/o/secretkey?X-Amz-Signature=secretsignature",
				bytes.NewReader(tenMB))
			request.Header.Set("X-Request-Id", "request-1")
			response, err := server.Client().Do(request)
			if err != nil {
				t.Fatal(err)
			}
			body := expect.Body(t, response)
			var envelope contract.Envelope
			if err := json.Unmarshal([]byte(body), &envelope); err != nil {
				t.Fatal(err, body)
			}
			p := envelope.Error
			if response.StatusCode != 502 || p.Code != "storage_unavailable" || p.Message == "" || p.RequestID != "request-1" ||
				response.Header.Get("X-Request-Id") != "request-1" {
				t.Errorf("answer %s %v %s", response.Status, response.Header, body)
			}
			if !strings.Contains(log.String(), "request-1") || strings.Contains(log.String()+body, "secret") {
				t.Errorf("logged %s\nanswered %s", &log, body)
			}
		})
	}
}

func TestABadRequestIDIsReplaced(t *testing.T) {
	for given, kept := range map[string]bool{
		"":                       false,
		"short":                  false,
		"eight-id":               true,
		"with space in it":       false,
		strings.Repeat("a", 128): true,
		strings.Repeat("a", 129): false,
		"snowman-☃-snowman":      false,
	} {
		r := httptest.NewRequest(http.MethodPut, "/o/x", nil)
		r.Header.Set("X-Request-Id", given)
		if got := requestID(r); (got == given) != kept || len(got) < 8 {
			t.Errorf("%q became %q", given, got)
		}
	}
}

// serveStub runs the edge in front of h in place of S3.
func serveStub(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s3 := httptest.NewServer(h)
	t.Cleanup(s3.Close)
	return serveConfig(t, Config{Address: s3.Listener.Addr().String(), Host: "bucket.s3.test:1"})
}

func dial(t *testing.T, server *httptest.Server) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}
