package id

import (
	"regexp"
	"strings"
	"testing"
)

func TestALabelNamesOneArtifact(t *testing.T) {
	form := regexp.MustCompile(`^art-[0-9a-z]{26}$`)
	for range 200 {
		a := NewArtifact()
		if got, err := ArtifactOfLabel(a.Label()); err != nil || got != a || !form.MatchString(a.Label()) {
			t.Fatalf("%s has the label %s, which is that of %s: %v", a, a.Label(), got, err)
		}
	}
	if got := Artifact("art_0EJGDVQ0CN88H4DQEPYPKV73MX").Label(); got != "art-0ejgdvq0cn88h4dqepypkv73mx" {
		t.Error(got)
	}
}

func TestNothingElseIsALabel(t *testing.T) {
	good := Artifact("art_0EJGDVQ0CN88H4DQEPYPKV73MX").Label()
	for _, text := range []string{
		"", "art-", good[4:], strings.ToUpper(good), "Art" + good[3:], strings.Replace(good, "-", "_", 1), "art-" + good,
		good + "0", good[:29], good + ".", "x." + good, good[:4] + "8" + good[5:], good[:10] + "u" + good[11:],
		good[:10] + "-" + good[11:], good[:29] + "ı", good[:29] + "K", "rev" + good[3:], good + "\n",
	} {
		if a, err := ArtifactOfLabel(text); err == nil || a != "" {
			t.Errorf("%q is the label of %s", text, a)
		}
	}
}
