package main

import (
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
)

func TestTheCommandLineIsChecked(t *testing.T) {
	for line, want := range map[string]string{
		"-rounds 0":    "1 round or more",
		"-artifacts 3": "20 artifacts or more",
		"everything":   "no option",
		"-rounds x":    "invalid value",
	} {
		_, err := parse(strings.Fields(line), t.Output())
		expect.Error(t, err, want)
	}
	o, err := parse([]string{"-full", "-seed", "7"}, t.Output())
	expect.OK(t, err)
	rounds := o.plan(t.TempDir())
	if last := rounds[fullRounds]; len(rounds) != fullRounds+1 || last.artifacts != largeArtifacts || last.seed != 57 {
		t.Errorf("the last of %d rounds has %d artifacts and the seed %d", len(rounds), last.artifacts, last.seed)
	}
	for _, r := range rounds[:fullRounds] {
		if r.artifacts < minArtifacts || r.artifacts > fullArtifacts {
			t.Errorf("a round has %d artifacts", r.artifacts)
		}
	}
}
