package provider

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const shortEntry = `{"issuer":"https://agents.example","display_name":"Agents","client_ids":["a"]}`

func TestATrustListIsReadWithItsDefaults(t *testing.T) {
	got, err := Parse([]byte(" [" + shortEntry + "]\n"))
	want := []Provider{{
		Issuer:     "https://agents.example",
		Name:       "Agents",
		ClientIDs:  []string{"a"},
		JWKS:       "https://agents.example/.well-known/jwks.json",
		Algorithms: []string{"ES256", "RS256"},
		Provision:  true,
		MaxAuthAge: time.Hour,
	}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, the list (-want +got):\n%s", err, diff)
	}
}

func TestATrustListMaySayAllAndInTwoSpellings(t *testing.T) {
	const all = `[{"issuer":"https://agents.example/t/","%s":"Agents & Co","%s":["a","b"],"%s":"https://keys.example/k?v=1",
		"algorithms":["EdDSA","PS256","ES384"],"%s":["https://old.example"],"jit":"deny","%s":["example.com"],"%s":60}]`
	want := []Provider{{
		Issuer:       "https://agents.example/t/",
		Aliases:      []string{"https://old.example"},
		Name:         "Agents & Co",
		ClientIDs:    []string{"a", "b"},
		JWKS:         "https://keys.example/k?v=1",
		Algorithms:   []string{"EdDSA", "PS256", "ES384"},
		EmailDomains: []string{"example.com"},
		MaxAuthAge:   time.Minute,
	}}
	for _, names := range [][]any{
		{"display_name", "client_ids", "jwks_uri", "issuer_aliases", "email_domains", "max_auth_age"},
		{"displayName", "clientIds", "jwksUri", "issuerAliases", "emailDomains", "maxAuthAge"},
	} {
		got, err := Parse(fmt.Appendf(nil, all, names...))
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%v, the list (-want +got):\n%s", err, diff)
		}
	}
}

func TestAnEmptyTrustListTrustsNone(t *testing.T) {
	if got, err := Parse([]byte("[]")); len(got) != 0 || err != nil {
		t.Errorf("%v %v", got, err)
	}
}

func TestATrustListMayHaveAHundredProviders(t *testing.T) {
	var entries []string
	for n := range 100 {
		entries = append(entries, strings.Replace(shortEntry, "agents", fmt.Sprintf("agents%d", n), 1))
	}
	if got, err := Parse([]byte("[" + strings.Join(entries, ",") + "]")); len(got) != 100 || err != nil {
		t.Errorf("%d providers, %v", len(got), err)
	}
}

func TestATrustListThatIsWrongIsRefusedAsAWhole(t *testing.T) {
	with := func(member string) string { return strings.TrimSuffix(shortEntry, "}") + "," + member + "}" }
	without := func(old, replacement string) string { return strings.Replace(shortEntry, old, replacement, 1) }
	other := without("https://agents.example", "https://other.example")
	for name, row := range map[string]struct{ entries, says string }{
		"an unknown member":       {with(`"jku":"x"`), "jku"},
		"a member twice":          {with(`"jit":"deny","jit":"deny"`), "twice"},
		"in two spellings":        {with(`"displayName":"x"`), "display_name stands twice"},
		"another case":            {with(`"JIT":"deny"`), "JIT"},
		"null":                    {with(`"email_domains":null`), "email_domains is null"},
		"another type":            {with(`"max_auth_age":"60"`), "max_auth_age"},
		"no object":               {`"x"`, "object"},
		"no issuer":               {without(`"issuer":"https://agents.example",`, ""), "issuer"},
		"an issuer by http":       {without("https:", "http:"), "issuer"},
		"with a query":            {without("agents.example", "agents.example/?a"), "issuer"},
		"with an empty query":     {without("agents.example", "agents.example?"), "issuer"},
		"with a fragment":         {without("agents.example", "agents.example#"), "issuer"},
		"with a user":             {without("agents", "user@agents"), "issuer"},
		"with a space":            {without("agents.example", "agents.example/ "), "issuer"},
		"an issuer of 300 bytes":  {without("agents.example", "agents.example/"+strings.Repeat("x", 300)), "issuer"},
		"an alias by http":        {with(`"issuer_aliases":["http://agents.example"]`), "issuer_aliases"},
		"the issuer as alias":     {with(`"issuer_aliases":["https://agents.example"]`), "already"},
		"an issuer twice":         {shortEntry + "," + shortEntry, "provider 2"},
		"another's alias":         {shortEntry + "," + strings.Replace(other, "}", `,"issuer_aliases":["https://agents.example"]}`, 1), "already"},
		"no name":                 {without(`"Agents"`, `""`), "display_name"},
		"a name of two lines":     {without(`"Agents"`, `"a\nb"`), "display_name"},
		"no clients":              {without(`["a"]`, `[]`), "client_ids"},
		"an empty client":         {without(`["a"]`, `["a",""]`), "client_ids"},
		"keys by http":            {with(`"jwks_uri":"http://agents.example/k"`), "jwks_uri"},
		"keys in a file":          {with(`"jwks_uri":"file:///etc/passwd"`), "jwks_uri"},
		"keys nowhere":            {with(`"jwks_uri":""`), "jwks_uri"},
		"HS256":                   {with(`"algorithms":["ES256","HS256"]`), "algorithms"},
		"none":                    {with(`"algorithms":["none"]`), "algorithms"},
		"a weak hash":             {with(`"algorithms":["RS1"]`), "algorithms"},
		"no algorithms":           {with(`"algorithms":[]`), "algorithms"},
		"another jit":             {with(`"jit":"yes"`), "jit"},
		"no domains":              {with(`"email_domains":[]`), "email_domains"},
		"a domain in capitals":    {with(`"email_domains":["Example.com"]`), "email_domains"},
		"a domain with an at":     {with(`"email_domains":["@example.com"]`), "email_domains"},
		"no time":                 {with(`"max_auth_age":0`), "max_auth_age"},
		"a longer time":           {with(`"max_auth_age":3601`), "max_auth_age"},
		"many":                    {strings.Repeat(shortEntry+",", 100) + shortEntry, "100"},
		"a wrong one among good":  {other + "," + with(`"jit":"x"`), "provider 2 of the list: jit"},
		"all that is wrong in it": {with(`"jit":"x","max_auth_age":0`), "max_auth_age"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Parse([]byte("[" + row.entries + "]"))
			if got != nil || err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("%v %v, want one that says %q", got, err, row.says)
			}
		})
	}
	for _, text := range []string{"", "null", "{}", shortEntry, "[" + shortEntry, "[" + shortEntry + "] []", "\xff"} {
		if got, err := Parse([]byte(text)); got != nil || err == nil {
			t.Errorf("%q: %v %v", text, got, err)
		}
	}
}

func TestOriginsThatAreExemptMayUseHTTP(t *testing.T) {
	const local = `[{"issuer":"http://127.0.0.1:8706","display_name":"Local","client_ids":["a"]}]`
	if _, err := Parse([]byte(local), "http://127.0.0.1:8706"); err != nil {
		t.Error(err)
	}
	if _, err := Parse([]byte(local), "http://127.0.0.1:8707", "https://127.0.0.1:8706"); err == nil {
		t.Error("another origin is exempt")
	}
}
