package app

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

// steward answers in place of what keeps settings; the rules are those of the core.
type steward struct{ *house }

func (s steward) Settings(by credential.Actor) (contract.Settings, error) {
	return (&account.Service{}).Settings(by)
}

func (s steward) UpdateSettings(
	ctx context.Context, by credential.Actor, c idempotency.Command, r *idempotency.Record, asked contract.UpdateSettings,
) (contract.Settings, error) {
	s.commands = append(s.commands, c)
	core := account.Service{Workspaces: settingsStore{house: s.house}, Now: func() time.Time { return noon }}
	return core.UpdateSettings(ctx, by, c, r, asked)
}

// settingsStore keeps settings in the house.
type settingsStore struct {
	account.Workspaces
	*house
}

// UpdateSettings changes the house for those who look again.
func (s settingsStore) UpdateSettings(ctx context.Context, f account.SettingsUpdate) error {
	if err := s.called(ctx, "Furnish "+f.Name); err != nil {
		return err
	}
	s.name, s.days = f.Name, f.AutoDays
	return nil
}

// auditor answers in place of the record.
type auditor struct{ *house }

func (a auditor) Story(
	ctx context.Context, _ credential.Actor, p account.Page,
) ([]event.Event, string, error) {
	if err := a.called(ctx, "Audit "+p.Cursor); err != nil || a.empty {
		return nil, a.nextPage(), err
	}
	if p.Cursor == "stale" {
		return nil, "", fault.NewCode(fault.InvalidCursor)
	}
	row := func(action event.Action, by event.Actor, kind, target, detail string) event.Event {
		return event.Event{
			At:        noon,
			Action:    action,
			Actor:     by,
			Target:    event.Target{Type: kind, ID: target},
			Detail:    detail,
			RequestID: "request-17",
		}
	}
	published := row(event.ArtifactPublished, event.ByKey(keyID), event.OnRevision, oldID, "Tides: high and low")
	published.Artifact, published.Number = artifactID, 3
	return []event.Event{
		row(event.ArtifactRenamed, event.ByMember(memberID), event.OnArtifact, artifactID, a.title),
		published,
		row(event.SettingsUpdated, event.ByMember("mem_01J8Z0T7Q1W2E3R4T5Y6V7X8ZA"), event.OnWorkspace, string(homeID),
			"name is now \"Harbour\""),
		row("something.newer", event.ByKey("key_01J8Z0T7Q1W2E3R4T5Y6V7X8ZB"), "something", "new", ""),
		row(event.DelegationCreated, event.BySystem(), event.OnDelegation, "d", "claude.example"),
		row(event.KeyCreated, event.ByMember(memberID), event.OnKey, keyID, a.title),
	}, "next+cursor", nil
}

func (a auditor) nextPage() string {
	if !a.more {
		return ""
	}
	return "next+cursor"
}

func TestTheSettingsOfAWorkspaceAreChanged(t *testing.T) {
	s := newHouse()
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
		s := newHouse()
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
			onceOf(t, body) == "page-0123456789" || len(did(s)) > 0 {
			t.Errorf("%q for %q days: what was typed is lost, or done: %v\n%s", tt.name, tt.days, s.calls, body)
		}
	}
}

func TestOnlyManagersSeeTheFormAndTheRecord(t *testing.T) {
	expect.Lacks(t, "a reader's page", page(t, "/settings", reader), `action="/settings"`)
	s := newHouse()
	reader(s)
	if r := signedIn(s.handler(), "GET", "/audit", nil); r.StatusCode != 403 || slices.Contains(s.calls, "Audit ") {
		t.Errorf("the record: %d, reached %v", r.StatusCode, s.calls)
	}
}

func TestTheRecordIsToldInWords(t *testing.T) {
	s := newHouse()
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
	wantRedirect(t, "a cursor of yesterday", signedIn(h, "GET", "/audit?after=stale", nil), "/audit")
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
	expect.Has(t, "the page", body, "This one", newHouse().device, `action="`+end, "End this one")
	if strings.Count(body, "/end\"") != 1 {
		t.Error("this session is listed twice")
	}
}
