package main

import (
	"strings"
	"testing"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
)

func TestParseTarget(t *testing.T) {
	for text, want := range map[string]target{
		artifact:                        {artifact: artifact},
		"http://app.test/v/" + artifact: {artifact: artifact, app: "http://app.test"},
		"https://app.test:8704/v/" + artifact + "/?a=b#c": {
			artifact: artifact,
			app:      "https://app.test:8704",
		},
		"https://host.test/app/v/" + artifact: {
			artifact: artifact,
			app:      "https://host.test/app",
		},
		"https://app.test/v/" + artifact + "?revision=" + revision: {
			artifact: artifact,
			revision: revision,
			app:      "https://app.test",
		},
		"https://host.test/app/artifacts/" + artifact + "/": {
			artifact: artifact,
			app:      "https://host.test/app",
		},
		"https://app.test/artifacts/" + artifact + "?x=1&revision=" + revision: {
			artifact: artifact,
			revision: revision,
			app:      "https://app.test",
		},
		"https://app.test/al/0123456789ABCDEF#ab-_9": {
			app:    "https://app.test",
			public: "0123456789ABCDEF",
			blob:   "ab-_9",
		},
		"https://app.test/x/al/0123456789ABCDEF?utm=mail#ab-_": {
			app:    "https://app.test/x",
			public: "0123456789ABCDEF",
			blob:   "ab-_",
		},
	} {
		if got, err := parseTarget(text); err != nil || got != want {
			t.Errorf("parseTarget(%q) = %+v, %v; want %+v", text, got, err, want)
		}
	}
	const secret = "s3cret"
	for _, text := range []string{
		"", "art_", "ART_00000000000000000000000002", "art_0000000000000000000000000U", artifact + "/../x",
		"rev_00000000000000000000000003", "app.test/v/" + artifact, "//app.test/v/" + artifact, "file:///v/" + artifact,
		"javascript:alert(1)//v/" + artifact, "http:///v/" + artifact, "http://me:" + secret + "@app.test/v/" + artifact,
		"http://app.test/v/../" + artifact, "http://app.test/v/", "http://app.test/" + artifact,
		"http://app.test/al/0123456789ABCDEF", "http://app.test/al/0123456789ABCDEF#", "http://app.test/al/short#" + secret,
		"http://app.test/al/0123456789ABCDEF#" + secret + "/x",
		"http://app.test/al/0123456789ABCDEF#" + secret + strings.Repeat("a", 500), "http://app.test/claim#" + secret,
		"http://[::1/v/" + artifact, "http://app.test/artifacts/" + artifact + "/diff", "http://app.test/artifacts/",
		"http://app.test/artifacts", "http://app.test/v/" + artifact + "?revision=",
		"http://app.test/v/" + artifact + "?revision=3",
		"http://app.test/v/" + artifact + "?revision=" + revision + "&revision=" + revision,
		"http://app.test/v/" + artifact + "?a=" + secret + "%zz&revision=" + revision,
	} {
		got, err := parseTarget(text)
		f := failure.Of(err)
		if err == nil || f.Code != failure.Usage || strings.Contains(f.Message+f.Hint, secret) {
			t.Errorf("parseTarget(%q) = %+v, %v", text, got, err)
		}
	}
}

func TestTargetsOfOtherServersAreRefused(t *testing.T) {
	d := &client.Deployment{Hosts: contract.Discovery{AppURL: "https://app.test"}}
	for app, ok := range map[string]bool{
		"":                           true,
		"https://app.test":           true,
		"https://APP.test:443":       true,
		"http://app.test":            false,
		"https://app.test:8443":      false,
		"https://app.test.evil.test": false,
		"https://app.test/below":     false,
	} {
		if err := (target{app: app}).checkServer(d); (err == nil) != ok {
			t.Errorf("%q: %v", app, err)
		}
	}
}
