package app

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// queries complete the addresses of pages that show nothing without one.
var queries = map[string]string{
	selectionPath:    "?do=delete&artifact=" + artifactID,
	"/oauth/consent": "?req=abc",
}

// pagesFor returns the paths of the pages for members, or of those for operators. The page of a deletion is left out,
// because it is shown only while there is one.
func pagesFor[T endpoint]() (paths []string) {
	s := newServices()
	ids := strings.NewReplacer("{artifactId}", artifactID, "{linkId}", shareID, "{keyId}", keyID, "{grantId}", grantID,
		"{threadId}", openThread, "{messageId}", openMessage,
		"{registrationId}", agentID, "{delegationId}", string(s.linked[0].ID()), "{workspaceId}", string(strangerID))
	h, _ := s.host()
	for _, r := range h.routes() {
		if _, is := r.handle.(T); is && r.method == http.MethodGet && r.path != deletionPath {
			paths = append(paths, ids.Replace(r.path)+queries[r.path])
		}
	}
	return paths
}

// memberPages are all pages of members and of the flows.
var memberPages = append(pagesFor[members](), "/claim", agentPath,
	"/artifacts?q=tide&state=pinned&kind=Table&sort=title", "/v/"+artifactID+"?revision="+oldID,
	comparisonPage+"?view=split")

// form is sent to a path.
type form struct {
	fields url.Values // good ones
	to     string     // where it leads once it is done; empty: its answer is a page
	change string     // what is done then
}

// formName is the name that a form gives to what it does.
const formName = "page-0123456789"

var onlyNamed = url.Values{"once": {formName}}

// forms are those of members and of the flows, by their paths.
var forms = map[string]form{
	"/api/auth/sign-out":            {url.Values{}, "/signed-out", "End " + secret},
	"/api/auth/sign-out-everywhere": {url.Values{}, "/signed-out", "EndAll"},

	artifactPage + "/pin":           {onlyNamed, artifactPage, "Pin " + artifactID},
	artifactPage + "/unpin":         {onlyNamed, artifactPage, "Unpin " + artifactID},
	artifactPage + "/title":         {url.Values{"title": {"Seals of two bays"}}, artifactPage, "Rename " + artifactID},
	artifactPage + "/delete":        {onlyNamed, "/artifacts", "Delete " + artifactID},
	artifactPage + "/lockdown":      {onlyNamed, artifactPage + "#links", "Lock " + artifactID},
	artifactPage + "/lockdown/lift": {onlyNamed, artifactPage + "#links", "Unlock " + artifactID},
	artifactPage + "/private":       {url.Values{}, artifactPage + "#links", "SetVisibility private"},
	artifactPage + "/unlisted":      {fields: url.Values{}},
	artifactPage + "/links":         {fields: url.Values{"once": {formName}, "shows": {"share"}, "ends": {"24h"}}},
	linkPath + "/address":           {fields: url.Values{}},
	linkPath + "/comments":          {url.Values{"comments": {"on"}, "once": {formName}}, artifactPage + "#links", "CreateLink share "},
	linkPath + "/revoke":            {url.Values{}, artifactPage + "#links", "RevokeLink " + shareID},
	threadsPage:                     {fields: url.Values{"about": {"artifact"}, "body": {"Which unit?"}, "once": {formName}}},
	threadsPage + "/" + openThread: {
		url.Values{"reply": {"Metres"}, "once": {formName}}, threadsPage + "#" + openThread, "Answer " + openThread,
	},
	threadsPage + "/" + openThread + "/delete": {onlyNamed, threadsPage, "Answer " + openThread},
	deleteOne:                           {onlyNamed, threadsPage, "DeleteMessage " + openMessage},
	artifactPage + "/feedback-selected": {fields: url.Values{"do": {letThrough}, "once": {formName}, chosenThread + heldThread: {"2"}}},
	artifactPage + "/feedback-policy": {
		url.Values{"who": {"links"}, "guests": {"held"}, "agents_resolve": {"yes"}, "once": {formName}},
		artifactPage + "#feedback", "Set off=false links=true at once=false agents resolve=true",
	},
	restorePath:   {onlyNamed, artifactPage + "#revisions", "Restore " + artifactID + " " + oldID},
	selectionPath: {fields: url.Values{"do": {"pin"}, "once": {formName}, chosenField + artifactID: {"on"}}},

	"/settings": {
		url.Values{"name": {"Bay Survey"}, "days": {"5"}, "once": {formName}}, "/settings", "UpdateSettings Bay Survey",
	},
	"/settings/sessions/0700000000000000/end":    {url.Values{}, "/settings#sessions", "EndNamed 0700000000000000"},
	"/settings/export":                           {onlyNamed, "/settings#export", "Export"},
	deletePath:                                   {url.Values{"confirm": {"Harbour Survey"}}, requestedPath, "RequestDeletion Harbour Survey"},
	deletionPath + "/cancel":                     {url.Values{}, "/dashboard", "CancelDeletion"},
	"/keys":                                      {fields: url.Values{"name": {"Build server"}, "expires": {"30"}, "once": {formName}}},
	"/keys/" + keyID + "/revoke":                 {onlyNamed, "/keys", "Revoke " + keyID},
	"/connections/agents/" + agentID + "/unlink": {url.Values{}, "/connections", "Unlink " + agentID},
	"/connections/apps/" + grantID + "/unlink":   {url.Values{}, "/connections", "EndGrant " + grantID},
	billingPath + "/checkout":                    {fields: url.Values{"interval": {"month"}, "once": {formName}}},
	billingPath + "/portal":                      {fields: url.Values{}},

	"/claim":               {fields: url.Values{"claim_token": {claimToken}}},
	"/claim/confirm":       {fields: url.Values{"claim_token": {claimToken}, "once": {formName}}},
	agentPath:              {fields: url.Values{"user_code": {"123456"}, "attempt": {mark(attemptText)}}},
	agentPath + "/deny":    {fields: url.Values{"attempt": {mark(attemptText)}}},
	"/device":              {fields: url.Values{"code": {userCode}}},
	"/device/approve":      {fields: url.Values{"code": {userCode}}},
	"/device/deny":         {fields: url.Values{"code": {userCode}}},
	"/oauth/consent/allow": {fields: url.Values{"req": {"abc"}}},
	"/oauth/consent/deny":  {fields: url.Values{"req": {"abc"}}},
}

// operatorPages are the pages of operators.
var operatorPages = append(pagesFor[operators](), "/admin/reports?artifact="+artifactID,
	"/admin/events?action=artifact.published&focus=all")

// operatorForms are those of operators.
var operatorForms = map[string]form{
	"/admin/lookup":  {fields: url.Values{"target": {"https://app.example/al/0123456789ABCDEF#" + blob}}},
	"/admin/content": {fields: url.Values{"artifact": {artifactID}, "reason": {"phishing_report"}}},
	"/admin/reports/handled": {
		url.Values{"artifact": {artifactID}, "place": {"20260314#c29tZQ"}},
		"/admin/reports", "Handle " + artifactID + " 20260314#c29tZQ",
	},
	"/admin/lockdowns": {
		url.Values{"scope": {"artifact"}, "target": {artifactID}, "reason": {"other"}, "once": {formName}},
		"/admin/lockdowns", "SetLock artifact " + artifactID + " other",
	},
	"/admin/lockdowns/lift": {
		url.Values{"scope": {"artifact"}, "target": {artifactID}, "once": {formName}},
		"/admin/lockdowns", "Lift artifact " + artifactID,
	},
	"/admin/provisioning": {url.Values{"from": {"17"}, "quota": {"20"}}, "/admin/provisioning", "SetQuota 17 20"},
	planPath(strangerID): {
		url.Values{"plan": {"pro"}, "reason": {"a school"}, "once": {formName}},
		planPath(strangerID), "SetPlan " + string(strangerID) + " pro a school",
	},
}

// everyPage and everyForm are open to a member who operates the deployment.
var (
	everyPage = slices.Concat(memberPages, operatorPages)
	everyForm = func() map[string]form {
		all := maps.Clone(forms)
		maps.Copy(all, operatorForms)
		return all
	}()
)

// post sends a form of a member who followed an agent's link.
func (s *fakeServices) post(path string, fields url.Values) *http.Response {
	return signedIn(s.handler(), "POST", path, fields, attemptHeader...)
}

func TestFormsLeadOnOnceTheyAreDone(t *testing.T) {
	for path, f := range everyForm {
		if f.to == "" {
			continue
		}
		s := operatorOf(noon)
		wantRedirect(t, path, s.post(path, f.fields), f.to)
		if all := s.changes; !slices.Equal(all, []string{f.change}) {
			t.Errorf("%s: changed %v", path, all)
		}
	}
}

func TestAFormThatIsSentTwiceIsOneCommand(t *testing.T) {
	commands := map[string]string{ // what each does to what
		artifactPage + "/pin":           "web.artifact.pin " + artifactID,
		artifactPage + "/unpin":         "web.artifact.unpin " + artifactID,
		artifactPage + "/delete":        "artifact.delete " + artifactID,
		artifactPage + "/links":         "access_link.create " + artifactID,
		linkPath + "/comments":          "access_link.create " + artifactID,
		artifactPage + "/lockdown":      "access_link.lockdown.set " + artifactID,
		artifactPage + "/lockdown/lift": "access_link.lockdown.lift " + artifactID,
		selectionPath:                   "web.artifact.pin " + artifactID,
		restorePath:                     "web.artifact.revision.restore " + artifactID + "/" + oldID,
		threadsPage:                     "feedback.create " + artifactID,
		threadsPage + "/" + openThread:  "feedback.answer " + openThread,

		threadsPage + "/" + openThread + "/delete": "feedback.answer " + openThread,
		artifactPage + "/feedback-selected":        "feedback.answer " + heldThread,
		artifactPage + "/feedback-policy":          "feedback.policy " + artifactID,
		deleteOne:                                  "feedback.message.delete " + openMessage,
		"/settings":                                "workspace.settings.update ",
		"/settings/export":                         "workspace.export.create ",
		"/keys":                                    "api_key.create ",
		"/keys/" + keyID + "/revoke":               "api_key.revoke " + keyID,
		"/claim/confirm":                           "ephemeral.claim ",
		billingPath + "/checkout":                  "billing.checkout.create ",
		"/admin/lockdowns":                         "platform.lockdown.set ",
		"/admin/lockdowns/lift":                    "platform.lockdown.lift " + artifactID,
		planPath(strangerID):                       "billing.set_plan_override " + string(strangerID),
	}
	for path, f := range everyForm {
		if !f.fields.Has("once") {
			continue
		}
		s := operatorOf(noon)
		for range 2 {
			s.post(path, f.fields)
		}
		c := s.commands
		if len(c) != 2 || c[0] != c[1] || c[0].Key.Client != formName || c[0].Key.Actor != string(memberID) {
			t.Errorf("%s: commands %+v", path, c)
		} else if got := string(c[0].Key.Operation) + " " + c[0].Key.Target; got != commands[path] {
			t.Errorf("%s: is %s, want %s", path, got, commands[path])
		}
	}
}

func TestAFormWithoutANameIsRefused(t *testing.T) {
	for path, f := range everyForm {
		for _, bad := range []string{"", "short", "with space in it"} {
			if !f.fields.Has("once") {
				continue
			}
			fields := maps.Clone(f.fields)
			fields.Set("once", bad)
			s := operatorOf(noon)
			if r := s.post(path, fields); r.StatusCode != 400 || len(s.commands) > 0 {
				t.Errorf("%s as %q: %d, %v", path, bad, r.StatusCode, s.commands)
			}
		}
	}
}
