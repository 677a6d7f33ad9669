package client

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// storage is a server with sessions and signed URLs. It keeps what it was sent.
type storage struct {
	respond func(path string, sent int) (status int, stores bool) // answer to the n-th PUT of a path

	mu     sync.Mutex
	rounds int            // how often URLs were signed; those of earlier rounds have expired
	puts   map[string]int // by path
	there  map[string]bool
	resent int             // PUTs of what is there
	bodies map[string]bool // of the calls for a session
}

const testSession = "upl_00000000000000000000000001"

// serve implements wire.respond.
func (s *storage) serve(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodPut {
		return s.put(strings.TrimPrefix(r.URL.Path, "/o/"), r.URL.RawQuery), nil
	}
	s.rounds++
	s.bodies[string(body)] = true
	var asked contract.CreateSession
	if err := json.Unmarshal(body, &asked); err != nil {
		return nil, err
	}
	out := contract.Session{UploadSessionID: id.Session(testSession)}
	for _, f := range asked.Files {
		t := target(f.Path, nil)
		t.PutURL = fmt.Sprint("https://store.test/o/", f.Path, "?sig=", s.rounds)
		if asked.Resumable && s.there[f.Path] {
			t = contract.UploadTarget{Path: f.Path, Status: "reused"}
		}
		out.Files = append(out.Files, t)
	}
	text, err := json.Marshal(out)
	return reply(200, string(text)), err
}

func (s *storage) put(path, query string) *http.Response {
	if s.puts[path]++; s.there[path] {
		s.resent++
	}
	status, stores := s.respond(path, s.puts[path])
	if query != fmt.Sprint("sig=", s.rounds) {
		status, stores = http.StatusForbidden, false
	}
	s.there[path] = s.there[path] || stores
	return reply(status, "<Error><Code>AccessDenied</Code></Error>")
}

// send uploads n files of one byte.
func (s *storage) send(t *testing.T, n int) (*tally, error) {
	t.Helper()
	s.puts, s.there, s.bodies = map[string]int{}, map[string]bool{}, map[string]bool{}
	a, sum := account(&wire{respond: s.serve}), &tally{}
	var m contract.CreateSession
	var files []File
	for i := range n {
		files = append(files, textFile(fmt.Sprint(i), "x"))
		m.Files = append(m.Files, contract.DeclaredFile{Path: files[i].Path, SizeBytes: 1})
	}
	_, plan, err := a.Open(t.Context(), "key", m, files)
	if err != nil {
		t.Fatal(err)
	}
	err = a.Upload(t.Context(), plan, sum)
	if len(s.bodies) != 1 {
		t.Errorf("%d bodies with one key", len(s.bodies))
	}
	return sum, err
}

// TestAFileThatIsThereIsNotSentAgain loses the answers to PUTs that had their effect, until the URLs have expired.
func TestAFileThatIsThereIsNotSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &storage{respond: func(string, int) (int, bool) { return http.StatusForbidden, true }}
		sum, err := s.send(t, 20)
		if err != nil || sum.bytes.Load() != 20 || sum.files.Load() != 20 {
			t.Errorf("%v, %d bytes of %d files", err, sum.bytes.Load(), sum.files.Load())
		}
		if s.resent > 0 {
			t.Errorf("%d files were sent again", s.resent)
		}
	})
}

// TestFilesThatWaitTakeTheNewURLs has URLs that expire before the first file is sent.
func TestFilesThatWaitTakeTheNewURLs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *storage
		s = &storage{respond: func(string, int) (int, bool) {
			if s.rounds == 1 {
				return http.StatusForbidden, false
			}
			return http.StatusOK, true
		}}
		sum, err := s.send(t, 50)
		sent := 0
		for _, n := range s.puts {
			sent += n
		}
		if err != nil || sum.files.Load() != 50 || s.rounds != 2 || sent > 50+Parallel {
			t.Errorf("%v: %d files, %d rounds, %d PUTs", err, sum.files.Load(), s.rounds, sent)
		}
	})
}

// TestAFileGoesOnWhileOthersArrive breaks more connections of one file than a call may try.
func TestAFileGoesOnWhileOthersArrive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &storage{respond: func(path string, sent int) (int, bool) {
			if path == "0" && sent <= DefaultRetryPolicy().MaxAttempts {
				return http.StatusServiceUnavailable, false
			}
			return http.StatusOK, true
		}}
		if _, err := s.send(t, 20); err != nil || s.puts["0"] != DefaultRetryPolicy().MaxAttempts+1 {
			t.Errorf("%v after %d attempts", err, s.puts["0"])
		}
		if _, err := s.send(t, 1); err == nil {
			t.Error("a file alone does not give up")
		}
	})
}

func TestAManifestThatNoServerReadsIsNotSent(t *testing.T) {
	w := &wire{respond: func(*http.Request) (*http.Response, error) { return reply(200, "{}"), nil }}
	var m contract.CreateSession
	for range 2000 {
		m.Files = append(m.Files, contract.DeclaredFile{Path: strings.Repeat("p", limits.PathBytes)})
	}
	_, _, err := account(w).Open(t.Context(), "key", m, nil)
	f := wantFailure(t, err, fault.FileCountCapExceeded, failure.Invalid)
	if want := "the list of 2,000 files has 2,"; !strings.HasPrefix(f.Message, want) || w.calls() > 0 {
		t.Errorf("%q, want %q; %d calls", f.Message, want, w.calls())
	}
}
