package client

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
)

// memory keeps an archive in memory.
type memory struct {
	text []byte
	tag  string
}

func (m *memory) Kept() (int64, string)  { return int64(len(m.text)), m.tag }
func (m *memory) Begin(tag string) error { m.text, m.tag = nil, tag; return nil }
func (m *memory) Discard()               { m.text, m.tag = nil, "" }
func (m *memory) Sum() ([]byte, error)   { s := sha256.Sum256(m.text); return s[:], nil }

func (m *memory) WriteAt(p []byte, at int64) (int, error) {
	m.text = append(m.text[:at], p...)
	return len(p), nil
}

// zipReply answers with the bytes of a zip from one byte on.
func zipReply(r *http.Request, status int, whole string, headers ...string) *http.Response {
	sum := sha256.Sum256([]byte(whole))
	resp := reply(status, whole, append([]string{
		`ETag: "1"`, "Repr-Digest: sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":",
	}, headers...)...)
	resp.Request, resp.ContentLength = r, int64(len(whole))
	return resp
}

func ignore(int64, int64) {}

func TestADownloadThatBringsNothingIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{}
		w.respond = func(r *http.Request) (*http.Response, error) {
			if w.calls() == 1 {
				resp := zipReply(r, 200, "0123456789")
				resp.Body = io.NopCloser(io.MultiReader(strings.NewReader("01234"), &hanging{r}))
				return resp, nil
			}
			if r.Header.Get("Range") != "bytes=4-" || r.Header.Get("If-Range") != `"1"` {
				t.Errorf("headers %v", r.Header)
			}
			resp := zipReply(r, 206, "0123456789", "Content-Range: bytes 4-9/10")
			resp.Body = io.NopCloser(strings.NewReader("456789"))
			return resp, nil
		}
		var kept memory
		b := contract.Bundle{URL: "https://content.test/b/s3cret"}
		got, err := account(w).DownloadBundle(t.Context(), b, &kept, ignore)
		if err != nil || string(kept.text) != "0123456789" || got.Size != 10 || got.SHA256 != digest(kept.text) {
			t.Errorf("%q, %+v, %v", kept.text, got, err)
		}
		if took := w.at[1].Sub(w.at[0]); took < stallTime || took > 2*stallTime {
			t.Errorf("it was tried again after %v", took)
		}
	})
}

// hanging brings nothing until its request ends.
type hanging struct{ *http.Request }

func (h *hanging) Read([]byte) (int, error) {
	<-h.Context().Done()
	return 0, h.Context().Err()
}

func TestAnswersThatAreNoZipAreRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		kept     string
		status   int
		headers  []string
		size     int64
		wantKept string
	}{
		"another range":           {"01234", 206, []string{"Content-Range: bytes 0-9/10"}, 0, "01234"},
		"no range":                {"01234", 206, nil, 0, "01234"},
		"a range of another zip":  {"01234", 206, []string{"Content-Range: bytes 4-9/10", `ETag: "2"`}, 0, "01234"},
		"a range of nothing":      {"01234", 206, []string{"Content-Range: bytes 4-9/3"}, 0, "01234"},
		"another size":            {"", 200, nil, 11, ""},
		"a range without request": {"", 206, []string{"Content-Range: bytes 0-9/10"}, 0, ""},
		"another digest":          {"", 200, []string{"Repr-Digest: sha-256=:" + strings.Repeat("A", 43) + "=:"}, 0, ""},
		"no digest":               {"", 200, []string{"Repr-Digest: sha-512=:AAAA:"}, 0, ""},
		"a malformed digest":      {"", 200, []string{"Repr-Digest: sha-256=:AAAA:"}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &wire{respond: func(r *http.Request) (*http.Response, error) {
				return zipReply(r, tt.status, "0123456789", tt.headers...), nil
			}}
			kept := memory{[]byte(tt.kept), `"1"`}
			_, err := account(w).DownloadBundle(t.Context(),
				contract.Bundle{URL: "https://content.test/b/s3cret", SizeBytes: tt.size}, &kept, ignore)
			if f := failure.Of(err); err == nil || strings.Contains(f.Message+f.Hint, "s3cret") || f.Exit == failure.Server {
				t.Errorf("%v", err)
			}
			if !bytes.Equal(kept.text, []byte(tt.wantKept)) {
				t.Errorf("%q is kept, want %q", kept.text, tt.wantKept)
			}
		})
	}
}

func TestAStoreThatCannotBeWrittenEndsADownload(t *testing.T) {
	full := failure.New(failure.Invalid, failure.Unsavable, "the disk is full").Advise("free some")
	w := &wire{respond: func(r *http.Request) (*http.Response, error) { return zipReply(r, 200, "0123456789"), nil }}
	_, err := account(w).DownloadBundle(t.Context(), contract.Bundle{URL: "https://content.test/b/1"},
		&fullStore{failure: full}, ignore)
	if !errors.Is(err, full) || w.calls() != 1 {
		t.Errorf("%v after %d calls", err, w.calls())
	}
}

// fullStore takes no bytes.
type fullStore struct {
	memory
	failure error
}

func (s *fullStore) WriteAt([]byte, int64) (int, error) { return 0, s.failure }

func TestAnArchiveComesFromAPlaceAsSafeAsTheServer(t *testing.T) {
	for _, url := range []string{
		"", "/b/1", "http://content.test/b/1", "ftp://content.test/b/1", "https://u:p@content.test/b",
	} {
		if _, err := account(&wire{}).DownloadBundle(t.Context(), contract.Bundle{URL: url}, &memory{}, ignore); err == nil {
			t.Errorf("%q was asked", url)
		}
	}
}
