package provider

import (
	"net/http"
	"slices"
	"testing"

	"vitrine/scripts/journey/harness"
	idp "vitrine/scripts/testkit/idp/provider"
)

// refusedAs is a row of the table of threats, a code and the defects that get it.
type refusedAs struct {
	row, code string
	defects   []idp.Hostile
}

var refusedAssertions = []refusedAs{
	{"T12", "invalid_signature", []idp.Hostile{idp.AlgNone, idp.PublicSigned}},
	{"T12, keys", "invalid_signature", []idp.Hostile{
		idp.UnknownKey, idp.OtherKey, idp.PathKey, idp.LongKey, idp.OwnKey, idp.KeyURL, idp.WrongAlgorithm,
	}},
	{"T13", "invalid_issuer", []idp.Hostile{idp.WrongIssuer, idp.IssuerUserInfo, idp.IssuerUpperCase, idp.IssuerSlash}},
	{"T14", "invalid_audience", []idp.Hostile{idp.WrongAudience, idp.TwoAudiences, idp.NoAudience, idp.WrongResource}},
	{"T16", "invalid_request", []idp.Hostile{
		idp.LongLife, idp.FromFuture, idp.FutureLogin, idp.NotYet, idp.Old, idp.NoLogin, idp.TextTime,
	}},
	{"T16, over", "expired", []idp.Hostile{idp.Expired}},
	{"T16, signed in long ago", "login_required", []idp.Hostile{idp.OldLogin}},
	{"T17", "invalid_request", []idp.Hostile{
		idp.WrongType, idp.NoType, idp.IDTokenType, idp.AccessTokenType, idp.EventType,
	}},
	{"T18", "invalid_issuer", []idp.Hostile{idp.OwnIssuer}},
	{"T19", "invalid_client_id", []idp.Hostile{idp.WrongClient}},
	{"T19, address", "missing_verified_email", []idp.Hostile{idp.Unverified, idp.VerifiedText, idp.NoEmail}},
	{"T36", "invalid_request", []idp.Hostile{idp.WrongScope}},
	{"form", "invalid_request", []idp.Hostile{
		idp.Critical, idp.RepeatedHeader, idp.RepeatedClaim, idp.TooLong, idp.NoClient, idp.NoID, idp.NoSubject,
		idp.Confirmation,
	}},
}

// TestEachHostileAssertionIsRefusedAndChangesNothing sends each of them for a person who is let in, for one who is not
// known, and by both algorithms: the answer is the same.
func TestEachHostileAssertionIsRefusedAndChangesNothing(t *testing.T) {
	t.Parallel()
	p := newEnv(t)
	p.Vouched(t, p.Identity.First, "ada@example.org")
	before := p.Snapshot(t)
	var tried []idp.Hostile
	for _, c := range refusedAssertions {
		status := http.StatusBadRequest
		if c.code == "login_required" {
			status = http.StatusUnauthorized
		}
		for _, h := range c.defects {
			answers := map[string]string{}
			for _, who := range []string{"ada@example.org", "stranger@example.org"} {
				for _, algorithm := range []string{"ES256", "RS256"} {
					a := p.Present(t, harness.Must(p.Identity.First.Assertion(idp.Assertion{
						Person:    person(who, ""),
						Algorithm: algorithm,
						Hostile:   h,
					}))(t))
					wantError(t, c.row+" "+string(h), a, status, c.code)
					if a.Header.Get("Cache-Control") != "no-store" {
						t.Errorf("%s: Cache-Control is %q", h, a.Header.Get("Cache-Control"))
					}
					answers[string(a.Body)] = who
				}
			}
			if len(answers) != 1 {
				t.Errorf("%s %s is answered in several ways: %v", c.row, h, answers)
			}
			tried = append(tried, h)
		}
	}
	p.WantUnchanged(t, before)
	for _, h := range idp.AssertionDefects() {
		if !slices.Contains(tried, h) {
			t.Errorf("%s is in no row", h)
		}
	}
	p.Vouched(t, p.Identity.First, "ada@example.org")
}
