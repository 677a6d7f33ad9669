package feedback

import (
	"os"
	"testing"

	"github.com/chromedp/chromedp"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// reader is a person of a workspace in a browser, and an agent of the same workspace.
type reader struct {
	*harness.BackendEnv
	page  *browser.Page
	agent *wire.Agent
	contract.Published
}

func newReader(t *testing.T) reader {
	t.Helper()
	s, p := harness.NewBackendEnv(t, harness.Unlimited), browser.Open(t)
	p.Go(s.Origins.App + "/api/auth/sign-in?returnPathname=/keys")
	p.SignIn("ada@example.org")
	p.WaitText("API keys")
	p.Fill("#name", "Reporter")
	p.Follow("main button[type=submit]", "Copy it now")
	agent := &wire.Agent{HTTP: s.Anyone.HTTP, At: s.Anyone.At, Key: p.Text("#secret")}
	return reader{s, p, agent, harness.Must(agent.PublishFiles(t.Context(), "Tides", "", files...))(t)}
}

// view opens the panel of threads in the viewer, at a place in the artifact.
func (r reader) view(at string) {
	r.page.Go(r.Origins.App + "/v/" + string(r.ArtifactID) + "?feedback=open&at=" + at)
	r.page.WaitText("Write about this artifact")
	r.page.Click(`[data-part="write"] > summary`)
}

// about fills in what the form of a new thread asks for one kind of anchor, and sends it.
func (r reader) about(kind string, fields map[string]string) {
	r.page.Click(`label[for="about-` + kind + `"]`)
	for name, value := range fields {
		field := "#remark-" + name
		r.page.Fill(field, "")
		r.page.Do(chromedp.SendKeys(chromedp.CSS(field), value))
	}
	r.page.Click(".remark button")
}

// only returns the only thread of the artifact in a state, as the agent reads it.
func (r reader) only(t *testing.T, state string) contract.ThreadSummary {
	t.Helper()
	list := harness.Threads(t, r.agent, r.ArtifactID, "?state="+state)
	if len(list.Threads) != 1 {
		t.Fatalf("%d threads are %s", len(list.Threads), state)
	}
	return list.Threads[0]
}

// thread is the selector of a thread on the page.
func thread(t id.Thread) string { return "#" + string(t) }

// TestAMemberAndAnAgentDealWithAQuote has the person's browser run scripts.
func TestAMemberAndAnAgentDealWithAQuote(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	r.view("index.html")
	p := r.page
	p.Wait(`document.querySelector("[data-copies]:not([hidden])") !== null`) // the scripts are there
	r.about("text", map[string]string{"path": "index.html", "quote": "The axis has  no unit", "body": "Which unit?"})
	p.Wait(`document.querySelector(".thread") !== null`)
	about := r.only(t, "open")
	if a := about.Anchor; a.Exact != "The axis has no unit" || !*a.Verified || about.Path != "index.html" ||
		about.First.Trust != "member" || about.First.Text != "Which unit?" {
		t.Errorf("the agent reads %+v", about)
	}
	r.about("text", map[string]string{"path": "index.html", "quote": "nowhere", "body": "What?"})
	p.WaitText("Readers of the file do not see this quote")
	if kept := browser.Eval[string](&p.Document, `document.querySelector("#remark-body").value`); kept != "What?" {
		t.Errorf("of what was not taken %q is left", kept)
	}

	replied := harness.Answer(t, r.agent, r.ArtifactID, about.ID, contract.AnswerThread{Reply: "Metres"})
	next := harness.Must(r.agent.Draft(t.Context(), wire.NewKey(),
		harness.DeclareRevision(r.ArtifactID, "The axis shows metres"), harness.Page("The axis shows metres")))(t).RevisionID
	harness.Must(r.agent.Publish(t.Context(), wire.NewKey(), r.ArtifactID, next, address(replied, "The axis says so")))(t)
	p.WaitText("The axis says so") // the page hears of it
	p.WaitText("Metres")
	p.Wait(`document.querySelector("[data-part=revisions] [aria-current]")?.textContent.includes("Revision 2")`)
	p.Click(thread(about.ID) + " [value=resolve]")
	p.Wait(`document.querySelector("` + thread(about.ID) + `")?.closest(".fold") !== null`)
	r.only(t, "resolved")
	p.Click(`[data-part="threads"] .fold > summary`)
	p.Click(thread(about.ID) + " [value=reopen]")
	p.Wait(`document.querySelector("` + thread(about.ID) + `")?.closest(".fold") === null`)
	r.only(t, "open")
	p.Clean()
}

// TestAMemberWritesAboutALineWithoutScripts writes about a rendered document.
func TestAMemberWritesAboutALineWithoutScripts(t *testing.T) {
	t.Parallel()
	r := newReader(t)
	p := r.page
	p.NoScripts()
	r.view("notes.md")
	r.about("lines", map[string]string{"path": "notes.md", "from": "3", "body": "Which gauge?"})
	p.WaitText("Line 3 of notes.md")
	about := r.only(t, "open")
	if a := about.Anchor; about.Path != "notes.md" || a.From != 3 || a.To != 3 || about.First.Text != "Which gauge?" {
		t.Errorf("the agent reads %+v", about)
	}
	p.Click(`[data-part="write"] > summary`)
	r.about("lines", map[string]string{"path": "notes.md", "from": "9", "body": "And here?"})
	p.WaitText("The last line of the file is 3")
	if kept := browser.Eval[string](&p.Document, `document.querySelector("#remark-body").value`); kept != "And here?" {
		t.Errorf("of what was not taken %q is left", kept)
	}
	harness.Answer(t, r.agent, r.ArtifactID, about.ID, contract.AnswerThread{Reply: "That of the pier"})
	p.Go(r.Origins.App + "/artifacts/" + string(r.ArtifactID) + "/feedback/" + string(about.ID))
	p.WaitText("That of the pier")
	p.Fill("textarea", "Thanks")
	p.Follow("[value=resolve]", "Resolved")
	p.Follow("[value=reopen]", "Thanks")
	p.Click(".thread a[href*='/messages/']")
	p.Follow("main .danger", "deleted this message")
	p.Click(".thread a[href$='" + string(about.ID) + "/delete']")
	p.Follow("main .danger", "There are none.")
	list := harness.Threads(t, r.agent, r.ArtifactID, "?since=0").Threads
	if len(list) != 1 || list[0].State != "deleted" {
		t.Errorf("the agent reads %+v", list)
	}
	p.Clean()
}
