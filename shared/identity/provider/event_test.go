package provider

import (
	"crypto/sha256"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

func TestWhatAnEventSaysIsReadBack(t *testing.T) {
	e := newEnv(t)
	token := e.key.sign(t, contract.EventType, eventClaims(), nil)
	got, err := e.Event(t.Context(), token)
	want := Event{
		Issuer:   issuer,
		Subject:  "person-1",
		Audience: audience,
		ID:       "event-1",
		KeyID:    "ec",
		Digest:   sha256.Sum256([]byte(token)),
		Revoked:  true,
		IssuedAt: at,
		Expires:  at.Add(24 * time.Hour),
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, the event (-want +got):\n%s", err, diff)
	}
}

func TestAnEventRevokesUnderEachOfItsNames(t *testing.T) {
	e := newEnv(t)
	for name, revoked := range map[string]bool{
		contract.EventRevoked:         true,
		contract.EventRevokedAlias:    true,
		contract.EventRevokedOldAlias: true,
		"https://schemas.openid.net/secevent/ssf/event-type/verification": false,
	} {
		claims := eventClaims().with(members{"events": members{name: members{}, "urn:other": members{}}})
		got, err := e.Event(t.Context(), e.key.sign(t, contract.EventType, claims, nil))
		if err != nil || got.Revoked != revoked {
			t.Errorf("%s: %v %v", name, got.Revoked, err)
		}
	}
}

func TestT73AnEventThatDoesNotHoldIsRefused(t *testing.T) {
	after := func(d time.Duration) int64 { return at.Add(d).Unix() }
	unknown := members{"urn:other": members{}}
	person := func(change members) members {
		return members{"sub_id": members{"format": "iss_sub", "iss": issuer, "sub": "person-1"}.with(change)}
	}
	both := []string{audience, "https://other.example"}
	request := fault.OAuthInvalidRequest
	e := newEnv(t)
	for name, row := range map[string]refused{
		"as it is":                {nil, nil, ""},
		"another type":            {nil, members{"typ": "JWT"}, request},
		"no type":                 {nil, members{"typ": absent{}}, request},
		"no events":               {members{"events": absent{}}, nil, request},
		"events in an array":      {members{"events": []string{contract.EventRevoked}}, nil, request},
		"no id":                   {members{"jti": absent{}}, nil, request},
		"another issuer":          {members{"iss": "https://evil.example"}, nil, fault.OAuthInvalidIssuer},
		"an alias":                {members{"iss": alias}, nil, ""},
		"an unknown key":          {nil, members{"kid": "other"}, fault.OAuthInvalidKey},
		"no key":                  {nil, members{"kid": absent{}}, fault.OAuthInvalidKey},
		"another algorithm":       {nil, members{"alg": "none"}, fault.OAuthInvalidKey},
		"HS256":                   {nil, members{"alg": "HS256"}, fault.OAuthInvalidKey},
		"another audience":        {members{"aud": "https://other.example"}, nil, fault.OAuthInvalidAudience},
		"two audiences":           {members{"aud": both}, nil, fault.OAuthInvalidAudience},
		"no audience":             {members{"aud": absent{}}, nil, fault.OAuthInvalidAudience},
		"no time":                 {members{"iat": absent{}}, nil, request},
		"of the future":           {members{"iat": after(121 * time.Second)}, nil, request},
		"a day old":               {members{"iat": after(-24*time.Hour - time.Minute)}, nil, ""},
		"older":                   {members{"iat": after(-24*time.Hour - 2*time.Minute)}, nil, request},
		"over":                    {members{"exp": after(-2 * time.Minute)}, nil, request},
		"for a year":              {members{"exp": after(365 * 24 * time.Hour)}, nil, ""},
		"an end that is a text":   {members{"exp": "never"}, nil, request},
		"about sub":               {members{"sub_id": absent{}, "sub": "person-1"}, nil, ""},
		"about both":              {members{"sub": "person-1"}, nil, ""},
		"about two":               {members{"sub": "person-2"}, nil, request},
		"about none":              {members{"sub_id": absent{}}, nil, request},
		"about no text":           {members{"sub_id": absent{}, "sub": 1}, nil, request},
		"about another's person":  {person(members{"iss": "https://other.example"}), nil, request},
		"about an alias's person": {person(members{"iss": alias}), nil, ""},
		"about an address":        {members{"sub_id": members{"format": "email", "email": "kim@example.com"}}, nil, request},
		"about no person":         {person(members{"sub": ""}), nil, request},
		"of an unknown kind":      {members{"events": unknown}, nil, ""},
		"of it, about none":       {members{"events": unknown, "sub_id": absent{}}, nil, ""},
		"of it, opaque":           {members{"events": unknown, "sub_id": members{"format": "opaque", "id": "x"}}, nil, ""},
		"of it, another's person": {person(members{"iss": "https://x"}).with(members{"events": unknown}), nil, request},
		"of it, malformed":        {members{"events": unknown, "sub_id": "x"}, nil, request},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := e.Event(t.Context(), e.key.sign(t, contract.EventType, eventClaims().with(row.claims), row.header))
			wantCode(t, err, row.code)
			if err != nil && !cmp.Equal(got, Event{}) {
				t.Errorf("a refusal comes with %+v", got)
			}
		})
	}
	_, err := e.Event(t.Context(), newEC(t, e.key.kid).sign(t, contract.EventType, eventClaims(), nil))
	wantCode(t, err, fault.OAuthAuthenticationFailed)
	_, err = e.Event(t.Context(), e.assertion(t, nil))
	wantCode(t, err, request)
}

func TestAnEventIsRememberedAsLongAsItMayCome(t *testing.T) {
	e := newEnv(t)
	for name, row := range map[string]struct {
		change members
		want   time.Time
	}{
		"without an end":  {nil, at.Add(24 * time.Hour)},
		"with a near end": {members{"exp": at.Add(time.Hour).Unix()}, at.Add(time.Hour)},
		"with a far end":  {members{"exp": at.Add(48 * time.Hour).Unix()}, at.Add(24 * time.Hour)},
	} {
		got, err := e.Event(t.Context(), e.key.sign(t, contract.EventType, eventClaims().with(row.change), nil))
		if err != nil || !got.Expires.Equal(row.want) {
			t.Errorf("%s: until %s, %v", name, got.Expires, err)
		}
	}
}
