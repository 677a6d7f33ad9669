package lambdahttp

import (
	"context"
	"errors"
	"net/http"
	"testing"
)

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
