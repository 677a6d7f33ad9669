package app

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/scripts/testkit/browser"
	"vitrine/shared/platform/fault"
	"vitrine/shared/publishing/feedback"
)

const (
	panelPage = "/v/" + artifactID + "?feedback=open"
	openFolds = `(document.querySelectorAll('[data-part="feedback"] .fold').forEach(d => d.open = true), true)`
)

func TestThePanelOfThreadsLooks(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	p.Media("prefers-reduced-motion", "reduce")
	for name, set := range map[string]func(*fakeServices){"threads": long, "threads-empty": nothing} {
		server.reset(set)
		server.enter(p)
		for _, width := range widths {
			p.Viewport(width, 900)
			p.Go(server.appURL + panelPage)
			p.Frame("/v/scripts/report.html").WaitText("harbour seals")
			browser.Eval[bool](&p.Document, openFolds)
			lookAtPanel(t, p, fmt.Sprintf("panel-%s-%d", name, width), width)
			browser.Eval[bool](&p.Document, `(document.querySelector('[data-part="threads"]').scrollIntoView(), true)`)
			lookAtPanel(t, p, fmt.Sprintf("panel-%s-below-%d", name, width), width)
		}
	}
}

func TestThreadsAreWrittenWithoutLeavingTheViewer(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	p.Before(hurried)
	server.enter(p)
	p.Go(server.appURL + panelPage)
	p.Frame("/v/scripts/report.html").WaitText("harbour seals")
	p.Wait(`waits.length > 0`) // the scripts are there
	browser.Eval[bool](&p.Document, openFolds)
	const reply = "#reply-" + openThread
	p.Do(chromedp.SendKeys(chromedp.CSS(reply), "Metres, says"))
	p.Do(chromedp.SendKeys(chromedp.CSS("#remark-body"), "Which tide?"))
	p.Reload()
	p.Wait(`document.querySelector("` + reply + `").value === "Metres, says"`)
	p.Wait(`document.querySelector("#remark-body").value === "Which tide?"`)
	p.Wait(`waits.length > 0`)
	browser.Eval[bool](&p.Document, `(window.same = document.querySelector("iframe"),
		document.querySelector("`+reply+`").focus(), true)`)

	server.live.discuss(server.feedback.write("Somebody else writes"), 3)
	p.WaitText("Somebody else writes")
	p.Wait(`document.activeElement.matches("` + reply + `") && document.activeElement.value === "Metres, says"`)

	server.feedback.deny(fault.New(fault.FeedbackConflict, "the artifact has 200 open threads"))
	p.Click(".remark button")
	p.WaitText("The artifact has 200 open threads.")
	server.feedback.deny(nil)
	p.Click(".remark button")
	p.Wait(`document.querySelector('[data-part="threads"]').innerText.includes("Which tide?")`)
	p.Click("#" + openThread + " button[value=resolve]")
	p.Wait(`document.querySelector("#` + openThread + `").closest(".fold") !== null`)
	if !browser.Eval[bool](&p.Document, `same === document.querySelector("iframe") &&
		document.querySelector("#remark-body").value === "" &&
		sessionStorage.getItem("vitrine:draft:`+openThread+`") === null`) {
		t.Error("the frame was loaded again, or a draft is still there")
	}
	thread := server.feedback.find(openThread)
	if thread.State != feedback.Resolved || thread.Newest.Text != "Metres, says" {
		t.Errorf("%+v", thread)
	}
	p.Clean()
}

func TestThreadsAreWrittenWithoutScripts(t *testing.T) {
	server, p := startServer(t), browser.Open(t)
	server.enter(p)
	p.NoScripts()
	p.Go(server.appURL + "/v/" + artifactID)
	p.Frame("/v/scripts/report.html").WaitText("harbour seals")
	p.Click(`[data-part="feedback"] > summary`)
	p.Click(`[data-part="write"] > summary`)
	p.Click(`label[for="about-lines"]`)
	p.Wait(`document.querySelector("#remark-from").checkVisibility()`)
	p.Wait(`!document.querySelector("#remark-quote").checkVisibility()`)
	p.Fill("#remark-from", "3")
	p.Fill("#remark-body", "Which tide?")
	press(".remark button")(p)
	p.Wait(`document.querySelector('[data-part="feedback"]').open`)
	p.WaitText("Line 3 of report.html")
	press("#" + openThread + " button[value=resolve]")(p)
	p.Wait(`document.querySelector("#` + openThread + `").closest(".fold") !== null`)
	p.Clean()
}
