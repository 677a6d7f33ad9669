package app

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
)

var titleOnPage = regexp.MustCompile(`class="row-title" href="[^"]*"><bdi>([^<]*)</bdi>`)

// titles are the artifacts on a page, in its order.
func titles(body string) (out []string) {
	for _, found := range titleOnPage.FindAllStringSubmatch(body, -1) {
		out = append(out, html.UnescapeString(found[1]))
	}
	return out
}

func TestASearchFindsWhatItAsksFor(t *testing.T) {
	h := newServices().handler()
	for query, want := range map[string][]string{
		"q=TID":                      {"Tide tables"},
		"q=+tide+":                   {"Tide tables"},
		"q=nothing+like+it":          nil,
		"state=published":            {"Seals of the bay", "Tide tables"},
		"state=pinned":               {"Tide tables", "Being prepared"},
		"state=draft":                {"Being prepared"},
		"state=expired":              {"Notes of the first meeting"},
		"state=deleted&q=DRAFT":      {"A draft that was not wanted"},
		"kind=Table":                 {"Tide tables"},
		"kind=Table&state=published": {"Tide tables"},
		"kind=Page&state=published":  {"Seals of the bay"},
		"sort=title": {
			"A draft that was not wanted", "Being prepared", "Notes of the first meeting", "Seals of the bay", "Tide tables",
		},
		"sort=size&q=tide":               {"Tide tables"},
		"sort=published&state=published": {"Tide tables", "Seals of the bay"},
		"sort=expiry": {
			"Seals of the bay", "Tide tables", "Being prepared", "A draft that was not wanted", "Notes of the first meeting",
		},
	} {
		if got := titles(text(t, signedIn(h, "GET", "/artifacts?"+query, nil))); !slices.Equal(got, want) {
			t.Errorf("%s found %q, expected %q", query, got, want)
		}
	}
}

func TestASearchSaysThatItLookedAtTheNewestOnly(t *testing.T) {
	const limited = "among the newest 5; the workspace has more, and older ones are not searched"
	expect.Lacks(t, "a small workspace", page(t, "/artifacts?q=tide"), "newest 5")
	expect.Has(t, "a large one", page(t, "/artifacts?q=tide", crowd), limited)
}

func TestAskingForNothingListsAllWithTheirCounts(t *testing.T) {
	s := newServices()
	for _, query := range []string{"", "?q=&state=&kind=&sort=", "?sort=sideways&state=gone"} {
		s.calls = nil
		body := html.UnescapeString(text(t, signedIn(s.handler(), "GET", "/artifacts"+query, nil)))
		if !strings.Contains(body, "10,000+ in all: 1,234+ can be viewed, and 2 of those") ||
			slices.Contains(s.calls, "Newest") {
			t.Errorf("%q is a search: %v", query, s.calls)
		}
	}
	s.calls = nil
	signedIn(s.handler(), "GET", "/artifacts?after=here", nil)
	if slices.Contains(s.calls, "Count") {
		t.Error("a further page counts again")
	}
}

func TestBoxesAreCheckedForAllOnAPage(t *testing.T) {
	body := page(t, "/artifacts?q=t&choose=all")
	if checked := strings.Count(body, " checked "); checked == 0 || checked != strings.Count(body, `type="checkbox"`) {
		t.Error("not all are checked")
	}
	expect.Lacks(t, "what has ended", body, `Choose Notes of the first meeting`)
}

func TestSeveralArtifactsAreChangedEachByItsOwnCommand(t *testing.T) {
	for do, operation := range map[string]idempotency.Operation{
		"pin": idempotency.PinArtifact, "unpin": idempotency.UnpinArtifact, "delete": idempotency.DeleteArtifact,
	} {
		s := newServices()
		fields := url.Values{"do": {do}, "once": {formName}, chosenField + artifactID: {"on"}}
		for _, other := range []string{"A", "B"} {
			fields.Set(chosenField+string(otherArtifact(other)), "on")
		}
		body := text(t, signedIn(s.handler(), "POST", selectionPath, fields))
		var targets []string
		for _, c := range s.commands {
			if c.Key.Operation != operation || c.Key.Client != formName {
				t.Errorf("%s: command %+v", do, c.Key)
			}
			targets = append(targets, c.Key.Target)
		}
		slices.Sort(targets)
		if len(slices.Compact(targets)) != 3 || len(titles(body)) != 3 || strings.Contains(body, "Not changed") {
			t.Errorf("%s changed %v and said %s", do, targets, body)
		}
	}
}

func TestTheAnswerSaysWhichArtifactsWereNotChanged(t *testing.T) {
	for err, want := range map[error]string{
		fault.NewCode(fault.PinnedArtifactCap):   "Unpin another one first",
		fault.NewCode(fault.ArtifactNotFound):    "deleted meanwhile",
		fault.NewCode(fault.DatabaseUnavailable): "try again",
	} {
		s := newServices()
		s.artifacts.PinFn = func() error { return err }
		body := text(t, s.post(selectionPath, forms[selectionPath].fields))
		expect.Has(t, err.Error(), body, "Some of it was not done", want)
	}
}

func TestASelectionThatIsNoneIsRefused(t *testing.T) {
	s := newServices()
	h := s.handler()
	for query, status := range map[string]int{
		"do=pin&artifact=" + artifactID:     200,
		"do=pin":                            400,
		"do=paint&artifact=" + artifactID:   400,
		"do=pin&artifact=x":                 400,
		"do=pin&artifact=" + strangeID:      400,
		"do=delete&artifact=" + artifactID:  200,
		strings.Repeat("artifact=art_&", 9): 400,
	} {
		wantAnswer(t, query, signedIn(h, "GET", selectionPath+"?"+query, nil), status)
	}
	ended(s)
	wantAnswer(t, "one that has ended", signedIn(h, "GET", selectionPath+"?do=pin&artifact="+artifactID, nil), 400)
	s = newServices()
	s.actor.Scopes = s.actor.Scopes[1:2] // read alone
	for do, status := range map[string]int{"pin": 200, "delete": 403} {
		wantAnswer(t, do+" by a reader", signedIn(s.handler(), "GET", selectionPath+"?do="+do+"&artifact="+artifactID, nil), status)
	}
}

func TestTheOverviewTellsOfNewAccess(t *testing.T) {
	expect.Has(t, "the overview", html.UnescapeString(page(t, "/dashboard")), "New access since",
		"You made the API key", "An agent from claude.example got access", "1,234+", "10,000+", "of 100")
	expect.Lacks(t, "a member without the right to read the record", page(t, "/dashboard", reader), "New access")
}

func TestANewKeyExpiresAsItIsAsked(t *testing.T) {
	h := newServices().handler()
	for days, status := range map[string]int{"": 200, "7": 200, "365": 200, "8": 400, "-1": 400, "never": 400} {
		fields := url.Values{"name": {"Build"}, "once": {formName}, "expires": {days}}
		wantAnswer(t, "after "+days+" days", signedIn(h, "POST", "/keys", fields), status)
	}
}
