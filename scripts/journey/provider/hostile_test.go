package provider

import (
	"net/http"
	"slices"
	"testing"

	"vitrine/scripts/journey/harness"
	idp "vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/wire"
)

// The defects that get a code: those of T12 to T19 and T36, and those of T73.
var (
	refusedAssertions = map[string][]idp.Hostile{
		"invalid_signature":      {idp.AlgNone, idp.PublicSigned, idp.UnknownKey, idp.OtherKey, idp.OwnKey},
		"invalid_issuer":         {idp.WrongIssuer, idp.OwnIssuer},
		"invalid_audience":       {idp.WrongAudience, idp.TwoAudiences},
		"invalid_request":        {idp.WrongType, idp.LongLife, idp.WrongScope},
		"expired":                {idp.Expired},
		"login_required":         {idp.OldLogin},
		"invalid_client_id":      {idp.WrongClient},
		"missing_verified_email": {idp.Unverified},
	}
	refusedEvents = map[string][]idp.Hostile{
		"invalid_key":           {idp.AlgNone, idp.PublicSigned, idp.UnknownKey},
		"authentication_failed": {idp.OtherKey, idp.OwnKey},
		"invalid_issuer":        {idp.WrongIssuer, idp.OwnIssuer},
		"invalid_audience":      {idp.WrongAudience, idp.TwoAudiences},
		"invalid_request":       {idp.WrongType, idp.FromFuture, idp.ForeignSubject},
		"":                      {idp.UnknownEvent}, // which is no fault of the provider
	}
)

// TestT73EachHostileAssertionAndEventIsRefusedAndChangesNothing sends each assertion for a person who is let in and for
// one who is not known: the answer is the same.
func TestT73EachHostileAssertionAndEventIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	token := exchanged(t, p.Env, p.Vouched(t, p.Identity.First, "ada@example.org"))
	before := p.Snapshot(t)
	wantAll(t, idp.AssertionDefects(), refusedAssertions, func(h idp.Hostile, code string) {
		status := http.StatusBadRequest
		if code == "login_required" {
			status = http.StatusUnauthorized
		}
		answers := map[string]string{}
		for _, who := range []string{"ada@example.org", "stranger@example.org"} {
			a := harness.Must(p.Present(harness.Must(p.Identity.First.Assertion(idp.Assertion{
				Person:  person(who, ""),
				Hostile: h,
			}))(t)))(t)
			wantError(t, string(h), a, status, code)
			answers[string(a.Body)] = who
		}
		if len(answers) != 1 {
			t.Errorf("%s is answered in several ways: %v", h, answers)
		}
	})
	notify := func(h idp.Hostile) wire.Answer {
		return harness.Must(p.Notify(harness.Must(p.Identity.First.Event(idp.Event{
			Person:  person("ada@example.org", ""),
			Hostile: h,
		}))(t)))(t)
	}
	wantAll(t, idp.EventDefects(), refusedEvents, func(h idp.Hostile, code string) {
		if h != idp.UnknownEvent {
			wantError(t, "the event "+string(h), notify(h), http.StatusBadRequest, code)
		}
	})
	p.WantUnchanged(t, before)
	wantError(t, "an event of another kind", notify(idp.UnknownEvent), http.StatusAccepted, "")
	whoami(t, p.Env, token)
	p.Vouched(t, p.Identity.First, "ada@example.org")
}

// wantAll tries all defects, each of which has to be in a row.
func wantAll(t *testing.T, all []idp.Hostile, rows map[string][]idp.Hostile, try func(h idp.Hostile, code string)) {
	t.Helper()
	var tried []idp.Hostile
	for code, defects := range rows {
		for _, h := range defects {
			try(h, code)
		}
		tried = append(tried, defects...)
	}
	if slices.Sort(tried); !slices.Equal(tried, all) {
		t.Errorf("tried are %v, of %v", tried, all)
	}
}
