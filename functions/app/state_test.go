package app

import (
	"context"
	"fmt"
	"strings"
	"time"

	"vitrine/scripts/testkit/browser"
	"vitrine/shared/identity/billing"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/lockdown"
)

// state is a page to look at: an address, and what is done there.
type state struct {
	name, path string
	set        func(*fakeServices)
	act        func(*browser.Page)
}

const (
	submit       = "main button[type=submit]"
	makeLink     = ".new-link button"
	lookUpButton = `form[action="/admin/lookup"] button:not(.quiet)`
)

func fill(id, value, button string) func(*browser.Page) {
	return func(p *browser.Page) {
		browser.Eval[bool](&p.Document, fmt.Sprintf("(document.getElementById(%q).value = %q, true)", id, value))
		press(button)(p)
	}
}

// press clicks a button and waits for the page that follows.
func press(selector string) func(*browser.Page) {
	return func(p *browser.Page) {
		browser.Eval[bool](&p.Document, "(window.before = true)")
		p.Click(selector)
		p.Wait(`!window.before && document.readyState === "complete"`)
	}
}

// choose picks an option of a list.
func choose(id, value string) func(*browser.Page) { return setProperty(id, "value", `"`+value+`"`) }

// setProperty sets a property of an element.
func setProperty(id, property, value string) func(*browser.Page) {
	return func(p *browser.Page) {
		browser.Eval[bool](&p.Document, `(document.getElementById("`+id+`").`+property+` = `+value+`, true)`)
	}
}

func then(steps ...func(*browser.Page)) func(*browser.Page) {
	return func(p *browser.Page) {
		for _, step := range steps {
			step(p)
		}
	}
}

func all(sets ...func(*fakeServices)) func(*fakeServices) {
	return func(s *fakeServices) {
		for _, set := range sets {
			if set != nil {
				set(s)
			}
		}
	}
}

func with(status billing.Status) func(*fakeServices) {
	return func(s *fakeServices) { s.billing = paying(status) }
}

func nothing(s *fakeServices) { s.empty = true }

func crowd(s *fakeServices) { s.more = true }

func reader(s *fakeServices) { s.actor.Scopes = s.actor.Scopes[:2] }

func onDuty(s *fakeServices) { s.actor.Operator = noon }

// lockedDown lets what is looked up be locked.
func lockedDown(s *fakeServices) {
	s.lookups.locks = []lockdown.Lockdown{
		{Scope: lockdown.Artifact, Target: artifactID, Reason: "other", SetAt: noon, SetBy: memberID},
	}
}

// deleting lets the workspace be deleted at an instant.
func deleting(at time.Time) func(*fakeServices) {
	return func(s *fakeServices) { s.actor.Workspace.DeletesAt = at }
}

// fresh lets the member have signed in just now.
func fresh(s *fakeServices) { s.actor.AuthenticatedAt = noon }

// long are the longest and oddest names that may turn up.
func long(s *fakeServices) {
	s.actor.Workspace.Name = strings.Repeat("Harbour", 17)
	s.title = "Quarterly survey of the harbour seals between the northern hook and the great sandbank, " +
		"with counts by bay, by tide and by observer, and all the raw data"
	s.device, s.client = strings.Repeat("office", 10), "\u202Emoor gnidaer\u2066 <b>bold</b> "+strings.Repeat("x", 180)
	s.email = strings.Repeat("a", 60) + "@example.test"
}

// describe makes the app one with a metadata document, at the longest address.
func describe(s *fakeServices) {
	s.apps.clientID = id.Client("https://agents.robots.example.com/oauth/" + strings.Repeat("client-", 66) + "v1.json")
}

// exported is a member who has just signed in, with an export in a state.
func exported(status export.Status) func(*fakeServices) {
	return func(s *fakeServices) {
		s.actor.AuthenticatedAt = noon
		s.exports.newest = exportIn(status)
	}
}

// states have each template in each of its shapes. Names are the longest.
var states = []state{
	{name: "overview", path: "/dashboard", set: all(onDuty, with(billing.Unpaid))},
	{name: "overview-empty", path: "/dashboard", set: nothing},
	{name: "artifacts", path: "/artifacts?after=here", set: crowd},
	{name: "artifacts-empty", path: "/artifacts", set: nothing},
	{name: "artifacts-found", path: "/artifacts?q=t&sort=title&choose=all", set: crowd},
	{name: "artifacts-selected", path: selectionPath + "?do=delete&artifact=" + artifactID},
	{
		name: "artifacts-outcomes",
		path: selectionPath + "?do=pin&artifact=" + artifactID,
		set: func(s *fakeServices) {
			s.artifacts.PinFn = func() error { return fault.NewCode(fault.PinnedArtifactCap) }
		},
		act: press(submit),
	},
	{name: "keys", path: "/keys"},
	{name: "keys-empty", path: "/keys", set: nothing},
	{name: "keys-made", path: "/keys", act: fill("name", "Build server", submit)},
	{name: "keys-error", path: "/keys", act: fill("name", " ", submit)},
	{name: "keys-ended", path: "/keys/ended"},
	{name: "keys-revoke", path: "/keys/" + keyID + "/revoke"},
	{name: "connections", path: "/connections?agents=here", set: all(crowd, vouching, describe)},
	{name: "connections-empty", path: "/connections", set: nothing},
	{name: "settings", path: "/settings", set: exported(export.Ready)},
	{name: "settings-forever", path: "/settings", set: mayLast},
	{name: "settings-reader", path: "/settings", set: reader},
	{name: "settings-pending", path: "/settings", set: exported(export.Pending)},
	{name: "settings-bad-name", path: "/settings", act: fill("name", " ", submit)},
	{name: "settings-bad-days", path: "/settings", act: then(setProperty("days", "max", "99"), fill("days", "8", submit))},
	{name: "audit", path: "/audit?after=here", set: crowd},
	{name: "delete", path: deletePath, set: fresh},
	{name: "delete-wrong", path: deletePath, set: fresh, act: fill("confirm", "another", submit)},
	{name: "deletion-requested", path: requestedPath},
	{name: "deletion", path: deletionPath, set: deleting(noon.Add(3 * limits.Day))},
	{name: "claim", path: "/claim"},
	{name: "claim-broken", path: "/claim#ap_ct_cut"},
	{name: "claim-preview", path: "/claim#" + claimToken, act: claimed},
	{name: "claim-done", path: "/claim#" + claimToken, act: then(claimed, press(submit))},
	{name: "claim-wrong", path: "/claim", act: fill("claim_token", "ap_ct_wrong", submit)},
	{name: "agent", path: agentPath},
	{name: "agent-vouched", path: agentPath, set: vouching},
	{name: "agent-wrong", path: agentPath, act: fill("user_code", "654321", submit)},
	{name: "agent-done", path: agentPath, act: fill("user_code", "123456", submit)},
	{name: "keep", path: keepPath, set: vouching},
	{name: "device", path: "/device?code=" + userCode},
	{name: "device-wrong", path: "/device", act: fill("code", "bcdf", submit)},
	{name: "device-request", path: "/device?code=" + userCode, act: press(submit)},
	{name: "consent", path: "/oauth/consent?req=abc", set: func(s *fakeServices) {
		s.apps.ConsentFn = func(c *oauth.Consent) error { c.Loopback = true; return nil }
	}},
	{name: "consent-described", path: "/oauth/consent?req=abc", set: describe},
	{
		name: "leave",
		path: "/oauth/consent?req=abc",
		set:  func(s *fakeServices) { s.apps.redirect = s.appURL + "/test/cb?code=x" },
		act:  press(submit),
	},
	{name: "app-error", path: "/oauth/error?client_id=x"},
	{name: "signed-out", path: "/signed-out"},
	{name: "unavailable", path: "/dashboard", set: func(s *fakeServices) { s.fail = fault.NewCode(fault.DatabaseUnavailable) }},

	{name: "artifact", path: artifactPage},
	{name: "artifact-commented", path: artifactPage, set: commented},
	{name: "artifact-private", path: artifactPage, set: private},
	{name: "artifact-locked", path: artifactPage, set: locked},
	{name: "artifact-pinned", path: artifactPage, set: pinned},
	{name: "artifact-warned", path: artifactPage, set: warned},
	{name: "artifact-ended", path: artifactPage, set: ended},
	{name: "artifact-draft", path: artifactPage, set: draft},
	{name: "artifact-closed", path: artifactPage, set: closed},
	{name: "artifact-odd", path: artifactPage, set: odd},
	{name: "artifact-bad-title", path: artifactPage, act: fill("title", " ", `form[action$="/title"] button`)},
	{name: "artifact-make-private", path: artifactPage + "/private"},
	{name: "link-made", path: artifactPage, act: then(choose("ends", "24h"), press(makeLink))},
	{name: "link-there", path: artifactPage, set: private, act: press(`form[action$="/unlisted"] button`)},
	{name: "links", path: "/access-links"},
	{name: "private", path: "/v/" + artifactID},
	{name: "private-older", path: "/v/" + artifactID + "?revision=" + oldID},
	{name: "private-odd", path: "/v/" + artifactID, set: odd},
	{name: "inbox", path: inboxPath},
	{name: "inbox-empty", path: inboxPath, set: nothing},
	{name: "feedback", path: threadsPage, set: crowd},
	{name: "feedback-empty", path: threadsPage + "?state=addressed", set: nothing},
	{
		name: "feedback-refused",
		path: threadsPage,
		act:  then(setProperty("about-lines", "checked", "true"), setProperty("remark-body", "value", `"Which unit?"`), sendRemark),
	},
	{
		name: "feedback-selected",
		path: threadsPage,
		act: func(p *browser.Page) {
			p.Click("#held-" + heldThread + " > input")
			p.Click("#held-" + quoteThread + " > input")
			setProperty("held-"+quoteThread, `querySelector("input").value`, `"x"`)(p)
			press("#chosen-held [value=let_through]")(p)
		},
	},
	{name: "feedback-policy", path: artifactPage, act: openFold(`form[action$="/feedback-policy"]`)},
	{
		name: "feedback-policy-refused",
		path: artifactPage,
		set: func(s *fakeServices) {
			s.feedback.refuse = fault.New(fault.Forbidden, "guests write in claimed workspaces alone; claim the workspace first")
		},
		act: then(openFold(`form[action$="/feedback-policy"]`), press(`form[action$="/feedback-policy"] button`)),
	},
	{name: "message-delete", path: deleteOne},
	{name: "thread", path: threadsPage + "/" + quoteThread},
	{name: "thread-addressed", path: threadsPage + "/" + addressedThread},
	{name: "thread-delete", path: threadsPage + "/" + openThread + "/delete"},
	{name: "compare", path: comparisonPage},
	{name: "compare-lines", path: comparisonPage + "?view=unified"},
	{name: "compare-split", path: comparisonPage + "?view=split"},
	{
		name: "compare-both",
		path: comparisonPage + "?path=chart.png",
		act:  func(p *browser.Page) { p.Click(`label[for="f1-both"]`) },
	},
	{name: "compare-long", path: comparisonPage, set: strangeFiles},
	{name: "compare-long-split", path: comparisonPage + "?view=split", set: strangeFiles},
	{name: "compare-itself", path: comparisonPage + "?from=" + newestID + "&to=" + newestID},

	{name: "billing", path: "/billing"},
	{name: "billing-back", path: "/billing?status=success", set: reader},
	{name: "billing-late", path: "/billing", set: with(billing.PastDue)},
	{
		name: "billing-unread",
		path: "/billing",
		set: func(s *fakeServices) {
			s.billing, s.actor.Operator = paying(billing.Unpaid), noon
			s.billing.Override = "pro"
			s.provider.ProviderFn = func(context.Context) error { return fault.NewCode(fault.DatabaseUnavailable) }
		},
	},
	{
		name: "billing-leave",
		path: "/billing",
		set:  func(s *fakeServices) { s.provider.payURL = s.appURL + "/test/cb?code=x" },
		act:  press(submit),
	},

	{name: "admin", path: "/admin", set: all(onDuty, crowd)},
	{name: "admin-empty", path: "/admin", set: all(onDuty, nothing)},
	{name: "admin-wrong", path: "/admin", set: onDuty, act: fill("target", "nonsense", lookUpButton)},
	{name: "admin-found", path: "/admin", set: onDuty, act: fill("target", artifactID, lookUpButton)},
	{name: "admin-found-locked", path: "/admin", set: all(onDuty, lockedDown), act: fill("target", artifactID, lookUpButton)},
	{name: "admin-not-found", path: "/admin", set: all(onDuty, nothing), act: fill("target", artifactID, lookUpButton)},
	{
		name: "admin-opened",
		path: "/admin",
		set:  onDuty,
		act:  then(fill("target", artifactID, lookUpButton), fill("reason", "other", `form[action="/admin/content"] button`)),
	},
	{name: "admin-member", path: "/admin", set: onDuty, act: fill("target", "grace@example.org", lookUpButton)},
	{name: "admin-reports", path: "/admin/reports", set: all(onDuty, crowd)},
	{
		name: "admin-lockdowns",
		path: "/admin/lockdowns?triage_scope=workspace&triage_target=" + string(strangerID),
		set:  all(onDuty, crowd),
	},
	{name: "admin-events", path: "/admin/events?focus=security", set: all(onDuty, crowd)},
	{name: "admin-provisioning", path: "/admin/provisioning", set: onDuty},
	{name: "admin-policy", path: "/admin/policy", set: onDuty},
	{name: "admin-plan", path: planPath(strangerID), set: all(onDuty, with(billing.PastDue))},
	{
		name: "admin-plan-wrong",
		path: planPath(strangerID),
		set:  onDuty,
		act:  then(setProperty("reason", "required", "false"), press(submit)),
	},
}

// openFold opens what folds around an element.
func openFold(selector string) func(*browser.Page) {
	return func(p *browser.Page) {
		browser.Eval[bool](&p.Document, fmt.Sprintf("(document.querySelector(%q).closest('.fold').open = true)", selector))
	}
}

// sendRemark sends the form of a new thread as a browser without scripts does.
func sendRemark(p *browser.Page) {
	browser.Eval[bool](&p.Document, `delete document.querySelector(".remark").dataset.draft`)
	press(".remark button")(p)
}

// claimed waits until the token of the address was sent.
func claimed(p *browser.Page) { p.WaitText("Claim 1 artifact?") }
