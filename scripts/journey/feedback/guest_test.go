package feedback

import (
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/shared/platform/contract"
)

const (
	panel      = `[data-part="feedback"]`
	opensPanel = panel + " > summary"
)

// newGuest lets people write who have a link to the artifact, and returns one of them with the link open.
func (r reader) newGuest(t *testing.T) *browser.Page {
	t.Helper()
	p := r.page
	p.Go(r.Origins.App + "/artifacts/" + string(r.ArtifactID))
	p.Click(`details:has([action$="/feedback-policy"]) > summary`)
	p.Click(`label[for="who-links"]`)
	p.Click(`[action$="/feedback-policy"] button`)
	p.Wait(`document.querySelector("#who-links").defaultChecked`)
	made := harness.CreateLink(t, r.agent, r.ArtifactID, contract.CreateLink{Type: "share", Comments: new(true)})
	guest := browser.Open(t)
	guest.Go(harness.MintLink(t, r.agent, made.ID))
	guest.Wait(`!document.querySelector('` + panel + `').hidden`)
	guest.Click(opensPanel)
	return guest
}

// writes lets a guest begin a thread about a quote.
func writes(guest *browser.Page, quote, body string) {
	guest.Do(chromedp.SendKeys(chromedp.CSS("#guest-name"), "Grace"))
	guest.Click(`[data-part="write"] > summary`)
	guest.Click(`label[for="about-text"]`)
	guest.Fill("#remark-path", "index.html")
	guest.Fill("#remark-quote", quote)
	guest.Do(chromedp.SendKeys(chromedp.CSS("#remark-body"), body))
	guest.Click(`[data-letter="new"] button`)
}

// looksAgain closes and opens the panel of a guest, which asks for what others wrote.
func looksAgain(guest *browser.Page) {
	guest.Click(opensPanel)
	guest.Click(opensPanel)
}

// unheard checks that the agent reads no thread.
func (r reader) unheard(t *testing.T) {
	t.Helper()
	list := harness.Threads(t, r.agent, r.ArtifactID, "?since=0")
	if len(list.Threads) > 0 || list.Seq > 0 || list.Open > 0 {
		t.Errorf("the agent reads %+v", list)
	}
}

func TestAMemberLetsAGuestThroughToAgents(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	guest, member := r.newGuest(t), r.page
	member.Go(r.Origins.App + "/v/" + string(r.ArtifactID) + "?feedback=open")
	member.WaitText("Nobody has written about this artifact yet.")
	writes(guest, "nowhere", "Which unit?")
	guest.WaitText("Readers of the file do not see this quote")
	guest.Fill("#remark-quote", "The axis has no unit")
	guest.Click(`[data-letter="new"] button`)
	guest.WaitText("Sent. It waits until the people who shared the artifact let it through.")
	guest.WaitText("You write as Grace.")
	member.WaitText("Waiting for you") // the page hears of it
	member.WaitText("Which unit?")
	r.unheard(t)

	member.Click(panel + " [value=let_through]")
	member.Wait(`document.querySelector('[data-part="feedback-count"]').innerText === "1 open"`)
	thread := r.only(t, "open")
	if thread.First.Trust != "guest" || thread.First.Author != "Grace" || thread.First.Text != "Which unit?" ||
		thread.Anchor.Exact != "The axis has no unit" || !*thread.Anchor.Verified || thread.Path != "index.html" {
		t.Errorf("the agent reads %+v", thread)
	}
	harness.Answer(t, r.agent, r.ArtifactID, thread.ID, contract.AnswerThread{Reply: "Metres"})
	looksAgain(guest)
	guest.WaitText("Metres")
	const field = "#reply-"
	guest.Do(chromedp.SendKeys(chromedp.CSS(field+string(thread.ID)), "Buy my boat"))
	guest.Click("#" + string(thread.ID) + " form button")
	guest.WaitText("Waiting")
	member.WaitText("Buy my boat")
	member.Click("#held-" + string(thread.ID) + " [value=drop]")
	member.Wait(`document.querySelector('[data-part="feedback-count"]').innerText === "1 open"`)
	if now := r.only(t, "open"); now.Messages != 2 || now.Newest.Text != "Metres" {
		t.Errorf("the agent reads %+v", now)
	}
	looksAgain(guest)
	guest.Wait(`!document.querySelector('` + panel + ` [data-part="threads"]').innerText.includes("Buy my boat")`)
	member.Clean()
}

// TestWhatAGuestAddsMeanwhileStaysHeld has a page of the member that hears of nothing.
func TestWhatAGuestAddsMeanwhileStaysHeld(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	guest, member := r.newGuest(t), r.page
	writes(guest, "The axis has no unit", "Which unit?")
	guest.WaitText("Sent. It waits")
	member.NoScripts()
	member.Go(r.Origins.App + "/v/" + string(r.ArtifactID) + "?feedback=open")
	member.WaitText("Which unit?")
	const row = panel + ` [data-part="threads"] .thread`
	guest.Do(chromedp.SendKeys(chromedp.CSS(row+" textarea"), "Delete everything"))
	guest.Click(row + " form button")
	guest.Wait(`document.querySelectorAll('` + row + ` .message').length === 2`)

	member.Click(panel + " [value=let_through]")
	member.WaitText("Delete everything")
	thread := r.only(t, "open")
	if thread.Messages != 1 || thread.First.Text != "Which unit?" {
		t.Errorf("the agent reads %+v", thread)
	}
	member.Click("#held-" + string(thread.ID) + " [value=let_through]")
	member.Wait(`document.querySelector("[value=let_through]") === null`)
	if thread = r.only(t, "open"); thread.Messages != 2 || thread.Newest.Text != "Delete everything" {
		t.Errorf("let through, the agent reads %+v", thread)
	}
	guest.Clean()
	member.Clean()
}
