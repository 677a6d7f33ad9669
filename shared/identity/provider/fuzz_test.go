package provider

import (
	"errors"
	"strings"
	"testing"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

// FuzzToken takes tokens apart. Only a text that the provider signed is taken, in its one spelling.
func FuzzToken(f *testing.F) {
	e := newEnv(f)
	good := e.assertion(f, nil)
	f.Add(good)
	f.Add(e.key.sign(f, contract.EventType, eventClaims(), nil))
	f.Add(strings.Replace(good, ".", "..", 1))
	f.Add(encode([]byte(`{"typ":"oauth-id-jag+jwt","alg":"none"}`)) + "." + encode([]byte(`{"iss":"`+issuer+`"}`)) + ".")
	f.Fuzz(func(t *testing.T, token string) {
		_, err := e.Assertion(t.Context(), token)
		if _, refused := errors.AsType[*fault.OAuthError](err); !refused && token != good {
			t.Errorf("%v for %q", err, token)
		}
		got, err := e.Event(t.Context(), token)
		if _, refused := errors.AsType[*fault.OAuthError](err); !refused && (err != nil || got.Subject != "person-1") {
			t.Errorf("%+v %v for %q", got, err, token)
		}
	})
}

// FuzzSigned signs headers and payloads of any content with the right key. What is taken has all that its users rely
// on.
func FuzzSigned(f *testing.F) {
	e := newEnv(f)
	head := members{"alg": "ES256", "kid": e.key.kid, "typ": contract.AssertionType}
	f.Add(head.json(f), assertionClaims().json(f))
	f.Add(head.with(members{"typ": contract.EventType}).json(f), eventClaims().json(f))
	f.Add(head.json(f), assertionClaims().with(members{"aud": []string{audience}, "scope": "read", "nbf": 1}).json(f))
	f.Fuzz(func(t *testing.T, header, payload string) {
		token := e.key.signRaw(t, header, payload)
		if id, err := e.Assertion(t.Context(), token); err == nil {
			if id.Subject == "" || id.ID == "" || id.Email == "" || len(id.Scopes) == 0 || !id.Expires.After(at.Add(-2*60e9)) {
				t.Errorf("%+v was accepted incomplete", id)
			}
		}
		if event, err := e.Event(t.Context(), token); err == nil && (event.ID == "" || event.Revoked && event.Subject == "") {
			t.Errorf("%+v was accepted incomplete", event)
		}
	})
}

// FuzzKeys reads key sets of any content.
func FuzzKeys(f *testing.F) {
	keys := signingKeys()
	f.Add(publish(f, keys["ES256"], keys["RS256"], keys["EdDSA"], keys["ES384"], keys["weak"]))
	f.Add([]byte(`{"keys":[{"kty":"oct","k":"AAAA","kid":"a"},{"kty":"EC","crv":"P-256","x":"AA","y":"AA","kid":"b"}]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		set, err := parseKeys(body)
		for kid, keys := range set {
			for _, k := range keys {
				if err != nil || kid == "" || familyOf(k.key) == "" {
					t.Errorf("%q is %+v, %v", kid, k, err)
				}
			}
		}
	})
}
