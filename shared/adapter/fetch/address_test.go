package fetch

import (
	"net/http"
	"net/netip"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
)

func TestOnlyUnicastAddressesOfTheInternetArePublic(t *testing.T) {
	for _, good := range []string{
		"1.1.1.1", "93.184.215.14", "100.63.255.255", "100.128.0.0", "172.15.0.1", "172.32.0.1", "192.0.1.1",
		"223.255.255.255", "2606:4700:4700::1111", "2a00:1450::1", "2001:4860:4860::8888", "::ffff:1.1.1.1",
		"64:ff9b::101:101",
	} {
		if !public(netip.MustParseAddr(good)) {
			t.Errorf("refused: %s", good)
		}
	}
	for _, bad := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.255",
		"169.254.169.254", "172.16.0.1", "172.31.255.255", "192.0.0.170", "192.0.2.1", "192.88.99.1", "192.168.0.1",
		"198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.250", "240.0.0.1",
		"255.255.255.255",
		"::", "::1", "::127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::a00:1", "64:ff9b::7f00:1",
		"64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:0:4136:e378::1", "2001:10::1", "2001:db8::1",
		"2002:a00:1::1", "2002:101:101::1", "3fff::1", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0",
		"2606:4700:4700::1111%eth0", "fec0::1", "ff02::1",
	} {
		if public(netip.MustParseAddr(bad)) {
			t.Errorf("taken for public: %s", bad)
		}
	}
	if public(netip.Addr{}) {
		t.Error("no address is taken for a public one")
	}
}

func TestAnAnswerSaysHowLongItMayBeKept(t *testing.T) {
	life := func(value string) time.Duration { return freshness(http.Header{"Cache-Control": {value}}) }
	expect.Results(t, life, map[string]time.Duration{
		"":                             0,
		"max-age=60":                   time.Minute,
		`Public, Max-Age="60"`:         time.Minute,
		"s-maxage=5, max-age=60":       time.Minute,
		"max-age=60, no-store":         0,
		"no-cache, max-age=60":         0,
		"max-age=-1":                   0,
		"max-age=x":                    0,
		"x-max-age=60":                 0,
		"max-age=99999999999999999999": 0,
	})
	old := http.Header{"Cache-Control": {"max-age=60"}, "Age": {"90"}}
	if got := freshness(old); got != 0 {
		t.Errorf("an answer that is older than its life: %s", got)
	}
}
