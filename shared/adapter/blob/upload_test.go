package blob_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/upload"
)

// tenMB is a realistic file: S3 refuses it while the client still sends.
var tenMB = bytes.Repeat([]byte("0123456789"), 1_000_000)

func TestAnUploadThroughTheEdgeIsStored(t *testing.T) {
	s := start(t)
	s.store(t, 0, tenMB)
	s.wantBytes(t, 0, tenMB)
}

func TestF10APutIsStoredOnce(t *testing.T) {
	t.Run("a second one is refused", func(t *testing.T) {
		s := start(t)
		target := s.sign(t, 0, tenMB)
		for _, want := range []int{http.StatusOK, http.StatusPreconditionFailed, http.StatusPreconditionFailed} {
			if status, answer := put(t, target, tenMB); status != want {
				t.Errorf("%d %s, want %d", status, answer, want)
			}
		}
		s.wantBytes(t, 0, tenMB)
	})
	t.Run("of several at once one wins", func(t *testing.T) {
		s := start(t)
		target := s.sign(t, 0, tenMB)
		got := make([]int, 4)
		var group sync.WaitGroup
		for i := range got {
			group.Go(func() { got[i], _ = put(t, target, tenMB) })
		}
		group.Wait()
		slices.Sort(got)
		for i, status := range got {
			if won := status == http.StatusOK; won != (i == 0) || !won && status != http.StatusConflict &&
				status != http.StatusPreconditionFailed {
				t.Errorf("statuses %v, want one 200, else 409 or 412", got)
			}
		}
		s.wantBytes(t, 0, tenMB)
	})
	t.Run("also if its bytes were not declared", func(t *testing.T) {
		s := start(t)
		target := expect.Value(s.Presign(t.Context(), s.home, s.object(0), 5, nil, time.Now().Add(time.Minute)))(t)
		for _, c := range []struct {
			body   string
			status int
		}{{"longer", http.StatusForbidden}, {"first", http.StatusOK}, {"other", http.StatusPreconditionFailed}} {
			if status, answer := put(t, target, []byte(c.body)); status != c.status {
				t.Errorf("%s: %d %s, want %d", c.body, status, answer, c.status)
			}
		}
		s.wantBytes(t, 0, []byte("first"))
	})
}

func TestF12OtherBytesAreRefused(t *testing.T) {
	other := bytes.Clone(tenMB)
	other[len(other)-1]++
	for name, c := range map[string]struct {
		sent   []byte
		status int
	}{
		"of the same length": {other, http.StatusBadRequest},
		"shorter":            {tenMB[1:], http.StatusForbidden},
		"longer":             {append(bytes.Clone(tenMB), '!'), http.StatusForbidden},
		"none":               {nil, http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			if status, answer := put(t, s.sign(t, 0, tenMB), c.sent); status != c.status {
				t.Errorf("%d %s, want %d", status, answer, c.status)
			}
			s.wantNothing(t, 0)
		})
	}
}

func TestT61ASignatureIsGoodForNothingElse(t *testing.T) {
	body, other := []byte("the declared bytes"), []byte("some other content")
	for name, change := range map[string]func(t *testing.T, s env, signed *upload.PutTarget){
		"another entry": func(_ *testing.T, _ env, signed *upload.PutTarget) {
			signed.URL = strings.Replace(signed.URL, "/000?", "/001?", 1)
		},
		"another session": func(_ *testing.T, s env, signed *upload.PutTarget) {
			signed.URL = strings.Replace(signed.URL, string(s.session), string(id.NewSession()), 1)
		},
		"another workspace": func(_ *testing.T, s env, signed *upload.PutTarget) {
			signed.URL = strings.Replace(signed.URL, string(s.home), string(id.NewWorkspace()), 1)
		},
		"another prefix": func(_ *testing.T, _ env, signed *upload.PutTarget) {
			signed.URL = strings.Replace(signed.URL, "/o/", "/d/", 1)
		},
		"a path that leads elsewhere": func(_ *testing.T, _ env, signed *upload.PutTarget) {
			signed.URL = strings.Replace(signed.URL, "/000?", "/000/../001?", 1)
		},
		"a longer query": func(_ *testing.T, _ env, signed *upload.PutTarget) { signed.URL += "&acl" },
		"a longer life": func(_ *testing.T, _ env, signed *upload.PutTarget) {
			signed.URL = strings.Replace(signed.URL, "X-Amz-Expires=60", "X-Amz-Expires=6000", 1)
		},
		"another digest": func(t *testing.T, s env, signed *upload.PutTarget) {
			signed.Headers = s.sign(t, 1, other).Headers
		},
		"no digest": func(_ *testing.T, _ env, signed *upload.PutTarget) {
			delete(signed.Headers, "x-amz-checksum-sha256")
		},
		"an overwrite": func(_ *testing.T, _ env, signed *upload.PutTarget) { delete(signed.Headers, "if-none-match") },
		"a header that S3 obeys": func(_ *testing.T, _ env, signed *upload.PutTarget) {
			signed.Headers["x-amz-acl"] = "public-read"
		},
		"no signature": func(_ *testing.T, _ env, signed *upload.PutTarget) {
			signed.URL, _, _ = strings.Cut(signed.URL, "?")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			signed := s.sign(t, 0, body)
			before := signed.URL
			change(t, s, &signed)
			if status, answer := put(t, signed, body); status != http.StatusForbidden {
				t.Errorf("%d %s, want 403 (%v)", status, answer, signed.URL != before)
			}
			sizes, err := s.List(t.Context(), s.home, s.session, false)
			if err != nil || len(sizes) != 0 {
				t.Errorf("the session holds %v, %v", sizes, err)
			}
		})
	}
}

func TestT61ASignatureEnds(t *testing.T) {
	s := start(t)
	var target upload.PutTarget
	// a bubble's clock starts in the year 2000
	synctest.Test(t, func(t *testing.T) { target = s.sign(t, 0, []byte("late")) })
	if status, answer := put(t, target, []byte("late")); status != http.StatusForbidden {
		t.Errorf("%d %s", status, answer)
	}
	s.wantNothing(t, 0)
}

func TestASignatureIsForAPutOnly(t *testing.T) {
	s := start(t)
	s.store(t, 0, []byte("bytes"))
	target := s.sign(t, 0, []byte("bytes"))
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodDelete, http.MethodPost} {
		request := expect.Value(http.NewRequestWithContext(t.Context(), method, target.URL, nil))(t)
		response := expect.Value(http.DefaultClient.Do(request))(t)
		response.Body.Close()
		if response.StatusCode < 400 {
			t.Errorf("%s: %s", method, response.Status)
		}
	}
	s.wantBytes(t, 0, []byte("bytes"))
}
