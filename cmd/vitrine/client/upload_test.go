package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// tally is a Progress that counts.
type tally struct{ bytes, files atomic.Int64 }

func (t *tally) Sent(n int64) { t.bytes.Add(n) }
func (t *tally) Stored()      { t.files.Add(1) }

func account(w *wire) *Account {
	d := &Deployment{
		Hosts:  contract.Discovery{APIURL: "https://api.test", UploadURL: "https://up.test"},
		caller: caller(w, nil),
	}
	return d.With(Key{"secret"})
}

// textFile returns a file with the given bytes.
func textFile(path, content string) File {
	return File{Path: path, Size: int64(len(content)), Open: func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(content)), nil
	}}
}

func target(path string, headers map[string]string) contract.UploadTarget {
	return contract.UploadTarget{
		Status:          "upload_required",
		Path:            path,
		PutURL:          "https://store.test/o/" + path + "?sig=s3cret",
		RequiredHeaders: headers,
	}
}

// planOf returns a plan that sends all files.
func planOf(t *testing.T, a *Account, files ...File) Plan {
	t.Helper()
	var s contract.Session
	for _, f := range files {
		s.Files = append(s.Files, target(f.Path, nil))
	}
	plan, err := a.Plan(s, files)
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

func read(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return reply(200, ""), nil
}

func TestUploadSendsSixFilesAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		w := &wire{respond: func(r *http.Request) (*http.Response, error) { <-gate; return read(r) }}
		a := account(w)
		var files []File
		for i := range 20 {
			files = append(files, textFile(fmt.Sprint(i), "0123456789"))
		}
		plan := planOf(t, a, files...)
		sum := &tally{}
		done := make(chan error)
		go func() { done <- a.Upload(t.Context(), plan, sum) }()
		for stored := range 14 {
			synctest.Wait()
			if got := w.calls() - stored; got != 6 {
				t.Fatalf("%d uploads at a time after %d, want 6", got, stored)
			}
			gate <- struct{}{}
		}
		close(gate)
		if err := <-done; err != nil || w.calls() != 20 || sum.files.Load() != 20 || sum.bytes.Load() != 200 {
			t.Errorf("error %v, %d calls, %d files, %d bytes", err, w.calls(), sum.files.Load(), sum.bytes.Load())
		}
	})
}

func TestUploadStopsAtTheFirstFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{respond: func(r *http.Request) (*http.Response, error) {
			if strings.HasSuffix(r.URL.Path, "/3") {
				return reply(403, "<Error><Code>AccessDenied</Code></Error>"), nil
			}
			<-r.Context().Done()
			return nil, r.Context().Err()
		}}
		a := account(w)
		var files []File
		for i := range 20 {
			files = append(files, textFile(fmt.Sprint(i), "x"))
		}
		f := wantFailure(t, a.Upload(t.Context(), planOf(t, a, files...), &tally{}), fault.UnexpectedUploadObject,
			failure.Conflict)
		if want := `the storage refused "3" (403 AccessDenied)`; !strings.HasPrefix(f.Message, want) {
			t.Errorf("message %q, want %q", f.Message, want)
		}
		if w.calls() > Parallel+1 {
			t.Errorf("%d uploads were begun", w.calls())
		}
	})
}

func TestUploadTakesAFailedAttemptOutOfTheCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempt := 0
		w := &wire{respond: func(r *http.Request) (*http.Response, error) {
			if attempt++; attempt == 1 {
				io.CopyN(io.Discard, r.Body, 4)
				return nil, errors.New("connection reset")
			}
			return read(r)
		}}
		a, sum := account(w), &tally{}
		if err := a.Upload(t.Context(), planOf(t, a, textFile("f", "0123456789")), sum); err != nil || attempt != 2 ||
			sum.bytes.Load() != 10 {
			t.Errorf("error %v after %d attempts, %d bytes counted", err, attempt, sum.bytes.Load())
		}
	})
}

func TestUploadEndsWhenAFileIsTooSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{respond: func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}}
		a := account(w)
		a.caller.Patience.MaxAttempts = 1
		large := File{Path: "large", Size: 25 << 20, Open: func() (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("")), nil
		}}
		start := time.Now()
		f := wantFailure(t, a.Upload(t.Context(), planOf(t, a, large), &tally{}), failure.Network, failure.Server)
		if took, want := time.Since(start), time.Minute+800*time.Second; took != want ||
			f.Message != "no response from https://store.test in time" {
			t.Errorf("%q after %v, want %v", f.Message, took, want)
		}
	})
}

func TestUploadBlamesTheFileForItsOwnErrors(t *testing.T) {
	changed := failure.New(failure.Other, failure.FileChanged, "it changed").Advise("wait")
	closed := errors.New("file already closed")
	for _, tt := range []struct {
		name string
		open func() (io.ReadCloser, error)
		code fault.Code
	}{
		{"when it cannot be opened", func() (io.ReadCloser, error) { return nil, changed }, failure.FileChanged},
		{"when it cannot be read", func() (io.ReadCloser, error) { return &broken{err: changed}, nil }, failure.FileChanged},
		{"but not when the transport closed it",
			func() (io.ReadCloser, error) { return &broken{err: closed, onlyClosed: true}, nil }, failure.Network},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &wire{respond: func(r *http.Request) (*http.Response, error) {
					if tt.code == failure.Network {
						r.Body.Close()
					}
					_, err := io.Copy(io.Discard, r.Body)
					return nil, errors.Join(errors.New("write: broken pipe"), err)
				}}
				a := account(w)
				err := a.Upload(t.Context(), planOf(t, a, File{Path: "f", Size: 5, Open: tt.open}), &tally{})
				if failure.Of(err).Code != tt.code {
					t.Errorf("error %v, want %s", err, tt.code)
				}
			})
		})
	}
}

// broken is a file that fails when it is read, or when it is closed.
type broken struct {
	err        error
	onlyClosed bool
	closed     bool
}

func (b *broken) Read(p []byte) (int, error) {
	if b.onlyClosed && !b.closed {
		return len(p), nil
	}
	return 0, b.err
}

func (b *broken) Close() error { b.closed = true; return nil }

func TestStorageCode(t *testing.T) {
	expect.Results(t, func(body string) string { return storageCode(strings.NewReader(body)) }, map[string]string{
		"<Error><Code>NoSuchBucket</Code><StringToSign>s3cret</StringToSign></Error>": "NoSuchBucket",
		"<Error><Code>X-Amz-Signature=s3cret</Code></Error>":                          "without a reason",
		"<Error></Error>": "without a reason",
		"<html>":          "without a reason",
		"":                "without a reason",
		"<Error><Filler>" + strings.Repeat("x", 64<<10) + "</Filler><Code>Late</Code></Error>": "without a reason",
	})
}

func TestPutCarriesTheSignedHeadersAlone(t *testing.T) {
	w := &wire{respond: read}
	a := account(w)
	f := textFile("f", "hello")
	plan, err := a.Plan(contract.Session{
		Files: []contract.UploadTarget{target("f", map[string]string{"content-length": "5", "if-none-match": "*"})},
	}, []File{f})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Upload(t.Context(), plan, &tally{}); err != nil {
		t.Fatal(err)
	}
	r := w.seen[0]
	want := http.Header{"User-Agent": {"vitrine/test"}, "Content-Length": {"5"}, "If-None-Match": {"*"}}
	if fmt.Sprint(r.Header) != fmt.Sprint(want) || r.ContentLength != 5 {
		t.Errorf("headers %v and length %d, want %v", r.Header, r.ContentLength, want)
	}
}

func TestAnUploadAsksForHeadersOfAnUploadAlone(t *testing.T) {
	f := textFile("f", "hello")
	for name, ok := range map[string]bool{
		"content-length":        true,
		"Content-Type":          true,
		"IF-NONE-MATCH":         true,
		"x-amz-checksum-sha256": true,
		"X-Amz-Checksum-Crc32":  true,
		"Authorization":         false,
		"authorization":         false,
		"Cookie":                false,
		"X-Admin":               false,
		"Host":                  false,
		"Transfer-Encoding":     false,
		"X-Amz-Acl":             false,
		"x-amz-checksum-":       false,
		"x-amz-checksum":        false,
		"Content-Type ":         false,
		"":                      false,
		"User-Agent":            false,
		"Connection":            false,
		"Content-Encoding":      false,
	} {
		w := &wire{respond: read}
		plan, err := account(w).Plan(contract.Session{
			Files: []contract.UploadTarget{target("f", map[string]string{name: "5"})},
		}, []File{f})
		if !ok {
			f := wantFailure(t, err, failure.BadResponse, failure.Other)
			if !strings.Contains(f.Message, "asks to send "+strconv.Quote("f")+" with the header "+strconv.Quote(name)) {
				t.Errorf("%q: message %q", name, f.Message)
			}
			continue
		}
		if err != nil || len(plan.uploads) != 1 {
			t.Errorf("%q: %d files to send, error %v", name, len(plan.uploads), err)
		}
	}
}

func TestAnUploadGoesToAPlaceAsSafeAsTheServer(t *testing.T) {
	f := textFile("f", "hello")
	for _, tt := range []struct {
		name, server, put string
		ok                bool
	}{
		{"the storage of a server", "https://up.test", "https://bucket.s3.test/o?sig=1", true},
		{"the server itself", "https://up.test", "https://up.test/o?sig=1", true},
		{"a local stack", "http://localhost:8702", "http://127.0.0.1:8702/o?sig=1", true},
		{"a step down", "https://up.test", "http://bucket.s3.test/o?sig=1", false},
		{"a step down to this machine", "https://up.test", "http://127.0.0.1:9792/internal", false},
		{"this machine, of a server elsewhere", "https://up.test", "https://localhost:9792/internal", false},
		{"plain HTTP elsewhere, of a local stack", "http://localhost:8702", "http://bucket.s3.test/o?sig=1", false},
		{"a user", "https://up.test", "https://me:secret@bucket.s3.test/o?sig=1", false},
		{"another scheme", "https://up.test", "ftp://bucket.s3.test/o", false},
		{"no host", "https://up.test", "https:///o", false},
		{"nothing", "https://up.test", "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := account(&wire{respond: read})
			a.Hosts.UploadURL = tt.server
			plan, err := a.Plan(contract.Session{
				Files: []contract.UploadTarget{{Status: "upload_required", Path: "f", PutURL: tt.put}},
			}, []File{f})
			if (err == nil) != tt.ok || tt.ok && len(plan.uploads) != 1 {
				t.Errorf("%d files to send, error %v", len(plan.uploads), err)
			}
			if err != nil && failure.Of(err).Hint == "" {
				t.Errorf("%v has no hint", err)
			}
		})
	}
}

func TestAnEmptyFileAnnouncesItsLength(t *testing.T) {
	w := &wire{respond: func(r *http.Request) (*http.Response, error) {
		if r.Body != http.NoBody || r.ContentLength != 0 {
			t.Errorf("body %v of length %d, want http.NoBody", r.Body, r.ContentLength)
		}
		return reply(204, ""), nil
	}}
	a := account(w)
	if err := a.Upload(t.Context(), planOf(t, a, textFile("empty", "")), &tally{}); err != nil {
		t.Error(err)
	}
}

func TestPlanRefusesASessionThatDoesNotFit(t *testing.T) {
	files := []File{textFile("a", "1"), textFile("b", "22")}
	reused := contract.UploadTarget{Status: "reused", Path: "a"}
	for _, tt := range []struct {
		name    string
		targets []contract.UploadTarget
		ok      bool
	}{
		{"in another order", []contract.UploadTarget{target("b", nil), reused}, true},
		{"with a file missing", []contract.UploadTarget{reused}, false},
		{"with a file twice", []contract.UploadTarget{reused, reused}, false},
		{"with another file", []contract.UploadTarget{reused, target("c", nil)}, false},
		{"with one file too many", []contract.UploadTarget{reused, target("b", nil), target("c", nil)}, false},
		{"with another length", []contract.UploadTarget{reused, target("b", map[string]string{"Content-Length": "3"})},
			false},
		{"with an unknown status", []contract.UploadTarget{reused, {Status: "later", Path: "b"}}, false},
		{"with a relative URL", []contract.UploadTarget{reused, {Status: "upload_required", Path: "b", PutURL: "/o/1"}},
			false},
		{"with a step down to HTTP",
			[]contract.UploadTarget{reused, {Status: "upload_required", Path: "b", PutURL: "http://store.test/o/1"}},
			false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan, err := account(&wire{}).Plan(contract.Session{Files: tt.targets}, files)
			if !tt.ok {
				wantFailure(t, err, failure.BadResponse, failure.Other)
				return
			}
			want := contract.UploadStats{
				TotalFiles:    2,
				TotalBytes:    3,
				UploadedFiles: 1,
				UploadedBytes: 2,
				ReusedFiles:   1,
				ReusedBytes:   1,
			}
			if err != nil || plan.Stats != want {
				t.Errorf("stats %+v, error %v, want %+v", plan.Stats, err, want)
			}
		})
	}
}

func TestNewURLsAreForTheSameSession(t *testing.T) {
	for name, again := range map[string]string{
		"the same":                 "upl_00000000000000000000000001",
		"another session":          "upl_00000000000000000000000002",
		"an answer without a file": "",
	} {
		synctest.Test(t, func(t *testing.T) {
			session := func(id, path string) *http.Response {
				return reply(200, `{"upload_session_id":"`+id+`","files":[{"status":"upload_required","path":"`+path+
					`","put_url":"https://store.test/o/1?sig=`+id+path+`"}]}`)
			}
			sessions, puts := 0, 0
			w := &wire{respond: func(r *http.Request) (*http.Response, error) {
				switch {
				case r.Method == http.MethodPost && sessions == 0:
					sessions++
					return session("upl_00000000000000000000000001", "f"), nil
				case r.Method == http.MethodPost && again == "":
					return session("upl_00000000000000000000000001", "g"), nil
				case r.Method == http.MethodPost:
					sessions++
					return session(again, "f"), nil
				}
				if puts++; puts == 1 {
					return reply(403, "<Error><Code>AccessDenied</Code></Error>"), nil
				}
				return read(r)
			}}
			a, sum := account(w), &tally{}
			_, plan, err := a.Open(t.Context(), "cli_publish_1", contract.CreateSession{}, []File{textFile("f", "0123456789")})
			if err != nil {
				t.Fatal(err)
			}
			err = a.Upload(t.Context(), plan, sum)
			if name == "the same" {
				if err != nil || puts != 2 || sessions != 2 || sum.bytes.Load() != 10 || sum.files.Load() != 1 {
					t.Errorf("%s: %v after %d PUTs and %d sessions, %d bytes", name, err, puts, sessions, sum.bytes.Load())
				}
				return
			}
			wantFailure(t, err, failure.BadResponse, failure.Other)
			if puts != 1 {
				t.Errorf("%s: %d PUTs", name, puts)
			}
		})
	}
}
