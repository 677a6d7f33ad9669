//go:build engines

package engines

import (
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
)

// coloured is an expression for whether code has colours.
const coloured = `new Set([...document.querySelectorAll("main pre span")].map(e => getComputedStyle(e).color)).size > 1`

// kinds are the files that have pages of their own, each with what its page has to show.
var kinds = []struct{ file, shows string }{
	{"README.md", `document.querySelector("main h1").innerText === "Annual report" && document.querySelector("table")`},
	{"formulas.md", `[...document.querySelectorAll("math")].every(e => e.getBoundingClientRect().height > 5)`},
	{"diagrams.md", `document.querySelectorAll("figure > img").length > 1 && !document.querySelector("figure .v-about")`},
	{"greeting.py", coloured},
	{"numbers.csv", `document.querySelectorAll("main tr").length > 2`},
	{"events.jsonl", `document.querySelectorAll("main tr").length > 1`},
	{"config.json", `document.querySelector("main").innerText.includes("name")`},
	{"compose.yaml", `document.querySelector("main").innerText.includes("services")`},
	{"analysis.ipynb", `[...document.images].some(e => e.src.startsWith("data:") && e.naturalWidth > 0)`},
	{"build.log", coloured},
	{"fix.patch", `document.querySelector("main").innerText.includes("+")`},
	{"photos/gradient.png", `document.querySelector("main img").naturalWidth > 0`},
	{"photos/dot.svg", `document.querySelector("main img").naturalWidth > 0`},
	{"tone.wav", `document.querySelector("main audio").readyState > 0`},
	{"report.pdf", `document.querySelector(".v-text")?.textContent.includes("Seals of the bay")`},
}

func TestReadersSeeEveryKindOfFile(t *testing.T) {
	inBoth(t, func(t *testing.T, d *harness.LinkEnv, s *session) {
		for _, kind := range kinds {
			s.Go(share(t, d, kind.file, read(t, specimens, kind.file)))
			s.WaitInFrame(`document.readyState === "complete" && ` + kind.shows)
			s.Screenshot("engine-" + strings.ReplaceAll(kind.file, "/", "-"))
		}
	})
}

func TestReadersListAFolderAndGoOnFromIt(t *testing.T) {
	inBoth(t, func(t *testing.T, d *harness.LinkEnv, s *session) {
		s.Go(share(t, d, "Photos", read(t, specimens, "README.md"), read(t, specimens, "photos/dot.svg")))
		s.WaitInFrame(`document.querySelector("main h1").innerText === "Annual report"`)
		s.WaitInFrame(`(document.querySelector("header a").click(), true)`)
		s.WaitInFrame(`document.querySelector("main a[href$='photos']")`)
		s.WaitInFrame(`(document.querySelector("main a[href$='photos']").click(), true)`)
		s.WaitInFrame(`document.querySelector("main a[href$='dot.svg']")`)
		s.Screenshot("engine-folder")
	})
}

// click is an expression that clicks on the first element that a selector matches.
func click(selector string) string {
	return "(document.querySelector(`" + selector + "`).click(), true)"
}

func TestReadersSeeANewRevisionAndTheEndOfALink(t *testing.T) {
	inBoth(t, func(t *testing.T, d *harness.LinkEnv, s *session) {
		made := harness.Must(d.Agent.PublishFiles(ctx, "Tides", "", harness.Page("the first")))(t)
		l := harness.CreateLink(t, d.Agent, made.ArtifactID, harness.ShareLink)
		s.Go(harness.MintLink(t, d.Agent, l.ID))
		s.WaitInFrame(`document.body.innerText.includes("the first")`)
		s.Wait(click(".drawer summary"))
		s.Wait(`document.querySelector(".drawer .files").innerText.includes("index.html")`)
		s.Screenshot("engine-drawer")
		harness.Must(d.Agent.PublishFiles(ctx, "High tides", made.ArtifactID, harness.Page("the second")))(t)
		s.Wait(`document.querySelector("[data-field=announcement]").textContent === "Updated to revision 2"`)
		s.Wait(`document.querySelectorAll("iframe").length === 1`)
		s.WaitInFrame(`document.body.innerText.includes("the second")`)
		s.Wait(click(`[data-part="older"]`))
		s.WaitInFrame(`document.body.innerText.includes("the first")`)
		harness.RevokeLink(t, d.Agent, l.ID)
		s.Wait(`document.body.innerText.includes("This link opens nothing") && !document.querySelector("iframe")`)
		s.Screenshot("engine-revoked")
	})
}

// WebKit keeps no Secure cookie of http://localhost, so that nobody can sign in there without TLS.
func TestAPersonClaimsAWorkspace(t *testing.T) {
	d := harness.NewEnv(t, harness.Unlimited)
	for name, start := range browsers {
		t.Run(name, func(t *testing.T) {
			agent, provisioned, err := d.Anyone.Provision(ctx)
			harness.NoError(t, err)
			harness.Must(agent.PublishFiles(ctx, "Tide tables", "", harness.Page("tides")))(t)
			s := start(t)
			s.Go(d.Origins.App + "/claim#" + provisioned.ClaimToken)
			s.Wait(`document.body.innerText.includes("kept in this tab") && !location.href.includes("ap_ct_")`)
			s.Wait(click("main a.button"))
			s.Wait(`(document.querySelector("input[name=email]").value = "ada@example.org", true)`)
			s.Wait(click("button[type=submit]:not([name])"))
			if name == "WebKit" {
				s.Wait(`document.body.innerText.includes("Signing in did not work")`)
				return
			}
			s.Wait(`document.body.innerText.includes("Claim 1 artifact?")`)
			s.Screenshot("engine-claim")
			s.Wait(`dispatchEvent(new Event("pointermove"))`) // a decision takes no click before the mouse moved
			s.Wait(click(`form[action="/claim/confirm"] button:not([aria-disabled])`))
			s.Wait(`document.querySelector("h1").innerText.includes("Claimed")`)
		})
	}
}
