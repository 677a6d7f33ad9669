package address

import (
	"encoding/json"
	"net/netip"
	"testing"

	"vitrine/scripts/testkit/expect"
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
