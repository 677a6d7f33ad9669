package main

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/keyring"
)

func TestStepsSayWhatHappenedAndWhatComesNext(t *testing.T) {
	d := newEnv(t)
	file := " --file " + d.file
	for _, c := range []struct {
		args []string
		pass time.Duration // before the step
		says []string
	}{
		{[]string{"status", "content"}, 0, []string{"key 1   active",
			"next  scripts/rotate stage content" + file + ", whenever"}},
		{[]string{"stage", "content"}, 0, []string{
			"content: key 2 is staged", "key 2   next    since 2026-11-21 12:00:00 UTC",
			"now   stop scripts/dev and start it again",
			"next  scripts/rotate flip content" + file + ", possible from 2026-11-21 12:15:00 UTC (in 15m0s)",
		}},
		{[]string{"flip", "content"}, 15 * time.Minute, []string{
			"key 2 signs from now on; key 1 only checks",
			"key 1   verify  since 2026-11-21 12:15:00 UTC, until 2026-11-28 14:15:00 UTC",
			"next  scripts/rotate drop content" + file + ", possible from 2026-11-28 14:15:00 UTC (in 7 d 2h0m0s)",
		}},
		{[]string{"status", "content"}, 8 * 24 * time.Hour, []string{"drop content" + file + ", possible now"}},
		{[]string{"drop", "content"}, 0, []string{"content: key 1 is gone", "key 2   active"}},
		{[]string{"stage", "pepper"}, 0, []string{"key 2 is staged"}},
		{[]string{"flip", "pepper", "--emergency"}, 0,
			[]string{"until nothing uses it", "drop pepper" + file + " --confirm-unused, once nothing"}},
		{[]string{"--emergency", "drop", "pepper"}, 0, []string{"key 1 is gone"}},
		{[]string{"status"}, 0, []string{"content\n", "links\n", "pepper\n", "seal\n", "assertion\n"}},
	} {
		d.now = d.now.Add(c.pass)
		out := d.take(t, c.args...)
		for _, want := range c.says {
			if !strings.Contains(out, want) {
				t.Errorf("%v says\n%s\nwithout %q", c.args, out, want)
			}
		}
	}
}

func TestRefusalsAreOneLineAndChangeNothing(t *testing.T) {
	d := newEnv(t)
	d.take(t, "stage", "links")
	d.take(t, "stage", "pepper")
	d.take(t, "flip", "pepper", "--emergency")
	d.take(t, "stage", "seal")
	d.take(t, "flip", "seal", "--emergency")
	before, _ := os.ReadFile(d.file)
	for _, c := range []struct{ args, says string }{
		{"", "say what to do: stage, flip, drop, status"},
		{"turn content", "say what to do"},
		{"stage", "name one ring after stage: content, links, pepper, seal, assertion"},
		{"stage keys", "name one ring"},
		{"stage content links", "name one ring"},
		{"stage content --secret arn:aws:secretsmanager:eu-west-1:1:secret:ContentRing-x", "name one of them"},
		{"stage content --confirm-unused", "--confirm-unused is for drop"},
		{"flip links",
			"links: not yet: key 2 was staged less than 15 minutes ago, so instances may run that do not know it. Possible " +
				"from 2026-11-21 12:15:00 UTC (in 15m0s)"},
		{"flip content", "no key is staged"},
		{"stage links", "key 2 is staged already"},
		{"drop content", "no key to drop"},
		{"drop pepper", "--confirm-unused"},
		{"drop pepper --confirm-unused", "not yet"},
		{"drop seal", "seal: not yet: what key 1 signed still lives. Possible from 2026-12-21 13:00:00 UTC (in 30 d 1h0m0s)"},
		{"drop seal --confirm-unused", "not yet"},
	} {
		code, out, complaints := d.run(t, strings.Fields(c.args)...)
		if code != 1 || out != "" || !strings.Contains(complaints, c.says) || strings.Count(complaints, "\n") != 1 {
			t.Errorf("%s: code %d, %q, %q; want one line with %q", c.args, code, out, complaints, c.says)
		}
	}
	if after, _ := os.ReadFile(d.file); string(after) != string(before) {
		t.Error("a refusal changed the rings")
	}
}

func TestASecretOfAnotherRingIsRefused(t *testing.T) {
	_, err := parse([]string{"flip", "links", "--secret", "arn:aws:secretsmanager:eu-west-1:1:secret:ContentRingA1B2-x"},
		t.Output())
	expect.Error(t, err, "holds the ring content, not links")
	o, err := parse([]string{"flip", "--secret", "arn:aws:secretsmanager:eu-west-1:1:secret:LinksRingA1B2-x", "links"},
		t.Output())
	if err != nil || o.step != "flip" || o.ring != "links" || o.file != "" {
		t.Error(o, err)
	}
	if _, err := parse([]string{"status", "--secret", "arn"}, t.Output()); err == nil {
		t.Error("a secret without the name of its ring")
	}
}

func TestOnlyRingsThatAreThereAreRotated(t *testing.T) {
	d := &env{file: filepath.Join(t.TempDir(), "rings.json"), now: began}
	for step, says := range map[string]string{
		"stage":  d.file,
		"status": "--file names others, and --secret one ring of a deployment",
	} {
		var complaints strings.Builder
		code := run(t.Context(), []string{step, "content", "--file", d.file},
			tool{out: t.Output(), complaints: &complaints, now: time.Now})
		if code != 1 || !strings.Contains(complaints.String(), says) {
			t.Errorf("%s: code %d, %s", step, code, complaints.String())
		}
	}
	if _, err := os.Stat(d.file); err == nil {
		t.Error("rings were made where there were none")
	}
}

func TestOfStepsAtTheSameTimeOneIsTaken(t *testing.T) {
	d := newEnv(t)
	var taken [6]bool
	var wg sync.WaitGroup
	for i := range taken {
		wg.Go(func() {
			var out strings.Builder
			taken[i] = run(t.Context(), []string{"stage", "seal", "--file", d.file},
				tool{out: &out, complaints: &out, now: time.Now}) == 0
		})
	}
	wg.Wait()
	count := 0
	for _, ok := range taken {
		if ok {
			count++
		}
	}
	if keys := d.set(t).Seal.Keys; count != 1 || len(keys) != 2 || keys[1].State != keyring.Next {
		t.Errorf("%d were taken and the ring has %d keys", count, len(keys))
	}
}
