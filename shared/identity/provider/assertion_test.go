package provider

import (
	"crypto/hmac"
	"crypto/sha256"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
)

func TestWhatAnAssertionSaysIsReadBack(t *testing.T) {
	e := newEnv(t)
	got, err := e.Assertion(t.Context(), e.assertion(t, members{"scope": "openid read", "iss": alias}))
	want := Identity{
		Issuer:    issuer,
		Name:      "Agents",
		Subject:   "person-1",
		Audience:  audience,
		ClientID:  "agent-host",
		ID:        "id-1",
		KeyID:     "ec",
		Email:     "kim@example.com",
		Scopes:    []credential.Scope{credential.Read},
		AuthTime:  at.Add(-10 * time.Minute),
		IssuedAt:  at,
		Expires:   at.Add(5 * time.Minute),
		Provision: true,
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, the identity (-want +got):\n%s", err, diff)
	}
}

// refused is a change of a good assertion, and the code that it is refused with; empty: it is not.
type refused struct {
	claims, header members
	code           fault.OAuthCode
}

func (e *env) check(t *testing.T, rows map[string]refused) {
	t.Helper()
	for name, row := range rows {
		t.Run(name, func(t *testing.T) {
			token := e.key.sign(t, contract.AssertionType, assertionClaims().with(row.claims), row.header)
			id, err := e.Assertion(t.Context(), token)
			wantCode(t, err, row.code)
			if err != nil && !cmp.Equal(id, Identity{}) {
				t.Errorf("a refusal comes with %+v", id)
			}
		})
	}
}

func TestAnAssertionIsSignedWithAnAlgorithmThatIsAgreed(t *testing.T) {
	keys := signingKeys()
	for alg, key := range keys {
		if alg == "weak" {
			continue
		}
		e := newEnv(t)
		e.body = publish(t, keys["ES256"], keys["ES384"], keys["EdDSA"], keys["RS256"])
		e.key = key
		code := fault.OAuthInvalidSignature
		if alg == "ES256" || alg == "RS256" {
			code = ""
		}
		_, err := e.Assertion(t.Context(), e.assertion(t, nil))
		wantCode(t, err, code)
		e.Providers[0].Algorithms = []string{alg}
		_, err = e.Assertion(t.Context(), e.assertion(t, nil))
		wantCode(t, err, "")
	}
}

func TestT12AnAssertionWithoutAPublicKeysSignatureIsRefused(t *testing.T) {
	e := newEnv(t)
	e.Providers[0].Algorithms = []string{"ES256", "none", "HS256"} // no list that is parsed has these
	good := strings.Split(e.assertion(t, nil), ".")
	other := encode([]byte(assertionClaims().with(members{"sub": "other"}).json(t)))
	head := func(alg string) string {
		return encode([]byte(members{"alg": alg, "kid": e.key.kid, "typ": contract.AssertionType}.json(t)))
	}
	tokens := map[string]string{
		"none":             head("none") + "." + good[1] + ".",
		"none, signed":     head("none") + "." + good[1] + "." + good[2],
		"None":             head("None") + "." + good[1] + ".",
		"no signature":     good[0] + "." + good[1] + ".",
		"zeros":            good[0] + "." + good[1] + "." + encode(make([]byte, 64)),
		"other claims":     good[0] + "." + other + "." + good[2],
		"another's header": head("RS256") + "." + good[1] + "." + good[2],
		"another key":      newEC(t, e.key.kid).sign(t, contract.AssertionType, assertionClaims(), nil),
	}
	for name, secret := range map[string][]byte{"the key set": e.body, "an empty secret": nil} {
		m := hmac.New(sha256.New, secret)
		m.Write([]byte(head("HS256") + "." + good[1]))
		tokens["HS256 with "+name] = head("HS256") + "." + good[1] + "." + encode(m.Sum(nil))
	}
	for name, token := range tokens {
		t.Run(name, func(t *testing.T) {
			_, err := e.Assertion(t.Context(), token)
			wantCode(t, err, fault.OAuthInvalidSignature)
		})
	}
}

func TestT12AKeyThatAHeaderBringsOrNamesIsIgnored(t *testing.T) {
	e := newEnv(t)
	other := newEC(t, "other")
	jwk := members{"kty": "EC", "crv": "P-256", "x": "MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",
		"y": "4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM", "kid": "other"}
	for name, header := range map[string]members{
		"jwk": {"jwk": jwk}, "jku": {"jku": "https://evil.example/keys"}, "x5u": {"x5u": "https://evil.example/chain"},
		"x5t": {"x5t": "abc"},
	} {
		header["kid"] = e.key.kid
		_, err := e.Assertion(t.Context(), other.sign(t, contract.AssertionType, assertionClaims(), header))
		wantCode(t, err, fault.OAuthInvalidSignature)
		_, err = e.Assertion(t.Context(), e.key.sign(t, contract.AssertionType, assertionClaims(), header))
		if err != nil {
			t.Errorf("%s beside the right key: %v", name, err)
		}
	}
	for name, kid := range map[string]any{
		"none":     absent{},
		"empty":    "",
		"a number": 1,
		"unknown":  "x",
		"a path":   "../../x",
		"10 KB":    strings.Repeat("k", 10<<10),
	} {
		t.Run("kid "+name, func(t *testing.T) {
			_, err := e.Assertion(t.Context(), e.key.sign(t, contract.AssertionType, assertionClaims(), members{"kid": kid}))
			wantCode(t, err, fault.OAuthInvalidSignature)
		})
	}
	if len(e.reads) != 1 || e.reads[issuer+"/.well-known/jwks.json"] == 0 {
		t.Errorf("read from %v", e.reads)
	}
	e = newEnv(t)
	for _, kid := range []any{absent{}, "", strings.Repeat("k", 256)} {
		_, err := e.Assertion(t.Context(), e.key.sign(t, contract.AssertionType, assertionClaims(), members{"kid": kid}))
		wantCode(t, err, fault.OAuthInvalidSignature)
	}
	e.wantReads(t, 0)
}

func TestT13AnIssuerIsComparedAsAText(t *testing.T) {
	e := newEnv(t)
	rows := map[string]refused{"an alias": {claims: members{"iss": alias}}}
	for name, iss := range map[string]any{
		"unknown":         "https://evil.example",
		"with a user":     "https://user@agents.example",
		"in upper case":   "https://AGENTS.example",
		"with a slash":    issuer + "/",
		"with a port":     issuer + ":443",
		"by http":         "http://agents.example",
		"with a space":    issuer + " ",
		"an alias, short": strings.TrimSuffix(alias, "/"),
		"empty":           "",
		"in an array":     []string{issuer},
		"null":            nil,
		"none":            absent{},
	} {
		rows[name] = refused{claims: members{"iss": iss}, code: fault.OAuthInvalidIssuer}
	}
	e.check(t, rows)
	if n := e.count(); n != 1 {
		t.Errorf("%d readings, want that of the alias alone", n)
	}
}

func TestT14AnAssertionIsForThisServiceAlone(t *testing.T) {
	rows := map[string]refused{"in an array": {claims: members{"aud": []string{audience}}}}
	for name, aud := range map[string]any{
		"another":          "https://other.example",
		"with a slash":     audience + "/",
		"ours and another": []string{audience, "https://other.example"},
		"ours twice":       []string{audience, audience},
		"an empty array":   []string{},
		"an object":        members{audience: true},
		"null":             nil,
		"array of null":    []any{nil},
		"none":             absent{},
	} {
		rows[name] = refused{claims: members{"aud": aud}, code: fault.OAuthInvalidAudience}
	}
	for name, resource := range map[string]any{
		"another": "https://other.example", "a number": 1, "null": nil, "an empty array": []string{},
	} {
		rows["resource "+name] = refused{claims: members{"resource": resource}, code: fault.OAuthInvalidAudience}
	}
	rows["resource ours"] = refused{claims: members{"resource": audience}}
	rows["resource ours among others"] = refused{claims: members{"resource": []string{"https://other.example", audience}}}
	newEnv(t).check(t, rows)
}

func TestT16AnAssertionHoldsForAShortTime(t *testing.T) {
	after := func(d time.Duration) int64 { return at.Add(d).Unix() }
	request, expired := fault.OAuthInvalidRequest, fault.OAuthExpired
	newEnv(t).check(t, map[string]refused{
		"for a year":             {members{"exp": after(365 * 24 * time.Hour)}, nil, request},
		"for ten minutes":        {members{"exp": after(10 * time.Minute)}, nil, ""},
		"a second more":          {members{"exp": after(10*time.Minute + time.Second)}, nil, request},
		"over before it begins":  {members{"exp": after(-time.Second)}, nil, request},
		"over":                   {members{"iat": after(-10 * time.Minute), "exp": after(-2 * time.Minute)}, nil, expired},
		"over, within the skew":  {members{"iat": after(-10 * time.Minute), "exp": after(-119 * time.Second)}, nil, ""},
		"issued in two minutes":  {members{"iat": after(2 * time.Minute)}, nil, ""},
		"issued later":           {members{"iat": after(2*time.Minute + time.Second)}, nil, request},
		"signed in later":        {members{"auth_time": after(2*time.Minute + time.Second)}, nil, request},
		"not before":             {members{"nbf": after(2*time.Minute + time.Second)}, nil, request},
		"not before, in time":    {members{"nbf": after(2 * time.Minute)}, nil, ""},
		"not before a text":      {members{"nbf": "now"}, nil, request},
		"no end":                 {members{"exp": absent{}}, nil, request},
		"no beginning":           {members{"iat": absent{}}, nil, request},
		"an end that is a text":  {members{"exp": "2026-03-01"}, nil, request},
		"an end with a fraction": {members{"exp": float64(after(time.Minute)) + 0.5}, nil, request},
		"an endless one":         {members{"exp": uint64(1) << 63}, nil, request},
		"signed in an hour ago":  {members{"auth_time": after(-time.Hour)}, nil, ""},
		"two hours ago":          {members{"auth_time": after(-2 * time.Hour)}, nil, fault.OAuthLoginRequired},
		"beyond all dates":       {members{"auth_time": math.MaxInt64}, nil, request},
		"never signed in":        {members{"auth_time": absent{}}, nil, request},
	})
}

func TestT16ALoginThatIsTooOldSaysHowOldItMayBe(t *testing.T) {
	e := newEnv(t)
	e.Providers[0].MaxAuthAge = 5 * time.Minute
	_, err := e.Assertion(t.Context(), e.assertion(t, nil))
	if refusal := fault.OAuthErrorOf(err); refusal.Code != fault.OAuthLoginRequired || refusal.MaxAge != 5*time.Minute {
		t.Errorf("%v, max_age %s", err, refusal.MaxAge)
	}
}

func TestT17ATokenOfAnotherTypeIsRefused(t *testing.T) {
	rows := map[string]refused{
		"with a prefix": {header: members{"typ": "application/oauth-id-jag+jwt"}},
		"in capitals":   {header: members{"typ": "OAuth-ID-JAG+JWT"}},
	}
	for _, typ := range []any{"JWT", "at+jwt", contract.EventType, "", "text/oauth-id-jag+jwt", 1, absent{}} {
		rows[encode([]byte(members{"typ": typ}.json(t)))] = refused{nil, members{"typ": typ}, fault.OAuthInvalidRequest}
	}
	e := newEnv(t)
	e.check(t, rows)
	_, err := e.Event(t.Context(), e.key.sign(t, contract.AssertionType, eventClaims(), nil))
	wantCode(t, err, fault.OAuthInvalidRequest)
}

func TestT18AnAssertionOfThisServiceIsOfNoTrustedIssuer(t *testing.T) {
	newEnv(t).check(t, map[string]refused{"ours": {members{"iss": audience}, nil, fault.OAuthInvalidIssuer}})
}

func TestT19AnAssertionIsForAClientAndAPersonThatTheProviderMaySpeakOf(t *testing.T) {
	e := newEnv(t)
	e.Providers[0].EmailDomains = []string{"example.com"}
	client, email := fault.OAuthInvalidClientID, fault.OAuthMissingEmail
	e.check(t, map[string]refused{
		"its other client":       {members{"client_id": "agent-cli"}, nil, ""},
		"another's client":       {members{"client_id": "agent-other"}, nil, client},
		"in capitals":            {members{"client_id": "Agent-Host"}, nil, client},
		"unverified":             {members{"email_verified": false}, nil, email},
		"verified as a text":     {members{"email_verified": "true"}, nil, email},
		"verified as a number":   {members{"email_verified": 1}, nil, email},
		"not said":               {members{"email_verified": absent{}}, nil, email},
		"no address":             {members{"email": absent{}}, nil, email},
		"no text":                {members{"email": []string{"kim@example.com"}}, nil, email},
		"no domain":              {members{"email": "kim@"}, nil, email},
		"no name":                {members{"email": "@example.com"}, nil, email},
		"another domain":         {members{"email": "kim@example.org"}, nil, email},
		"a domain below":         {members{"email": "kim@a.example.com"}, nil, email},
		"a domain that is alike": {members{"email": "kim@evilexample.com"}, nil, email},
		"two domains":            {members{"email": "kim@example.com@evil.example"}, nil, email},
		"two lines":              {members{"email": "kim\n@example.com"}, nil, email},
		"too long":               {members{"email": strings.Repeat("k", 254) + "@example.com"}, nil, email},
	})
	e.Providers[0].EmailDomains = nil
	e.check(t, map[string]refused{"two ats": {members{"email": "kim@example.com@example.com"}, nil, email}})
	id, err := e.Assertion(t.Context(), e.assertion(t, members{"email": "\u212aIM@example.com"}))
	if err != nil || id.Email != "\u212aim@example.com" {
		t.Errorf("a Kelvin sign becomes %q, %v", id.Email, err)
	}
}

func TestClaimsOfAnotherShapeAreRefused(t *testing.T) {
	request := fault.OAuthInvalidRequest
	long := strings.Repeat("x", 256)
	rows := map[string]refused{
		"scopes that agents lack": {members{"scope": "openid admin"}, nil, request},
		"scopes in an array":      {members{"scope": []string{"read"}}, nil, request},
		"both scopes":             {members{"scope": "publish read admin"}, nil, ""},
		"bound to a key":          {members{"cnf": members{"jkt": "x"}}, nil, request},
		"bound to null":           {members{"cnf": nil}, nil, request},
		"crit":                    {nil, members{"crit": []string{"exp"}}, request},
		"an empty crit":           {nil, members{"crit": []string{}}, request},
		"an unencoded payload":    {nil, members{"crit": []string{"b64"}, "b64": false}, request},
	}
	for _, name := range []string{"sub", "client_id", "jti"} {
		for kind, v := range map[string]any{"none": absent{}, "empty": "", "a number": 1, "null": nil} {
			rows[name+" "+kind] = refused{members{name: v}, nil, request}
		}
	}
	rows["a long client_id"] = refused{members{"client_id": long}, nil, request}
	rows["a long sub"] = refused{members{"sub": long}, nil, request}
	rows["a sub of two lines"] = refused{members{"sub": "a\nb"}, nil, request}
	rows["a long jti"] = refused{members{"jti": long}, nil, request}
	newEnv(t).check(t, rows)
}

func TestATextThatIsNoTokenIsRefused(t *testing.T) {
	e := newEnv(t)
	good := e.assertion(t, nil)
	parts := strings.Split(good, ".")
	head := members{"alg": "ES256", "kid": e.key.kid, "typ": contract.AssertionType}.json(t)
	body := assertionClaims().json(t)
	twice := func(object, member string) string { return strings.TrimSuffix(object, "}") + "," + member + "}" }
	for name, token := range map[string]string{
		"empty":                "",
		"two parts":            parts[0] + "." + parts[1],
		"four parts":           good + "." + parts[2],
		"JSON form":            `{"payload":"` + parts[1] + `"}`,
		"padded":               parts[0] + "=." + parts[1] + "." + parts[2],
		"a line end":           good + "\n",
		"a line end inside":    parts[0][:8] + "\n" + parts[0][8:] + "." + parts[1] + "." + parts[2],
		"17 KB":                e.assertion(t, members{"x": strings.Repeat("x", 17<<10)}),
		"a header twice":       e.key.signRaw(t, twice(head, `"kid":"other"`), body),
		"a claim twice":        e.key.signRaw(t, head, twice(body, `"sub":"other"`)),
		"a claim twice, below": e.key.signRaw(t, head, twice(body, `"act":{"sub":"a","sub":"b"}`)),
		"an escaped claim":     e.key.signRaw(t, head, twice(body, `"\u0073ub":"other"`)),
		"an array":             e.key.signRaw(t, head, "["+body+"]"),
		"two objects":          e.key.signRaw(t, head, body+body),
		"not UTF-8":            e.key.signRaw(t, head, twice(body, "\"x\":\"\xff\"")),
		"null":                 e.key.signRaw(t, "null", body),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := e.Assertion(t.Context(), token)
			wantCode(t, err, fault.OAuthInvalidRequest)
		})
	}
	if n := e.count(); n != 0 {
		t.Errorf("%d readings", n)
	}
	// Names that differ in case are other names, and other members may hold anything.
	deep := `"x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	for _, member := range []string{`"SUB":"other","Iss":"x"`, deep} {
		_, err := e.Assertion(t.Context(), e.key.signRaw(t, head, twice(body, member)))
		wantCode(t, err, "")
	}
}

// TestTheFirstFailureAnswers repairs a token that is wrong in all ways step by step.
func TestTheFirstFailureAnswers(t *testing.T) {
	e := newEnv(t)
	long := at.Add(-24 * time.Hour).Unix()
	claims := assertionClaims().with(members{
		"iss":            "https://evil.example",
		"aud":            "https://other.example",
		"exp":            long,
		"iat":            long - 60,
		"jti":            "",
		"nbf":            at.Add(time.Hour).Unix(),
		"auth_time":      long,
		"client_id":      "other",
		"email_verified": "true",
		"scope":          "admin",
		"resource":       "https://other.example",
		"cnf":            members{},
	})
	header := members{"typ": "JWT", "kid": "unknown", "alg": "HS256"}
	key := newEC(t, "other")
	for _, step := range []struct {
		code   fault.OAuthCode // before the repair
		repair func()
	}{
		{fault.OAuthInvalidRequest, func() { delete(header, "typ") }},
		{fault.OAuthInvalidIssuer, func() { claims["iss"] = issuer }},
		{fault.OAuthInvalidSignature, func() { delete(header, "alg") }},
		{fault.OAuthInvalidSignature, func() { header["kid"] = e.key.kid }},
		{fault.OAuthInvalidSignature, func() { key = e.key }},
		{fault.OAuthInvalidAudience, func() { claims["aud"] = audience }},
		{fault.OAuthExpired, func() { claims["iat"], claims["exp"] = at.Unix(), at.Add(time.Minute).Unix() }},
		{fault.OAuthInvalidRequest, func() { claims["jti"] = "id" }},
		{fault.OAuthInvalidRequest, func() { delete(claims, "nbf") }},
		{fault.OAuthLoginRequired, func() { claims["auth_time"] = at.Unix() }},
		{fault.OAuthInvalidClientID, func() { claims["client_id"] = "agent-host" }},
		{fault.OAuthMissingEmail, func() { claims["email_verified"] = true }},
		{fault.OAuthInvalidRequest, func() { claims["scope"] = "read" }},
		{fault.OAuthInvalidAudience, func() { delete(claims, "resource") }},
		{fault.OAuthInvalidRequest, func() { delete(claims, "cnf") }},
		{"", func() {}},
	} {
		_, err := e.Assertion(t.Context(), key.sign(t, contract.AssertionType, claims, header))
		wantCode(t, err, step.code)
		step.repair()
	}
}

// TestARefusalTellsOperatorsIssuerAndKeyOnly guards the log against the rest of a token.
func TestARefusalTellsOperatorsIssuerAndKeyOnly(t *testing.T) {
	e := newEnv(t)
	for name, row := range map[string]refused{
		`issuer "https://agents.example", key "ec"`: {claims: members{"client_id": "secret-client"}},
		`issuer "", key "ec"`:                       {claims: members{"iss": "https://secret.example"}},
		`issuer "https://agents.example", key "x y` + strings.Repeat("z", 61) + `"`: {
			header: members{"kid": "x\ny" + strings.Repeat("z", 100)},
		},
	} {
		token := e.key.sign(t, contract.AssertionType, assertionClaims().with(row.claims), row.header)
		_, err := e.Assertion(t.Context(), token)
		if err == nil || !strings.HasSuffix(err.Error(), ": "+name) || strings.Contains(err.Error(), "secret") ||
			strings.Contains(err.Error(), "person-1") || strings.Contains(err.Error(), "kim@") {
			t.Errorf("%v, want %s", err, name)
		}
	}
}
