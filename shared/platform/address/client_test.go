package address

import (
	"net/netip"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/keyring"
)

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
	for in, want := range map[string]string{
		"203.0.113.77":        "203.0.113.0/24",
		"::ffff:203.0.113.77": "203.0.113.0/24",
		"2001:db8:1:2::3":     "2001:db8:1::/48",
		"fe80::1%eth0":        "fe80::/48",
	} {
		if got := Network(netip.MustParseAddr(in)); got != want {
			t.Errorf("%s is shown as %s", in, got)
		}
	}
	if got := Network(netip.Addr{}); got != "unknown" {
		t.Errorf("no address is shown as %s", got)
	}
}
