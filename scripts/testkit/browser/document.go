package browser

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/audits"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

const (
	waitTimeout  = time.Minute           // bounds every wait and every command; a busy machine takes tens of seconds
	pollInterval = 15 * time.Millisecond // between two checks of a condition
)

// Document is a page or a frame of its own process; its methods fail the test instead of returning
// errors.
type Document struct {
	t    testing.TB
	ctx  context.Context
	name string

	mu       sync.Mutex
	messages []Message
}

// Message is a message of the browser about a document.
type Message struct {
	// Source is console, exception, issue or the part of the browser that wrote it: security,
	// network, ….
	Source string
	Level  string
	Text   string
}

func (m Message) String() string { return m.Source + " " + m.Level + ": " + m.Text }

// violation reports whether a content security policy or a sandbox blocked an action.
func (m Message) violation() bool {
	return m.Source == "security" || m.Source == "issue" && strings.HasPrefix(m.Text, string(contentSecurity)) ||
		strings.Contains(m.Text, "Content Security Policy")
}

func (m Message) failure() bool {
	return m.Source == "issue" || m.violation() || m.Source == "exception" || m.Source == "console" &&
		(m.Level == "error" || m.Level == "assert")
}

// refused is what Chromium says of a load that the origin of a document may not make.
var refused = regexp.MustCompile(`^Unsafe attempt to load URL (\S+) from frame with URL (\S+)\. ` +
	`Domains, protocols and ports must match\.\s*$`)

// refetch reports whether the message is about the driver and not about the document: chromedp enables the domain CSS
// when it attaches to a frame, for which some versions of Chromium fetch the document again, and an opaque origin may
// not.
func (m Message) refetch() bool {
	urls := refused.FindStringSubmatch(m.Text)
	return m.Source == "security" && urls != nil && urls[1] == urls[2]
}

const contentSecurity = audits.InspectorIssueCode("ContentSecurityPolicyIssue")

// listen collects what the browser reports, including earlier messages.
func (d *Document) listen() error {
	if err := chromedp.Listen(d.ctx, d.collect); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(d.ctx, waitTimeout)
	defer cancel()
	// chromedp enabled the log when it attached; enabling it again repeats the entries from before
	// the listener.
	if _, err := chromedp.Call(ctx, log.Disable, cdp.Empty{}); err != nil {
		return err
	}
	if _, err := chromedp.Call(ctx, log.Enable, cdp.Empty{}); err != nil {
		return err
	}
	_, err := chromedp.Call(ctx, audits.Enable, cdp.Empty{})
	return err
}

func (d *Document) collect(event any) {
	var m Message
	switch e := event.(type) {
	case *log.EventEntryAdded:
		m = Message{string(e.Entry.Source), string(e.Entry.Level), e.Entry.Text}
	case *runtime.EventConsoleAPICalled:
		m = Message{"console", string(e.Type), arguments(e.Args)}
	case *runtime.EventExceptionThrown:
		m = Message{"exception", "error", e.ExceptionDetails.Text}
		if x := e.ExceptionDetails.Exception; x != nil {
			m.Text += " " + x.Description
		}
	case *audits.EventIssueAdded:
		details, _ := json.Marshal(e.Issue.Details)
		m = Message{"issue", "", string(e.Issue.Code) + " " + string(details)}
	default:
		return
	}
	if m.refetch() {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.messages = append(d.messages, m)
}

func arguments(args []*runtime.RemoteObject) string {
	texts := make([]string, len(args))
	for i, a := range args {
		texts[i] = a.Description
		var s string
		if json.Unmarshal(a.Value, &s) == nil {
			texts[i] = s
		} else if texts[i] == "" {
			texts[i] = string(a.Value)
		}
	}
	return strings.Join(texts, " ")
}

// Messages returns everything that the browser reported about the document so far.
func (d *Document) Messages() []Message {
	d.mu.Lock()
	defer d.mu.Unlock()
	return append([]Message(nil), d.messages...)
}

// Clean fails the test if a policy blocked an action, an exception was not caught, the console has
// an error or DevTools names an issue. Network answers with an error status are no failures.
func (d *Document) Clean() {
	d.t.Helper()
	for _, m := range d.Messages() {
		if m.failure() {
			d.t.Errorf("%s reports %s", d.name, m)
		}
	}
}

// WaitViolation waits until the browser reports a policy violation that mentions text.
func (d *Document) WaitViolation(text string) {
	d.t.Helper()
	d.until("a policy violation that mentions "+text, func() (bool, error) {
		for _, m := range d.Messages() {
			if m.violation() && strings.Contains(m.Text, text) {
				return true, nil
			}
		}
		return false, nil
	})
}

// until checks a condition repeatedly. Errors count as not yet, because a document may be about to
// be replaced.
func (d *Document) until(what string, holds func() (bool, error)) {
	d.t.Helper()
	deadline := time.NewTimer(waitTimeout)
	defer deadline.Stop()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		ok, err := holds()
		if ok {
			return
		}
		select {
		case <-tick.C:
		case <-deadline.C:
			d.t.Fatalf("%s: waited %s in vain for %s (last error: %v; messages: %v)", d.name, waitTimeout, what, err,
				d.Messages())
		case <-d.ctx.Done():
			d.t.Fatalf("%s: gone while waiting for %s: %v", d.name, what, context.Cause(d.ctx))
		}
	}
}

// Do runs actions of chromedp.
func (d *Document) Do(steps ...chromedp.Action[chromedp.Void]) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.ctx, waitTimeout)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		d.t.Fatalf("%s: %v", d.name, err)
	}
}

// Get runs an action of chromedp and returns its value.
func Get[T any](d *Document, action chromedp.Action[T]) T {
	d.t.Helper()
	v, err := get(d, action)
	if err != nil {
		d.t.Fatalf("%s: %v", d.name, err)
	}
	return v
}

func get[T any](d *Document, action chromedp.Action[T]) (T, error) {
	ctx, cancel := context.WithTimeout(d.ctx, waitTimeout)
	defer cancel()
	return chromedp.Run(ctx, action)
}

// call sends a command of the DevTools protocol.
func call[P, R any](d *Document, command cdp.Command[P, R], params P) R {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.ctx, waitTimeout)
	defer cancel()
	r, err := chromedp.Call(ctx, command, params)
	if err != nil {
		d.t.Fatalf("%s: %s: %v", d.name, command.Method, err)
	}
	return r
}

// Eval returns the value of a JavaScript expression; promises are awaited.
func Eval[T any](d *Document, expression string) T {
	d.t.Helper()
	return Get(d, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// Wait waits until a JavaScript expression is truthy.
func (d *Document) Wait(expression string) {
	d.t.Helper()
	d.until(expression, func() (bool, error) {
		return get(d, chromedp.Evaluate[bool]("!!("+expression+")"))
	})
}

// WaitText waits until the visible text of the document contains text and the document is parsed to its end, because
// callers go on with elements that may stand after the text.
func (d *Document) WaitText(text string) {
	d.t.Helper()
	quoted, _ := json.Marshal(text)
	d.Wait(`document.readyState !== "loading" && document.body.innerText.includes(` + string(quoted) + ")")
}

// Text returns the visible text of the first element that the CSS selector matches, "" if there is
// none.
func (d *Document) Text(selector string) string {
	d.t.Helper()
	quoted, _ := json.Marshal(selector)
	return Eval[string](d, "document.querySelector("+string(quoted)+")?.innerText ?? ''")
}

// Visible reports whether the CSS selector matches an element that is rendered.
func (d *Document) Visible(selector string) bool {
	d.t.Helper()
	quoted, _ := json.Marshal(selector)
	return Eval[bool](d,
		"document.querySelector("+string(quoted)+")?.checkVisibility({visibilityProperty: true}) ?? false")
}

// Click waits for the element that the CSS selector matches, and until it is not disabled, moves
// the mouse there and clicks in its middle. If the element disappears meanwhile, because the
// document is replaced, Click looks for it again.
func (d *Document) Click(selector string) {
	d.t.Helper()
	d.until("a click on "+selector, func() (bool, error) {
		at, err := d.middle(selector, ":not([aria-disabled=true])")
		if at == nil {
			return false, err
		}
		d.MoveMouse(at[0], at[1])
		_, err = get(d, chromedp.Click(chromedp.CSS(selector)))
		if err != nil && !strings.Contains(err.Error(), "Could not find node") {
			d.t.Fatalf("%s: a click on %s: %v", d.name, selector, err)
		}
		return err == nil, err
	})
}

// Fill waits for the field that the CSS selector matches and gives it a value, as a script does: without the events of
// typing.
func (d *Document) Fill(selector, value string) {
	d.t.Helper()
	field, _ := json.Marshal(selector)
	quoted, _ := json.Marshal(value)
	d.Wait("(e => e && (e.value = " + string(quoted) + ", true))(document.querySelector(" + string(field) + "))")
}

// Follow clicks, and waits until another document shows a text.
func (d *Document) Follow(selector, text string) {
	d.t.Helper()
	Eval[bool](d, "(window.before = true)")
	d.Click(selector)
	d.Wait(`!window.before && document.readyState === "complete"`)
	d.WaitText(text)
}

// SignIn types an address into the form of the development identity provider, which the page shows or is about to show.
func (d *Document) SignIn(email string) {
	d.t.Helper()
	d.Fill("input[name=email]", email)
	d.Click("button[type=submit]:not([name])")
}

// Press types keys at the element that has the focus; special keys are those of chromedp/kb.
func (d *Document) Press(keys string) {
	d.t.Helper()
	d.Do(chromedp.KeyEvent(keys))
}
