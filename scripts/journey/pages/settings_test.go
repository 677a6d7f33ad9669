package pages

import (
	"fmt"
	"html"
	"net/url"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// settings are the fields of the form for a workspace.
func settings(name string, days int) url.Values {
	return url.Values{"name": {name}, "days": {fmt.Sprint(days)}, "once": {"page-" + wire.NewKey()}}
}

// rowOf is the row of a list on a page that holds a text.
func rowOf(t testing.TB, page wire.Answer, text string) string {
	t.Helper()
	for _, row := range strings.Split(string(page.Body), "<li>") {
		if strings.Contains(row, text) {
			return row
		}
	}
	t.Fatalf("no row with %q in %s", text, page.Body)
	return ""
}

func TestWhatIsSetOnThePageHoldsAndIsToldInTheRecord(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t, harness.Unlimited)
	w := p.SignedIn(t, "ada@example.org")
	asked := settings("Harbour <b>Survey</b>", 5)
	for range 2 { // the second is a double click
		if a := w.Post(t, "/settings", asked); a.Status != 303 || a.Header.Get("Location") != "/settings" {
			t.Fatalf("the form answers %d %s", a.Status, a.Body)
		}
	}
	harness.WantPage(t, "the page", w.Get(t, "/settings"), 200, `value="Harbour <b>Survey</b>"`)
	who := &harness.Member{Agent: p.WithBearer(w.CLIToken(t).AccessToken)}
	s := harness.CallAs[contract.Settings](t, who, 200, "GET", "/v1/web/settings", nil)
	if s.WorkspaceName != "Harbour <b>Survey</b>" || s.AutoDeletionDays != 5 {
		t.Errorf("the API tells %+v", s)
	}
	record := w.Get(t, "/audit")
	row := rowOf(t, record, "changed the settings")
	if !strings.Contains(row, html.EscapeString(`"Harbour <b>Survey</b>"`)) || !strings.Contains(row, "You changed") ||
		strings.Count(string(record.Body), "changed the settings") != 1 {
		t.Errorf("the record is %s", record.Body)
	}
}
