package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/feedback"
)

// openLetters opens the panel of a guest with everything that folds.
const openLetters = `((drawer) => {
	drawer.open = true;
	drawer.querySelectorAll(".fold").forEach((fold) => fold.open = true);
	return true;
})(document.querySelector('[data-part="feedback"]'))`

const letterForm = `[data-letter="new"]`

// waitLetters waits until the panel of a guest is there.
func waitLetters(p *browser.Page) {
	p.Wait(`!document.querySelector('[data-part="feedback"]').hidden`)
}

// known lets the tab know who the guest is.
func known(p *browser.Page) {
	p.Before(fmt.Sprintf(`if (location.pathname.startsWith("/al/")) {
		sessionStorage.setItem("vitrine:guest:%s:token", '"%s"');
		sessionStorage.setItem("vitrine:guest:%[1]s:name", '"Grace"');
	}`, publicID, guestToken))
}

func TestALinkWithoutFeedbackHasNoPanelOfIt(t *testing.T) {
	for comments, asks := range map[bool]int{false: 0, true: 1} { // the artifact may take none where its link does
		g, p := open(t), browser.Open(t)
		g.guests.comments = comments
		p.Before(hurried)
		p.Go(g.link(blob, g.shows("Seals", "plain", "report.html", htmlType)))
		waitDetails(p)
		p.Wait(`waits.length > 3`) // it polls
		g.guests.set(func() {
			if g.guests.reads != asks {
				t.Errorf("a link with comments, %t: asked %d times for what guests wrote", comments, g.guests.reads)
			}
		})
		if p.Visible(`[data-part="feedback"]`) {
			t.Error("the panel shows")
		}
		p.Clean()
	}
}

func TestThePanelOfAGuestLooks(t *testing.T) {
	g := open(t)
	stranger, guest := browser.Open(t), browser.Open(t)
	known(guest)
	g.guests.seals()
	url := g.link(blob, g.shows("Seals of the bay", "plain", "report.html", htmlType))
	for name, p := range map[string]*browser.Page{"guest": guest, "guest-new": stranger} {
		p.Media("prefers-reduced-motion", "reduce")
		for _, width := range widths {
			p.Viewport(width, 900)
			p.Go("about:blank")
			p.Go(url)
			waitLetters(p)
			browser.Eval[bool](&p.Document, openLetters)
			p.Click(`label[for="about-lines"]`)
			lookAtPanel(t, p, fmt.Sprintf("panel-%s-%d", name, width), width)
			browser.Eval[bool](&p.Document, `(document.querySelector('[data-part="feedback"] [data-part="threads"]').scrollIntoView(), true)`)
			lookAtPanel(t, p, fmt.Sprintf("panel-%s-%d-below", name, width), width)
		}
	}
	body := guest.Text(`[data-part="feedback"] .sheet`)
	expect.Has(t, "the panel", body, "You write as Grace", "Waiting", "And two pups.", "Thank you.", "A reply about: report.html",
		"Lines 12 to 14 of data/"+longName, "Yours", "The axis has no unit.", "Agent",
		"7 messages are left out here.", "Its author deleted this message.",
		"harbour\uFFFD seals", "Resolved")
	expect.Lacks(t, "the panel", body, "\u202e", "Your name")
	const forms = `document.querySelectorAll('[data-part="threads"] form:not([hidden])').length`
	if n := browser.Eval[int](&guest.Document, forms); n != 2 {
		t.Errorf("%d threads take more of the guest", n)
	}
	body = stranger.Text(`[data-part="feedback"] .sheet`)
	expect.Lacks(t, "the panel of a stranger", body, "And two pups.", "You write as")
	g.guests.set(func() { g.guests.shows.Writes = false })
	stranger.Reload()
	waitLetters(stranger)
	browser.Eval[bool](&stranger.Document, openLetters)
	expect.Has(t, "where nothing is taken", stranger.Text(`[data-part="feedback"] .sheet`), "takes no more feedback just now")
	if stranger.Visible("textarea") {
		t.Error("there is a form that takes nothing")
	}
}

func TestAGuestWritesByKeyboard(t *testing.T) {
	g, p := open(t), browser.Open(t)
	g.guests.set(func() { g.guests.comments, g.guests.shows.Writes = true, true })
	p.Go(g.link(blob, g.shows("Seals", "plain", "report.html", htmlType)))
	waitLetters(p)
	browser.Eval[bool](&p.Document, `(document.querySelector('[data-part="feedback"] > summary').focus(), true)`)
	typed := func(words string) {
		for _, key := range words {
			p.Press(string(key))
		}
	}
	p.Press(kb.Enter)
	p.Wait(`document.querySelector('[data-part="feedback"]').open`)
	p.Press(kb.Tab)
	p.Wait(`document.activeElement.id === "guest-name"`)
	typed("Grace")
	p.Press(kb.Tab)
	p.Press(kb.Enter) // on the fold
	p.Wait(`document.querySelector("#remark-body").checkVisibility()`)
	p.Press(kb.Tab)
	p.Press(kb.ArrowRight)
	p.Press(kb.ArrowRight)
	p.Press(kb.ArrowRight)
	p.Wait(`document.querySelector('[name="about"]:checked').value === "text"`)
	p.Press(kb.Tab) // the file on show is chosen
	p.Press(kb.Tab)
	typed("low tide")
	p.Press(kb.Tab)
	typed("Which tide?")
	p.Press(kb.Tab)
	p.Press(kb.Enter)
	p.WaitText("Sent. It waits until the people who shared the artifact let it through.")
	want := feedback.Remark{
		Body:     "Which tide?",
		Revision: newestID,
		Path:     "report.html",
		Anchor:   feedback.Anchor{Kind: feedback.OnText, Exact: "low tide"},
	}
	if got := g.guests.sent(); got.Remark != want || got.Name != "Grace" || got.Token != "" || got.Blob != blob {
		t.Errorf("sent %+v", got)
	}
	p.Press(kb.Escape)
	p.Wait(`document.activeElement.matches('[data-part="feedback"] > summary')`)
	p.Clean()
}

func TestAGuestIsKnownByATokenOfTheTab(t *testing.T) {
	g, p := open(t), browser.Open(t)
	g.guests.set(func() { g.guests.comments, g.guests.shows.Writes = true, true })
	p.Go(g.link(blob, g.shows("Seals", "plain", "report.html", htmlType)))
	waitLetters(p)
	browser.Eval[bool](&p.Document, openLetters)
	p.Click(letterForm + " button")
	p.WaitText("Say first who you are.")
	p.Do(chromedp.SendKeys(chromedp.CSS("#guest-name"), "Grace"))
	p.Click(letterForm + " button")
	p.WaitText("Write something first.")
	p.Do(chromedp.SendKeys(chromedp.CSS("#remark-body"), "Which tide?"))
	p.Reload()
	waitLetters(p)
	p.Wait(`document.querySelector("#remark-body").value === "Which tide?"`)
	p.Wait(`document.querySelector("#guest-name").value === "Grace"`)
	browser.Eval[bool](&p.Document, openLetters)
	p.Click(letterForm + " button")
	p.WaitText("Sent. It waits")
	p.Wait(`document.querySelector("#remark-body").value === ""`)
	p.WaitText("You write as Grace.")
	first := g.guests.sent()
	g.guests.seals()
	p.Reload()
	waitLetters(p)
	browser.Eval[bool](&p.Document, openLetters)
	p.WaitText("And two pups.")
	p.Do(chromedp.SendKeys(chromedp.CSS("#reply-"+openThread), "Metres"))
	g.guests.set(func() { g.guests.atOnce = true })
	p.Click("#" + openThread + " form button")
	p.Wait(`document.querySelector('[data-part="feedback-said"]').textContent === "Sent."`)
	second := g.guests.sent()
	if second.Token != guestToken || second.Thread != openThread || second.Body != "Metres" || second.Name != "Grace" ||
		first.Token != "" || second.Key == first.Key {
		t.Errorf("sent %+v, then %+v", first, second)
	}
	const kept = `localStorage.length + Object.keys(sessionStorage).filter((key) => key.includes("draft"))`
	if got := browser.Eval[string](&p.Document, kept); got != "0" {
		t.Errorf("the browser keeps %q", got)
	}
	expect.Lacks(t, "the log", g.lines.String(), guestToken, blob)
	p.Clean()
}

func TestALetterThatIsNotTakenStaysADraft(t *testing.T) {
	g, p := open(t), browser.Open(t)
	known(p)
	g.guests.seals()
	p.Go(g.link(blob, g.shows("Seals", "plain", "report.html", htmlType)))
	waitLetters(p)
	browser.Eval[bool](&p.Document, openLetters)
	for _, wrong := range []struct{ about, says string }{
		{"about-lines", "Name the first and the last line by their numbers."},
		{"about-file", "Name the file that it is about."},
	} {
		p.Click(`label[for="` + wrong.about + `"]`)
		p.Fill("#remark-path", map[string]string{"about-lines": "a.csv", "about-file": " "}[wrong.about])
		p.Fill("#remark-body", "Which tide?")
		p.Click(letterForm + " button")
		p.WaitText(wrong.says)
	}
	if n := len(g.guests.letters); n > 0 {
		t.Errorf("%d letters were sent", n)
	}
	p.Click(`label[for="about-artifact"]`)
	for says, err := range map[string]error{
		"The last line is 3.":                    fault.New(fault.InvalidRequest, "anchor_not_found: the last line is 3"),
		"100 wait. Your words are kept.":         fault.New(fault.FeedbackConflict, "100 wait"),
		"Send it again in 2 minutes.":            fault.NewCode(fault.RateLimitedActor).After(2 * time.Minute),
		"this link takes no more feedback. Your": fault.New(fault.NotFound, "no"),
		"try again in a moment":                  fault.NewCode(fault.DatabaseUnavailable),
		"took too long":                          fault.NewCode(fault.PowInvalid),
	} {
		g.guests.set(func() { g.guests.refusal = err })
		p.Click(letterForm + " button")
		p.WaitText(says)
	}
	g.guests.set(func() { g.guests.refusal, g.guests.bits, g.guests.wait = nil, 12, time.Minute })
	p.Click(letterForm + " button")
	p.WaitText("Sent. It waits")
	letters := g.guests.letters
	if last := letters[len(letters)-1]; last.Proof == nil || last.Body != "Which tide?" {
		t.Errorf("sent %+v", last)
	}
	if slices.ContainsFunc(letters, func(l feedback.Letter) bool { return l.Key != letters[0].Key }) {
		t.Error("a letter that is sent again has another key")
	}
}

func TestAnOpenPageOfAGuestShowsAReply(t *testing.T) {
	g, p := open(t), browser.Open(t)
	known(p)
	g.guests.seals()
	p.Before(hurried)
	p.Go(g.link(blob, g.shows("Seals", "plain", "report.html", htmlType)))
	waitLetters(p)
	browser.Eval[bool](&p.Document, openLetters)
	const reply = "#reply-" + openThread
	p.Do(chromedp.SendKeys(chromedp.CSS(reply), "Half a sen"))
	g.guests.set(func() {
		f := g.guests
		f.shows.Threads = slices.Clone(f.shows.Threads)
		f.shows.Threads[0].Said = append(slices.Clone(f.shows.Threads[0].Said), feedback.Message{
			Author: feedback.Author{Kind: feedback.Agent, Name: "Desk"}, Body: "It is fixed <b>now</b>.", At: noon,
		})
	})
	before := g.reads()
	p.Wait(`waits.length > 6`)
	if n := g.reads(); n > before {
		t.Errorf("asked %d times within the pause", n-before)
	}
	browser.Eval[bool](&p.Document, `(ahead += 31_000, true)`)
	p.WaitText("It is fixed <b>now</b>.")
	p.Wait(`document.activeElement.matches("` + reply + `") && document.activeElement.value === "Half a sen"`)
	p.WaitText("The feedback has changed.")

	other := "other"
	g.link(other, g.shows("Others", "plain", "report.html", htmlType))
	g.guests.set(func() { g.guests.shows = feedback.Correspondence{} })
	p.Do(chromedp.Evaluate[chromedp.Void](`location.hash = "` + other + `"`))
	p.Wait(`document.querySelector('[data-field="title"]').textContent === "Others"`)
	p.Wait(`document.querySelector('[data-part="feedback"]').hidden`)
	p.Clean()
}

// reads is how often pages asked for what guests wrote.
func (g *gallery) reads() int {
	g.guests.mu.Lock()
	defer g.guests.mu.Unlock()
	return g.guests.reads
}

func TestAMemberLetsThroughWithoutLeavingTheViewer(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	p.Before(hurried)
	server.enter(p)
	p.Go(server.appURL + panelPage)
	p.Frame("/v/scripts/report.html").WaitText("harbour seals")
	p.Wait(`waits.length > 0`) // the scripts are there
	browser.Eval[bool](&p.Document, `(window.same = document.querySelector("iframe"), true)`)
	p.WaitText("3 waiting")
	server.feedback.lock.Lock()
	server.feedback.hold(heldThread, "report.html", "And one more.")
	server.feedback.lock.Unlock()
	p.Click("#held-" + heldThread + " [value=let_through]")
	p.Wait(`document.querySelector("#` + heldThread + `") !== null`)
	p.WaitText("And one more.") // it came after what the page showed, and waits
	p.Wait(`document.querySelector("#held-` + heldThread + `").innerText.includes("And one more.")`)
	p.Click("#held-" + quoteThread + " [value=drop]")
	p.Wait(`document.querySelector("#held-` + quoteThread + `") === null`)
	server.live.discuss(0, 0)
	p.Wait(`document.activeElement.matches("[data-part=feedback] > summary") && same === document.querySelector("iframe")`)
	if thread := server.feedback.find(heldThread); thread == nil || strings.Contains(thread.Newest.Text, "more") {
		t.Errorf("let through: %+v", thread)
	}
	p.Clean()
}

func TestSeveralThreadsAreChosenWithoutScriptsByKeyboard(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.enter(p)
	p.NoScripts()
	p.Go(server.appURL + threadsPage)
	for _, thread := range []id.Thread{heldThread, quoteThread} {
		browser.Eval[bool](&p.Document, `(document.querySelector("#held-`+string(thread)+` > input").focus(), true)`)
		p.Press(" ")
	}
	browser.Eval[bool](&p.Document, `(document.querySelector("#chosen-held [value=let_through]").focus(), true)`)
	p.Press(kb.Enter)
	p.WaitText("2 threads let through.")
	p.Wait(`document.querySelector("#` + heldThread + `") !== null && document.querySelector("#chosen-held") === null`)
	for _, thread := range []id.Thread{openThread, heldThread} {
		p.Click("#" + string(thread) + " > input")
	}
	p.Click("#chosen [value=resolve]")
	p.WaitText("2 threads resolved.")
	p.Clean()
}
