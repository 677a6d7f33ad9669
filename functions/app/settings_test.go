package app

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/limits"
)

func TestTheSettingsOfAWorkspaceAreChanged(t *testing.T) {
	s := newServices()
	h := s.handler()
	body := text(t, signedIn(h, "GET", "/settings", nil))
	expect.Has(t, "the form", body,
		`<form class="form" method="post" action="/settings">`, `name="name" value="Harbour Survey"`, `type="number" value="3" required min="1" max="7"`)
	fields := url.Values{"name": {"  Bay Survey "}, "days": {"5"}, "once": {onceOf(t, body)}}
	signedIn(h, "POST", "/settings", fields)
	body = text(t, signedIn(h, "GET", "/settings", nil))
	expect.Has(t, "what is stored", body, `name="name" value="Bay Survey"`, `value="5" required`)
	if onceOf(t, body) == fields.Get("once") {
		t.Error("the next form has the same name")
	}
	fields.Set("days", "6")
	if signedIn(h, "POST", "/settings", fields); s.commands[1].Fingerprint == s.commands[0].Fingerprint {
		t.Error("another number of days is the same command")
	}
}

func TestBadSettingsAreExplained(t *testing.T) {
	long := strings.Repeat("ä", limits.WorkspaceNameRunes+1)
	for _, tt := range []struct{ name, days, field, want string }{
		{" ", "5", "name", "give it a name of 1 to 120 characters"}, {long, "7", "name", "give it a name of 1 to 120 characters"},
		{"Bay", "8", "days", "choose 1 to 7 days"}, {"Bay", "0", "days", "choose 1 to 7 days"}, {"Bay", "", "days", "choose 1 to 7 days"},
		{"Bay", "five", "days", "choose 1 to 7 days"}, {"Bay", "99999999999999999999", "days", "choose 1 to 7 days"}, {"Bay", "2.5", "days", "choose 1 to 7 days"},
	} {
		s := newServices()
		r := signedIn(s.handler(), "POST", "/settings",
			url.Values{"name": {tt.name}, "days": {tt.days}, "once": {"page-0123456789"}})
		body := text(t, r)
		_, field, _ := strings.Cut(body, `<input id="`+tt.field+`"`)
		field, _, _ = strings.Cut(field, ">")
		if r.StatusCode != 400 || !strings.Contains(body, "Nothing was changed: "+tt.want) ||
			strings.Count(body, "aria-invalid") != 1 || !strings.Contains(field, "aria-invalid") {
			t.Errorf("%q for %q days: %d\n%s", tt.name, tt.days, r.StatusCode, body)
		}
		if !strings.Contains(body, `value="`+tt.name+`"`) || !strings.Contains(body, `value="`+tt.days+`" required min`) ||
			onceOf(t, body) == "page-0123456789" || len(s.changes) > 0 {
			t.Errorf("%q for %q days: what was typed is lost, or done: %v\n%s", tt.name, tt.days, s.calls, body)
		}
	}
}

// mayLast is a workspace whose artifacts need not expire.
func mayLast(s *fakeServices) {
	s.actor.Policy.MaxLife = limits.Forever
	s.numbers.Tiers[limits.Free] = s.actor.Policy
}

func TestArtifactsNeedNotExpireWhereTheTierAllowsIt(t *testing.T) {
	s := newServices()
	mayLast(s)
	h := s.handler()
	body := text(t, signedIn(h, "GET", "/settings", nil))
	expect.Has(t, "the form", body, `type="number" value="3" min="1" autocomplete`, `type="checkbox" value="yes" aria`,
		"or not at all", "<dd>3 days, or forever</dd>")
	post := func(days, forever string) string {
		fields := url.Values{"name": {"Bay"}, "days": {days}, "forever": {forever}, "once": {onceOf(t, body)}}
		text(t, signedIn(h, "POST", "/settings", fields))
		return text(t, signedIn(h, "GET", "/settings", nil))
	}
	expect.Has(t, "forever", post("3", "yes"), `type="number" value="" min="1"`, `type="checkbox" value="yes" checked`,
		"<dd>forever</dd>")
	if got := s.actor.Workspace.AutoDays; got != limits.ForeverDays {
		t.Errorf("stored %d days, want %d", got, limits.ForeverDays)
	}
	expect.Has(t, "a year", post("365", ""), `type="number" value="365" min="1"`, "<dd>365 days, or forever</dd>")
	r := signedIn(h, "POST", "/settings", url.Values{"name": {"Bay"}, "days": {""}, "once": {"page-0123456789"}})
	wantAnswer(t, "neither", r, 400, "give a number of days, or choose that artifacts do not expire")
	s = newServices()
	r = signedIn(s.handler(), "POST", "/settings",
		url.Values{"name": {"Bay"}, "days": {"3"}, "forever": {"yes"}, "once": {"page-0123456789"}})
	wantAnswer(t, "forever where it is not allowed", r, 400, "choose 1 to 7 days")
}

func TestOnlyManagersSeeTheFormAndTheRecord(t *testing.T) {
	expect.Lacks(t, "a reader's page", page(t, "/settings", reader), `action="/settings"`)
	s := newServices()
	reader(s)
	if r := signedIn(s.handler(), "GET", "/audit", nil); r.StatusCode != 403 || slices.Contains(s.calls, "Audit ") {
		t.Errorf("the record: %d, reached %v", r.StatusCode, s.calls)
	}
}

func TestTheRecordIsToldInWords(t *testing.T) {
	s := newServices()
	s.more = true
	h := s.handler()
	body := text(t, signedIn(h, "GET", "/audit?after=here", nil))
	expect.Has(t, "the page", body,
		`href="/audit?after=next%2Bcursor"`, `<a class="button quiet" href="/audit">Newest</a>`, `aria-current="page">Audit log</a>`, "kept for 90 days",
		`<p>You renamed an artifact to <a href="`+artifactPage+`">“<bdi>`+s.title+"</bdi>”</a></p>",
		`The API key “<bdi>`+s.title+`</bdi>” published <a href="`+artifactPage+`">“<bdi>Tides: high and low</bdi>”</a>, revision 3`,
		"A member changed the settings: name is now", "did: <code><bdi>something.newer", "An agent from claude.example got access",
		`<dd>artifact <a href="`+artifactPage+`">`, "<dd>workspace <code>", "<dd>something <code><bdi>new", "request-17",
		"14 March 2026, 12:00 UTC",
	)
	if !slices.Contains(s.calls, "Audit here") {
		t.Errorf("calls %v", s.calls)
	}
	wantRedirect(t, "a cursor of yesterday", signedIn(h, "GET", "/audit?after=gone", nil), "/audit")
	for words, more := range map[string]bool{"There may be older entries.": true, "There are no more.": false} {
		s.empty, s.more = true, more
		if body := text(t, signedIn(h, "GET", "/audit?after=here", nil)); !strings.Contains(body, words) ||
			strings.Contains(body, ">Older</a>") != more {
			t.Errorf("an empty page lacks %q:\n%s", words, body)
		}
	}
}

func TestAnotherSessionIsListed(t *testing.T) {
	const end = `/settings/sessions/0700000000000000/end"`
	body := page(t, "/settings")
	expect.Has(t, "the page", body, "This one", newServices().device, `action="`+end, "End this one")
	if strings.Count(body, "/end\"") != 1 {
		t.Error("this session is listed twice")
	}
}
