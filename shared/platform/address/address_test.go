package address

import (
	"encoding/json"
	"net/netip"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
)

func TestDiscoveryNamesAnMCPHostOnlyWhereThereIsOne(t *testing.T) {
	const api, mcp = "https://api.example.com", "https://mcp.example.com"
	for name, c := range map[string]struct {
		origin string
		named  any
	}{
		"a host of its own":                    {mcp, mcp},
		"none":                                 {"", nil},
		"the api's origin, for want of a host": {api, nil},
	} {
		b := URLBuilder{Origins: Origins{API: api, MCP: c.origin}}
		text, err := json.Marshal(b.Discovery())
		var document map[string]any
		if err == nil {
			err = json.Unmarshal(text, &document)
		}
		got, told := document["mcp_url"]
		if err != nil || got != c.named || told != (c.named != nil) || document["api_url"] != api {
			t.Errorf("%s: %s %v", name, text, err)
		}
	}
}

func TestAnArtifactIsAtItsOwnOriginWhereThereIsOne(t *testing.T) {
	const a = id.Artifact("art_0EJGDVQ0CN88H4DQEPYPKV73MX")
	o := Origins{Content: "http://127.0.0.1:8703"}
	if _, own := (Location{}).Own(); own || o.Of(a) != "" || o.OwnDomain() != "" {
		t.Errorf("%q and %q without a wildcard", o.Of(a), o.OwnDomain())
	}
	o.Own = o.Wildcard("localhost")
	if o.Of(a) != "http://art-0ejgdvq0cn88h4dqepypkv73mx.localhost:8703" || o.OwnDomain() != ".localhost" {
		t.Errorf("%q, in %q", o.Of(a), o.OwnDomain())
	}
	l := Location{opening: o.Of(a) + OpenPath + "token/"}
	own, ok := l.Own()
	urls := map[string]string{
		own.Of("a/b c.html").Frame(): OpenPath + "token/a/b%20c.html",
		own.Of("index.html").Frame(): OpenPath + "token/",
		own.Of("a/index.html").Bytes: OpenPath + "token/a/",
		own.Of("aindex.html").Bytes:  OpenPath + "token/aindex.html",
		own.Of("a.md").Frame():       OpenPath + "token/.vitrine/r/a.md",
		own.Folder("a"):              OpenPath + "token/.vitrine/r/a",
		own.Folder(""):               OpenPath + "token/.vitrine/r",
	}
	for got, want := range urls {
		if !ok || got != o.Of(a)+want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestClientsOfOneNetworkAreOneSubjectAndTheirAddressIsNotTold(t *testing.T) {
	peppers, err := keyring.New().Pepper.Derive("test")
	expect.OK(t, err)
	of := func(s string) string { return Subject(netip.MustParseAddr(s), peppers) }
	for a, b := range map[string]string{
		"192.0.2.1": "::ffff:192.0.2.1", "2001:db8::1": "2001:db8::ffff:1", "fe80::1%eth0": "fe80::2",
	} {
		if of(a) != of(b) {
			t.Errorf("%s and %s are counted apart", a, b)
		}
	}
	for a, b := range map[string]string{"192.0.2.1": "192.0.2.2", "2001:db8::1": "2001:db8:0:1::1"} {
		if of(a) == of(b) {
			t.Errorf("%s and %s are counted together", a, b)
		}
	}
	other, err := keyring.New().Pepper.Derive("test")
	expect.OK(t, err)
	if s := of("192.0.2.1"); len(s) != 16 || s == Subject(netip.MustParseAddr("192.0.2.1"), other) {
		t.Errorf("%q does not hang on the pepper", s)
	}
	if a, b := Subject(netip.Addr{}, peppers), Subject(netip.Addr{}, peppers); a != b {
		t.Error("unknown addresses are counted apart")
	}
}

func TestAPersonSeesThePrefixOfANetwork(t *testing.T) {
	expect.Results(t, func(in string) string { return Network(netip.MustParseAddr(in)) }, map[string]string{
		"203.0.113.77":        "203.0.113.0/24",
		"::ffff:203.0.113.77": "203.0.113.0/24",
		"2001:db8:1:2::3":     "2001:db8:1::/48",
		"fe80::1%eth0":        "fe80::/48",
	})
	if got := Network(netip.Addr{}); got != "unknown" {
		t.Errorf("no address is shown as %s", got)
	}
}

func TestPlainTextIsReadByAllAlike(t *testing.T) {
	for c := range 256 {
		s := "/a" + string([]byte{byte(c)}) + "b"
		want := c > ' ' && c < 0x7f
		switch c {
		case '#', '\\', '"', '<', '>', '^', '`', '{', '|', '}':
			want = false
		}
		if Plain(s) != want {
			t.Errorf("Plain(%q) = %v", s, !want)
		}
	}
	if !Plain("") {
		t.Error("nothing is not plain")
	}
}
