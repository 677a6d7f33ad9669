package client

import (
	"bytes"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
)

// cut is a body that ends before its end.
func cut(text string) io.ReadCloser {
	return io.NopCloser(io.MultiReader(strings.NewReader(text), iotest.ErrReader(io.ErrUnexpectedEOF)))
}

func TestAFileGoesOnAfterACut(t *testing.T) {
	const whole = "0123456789"
	for name, tt := range map[string]struct {
		again  func(*http.Request) *http.Response // answers what follows the cut after 4 bytes
		tag    string
		opened int
		fails  bool
	}{
		"where it ended": {func(r *http.Request) *http.Response {
			resp := reply(206, "456789", `ETag: "1"`, "Content-Range: bytes 4-9/10")
			if r.Header.Get("Range") != "bytes=4-" || r.Header.Get("If-Range") != `"1"` {
				resp.StatusCode = 500
			}
			return resp
		}, `"1"`, 1, false},
		"from the start, if it has changed": {func(*http.Request) *http.Response {
			return reply(200, whole, `ETag: "2"`)
		}, `"1"`, 2, false},
		"from the start, if nothing tells whether it has": {func(r *http.Request) *http.Response {
			if r.Header.Get("Range") != "" {
				return reply(500, "")
			}
			return reply(200, whole)
		}, `W/"1"`, 2, false},
		"but not with another part":    {partial(`"1"`, "bytes 3-9/10", "3456789"), `"1"`, 1, true},
		"but not with another body":    {partial(`"2"`, "bytes 4-9/10", "456789"), `"1"`, 1, true},
		"but not with another size":    {partial(`"1"`, "bytes 4-9/11", "456789"), `"1"`, 1, true},
		"but not with more than asked": {partial(`"1"`, "bytes 4-9/10", "456789+"), `"1"`, 1, true},
		"but not with other bytes":     {partial(`"1"`, "bytes 4-9/10", "45678x"), `"1"`, 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, opened := &wire{}, 0
				w.respond = func(r *http.Request) (*http.Response, error) {
					if w.calls() > 1 {
						return tt.again(r), nil
					}
					resp := reply(200, "", "ETag: "+tt.tag)
					resp.Body = cut("0123")
					return resp, nil
				}
				var got bytes.Buffer
				f := contract.AgentViewFile{
					Path: "a.bin", URL: "https://content.test/v/s3cret/a.bin", SizeBytes: 10, SHA256: digest([]byte(whole)),
				}
				err := account(w).Download(t.Context(), f, func() (io.Writer, error) {
					opened++
					got.Reset()
					return &got, nil
				})
				if (err != nil) != tt.fails || opened != tt.opened || w.calls() != 2 || err == nil && got.String() != whole {
					t.Errorf("%q, %v, opened %d times by %d calls", got.String(), err, opened, w.calls())
				}
				if err != nil && strings.Contains(failure.Of(err).Message, "s3cret") {
					t.Error(err)
				}
			})
		})
	}
}

func partial(tag, part, text string) func(*http.Request) *http.Response {
	return func(*http.Request) *http.Response { return reply(206, text, "ETag: "+tag, "Content-Range: "+part) }
}

// TestAFileThatIsCutOftenArrives needs more attempts than a call has without progress.
func TestAFileThatIsCutOftenArrives(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		whole, at, w := strings.Repeat("0123456789", 3), 0, &wire{}
		w.respond = func(*http.Request) (*http.Response, error) {
			resp := reply(206, "", `ETag: "1"`, "Content-Range: bytes "+strconv.Itoa(at)+"-29/30")
			if at == 0 {
				resp.StatusCode = 200
			}
			resp.Body = cut(whole[at : at+1])
			at++
			return resp, nil
		}
		var got bytes.Buffer
		f := contract.AgentViewFile{Path: "a", URL: "https://content.test/v/1/a", SizeBytes: 30, SHA256: digest([]byte(whole))}
		err := account(w).Download(t.Context(), f, func() (io.Writer, error) { return &got, nil })
		if err != nil || got.String() != whole || w.calls() != 30 {
			t.Errorf("%q after %d calls, %v", got.String(), w.calls(), err)
		}
	})
}
