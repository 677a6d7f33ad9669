package screen

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/output"
)

// onTTY makes colorprofile take a buffer for a terminal.
var onTTY = []string{"TTY_FORCE=1", "TERM=xterm-256color"}

func with(environ []string, more ...string) []string {
	return append(append([]string{}, environ...), more...)
}

func TestModeOf(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
		want Mode
	}{
		{"a terminal", Options{Environ: onTTY}, Rich},
		{"a pipe", Options{Environ: []string{"TERM=xterm"}}, Plain},
		{"NO_COLOR", Options{Environ: with(onTTY, "NO_COLOR=1")}, Plain},
		{"CI", Options{Environ: with(onTTY, "CI=true")}, Plain},
		{"any value of CI", Options{Environ: with(onTTY, "CI=0")}, Plain},
		{"an empty CI", Options{Environ: with(onTTY, "CI=")}, Rich},
		{"a dumb terminal", Options{Environ: with(onTTY, "TERM=dumb")}, Plain},
		{"--color in a pipe", Options{Color: true}, Rich},
		{"--color beats NO_COLOR", Options{Color: true, Environ: with(onTTY, "NO_COLOR=1")}, Rich},
		{"--no-color on a terminal", Options{NoColor: true, Environ: onTTY}, Plain},
		{"--json always wins", Options{JSON: true, Color: true, Environ: onTTY}, JSON},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.Out, tt.o.Err = &bytes.Buffer{}, &bytes.Buffer{}
			if got := modeOf(tt.o); got != tt.want {
				t.Errorf("mode %d, want %d", got, tt.want)
			}
		})
	}
}

// strange is a hostile title or file name.
const strange = "a\x1b[31mb\x07c\u009bd\u202ee\u2028f\ng"

func TestNothingSteersTheTerminal(t *testing.T) {
	for _, mode := range []Options{{}, {JSON: true}, {Color: true}} {
		var out, err bytes.Buffer
		mode.Out, mode.Err = &out, &err
		s := New(mode)
		if e := s.Result(strange, Row{"Title", strange}); e != nil {
			t.Fatal(e)
		}
		s.Note("%s", strange)
		s.Fail(failure.New(1, "code", "%s", strange).Advise("%s", strange))
		if e := s.Object(map[string]string{"title": strange}); e != nil {
			t.Fatal(e)
		}
		for _, text := range []string{out.String(), err.String()} {
			if strings.ContainsAny(text, "\x07\u009b\u202e\u2028") || strings.Contains(text, "\x1b[31mb") ||
				strings.Contains(text, "f\ng") {
				t.Errorf("written: %q", text)
			}
			if !mode.Color && strings.Contains(text, "\x1b") {
				t.Errorf("escape codes: %q", text)
			}
		}
	}
}

func TestScrub(t *testing.T) {
	expect.Results(t, Scrub, map[string]string{
		"no response from http://a.test: refused":                     "no response from http://a.test: refused",
		"Put http://s.test/o/1?X-Amz-Signature=abc&x=y: reset":        "Put http://s.test/o/1[…] reset",
		`Get "https://a.test/claim#ap_ct_x": EOF`:                     `Get "https://a.test/claim[…]": EOF`,
		"key ap_pk_preview_0123456789ABCDEF_aaaa-bbb_cc is bad":       "key ap_pk_[hidden] is bad",
		"token ap_ct_production_0123456789ABCDEF.clm_A_abc, and more": "token ap_ct_[hidden], and more",
	})
}

func TestFailHidesSecrets(t *testing.T) {
	for _, json := range []bool{false, true} {
		var out, err bytes.Buffer
		New(Options{Out: &out, Err: &err, JSON: json}).
			Fail(failure.Of(errors.New("Put http://s.test/o?X-Amz-Signature=s3cret with ap_pk_live_0123456789ABCDEF_s3cret")))
		if strings.Contains(err.String(), "s3cret") || err.Len() == 0 || out.Len() > 0 {
			t.Errorf("stdout %q, stderr %q", out.String(), err.String())
		}
	}
}

func TestNotesOfAJSONCommandWaitForItsResult(t *testing.T) {
	var out, err bytes.Buffer
	s := New(Options{Out: &out, Err: &err, JSON: true})
	s.Note("skipped %d", 3)
	if err.Len() > 0 {
		t.Errorf("too early: %q", err.String())
	}
	if e := s.Object(struct{}{}); e != nil || err.String() != "skipped 3\n" || out.String() != "{}\n" {
		t.Errorf("stdout %q, stderr %q, error %v", out.String(), err.String(), e)
	}
}

func TestQuiet(t *testing.T) {
	var out, err bytes.Buffer
	s := New(Options{Out: &out, Err: &err, Quiet: true})
	s.Note("a note")
	if e := s.Result("first", Row{"Name", "value"}); e != nil {
		t.Fatal(e)
	}
	p := s.Progress(1, 1, 0)
	p.Stop()
	if out.String() != "first\n" || err.Len() > 0 {
		t.Errorf("stdout %q, stderr %q", out.String(), err.String())
	}
	s.Fail(failure.New(1, "code", "message"))
	if err.String() != "error code: message\n" {
		t.Errorf("stderr %q", err.String())
	}
}

func TestWhen(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	expect.Results(t, func(ahead time.Duration) string { return When(now.Add(ahead), now) }, map[time.Duration]string{
		-time.Second:                 "2026-11-21 08:59 UTC",
		time.Minute:                  "2026-11-21 09:01 UTC (in 1 minute)",
		119 * time.Minute:            "2026-11-21 10:59 UTC (in 119 minutes)",
		24*time.Hour - 2*time.Second: "2026-11-22 08:59 UTC (in 24 hours)",
		72 * time.Hour:               "2026-11-24 09:00 UTC (in 3 days)",
	})
}

// pass lets time of the bubble pass, and what is due then happen.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func TestProgressBar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out, err output.Buffer
		s := New(Options{Out: &out, Err: &err, Environ: onTTY})
		p := s.Progress(3, 1000, 0)
		pass(299 * time.Millisecond)
		if err.String() != "" {
			t.Fatalf("a bar before its time: %q", err.String())
		}
		p.Sent(500)
		p.Stored()
		pass(200 * time.Millisecond)
		if text := err.String(); !strings.Contains(text, "Uploading 1 of 3 files") || !strings.Contains(text, "49%") {
			t.Errorf("no bar of the half: %q", text)
		}
		s.Note("a note")
		if !strings.Contains(err.String(), "\r\x1b[2K\x1b[2ma note\x1b[m\n") {
			t.Errorf("the note runs into the bar: %q", err.String())
		}
		pass(100 * time.Millisecond)
		p.Stop()
		if !strings.HasSuffix(err.String(), "\r\x1b[2K") || out.String() != "" {
			t.Errorf("the bar stays: stdout %q, stderr %q", out.String(), err.String())
		}
	})
}

func TestShortWorkShowsNoBar(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out, err output.Buffer
		p := New(Options{Out: &out, Err: &err, Environ: onTTY}).Progress(3, 1000, 0)
		p.Sent(1000)
		p.Stop()
		if out.String() != "" || err.String() != "" {
			t.Errorf("stdout %q, stderr %q", out.String(), err.String())
		}
	})
}

func TestProgressInPlainTextIsTwoLines(t *testing.T) {
	for _, tt := range []struct {
		o     Options
		there int
		want  string
	}{
		{Options{}, 0, "Uploading 2 files (1 kB)\nUploaded 2 files\n"},
		{Options{}, 1, "Uploading 2 files (1 kB); 1 is there already\nUploaded 2 files\n"},
		{Options{}, 98, "Uploading 2 files (1 kB); 98 are there already\nUploaded 2 files\n"},
		{Options{JSON: true}, 98, ""},
	} {
		var out, err output.Buffer
		tt.o.Out, tt.o.Err = &out, &err
		s := New(tt.o)
		p := s.Progress(2, 1024, tt.there)
		p.Sent(1024)
		p.Stored()
		p.Stored()
		p.Stop()
		if e := s.Object(1); e != nil || err.String() != tt.want || out.String() != "1\n" {
			t.Errorf("stdout %q, stderr %q, error %v", out.String(), err.String(), e)
		}
	}
}

func TestADownloadHasABarOrOneLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out, err output.Buffer
		p := New(Options{Out: &out, Err: &err, Environ: onTTY}).Download(1000)
		p.Done(500)
		pass(400 * time.Millisecond)
		p.Stop()
		if text := err.String(); !strings.Contains(text, "Downloading") || !strings.Contains(text, "49%") {
			t.Errorf("stderr %q", text)
		}
	})
	var out, err bytes.Buffer
	p := New(Options{Out: &out, Err: &err}).Download(2048)
	p.Done(2048)
	p.Stop()
	if err.String() != "Downloading 2 kB\n" || out.Len() > 0 {
		t.Errorf("stdout %q, stderr %q", &out, &err)
	}
}
