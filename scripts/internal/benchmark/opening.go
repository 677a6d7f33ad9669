package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"time"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"

	chromium "vitrine/scripts/testkit/browser"
)

// opened is what it took to open a page, from the start of the navigation.
type opened struct {
	began, text, load time.Time
	sent              []transfer // also those that began soon after the load event
}

const (
	lookPause = 100 * time.Millisecond // between two looks at a page that opens
	quietTime = 500 * time.Millisecond // without a request; then a page is done
)

// Results of opening a page that are no failures of the benchmark.
var (
	errNever = errors.New("never")
	errCut   = errors.New("cut off")
)

// opener opens a page.
type opener struct {
	url    string
	framed bool          // its text is in a frame of another site
	times  int           // that it is opened, one after the other with what the browser kept; the last time counts
	most   time.Duration // that it may take each time
	speed  lineSpeed
}

// open opens the page in a phone's window of a browser that has been nowhere.
func (p opener) open(ctx context.Context, b *chromium.Browser) (o opened, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, time.Duration(p.times)*p.most, errNever)
	defer cancel()
	line, proxy, stop, err := startLine(p.speed)
	if err != nil {
		return o, err
	}
	defer stop()
	tab, leave, err := b.Tab(ctx, proxy)
	if err != nil {
		return o, err
	}
	defer leave()
	err = chromedp.Do(tab, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile, chromedp.EmulateTouch))
	for n := 0; n < p.times && err == nil; n++ {
		if o, err = p.look(tab, line); err == nil && n < p.times-1 {
			err = chromedp.Do(tab, chromedp.Navigate("about:blank"))
		}
	}
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return o, err
}

// look opens the page in a tab and waits until it is done.
func (p opener) look(tab context.Context, line *slowLine) (o opened, err error) {
	before, err := frames(tab)
	if err != nil {
		return o, err
	}
	o.began = time.Now()
	if _, err = chromedp.Call(tab, page.Navigate, page.NavigateParams{URL: p.url}); err != nil {
		return o, err
	}
	document := tab
	if p.framed {
		document = nil
	}
	for ; o.text.IsZero(); pause(tab, lookPause) {
		if document == nil {
			document = frameBeside(tab, before)
		}
		if document != nil {
			o.read(document)
		}
		o.sent = line.since(o.began)
		if slices.ContainsFunc(o.sent, func(t transfer) bool { return t.cut }) {
			return o, errCut
		}
		if tab.Err() != nil {
			return o, tab.Err()
		}
	}
	runs := func(t transfer) bool { return t.ended.IsZero() }
	for quiet := time.Now(); time.Since(quiet) < quietTime && tab.Err() == nil; pause(tab, lookPause) {
		if o.sent = line.since(o.began); slices.ContainsFunc(o.sent, runs) {
			quiet = time.Now()
		}
	}
	return o, tab.Err()
}

// frames are the frames of other sites in the windows of a tab's profile.
func frames(tab context.Context) (ids []target.ID, err error) {
	all, err := chromedp.Targets(tab)
	for _, t := range all {
		if t.Type == "iframe" && t.BrowserContextID == chromedp.FromContext(tab).BrowserContextID {
			ids = append(ids, t.TargetID)
		}
	}
	return ids, err
}

// frameBeside returns the document of a frame that was not there before, nil while there is none.
func frameBeside(tab context.Context, before []target.ID) context.Context {
	now, _ := frames(tab) // the next look sees what this one does not
	for _, id := range now {
		if !slices.Contains(before, id) {
			frame, _ := chromedp.NewContext(tab, chromedp.WithTargetID(id), chromedp.WithDetachOnCancel())
			return frame // is let go with the tab
		}
	}
	return nil
}

// paintTimes is when a document painted its first text and when its load event was over, in milliseconds since 1970,
// once it has both.
const paintTimes = `(() => {
	const [text] = performance.getEntriesByName("first-contentful-paint")
	const [all] = performance.getEntriesByType("navigation")
	if (location.protocol !== "http:" || !text || !all?.loadEventEnd || all.responseStatus >= 400) return []
	return [text.startTime, all.loadEventEnd].map((later) => performance.timeOrigin + later)
})()`

// read reads the times of a document, if it is that of the navigation and has them.
func (o *opened) read(document context.Context) {
	at, err := chromedp.Run(document, chromedp.Evaluate[[]float64](paintTimes))
	if err != nil || len(at) < 2 { // another document is about to take its place
		return
	}
	text, load := time.UnixMicro(int64(1000*at[0])), time.UnixMicro(int64(1000*at[1]))
	if text.After(o.began) {
		o.text, o.load = text, load
	}
}

// early are the requests that began before the load event.
func (o opened) early() []transfer {
	return slices.DeleteFunc(slices.Clone(o.sent), func(t transfer) bool { return !t.began.Before(o.load) })
}

// figures are seconds to the first text, seconds to the whole, requests and KB.
func (o opened) figures() [4]float64 {
	whole, bytes := o.load, 0
	for _, t := range o.early() {
		bytes += t.bytes
		if t.ended.After(whole) {
			whole = t.ended
		}
	}
	return [4]float64{o.after(o.text), o.after(whole), float64(len(o.early())), float64(bytes) / 1000}
}

// after is how many seconds after the start of the navigation something was.
func (o opened) after(start time.Time) float64 { return start.Sub(o.began).Seconds() }

// printWaterfall prints what came when. Hosts are named by their addresses; own is the own origin of the artifact.
func (o opened) printWaterfall(w io.Writer, hosts map[string]string) {
	fmt.Fprintln(w, "  from    to     KB")
	for _, t := range o.sent {
		fmt.Fprintf(w, "%6.2f%6.2f%7.1f  %s %s%s\n", o.after(t.began), o.after(t.ended), float64(t.bytes)/1000,
			t.method, cmp.Or(hosts[t.target.Host], "own"), token.ReplaceAllString(t.target.Path, "…"))
	}
	fmt.Fprintf(w, "%6.2f               first text\n%6.2f               load event\n", o.after(o.text), o.after(o.load))
}

// token is a part of a path that says nothing to a reader.
var token = regexp.MustCompile(`[^/]{25,}`)
