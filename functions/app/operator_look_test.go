package app

import "vitrine/scripts/testkit/browser"

func onDuty(s *house) { s.operator = noon }

func busyDuty(s *house) { onDuty(s); long(s); s.more = true }

const lookUpButton = `form[action="/admin/lookup"] button:not(.quiet)`

var consoleScenes = []scene{
	{name: "admin", path: "/admin", set: onDuty},
	{name: "admin-long", path: "/admin", set: busyDuty},
	{name: "admin-empty", path: "/admin", set: func(s *house) { onDuty(s); s.empty = true }},
	{name: "admin-wrong", path: "/admin", set: onDuty, act: fill("target", "nonsense", lookUpButton)},
	{name: "admin-found", path: "/admin", set: onDuty, act: fill("target", artifactID, lookUpButton)},
	{
		name: "admin-found-locked",
		path: "/admin",
		set:  func(s *house) { onDuty(s); s.scene = "locked" },
		act:  fill("target", artifactID, lookUpButton),
	},
	{
		name: "admin-not-found",
		path: "/admin",
		set:  func(s *house) { onDuty(s); s.empty = true },
		act:  fill("target", artifactID, lookUpButton),
	},
	{
		name: "admin-opened",
		path: "/admin",
		set:  onDuty,
		act:  then(fill("target", artifactID, lookUpButton), fill("reason", "other", `form[action="/admin/content"] button`)),
	},
	{name: "admin-reports", path: "/admin/reports", set: busyDuty},
	{name: "admin-reports-of-one", path: "/admin/reports?artifact=" + artifactID, set: onDuty},
	{
		name: "admin-lockdowns",
		path: "/admin/lockdowns?triage_scope=workspace&triage_target=" + string(strangerID),
		set:  busyDuty,
	},
	{name: "admin-events", path: "/admin/events?focus=security", set: busyDuty},
	{name: "admin-events-wrong", path: "/admin/events?workspace_id=x", set: onDuty},
	{name: "admin-provisioning", path: "/admin/provisioning", set: onDuty},
	{name: "admin-plan", path: planPath(strangerID), set: func(s *house) { onDuty(s); s.account = paying("past_due") }},
	{
		name: "admin-plan-wrong",
		path: planPath(strangerID),
		set:  onDuty,
		act: func(p *browser.Page) {
			browser.Eval[bool](&p.Document, `(document.getElementById("reason").required = false, true)`)
			press(submit)(p)
		},
	},
	{name: "admin-member", path: "/admin", set: onDuty, act: fill("target", "grace@example.org", lookUpButton)},
	{
		name: "admin-no-member",
		path: "/admin",
		set:  func(s *house) { onDuty(s); s.empty = true },
		act:  fill("target", "grace@example.org", lookUpButton),
	},
	{name: "operator-overview", path: "/dashboard", set: onDuty},
	{name: "admin-stale", path: "/admin", set: func(s *house) { s.operator = noon.AddDate(0, 0, -1) }},
}
