package content_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/scripts/testkit/pipehttp"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/tree"
)

// newLargeEnv holds a file of 10 MB, beside a small one and two with sizes just at the cap and above it.
func newLargeEnv(t testing.TB) *env {
	s := newEnv(t)
	for n, f := range []struct {
		path string
		size int64
	}{
		{"large.bin", 10 << 20},
		{"small.bin", 4 << 10},
		{"cap.bin", limits.StreamsAbove},
		{"above.bin", limits.StreamsAbove + 1},
	} {
		s.Files = append(s.Files, tree.File{Path: f.path, Size: f.size, Object: tree.Object{Session: "upl_1", Entry: n}})
	}
	s.Files[1].SHA256 = tree.DigestOf(string(make([]byte, s.Files[1].Size))) // the others are not kept in memory
	s.Body = func(size int64) io.ReadCloser { return &breaking{int(size), io.EOF} }
	return s
}

// open starts n responses in a bubble and returns while they are in progress. end finishes them.
func (e *env) open(n int) (end func()) {
	release := make(chan struct{})
	var wait sync.WaitGroup
	whole := e.Body
	e.Body = func(size int64) io.ReadCloser { return &held{whole(size), release} }
	for range n {
		wait.Go(func() { e.get("large.bin") })
	}
	synctest.Wait()
	e.Body = whole
	return func() {
		close(release)
		wait.Wait()
	}
}

// held is a body whose bytes come late.
type held struct {
	io.ReadCloser
	release chan struct{}
}

func (h *held) Read(b []byte) (int, error) {
	<-h.release
	return h.ReadCloser.Read(b)
}

func TestLargeBodiesOfOneAddressAreCapped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLargeEnv(t)
		end := s.open(s.Numbers.AddressStreams)
		w := s.get("large.bin")
		wantRefused(t, w, http.StatusTooManyRequests, fault.RateLimitedArtifact)
		if w.Header().Get("Retry-After") != "10" {
			t.Errorf("Retry-After is %q", w.Header().Get("Retry-After"))
		}
		wantRefused(t, s.get("large.bin", "Range", "bytes=1-"), http.StatusTooManyRequests, fault.RateLimitedArtifact)
		for name, w := range map[string]*httptest.ResponseRecorder{
			"a small file":            s.get("small.bin"),
			"a file of 1 MB":          s.get("cap.bin"),
			"a file of 1 MB and more": s.get("above.bin"),
			"a range of 8 MB":         s.get("large.bin", "Range", "bytes=0-8388607"),
			"a small range":           s.get("large.bin", "Range", "bytes=0-1048575"),
			"HEAD":                    s.head("large.bin"),
			"an unchanged file":       s.get("large.bin", "If-None-Match", "*"),
			"a range behind the file": s.get("large.bin", "Range", "bytes=99999999-"),
		} {
			if w.Code == http.StatusTooManyRequests {
				t.Errorf("%s is refused", name)
			}
		}
		if n := s.OpenStreams(); n != 2*s.Numbers.AddressStreams {
			t.Errorf("%d slots are taken, want those of the open streams alone", n)
		}
		end()
		if w := s.get("large.bin"); w.Code != http.StatusOK || s.OpenStreams() != 0 {
			t.Errorf("afterwards %d, and %d slots are taken", w.Code, s.OpenStreams())
		}
	})
}

// TestARangeReaderIsNeverRefused reads a file in pieces, as video players do.
func TestARangeReaderIsNeverRefused(t *testing.T) {
	s := newLargeEnv(t)
	for n := range 40 {
		from := n * 200_000
		w := s.get("large.bin", "Range", fmt.Sprintf("bytes=%d-%d", from, from+2<<20))
		if w.Code != http.StatusPartialContent {
			t.Fatalf("range %d: %d %s", n, w.Code, w.Body)
		}
	}
	if n := s.OpenStreams(); n != 0 {
		t.Errorf("%d slots are taken", n)
	}
}

// TestAStreamIsGivenBackHoweverItsRequestEnds counts the open streams after each ending.
func TestAStreamIsGivenBackHoweverItsRequestEnds(t *testing.T) {
	for name, c := range map[string]struct {
		arrange func(s *env)
		status  int
	}{
		"whole": {func(*env) {}, http.StatusOK},
		"the object store fails": {func(s *env) { s.OpenErr = fault.NewCode(fault.StorageUnavailable) },
			http.StatusServiceUnavailable},
		"the object is gone": {func(s *env) { s.OpenErr = fault.NewCode(fault.NotFound) }, http.StatusNotFound},
		"the body breaks off": {func(s *env) { s.Body = func(int64) io.ReadCloser { return &breaking{1000, io.EOF} } },
			http.StatusOK},
		"a panic": {func(s *env) { s.Body = func(int64) io.ReadCloser { return panicking{} } }, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			s := newLargeEnv(t)
			c.arrange(s)
			w := httptest.NewRecorder()
			func() {
				defer func() { _ = recover() }() // http.ErrAbortHandler
				s.Handler.ServeHTTP(w, httptest.NewRequest("GET", "/v/"+s.Token()+"/large.bin", nil))
			}()
			if w.Code != c.status || s.OpenStreams() != 0 {
				t.Errorf("answered %d, want %d; %d slots are taken", w.Code, c.status, s.OpenStreams())
			}
		})
	}
}

type panicking struct{ io.ReadCloser }

func (panicking) Read([]byte) (int, error) { panic("boom") }

func (panicking) Close() error { return nil }

// TestSlowReadersDoNotHoldOthers lets twelve readers take 36 KB/s of a large file, and another read a small one.
func TestSlowReadersDoNotHoldOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLargeEnv(t)
		server := pipehttp.Serve(t, s.Handler)
		var slow sync.WaitGroup
		began := time.Now()
		for range 12 {
			conn := server.Dial()
			slow.Go(func() {
				defer conn.Close()
				got, err := conn.Ask("GET", "/v/"+s.Token()+"/large.bin")
				if err != nil || got.StatusCode != http.StatusOK {
					return // one of the surplus ones
				}
				for err == nil {
					<-time.After(time.Second) // of the bubble
					_, err = io.CopyN(io.Discard, got.Body, 8<<10)
				}
			})
		}
		<-time.After(3 * time.Second)
		asked := time.Now()
		conn := server.Dial()
		defer conn.Close()
		got, err := conn.Ask("GET", "/v/"+s.Token()+"/small.bin")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, got.Body); n != 4<<10 || err != nil || time.Since(asked) > 0 {
			t.Errorf("another reader gets %d bytes after %v (%v)", n, time.Since(asked), err)
		}
		slow.Wait()
		if held := time.Since(began); held > 70*time.Second {
			t.Errorf("slow readers held on for %v", held)
		}
		synctest.Wait()
		if n := s.OpenStreams(); n != 0 {
			t.Errorf("%d slots are taken", n)
		}
		if n := strings.Count(s.Log.String(), `"slow_reader":true`); n != s.Numbers.AddressStreams {
			t.Errorf("%d slow readers are logged, want %d: %s", n, s.Numbers.AddressStreams, s.Log.String())
		}
	})
}
