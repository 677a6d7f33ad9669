package budget

import (
	"net/url"
	"testing"

	"vitrine/scripts/journey/harness"
)

// TestAReportStaysWithinItsBudget reports an artifact by its link: two counters with a look at one of them in between,
// the link, the artifact and its workspace, and the report with its event, each in an index too. It was not designed in
// figures.
func TestAReportStaysWithinItsBudget(t *testing.T) {
	l := newBudgetEnv(t)
	made := harness.PublishPage(t, l.NewAgent(t), "reported")
	form := url.Values{"target": {made.UnlistedURL}, "reason": {"phishing_report"}, "text": {"It asks for my password."}}
	l.wantWithin(t, "form: report abuse", budget{7, 7, 3.5, 8},
		l.sends(t, l.Anyone, 200, "POST", l.Origins.App+"/report", form.Encode(),
			"Content-Type", "application/x-www-form-urlencoded"))
}
