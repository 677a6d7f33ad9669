package lambdahttp

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/lambda"

	"vitrine/shared/contract"
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
			if got := invoke(t, http.HandlerFunc(h), Buffered, e); got.body != c.body || got.base64 != c.base64 {
				t.Errorf("%s, version %q: base64 %t, %d bytes of %d", name, e.Version, got.base64, len(got.body), len(c.body))
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
			bytes, become int // what the gateway's form makes of so many bytes
		}{{"x", 1, 1}, {`"`, 3, 4}} {
			size := 3
			h := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				w.Header().Set("X-Request-Id", "client-chose-it")
				w.Header().Set("X-Odd", `<&>"`)
				io.WriteString(w, strings.Repeat(c.unit, size))
			})
			frame := answerSize(t, h, e) - size/c.bytes*c.become
			size = (runtimeMost - frame) / c.become * c.bytes
			if got := invoke(t, h, Buffered, e); got.status != 200 || len(got.body) != size {
				t.Errorf("%q, version %q: %d bytes are %d, %d bytes", c.unit, e.Version, size, got.status, len(got.body))
			}
			size++
			wantTooLong(t, invoke(t, h, Buffered, e))
		}
	}
	if n := strings.Count(logged.String(), "too long"); n != 4 {
		t.Errorf("%d log lines for 4 refusals: %s", n, logged)
	}
}

func wantTooLong(t *testing.T, got reply) {
	t.Helper()
	var sent contract.Envelope
	err := json.Unmarshal([]byte(got.body), &sent)
	if err != nil || got.status != 500 || sent.Error.Code != "internal_error" || sent.Error.RequestID != "client-chose-it" ||
		!strings.Contains(sent.Error.Message, "url") || got.header.Get("X-Odd") != "" {
		t.Errorf("%d, %.300s, %v", got.status, got.body, err)
	}
}

// answerSize is how many bytes the runtime is given.
func answerSize(t *testing.T, h http.Handler, e event) int {
	t.Helper()
	payload, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	out, err := lambda.NewHandler(adapter{handler: h, mode: Buffered}.serve).Invoke(t.Context(), payload)
	if err != nil {
		t.Fatal(err)
	}
	return len(out)
}

func TestAStreamIsAsLongAsItLikes(t *testing.T) {
	h := func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, strings.Repeat("x", runtimeMost)) }
	if got := invoke(t, http.HandlerFunc(h), Stream, restEvent("GET", "/")); got.status != 200 || len(got.body) != runtimeMost {
		t.Errorf("%d, %d bytes", got.status, len(got.body))
	}
}
