package screen

import (
	"bytes"
	"strings"
	"testing"

	"vitrine/cmd/vitrine/failure"
)

func TestTable(t *testing.T) {
	rows := [][]string{{"a", "漢字", "x"}, {"bbb", "\x1b[2J", "y\nz"}, {"c", "", ""}}
	for _, tt := range []struct {
		o    Options
		want string
	}{
		{Options{}, "a    漢字  x\nbbb  \ufffd[2J  y\ufffdz\nc\n"},
		{Options{Quiet: true}, "a\nbbb\nc\n"},
	} {
		var out bytes.Buffer
		tt.o.Out, tt.o.Err = &out, &out
		if err := New(tt.o).Table(rows); err != nil || out.String() != tt.want {
			t.Errorf("%q, %v; want %q", out.String(), err, tt.want)
		}
	}
}

func TestVerbatim(t *testing.T) {
	for _, text := range []string{"plain\r\n\ttext", strange, "\xff\x00", "over\rwritten", "at the end\r"} {
		for _, o := range []Options{
			{},
			{Quiet: true},
			{Color: true},
			{Terminal: true},
			{Terminal: true, NoColor: true},
			{Terminal: true, Environ: []string{"CI=1"}},
		} {
			var out bytes.Buffer
			o.Out, o.Err = &out, &out
			err := New(o).Verbatim([]byte(text))
			if (o.Color || o.Terminal) && text != "plain\r\n\ttext" {
				if !failure.IsCode(err, failure.Unshowable) || out.Len() > 0 {
					t.Errorf("a terminal got %q, %v", out.String(), err)
				}
			} else if err != nil || out.String() != text {
				t.Errorf("%+v: %q, %v; want %q", o, out.String(), err, text)
			}
		}
	}
}

func TestDiffColoursAndCleans(t *testing.T) {
	lines := []string{"--- a", "+++ b", "@@ -1 +1 @@", "-" + strings.ReplaceAll(strange, "\n", ""), "+new\r", " same\tx"}
	var plain, rich bytes.Buffer
	if err := New(Options{Out: &plain, Err: &plain}).Diff(lines); err != nil ||
		plain.String() != strings.Join(lines, "\n")+"\n" {
		t.Errorf("%q, %v", plain.String(), err)
	}
	plain.Reset()
	o := Options{
		Out:      &plain,
		Err:      &plain,
		Terminal: true,
		NoColor:  true,
	}
	if err := New(o).Diff(lines); err != nil || strings.ContainsAny(plain.String(), "\x1b\x07\u009b\u202e\u2028\r\t") ||
		!strings.Contains(plain.String(), "\n+new\n") {
		t.Errorf("%q, %v", plain.String(), err)
	}
	if err := New(Options{Out: &rich, Err: &rich, Color: true}).Diff(lines); err != nil {
		t.Fatal(err)
	}
	if text := rich.String(); strings.ContainsAny(text, "\x07\u009b\u202e\u2028\r\t") ||
		strings.Contains(text, "\x1b[31mb") || !strings.Contains(text, "\x1b[32m+new") {
		t.Errorf("%q", text)
	}
}
