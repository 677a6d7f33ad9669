package main

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	chromium "vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
)

func TestPagesThatDoNotOpen(t *testing.T) {
	b := expect.Value(chromium.Start())(t)
	defer b.Close()
	mux := http.NewServeMux()
	mux.HandleFunc("/cut", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, "<p>half of a")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("/empty", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<title>nothing</title>") })
	server, stop, err := serveHere(&http.Server{Handler: mux})
	expect.OK(t, err)
	defer stop()
	for path, c := range map[string]struct {
		most time.Duration
		want error
	}{
		"/cut":     {time.Minute, errCut},
		"/empty":   {3 * time.Second, errNever},
		"/missing": {3 * time.Second, errNever},
	} {
		p := opener{url: server + path, times: 1, most: c.most, speed: lineSpeed{time.Millisecond, 1_000_000}}
		if _, err := p.open(t.Context(), b); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", path, err, c.want)
		}
	}
}

func TestFiguresAreThoseUntilTheLoadEvent(t *testing.T) {
	began := time.Now()
	at := func(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }
	path := func(path string) *url.URL { return &url.URL{Host: "localhost:1", Path: path} }
	o := opened{began: began, text: at(0.5), load: at(0.6), sent: []transfer{
		{method: "GET", target: path("/al/A"), began: at(0), ended: at(0.25), bytes: 3000},
		{method: "POST", target: path("/api"), began: at(0.55), ended: at(0.75), bytes: 500},
		{method: "GET", target: path("/v/abcdefghijklmnopqrstuvwxyz/late"), began: at(0.65), ended: at(1), bytes: 70},
	}}
	if got, want := o.figures(), [4]float64{0.5, 0.75, 2, 3.5}; got != want {
		t.Errorf("figures() = %v, want %v", got, want)
	}
	var out strings.Builder
	o.printWaterfall(&out, map[string]string{"localhost:1": "app"})
	const want = `  from    to     KB
  0.00  0.25    3.0  GET app/al/A
  0.55  0.75    0.5  POST app/api
  0.65  1.00    0.1  GET app/v/…/late
  0.50               first text
  0.60               load event
`
	if out.String() != want {
		t.Errorf("the waterfall is\n%s\nwant\n%s", out.String(), want)
	}
}
