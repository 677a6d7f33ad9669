package pages

import (
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/shared/platform/fault"
)

// TestAPersonClaimsAWorkspaceByItsLink goes from an agent without account to a member's list, with the token in nothing
// that is sent or kept.
func TestAPersonClaimsAWorkspaceByItsLink(t *testing.T) {
	t.Parallel()
	d := harness.NewEnv(t, harness.Unlimited)
	agent, provisioned, err := d.Anyone.Provision(ctx)
	harness.NoError(t, err)
	made := harness.Must(agent.PublishFiles(ctx, "Tide tables", "", harness.Page("tides")))(t)
	harness.Must(agent.PublishFiles(ctx, "Moon phases", "", harness.Page("moon")))(t)
	token := provisioned.ClaimToken
	p := browser.Open(t)
	bare := func(when string) {
		t.Helper()
		at := browser.Eval[string](&p.Document, `location.href`)
		if strings.Contains(at, "ap_ct_") || strings.Contains(at, "#") {
			t.Errorf("%s the token is in the address bar", when)
		}
	}
	p.Go(d.Origins.App + "/claim#" + token)
	p.WaitText("kept in this tab")
	bare("before signing in")
	p.Click(`main a.button`)
	p.SignIn("ada@example.org")
	p.WaitText("Claim 2 artifacts?")
	p.WaitText("Moon phases")
	bare("when it is shown")
	p.Screenshot("journey-claim")
	kept := browser.Eval[bool](
		&p.Document, `Object.values(sessionStorage).concat(Object.values(localStorage)).some(v => v.includes("ap_ct_"))`,
	)
	if kept {
		t.Error("the browser keeps the token although it was used")
	}
	if says := harness.Do(t, agent, "GET", d.Origins.API+"/v1/whoami", nil); says.Status != 200 {
		t.Errorf("looking claims it: the agent is answered %d", says.Status)
	}
	p.Click(`form[action="/claim/confirm"] button`)
	p.WaitText("Claimed")
	bare("after the claim")
	p.Screenshot("journey-claimed")
	harness.WantRefused(t, harness.Do(t, agent, "GET", d.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	p.Reload() // sends the form again, as browsers do
	p.WaitText("Claimed")
	p.Go(d.Origins.App + "/artifacts")
	p.WaitText("Moon phases")
	n := browser.Eval[int](
		&p.Document, `[...document.querySelectorAll("main a")].filter(a => a.textContent.includes("Tide tables")).length`,
	)
	if n != 1 {
		t.Errorf("the artifact is listed %d times", n)
	}
	p.Screenshot("journey-claim-list")
	p.Go(d.Origins.App + "/claim#" + token)
	p.WaitText("This claim token does not work")
	bare("the second time")
	p.Clean()
	if _, err := d.Anyone.Resolve(ctx, made.UnlistedURL); err != nil {
		t.Errorf("the link that was shared: %v", err)
	}
	if sent := strings.Count(d.Log.String(), `"/claim/confirm"`); sent < 2 { // else reloading sent nothing
		t.Errorf("the claim was sent %d times", sent)
	}
	if tail := token[len(token)-49:]; strings.Contains(d.Log.String(), tail) {
		t.Error("the token is in the log")
	}
}
