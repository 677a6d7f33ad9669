package pages

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// settings are the fields of the form for a workspace.
func settings(name string, days int) url.Values {
	return url.Values{"name": {name}, "days": {fmt.Sprint(days)}, "once": {"page-" + wire.NewKey()}}
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
	a := w.Post(t, "/settings", settings("Harbour", 8))
	if a.Status != 400 || !strings.Contains(string(a.Body), "choose 1 to 7 days") {
		t.Errorf("more days than may be: %d", a.Status)
	}
	record := w.Get(t, "/audit")
	row := rowOf(t, record, "changed the settings")
	if !strings.Contains(row, html.EscapeString(`"Harbour <b>Survey</b>"`)) || !strings.Contains(row, "You changed") ||
		strings.Count(string(record.Body), "changed the settings") != 1 {
		t.Errorf("the record is %s", record.Body)
	}
}

var olderPage = regexp.MustCompile(`href="(/audit\?after=[^"]+)" rel="next"`)

func TestTheRecordIsReadPageByPage(t *testing.T) {
	t.Parallel()
	p := harness.NewAgentAuthEnv(t, harness.Unlimited)
	w := p.SignedIn(t, "ada@example.org")
	for n := range limits.DefaultPage {
		p.Clock.Advance(time.Second)
		if a := w.Post(t, "/settings", settings(fmt.Sprintf("Name number %d.", n), 3)); a.Status != 303 {
			t.Fatalf("the form answers %d %s", a.Status, a.Body)
		}
	}
	first := w.Get(t, "/audit")
	next := olderPage.FindStringSubmatch(string(first.Body))
	if next == nil {
		t.Fatalf("nothing leads on from %s", first.Body)
	}
	older := html.UnescapeString(next[1])
	second := w.Get(t, older)
	all := string(first.Body) + string(second.Body)
	for n := range limits.DefaultPage {
		if strings.Count(all, fmt.Sprintf("Name number %d.", n)) < 1 ||
			strings.Count(all, html.EscapeString(fmt.Sprintf("name is now \"Name number %d.\"", n))) != 1 {
			t.Errorf("change %d is told otherwise than once", n)
		}
	}
	if last := string(second.Body); !strings.Contains(last, "made the workspace") || olderPage.MatchString(last) {
		t.Errorf("the end is %s", last)
	}
	if a := p.SignedIn(t, "eve@example.org").Get(t, older); a.Status != 303 || a.Header.Get("Location") != "/audit" {
		t.Errorf("another workspace reads on there: %d %s", a.Status, a.Body)
	}
}
