package provider

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const audience = "http://localhost:2"

// set reads the keys that an issuer publishes; the first issuer is at "".
func (e *env) set(t testing.TB, issuer string) (set jose.JSONWebKeySet) {
	t.Helper()
	response, body := e.get(t, issuer+"/.well-known/jwks.json", nil)
	if err := json.Unmarshal([]byte(body), &set); err != nil || response.StatusCode != http.StatusOK {
		t.Fatal(response.Status, body, err)
	}
	return set
}

// checked returns the type and the claims of a token that the published keys verify.
func checked(token string, set jose.JSONWebKeySet) (string, map[string]any, error) {
	jws, err := jose.ParseSignedCompact(strings.TrimSpace(token), []jose.SignatureAlgorithm{jose.RS256, jose.ES256})
	if err != nil {
		return "", nil, err
	}
	payload, err := jws.Verify(set)
	if err != nil {
		return "", nil, err
	}
	var claims map[string]any
	typ, _ := jws.Signatures[0].Header.ExtraHeaders["typ"].(string)
	return typ, claims, json.Unmarshal(payload, &claims)
}

func TestAnAssertionSaysWhoTheUserIs(t *testing.T) {
	s := newEnv(t, "")
	for _, c := range []struct{ issuer, client, algorithm string }{
		{"", "agents", "ES256"}, {"", "agents", "RS256"}, {"", "agents", ""},
		{"/second", "other-agents", "ES256"}, {"/second", "other-agents", ""},
	} {
		response, token := s.get(t, c.issuer+"/assertion", url.Values{
			"email":     {"Ada@example.org"},
			"alg":       {c.algorithm},
			"signed_in": {"30m"},
		})
		typ, claims, err := checked(token, s.set(t, c.issuer))
		if err != nil || response.StatusCode != http.StatusOK || typ != "oauth-id-jag+jwt" {
			t.Fatalf("%v: %s %s %v", c, response.Status, token, err)
		}
		now := float64(s.at.Unix())
		if claims["iss"] != s.url+c.issuer || claims["aud"] != audience || claims["client_id"] != c.client ||
			claims["email"] != "Ada@example.org" || claims["email_verified"] != true || claims["jti"] == nil ||
			claims["sub"] != (Person{Email: "ada@example.org"}).subject() || claims["iat"] != now ||
			claims["exp"] != now+assertionLife.Seconds() || claims["auth_time"] != now-1800 ||
			claims["scope"] != "read publish" {
			t.Errorf("%v: claims %v", c, claims)
		}
	}
}

func TestAnEventNamesItsSubject(t *testing.T) {
	s := newEnv(t, "")
	for _, issuer := range []string{"", "/second"} {
		_, token := s.get(t, issuer+"/event", url.Values{"sub": {"person-1"}, "jti": {"j"}})
		typ, claims, err := checked(token, s.set(t, issuer))
		if err != nil || typ != "secevent+jwt" {
			t.Fatal(token, err)
		}
		subject, _ := claims["sub_id"].(map[string]any)
		events, _ := claims["events"].(map[string]any)
		if claims["iss"] != s.url+issuer || claims["aud"] != audience || claims["jti"] != "j" || claims["exp"] != nil ||
			subject["format"] != "iss_sub" || subject["iss"] != s.url+issuer || subject["sub"] != "person-1" ||
			events[RevokedEvent] == nil || len(events) != 1 {
			t.Errorf("claims %v", claims)
		}
	}
}

// verifiable are the defects of signed parts that a verifier with the published keys does not see.
func verifiable(h Hostile) bool {
	return !slices.Contains([]Hostile{
		AlgNone, PublicSigned, UnknownKey, OtherKey, OwnKey,
	}, h)
}

// TestWhatIsHostileIsWrongInOneRespect compares each hostile token with an honest one: its signature verifies, or it is
// the signature that is wrong.
func TestWhatIsHostileIsWrongInOneRespect(t *testing.T) {
	s := newEnv(t, "")
	set := s.set(t, "")
	for _, kind := range []struct {
		path string
		all  defects
	}{{"/assertion", assertionDefects}, {"/event", eventDefects}} {
		ask := url.Values{"email": {"ada@example.org"}, "jti": {"j"}}
		_, honest := s.get(t, kind.path, ask)
		seen := map[string]Hostile{decoded(honest): Honest}
		for _, h := range kind.all.names() {
			ask.Set("hostile", string(h))
			response, token := s.get(t, kind.path, ask)
			if response.StatusCode != http.StatusOK || strings.Count(token, ".") != 2 {
				t.Errorf("%s: %s %s", h, response.Status, token)
			}
			if _, _, err := checked(token, set); (err == nil) != verifiable(h) {
				t.Errorf("%s %s: the signature is checked with %v", kind.path, h, err)
			}
			text := decoded(token)
			if other, ok := seen[text]; ok && h != OtherKey {
				t.Errorf("%s %s is no different from %q", kind.path, h, other)
			}
			seen[text] = h
		}
	}
}

// decoded is the header and the claims of a token as text.
func decoded(token string) string {
	var out []string
	for _, part := range strings.Split(token, ".")[:2] {
		text, _ := base64.RawURLEncoding.DecodeString(part)
		out = append(out, string(text))
	}
	return strings.Join(out, ".")
}

func TestKeysRollOverWithAndWithoutAGap(t *testing.T) {
	s := newEnv(t, "")
	for _, issuer := range []*Issuer{s.First, s.Second} {
		path := strings.TrimPrefix(issuer.URL, s.url)
		rotate := func(query url.Values) {
			t.Helper()
			if response, body := s.post(t, path+"/rotate?"+query.Encode(), nil); response.StatusCode != http.StatusOK {
				t.Fatal(response.Status, body)
			}
		}
		assert := func() string {
			t.Helper()
			_, token := s.get(t, path+"/assertion", url.Values{"email": {"ada@example.org"}})
			return token
		}
		old, before := assert(), s.set(t, path)
		rotate(nil)
		after := s.set(t, path)
		if _, _, err := checked(old, after); err != nil || len(after.Keys) != 2*len(before.Keys) {
			t.Errorf("%d keys are published and what was signed before is checked with %v", len(after.Keys), err)
		}
		if _, _, err := checked(assert(), before); err == nil {
			t.Error("the old keys still sign")
		}
		rotate(nil)
		if n := len(s.set(t, path).Keys); n != 2*len(before.Keys) {
			t.Errorf("%d keys are published after another change", n)
		}
		rotate(url.Values{"announce": {"1"}})
		announced := s.set(t, path)
		if _, _, err := checked(assert(), s.set(t, path)); err != nil || len(announced.Keys) != 3*len(before.Keys) {
			t.Errorf("%d keys are published once others are announced (%v)", len(announced.Keys), err)
		}
		rotate(nil)
		if _, _, err := checked(assert(), announced); err != nil {
			t.Error("the announced keys do not sign:", err)
		}
		rotate(url.Values{"drop": {"1"}})
		if n := len(s.set(t, path).Keys); n != len(before.Keys) {
			t.Errorf("%d keys are published after they were dropped", n)
		}
	}
}

func TestTheIssuersKeepTheirKeysApart(t *testing.T) {
	data := t.TempDir()
	s := newEnv(t, data)
	_, first := s.get(t, "/assertion", url.Values{"email": {"ada@example.org"}})
	_, second := s.get(t, "/second/assertion", url.Values{"email": {"ada@example.org"}})
	again := newEnv(t, data)
	for _, c := range []struct {
		token, issuer string
		fine          bool
	}{{first, "", true}, {second, "/second", true}, {first, "/second", false}, {second, "", false}} {
		if _, _, err := checked(c.token, again.set(t, c.issuer)); (err == nil) != c.fine {
			t.Errorf("the keys at %q, after a restart: %v", c.issuer, err)
		}
	}
	list := again.TrustList()
	if len(list) != 2 || list[0].Issuer != again.url || list[1].Issuer != again.url+"/second" ||
		list[0].ClientIDs[0] == list[1].ClientIDs[0] {
		t.Errorf("the trust list is %v", list)
	}
	if again.Asked("/second/.well-known/jwks.json") != 2 {
		t.Errorf("the keys were asked for %d times", again.Asked("/second/.well-known/jwks.json"))
	}
}

func TestARequestThatSaysTooLittleIsRefused(t *testing.T) {
	s := newEnv(t, "")
	for _, c := range []struct {
		path string
		q    url.Values
	}{
		{"/assertion", nil},
		{"/assertion", url.Values{"email": {"ada"}}},
		{"/assertion", url.Values{"email": {"a@b"}, "hostile": {"odd"}}},
		{"/assertion", url.Values{"email": {"a@b"}, "hostile": {"unknown_event"}}},
		{"/assertion", url.Values{"email": {"a@b"}, "alg": {"HS256"}}},
		{"/assertion", url.Values{"email": {"a@b"}, "signed_in": {"yesterday"}}},
		{"/second/assertion", url.Values{"email": {"a@b"}, "alg": {"RS256"}}},
		{"/event", nil},
		{"/event", url.Values{"email": {"a@b"}, "hostile": {"long_life"}}},
	} {
		if response, body := s.get(t, c.path, c.q); response.StatusCode != http.StatusBadRequest {
			t.Errorf("%s %v: %s %s", c.path, c.q, response.Status, body)
		}
	}
	alone, err := Open(Options{
		Issuer: s.url,
		Now:    time.Now,
		Client: Client{ID: "x", Secret: "y", Callbacks: []string{callback}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := alone.First.Assertion(Assertion{Person: Person{Email: "a@b"}}); err == nil {
		t.Error("an assertion is for no service")
	}
}
