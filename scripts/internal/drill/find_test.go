package main

import (
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
)

// TestEveryLossIsFound checks that a drill sees what it looks for, on a site on which nothing was restored.
func TestEveryLossIsFound(t *testing.T) {
	e := newEnv(t)
	all := e.publishMany(t, 4)
	expect.OK(t, e.share(t.Context(), all[0]), e.share(t.Context(), all[1]), e.unshare(t.Context(), all[1]),
		e.remove(t.Context(), all[2]))
	instant := time.Now()
	if n := e.found(t, instant); n != 0 {
		t.Fatalf("%d differences are found where nothing was lost", n)
	}
	worked, live, of := *e.current, *all[0], outcome{instant: instant, events: true}
	wrong := map[string]func(){
		"a publication that is lost": func() { all[0].revisions[0].content = all[2].revisions[0].content },
		"other bytes":                func() { all[0].revisions[0].text = "other" },
		"a deletion that is undone":  func() { all[0].deleted.set(nil) },
		"a link that is lost":        func() { all[0].links[0].url = all[1].links[0].url },
		"a revocation that is undone": func() {
			all[0].links = []*link{{url: live.links[0].url, revoked: mark{at: instant}}}
		},
		"a key that is lost":     func() { e.current.key.secret = "unknown" },
		"a key that lives again": func() { e.current.key.revoked.set(nil) },
	}
	for name, change := range wrong {
		t.Run(name, func(t *testing.T) {
			all[0].revisions, all[0].links = []revision{live.revisions[0]}, []*link{{
				public: live.links[0].public,
				url:    live.links[0].url,
				made:   live.links[0].made,
			}}
			change()
			if e.found(t, instant) == 0 {
				t.Error("it is not found")
			}
			e.current.key, all[0].deleted = worked.key, mark{}
		})
	}
	all[0].revisions[0].published.at = instant.Add(time.Second)
	all[0].revisions[0].content = all[2].revisions[0].content
	if since, lost := of.lost(t.Context(), e.worker); since != 1 || lost.publications != 1 || lost.window != time.Second {
		t.Errorf("%d publications since, of which %+v are lost", since, lost)
	}
}

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
