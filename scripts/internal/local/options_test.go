package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

func TestOptions(t *testing.T) {
	const kept = 64 << 20
	here, err := filepath.Abs("x")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		want options
		says string
	}{
		"a data folder": {[]string{"--data", "x"}, options{base: 8700, data: here, cache: kept}, ""},
		"other ports":   {[]string{"--memory", "--ports", "9700"}, options{base: 9700, cache: kept}, ""},
		"no limits": {
			[]string{"--memory", "--limits", "off"}, options{base: 8700, cache: kept, limitsOff: true}, "",
		},
		"Lambda functions":         {[]string{"--memory", "--lambda"}, options{base: 8700, cache: kept, lambda: true}, ""},
		"limits on":                {[]string{"--memory", "--limits=on"}, options{base: 8700, cache: kept}, ""},
		"no cache":                 {[]string{"--memory", "--cache", "0"}, options{base: 8700}, ""},
		"a cache below nothing":    {[]string{"--cache", "-1"}, options{}, "number of bytes"},
		"one origin":               {[]string{"--memory", "--origins", "shared"}, options{base: 8700, cache: kept, shared: true}, ""},
		"origins of another kind":  {[]string{"--origins", "on"}, options{}, "wildcard or shared"},
		"limits half":              {[]string{"--limits", "half"}, options{}, "on or off"},
		"ports too high":           {[]string{"--ports", "65530"}, options{}, "choose a base"},
		"memory and a folder":      {[]string{"--memory", "--data", "x"}, options{}, "choose one"},
		"a policy that is missing": {[]string{"--policy", "none.json"}, options{}, "none.json"},
		"a policy that is wrong":   {[]string{"--policy", "options_test.go"}, options{}, "no JSON"},
		"a word that is no flag":   {[]string{"now"}, options{}, `"now" is no option`},
		"a flag that nobody knows": {[]string{"--nonsense"}, options{}, "usage"},
	} {
		t.Run(name, func(t *testing.T) {
			var stderr bytes.Buffer
			got, err := parse(c.args, &stderr)
			if c.says == "" && (err != nil || got != c.want) {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
			if c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("got error %v, want it to say %q", err, c.says)
			}
		})
	}
}

func TestTheDataIsInTheRepositoryByDefault(t *testing.T) {
	o, err := parse(nil, &bytes.Buffer{})
	if err != nil || !filepath.IsAbs(o.data) || filepath.Base(o.data) != ".vitrine" {
		t.Errorf("got %+v, %v", o, err)
	}
}
