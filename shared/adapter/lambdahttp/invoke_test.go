package lambdahttp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/lambdatest"
)

// invoke passes an event through the adapter as the Lambda runtime does.
func invoke(t *testing.T, h http.Handler, m Mode, e event) lambdatest.Reply {
	t.Helper()
	return lambdatest.Invoke(t, NewHandler(h, m), e)
}

func httpAPIEvent(method, path string) event {
	e := event{Version: "2.0", RawPath: path, Headers: map[string]string{"host": "api.vitrine.example"}}
	e.Context.DomainName, e.Context.RequestID = "api.vitrine.example", "gateway-1"
	e.Context.HTTP.Method, e.Context.HTTP.SourceIP = method, "203.0.113.24"
	return e
}

func restEvent(method, path string) event {
	e := event{Method: method, Path: path, AllHeaders: map[string][]string{"Host": {"content.vitrine.example"}}}
	e.Context.DomainName, e.Context.RequestID = "content.vitrine.example", "gateway-1"
	e.Context.Identity.SourceIP = "203.0.113.24"
	return e
}

// streamOf starts a streamed answer to GET / that the test reads by itself.
func streamOf(t *testing.T, ctx context.Context, h http.HandlerFunc) (status int, body io.ReadCloser) {
	t.Helper()
	abandon := func() { t.Error("the function ends itself") }
	return abandonable(t, ctx, h, abandon)
}

// abandonable is streamOf with what ends the function.
func abandonable(
	t *testing.T,
	ctx context.Context,
	h http.HandlerFunc,
	abandon func(),
) (status int, body io.ReadCloser) {
	t.Helper()
	out := expect.Value(adapter{handler: h, mode: Stream, abandon: abandon}.serve(ctx, restEvent("GET", "/")))(t)
	body = out.(io.ReadCloser)
	return preludeOf(t, body), body
}

// preludeOf reads up to the body.
func preludeOf(t *testing.T, r io.Reader) int {
	t.Helper()
	var prelude []byte
	one := make([]byte, 1)
	for !bytes.HasSuffix(prelude, make([]byte, 8)) {
		expect.Value(io.ReadFull(r, one))(t)
		prelude = append(prelude, one[0])
	}
	return lambdatest.Parse(t, prelude).Status
}

func TestAScheduleRunsItsWorkAndNoRequestDoes(t *testing.T) {
	failed := errors.New("failed")
	ran := 0
	work := func(context.Context) error {
		ran++
		return failed
	}
	none := http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the handler was asked") })
	tick := []byte(`{"source":"aws.events","detail-type":"Scheduled Event"}`)
	if _, err := newHandler(none, Buffered, work).Invoke(t.Context(), tick); !errors.Is(err, failed) || ran != 1 {
		t.Errorf("%v after %d runs", err, ran)
	}
	if _, err := newHandler(none, Buffered, nil).Invoke(t.Context(), tick); err == nil {
		t.Error("a function without a schedule takes its event")
	}
	asks := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	request := []byte(`{"version":"2.0","rawPath":"/","headers":{"source":"aws.events"},` +
		`"requestContext":{"http":{"method":"GET"}}}`)
	if _, err := newHandler(asks, Buffered, work).Invoke(t.Context(), request); err != nil || ran != 1 {
		t.Errorf("%v after %d runs", err, ran)
	}
}
