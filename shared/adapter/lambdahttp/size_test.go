package lambdahttp

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/testkit/lambdatest"
	"vitrine/shared/platform/contract"
)

func TestABodyTakesItsShorterEncoding(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		base64 bool
	}{
		"plain text":                {strings.Repeat("plain ", 100), false},
		"one byte more than base64": {strings.Repeat(`"`, 35) + strings.Repeat("x", 67), true}, // 137 and 136 bytes
		"as long as base64":         {strings.Repeat(`"`, 34) + strings.Repeat("x", 68), false},
		"control characters":        {strings.Repeat("\x01", 30), true},
		"bytes that are no text":    {"\xff", true},
	} {
		h := func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, c.body) }
		for _, e := range []event{httpAPIEvent("GET", "/"), restEvent("GET", "/")} {
			if got := invoke(t, http.HandlerFunc(h), Buffered, e); got.Body != c.body || got.Base64 != c.base64 {
				t.Errorf("%s, version %q: base64 %t, %d bytes of %d", name, e.Version, got.Base64, len(got.Body), len(c.body))
			}
		}
	}
}

// TestAnAnswerThatLambdaRefusesIsAnEnvelope answers with the longest body that Lambda takes, and with one byte more.
func TestAnAnswerThatLambdaRefusesIsAnEnvelope(t *testing.T) {
	logged := captureLog(t)
	for _, e := range []event{httpAPIEvent("GET", "/"), restEvent("GET", "/")} {
		for _, c := range []struct {
			unit          string
			bytes, become int // the size of so many bytes in the gateway's encoding
		}{{"x", 1, 1}, {`"`, 3, 4}} {
			size := 3
			h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				w.Header().Set("X-Request-Id", "client-chose-it")
				w.Header().Set("X-Odd", `<&>"`)
				io.WriteString(w, strings.Repeat(c.unit, size))
			})
			frame := len(lambdatest.Answer(t, NewHandler(h, Buffered), e)) - size/c.bytes*c.become
			size = (lambdatest.MaxAnswer - frame) / c.become * c.bytes
			if got := invoke(t, h, Buffered, e); got.Status != 200 || len(got.Body) != size {
				t.Errorf("%q, version %q: %d bytes are %d, %d bytes", c.unit, e.Version, size, got.Status, len(got.Body))
			}
			size++
			wantTooLong(t, invoke(t, h, Buffered, e))
		}
	}
	if n := strings.Count(logged.String(), "too long"); n != 4 {
		t.Errorf("%d log lines for 4 refusals: %s", n, logged)
	}
}

func wantTooLong(t *testing.T, got lambdatest.Reply) {
	t.Helper()
	var sent contract.Envelope
	err := json.Unmarshal([]byte(got.Body), &sent)
	if err != nil || got.Status != 500 || sent.Error.Code != "internal_error" ||
		sent.Error.RequestID != "client-chose-it" ||
		!strings.Contains(sent.Error.Message, "url") || got.Header.Get("X-Odd") != "" {
		t.Errorf("%d, %.300s, %v", got.Status, got.Body, err)
	}
}

func TestAStreamIsAsLongAsItLikes(t *testing.T) {
	h := func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, strings.Repeat("x", lambdatest.MaxAnswer))
	}
	if got := invoke(t, http.HandlerFunc(h), Stream, restEvent("GET", "/")); got.Status != 200 ||
		len(got.Body) != lambdatest.MaxAnswer {
		t.Errorf("%d, %d bytes", got.Status, len(got.Body))
	}
}
