package console

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/browser"
	"vitrine/scripts/testkit/wire"
)

// choose fills in the form of a plan and sends it.
func choose(p *browser.Page, plan, reason, text string) {
	p.Fill("#choice", plan)
	p.Fill("#reason", reason)
	p.Follow("main form button[type=submit]", text)
}

// TestAPlanIsGivenToTheWorkspaceOfAnAddressAndLifted goes from the e-mail address in a letter to the plan of a
// workspace.
func TestAPlanIsGivenToTheWorkspaceOfAnAddressAndLifted(t *testing.T) {
	_, sells := harness.NewSeller(t, "") // no test here asks it
	e := harness.NewAgentAuthEnv(t, harness.Unlimited, sells)
	member := browser.Open(t)
	member.Go(e.Origins.App + "/api/auth/sign-in?returnPathname=/billing")
	member.SignIn("ada@example.org")
	member.WaitText("Free plan")
	if strings.Contains(member.Text("nav"), "Operators") {
		t.Error("a member is led to the operators' pages")
	}

	op := enter(t, e.Env, "hedy@example.org", "operators")
	op.WaitText("Triage")
	op.Go(e.Origins.App + "/dashboard")
	op.Follow(`nav a[href="/admin"]`, "Triage")
	op.Fill("#target", "Ada@example.org ")
	op.Follow(`form[action="/admin/lookup"] button:not(.quiet)`, "This is the address of a member")
	if page := op.Text("main"); strings.Contains(page, "@") || !strings.Contains(page, "mem_") {
		t.Errorf("the operator sees %s", page)
	}
	op.Follow(`form[action="/admin/lookup"] button`, "This is a workspace")
	op.Follow(`main a[href$="/plan"]`, "Plan of a workspace")
	choose(op, "pro", "a school", "Pro")
	if now := op.Text("main dl"); strings.Count(now, "Pro") != 2 {
		t.Errorf("after the change the page says %q", now)
	}
	plan := browser.Eval[string](&op.Document, "location.href")
	member.Reload()
	member.WaitText("Given by an operator")
	member.WaitText("Pro plan")
	op.Follow(`main a[href^="/admin/events"]`, "pro, because an operator chose it: a school")
	op.Go(plan)
	choose(op, "", "the year is over", "nothing")
	member.Reload()
	member.WaitText("Free plan")

	record := strings.Join(recorded(t, e), "\n")
	for _, want := range []string{
		"platform.lookup mem_", "chose it: a school", "free, because there is no subscription: the year is over",
	} {
		if strings.Count(record, want) != 1 {
			t.Errorf("%q is not recorded once:\n%s", want, record)
		}
	}
	if strings.Contains(strings.ToLower(record+e.Log.String()), "ada@example.org") {
		t.Error("the address that was looked up is in the record or in the log")
	}
	op.Clean()
}

// TestAnArtifactThatIsReadOftenTurnsUpAsHot reads an artifact until its blocks of permits are as large as those of hot
// ones. The clock stands, so that they grow however slow the machine is.
func TestAnArtifactThatIsReadOftenTurnsUpAsHot(t *testing.T) {
	e := harness.NewAgentAuthEnv(t, harness.Plenty)
	agent := e.NewAgent(t)
	file := wire.File{Path: "index.html", Body: []byte("<!doctype html><title>T</title><p>Tides of the bay</p>")}
	seldom := harness.Must(agent.PublishFiles(ctx, "Seldom", "", file))(t)
	often := harness.Must(agent.PublishFiles(ctx, "Often", "", file))(t)
	op := enter(t, e.Env, "hedy@example.org", "operators")
	op.WaitText("Nothing was read often in the last hour")

	view := harness.Must(agent.AgentView(ctx, often.ArtifactID))(t)
	for range 100 {
		if a := harness.Do(t, e.Anyone, "GET", view.Files[0].URL, nil); a.Status != http.StatusOK {
			t.Fatalf("%d %s", a.Status, a.Body)
		}
	}
	op.Reload()
	op.WaitText("Read often")
	hot := op.Text("section[aria-labelledby=hot]")
	if !strings.Contains(hot, string(often.ArtifactID)) || strings.Contains(hot, string(seldom.ArtifactID)) {
		t.Errorf("hot are %s", hot)
	}
	op.Follow(`section[aria-labelledby=hot] button`, "This is an artifact")
	op.Clean()
}
