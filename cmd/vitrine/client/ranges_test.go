package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/shared/platform/contract"
)

// largeFile is the smallest body that is read in ranges, and one range more.
var largeFile = bytes.Repeat([]byte("0123456789abcdef"), (minRanged+rangeSize+16)/16)

var largeSum = sha256.Sum256(largeFile)

// largeRanges is how many ranges it has.
const largeRanges = (minRanged+rangeSize+16)/rangeSize + 1

// source answers requests for largeFile.
type source struct {
	tag    string
	delay  time.Duration                                     // of each answer
	change func(n int, r *http.Request, resp *http.Response) // alters the n-th answer

	calls, atOnce, most atomic.Int64
	sent                atomic.Int64 // bytes of answers
	changed             atomic.Bool  // the file has another tag
}

func (s *source) serve(r *http.Request) (*http.Response, error) {
	n := s.calls.Add(1)
	s.most.Store(max(s.most.Load(), s.atOnce.Add(1)))
	defer s.atOnce.Add(-1)
	time.Sleep(s.delay) // in a bubble
	w := httptest.NewRecorder()
	w.Header().Set("ETag", s.tag)
	if s.changed.Load() {
		w.Header().Set("ETag", `"2"`)
	}
	w.Header().Set("Content-Type", "video/mp4")
	w.Header().Set("Repr-Digest", "sha-256=:"+base64.StdEncoding.EncodeToString(largeSum[:])+":")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(largeFile))
	resp := w.Result()
	resp.ContentLength = int64(w.Body.Len())
	if s.change != nil {
		s.change(int(n), r, resp)
	}
	s.sent.Add(int64(w.Body.Len()))
	return resp, nil
}

// fetch downloads largeFile, as a file and as a zip.
func (s *source) fetch(t *testing.T, check func(name string, got []byte, err error)) {
	t.Helper()
	reset := func() { s.calls.Store(0); s.most.Store(0); s.sent.Store(0) }
	reset()
	var got bytes.Buffer
	f := contract.AgentViewFile{
		Path:      "a.mp4",
		URL:       "https://content.test/v/s3cret/a.mp4",
		SizeBytes: int64(len(largeFile)),
		SHA256:    hex.EncodeToString(largeSum[:]),
	}
	err := account(&wire{respond: s.serve}).Download(t.Context(), f, func() (io.Writer, error) {
		got.Reset()
		return &got, nil
	})
	check("a file", got.Bytes(), err)
	reset()
	var kept memory
	b := contract.Bundle{URL: "https://content.test/b/s3cret", SizeBytes: int64(len(largeFile))}
	_, err = account(&wire{respond: s.serve}).DownloadBundle(t.Context(), b, &kept, ignore)
	check("a zip", kept.text, err)
}

// wantCalls checks that largeFile arrived with this many calls.
func (s *source) wantCalls(t *testing.T, calls int64) {
	t.Helper()
	s.fetch(t, func(name string, got []byte, err error) {
		if err != nil || !bytes.Equal(got, largeFile) || s.calls.Load() != calls {
			t.Errorf("%s: %d bytes by %d calls, want %d; %v", name, len(got), s.calls.Load(), calls, err)
		}
	})
}

func TestALargeBodyIsReadInFourRangesAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{tag: `"1"`, delay: time.Second}
		s.change = func(n int, r *http.Request, resp *http.Response) {
			if resp.StatusCode != http.StatusPartialContent || resp.ContentLength > rangeSize ||
				n > 1 && r.Header.Get("If-Range") != s.tag {
				t.Errorf("%d bytes with status %d for %v", resp.ContentLength, resp.StatusCode, r.Header)
			}
		}
		s.fetch(t, func(name string, got []byte, err error) {
			if err != nil || !bytes.Equal(got, largeFile) || s.calls.Load() != largeRanges || s.most.Load() != rangesAtOnce ||
				s.sent.Load() != int64(len(largeFile)) {
				t.Errorf("%s: %d bytes by %d calls, %d at once; %v", name, len(got), s.calls.Load(), s.most.Load(), err)
			}
		})
	})
}

func TestASmallBodyIsReadAtOnce(t *testing.T) {
	if endOf(0, minRanged) >= 0 || endOf(0, minRanged+1) != rangeSize || endOf(minRanged, minRanged+1) != minRanged+1 {
		t.Error("the bounds are others")
	}
}

// TestARangeGoesOnAfterACut cuts each range once, in its middle, also the first.
func TestARangeGoesOnAfterACut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{tag: `"1"`}
		s.change = func(_ int, r *http.Request, resp *http.Response) {
			if text, _ := io.ReadAll(resp.Body); len(text) >= rangeSize {
				resp.Body = cut(string(text[:rangeSize/2]))
			} else {
				resp.Body = io.NopCloser(bytes.NewReader(text))
			}
		}
		s.fetch(t, func(name string, got []byte, err error) {
			if err != nil || !bytes.Equal(got, largeFile) || s.calls.Load() > 2*largeRanges+1 {
				t.Errorf("%s: %d bytes by %d calls; %v", name, len(got), s.calls.Load(), err)
			}
		})
	})
}

func TestAServerWithoutRangesSendsALargeBodyWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ignores := &source{tag: `"1"`}
		without := &source{tag: `"1"`, change: func(_ int, r *http.Request, resp *http.Response) {
			whole, _ := ignores.serve(httptest.NewRequest(http.MethodGet, r.URL.String(), nil))
			*resp = *whole
		}}
		without.wantCalls(t, 1)
		weak := &source{tag: `W/"1"`}
		weak.wantCalls(t, 2) // the first range says that no other can follow
	})
}

// TestABodyOfAnotherTagIsReadFromTheStart gives the file another tag after three ranges.
func TestABodyOfAnotherTagIsReadFromTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &source{tag: `"1"`}
		s.change = func(n int, _ *http.Request, _ *http.Response) {
			if n == 3 {
				s.changed.Store(true)
			}
		}
		s.fetch(t, func(name string, got []byte, err error) {
			if err != nil || !bytes.Equal(got, largeFile) {
				t.Errorf("%s: %d bytes; %v", name, len(got), err)
			}
			s.changed.Store(false)
		})
	})
}

func TestAnswersThatAreNoRangeAreRefused(t *testing.T) {
	for name, change := range map[string]func(*http.Response){
		"another part":   func(resp *http.Response) { resp.Header.Set("Content-Range", "bytes 0-1/99") },
		"another tag":    func(resp *http.Response) { resp.Header.Set("ETag", `"2"`) },
		"a refusal":      func(resp *http.Response) { resp.StatusCode = http.StatusNotFound },
		"too few, often": func(resp *http.Response) { resp.Body = io.NopCloser(strings.NewReader("")) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &source{tag: `"1"`}
				s.change = func(n int, _ *http.Request, resp *http.Response) {
					if n > 1 {
						change(resp)
					}
				}
				s.fetch(t, func(what string, _ []byte, err error) {
					if err == nil || strings.Contains(err.Error(), "s3cret") {
						t.Errorf("%s: %v", what, err)
					}
				})
			})
		})
	}
}
