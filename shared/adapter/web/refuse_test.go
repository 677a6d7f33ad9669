package web_test

import (
	"net/http"
	"testing"
	"time"

	"vitrine/shared/adapter/web"
)

func TestWhoeverWaitsAsToldHasWaitedEnough(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		-time.Second:    "",
		0:               "",
		1:               "1",
		time.Second:     "1",
		time.Second + 1: "2",
		time.Minute:     "60",
	} {
		h := http.Header{}
		if web.RetryAfter(h, wait); h.Get("Retry-After") != want || len(h) > len(want) {
			t.Errorf("%s: %v", wait, h)
		}
	}
}
