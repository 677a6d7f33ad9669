package screen

import (
	"bytes"
	"strings"
	"testing"

	"rsc.io/qr"
)

const address = "https://vitrine.example.com/al/0123456789ABCDEF#" +
	"blob-of-a-link-that-is-some-75-characters-long-as-they-are"

func drawn(t *testing.T, o Options) string {
	t.Helper()
	var out bytes.Buffer
	o.Out, o.Err = &out, &out
	if err := New(o).QR(address); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// modules reads a drawing back: true is a printed half block.
func modules(drawing string) (rows [][]bool) {
	for line := range strings.Lines(drawing) {
		var upper, lower []bool
		for _, r := range strings.TrimSuffix(line, "\n") {
			upper = append(upper, r == '▀' || r == '█')
			lower = append(lower, r == '▄' || r == '█')
		}
		rows = append(rows, upper, lower)
	}
	return rows
}

func TestADrawingHoldsTheCodeWithAQuietZone(t *testing.T) {
	want, err := qr.Encode(address, qr.L)
	if err != nil {
		t.Fatal(err)
	}
	plain := drawn(t, Options{})
	if strings.Contains(plain, "\x1b") {
		t.Error("a plain drawing has escape codes")
	}
	rows := modules(plain)
	if len(rows) < want.Size+2*quietZone || len(rows) > want.Size+2*quietZone+1 {
		t.Fatalf("%d rows for %d modules", len(rows), want.Size)
	}
	for y := range want.Size + 2*quietZone {
		if len(rows[y]) != want.Size+2*quietZone {
			t.Fatalf("row %d has %d modules", y, len(rows[y]))
		}
		for x, light := range rows[y] {
			if light == want.Black(x-quietZone, y-quietZone) {
				t.Fatalf("module %d,%d is drawn as light: %v", x, y, light)
			}
		}
	}
}

func TestARichDrawingIsBlackOnWhite(t *testing.T) {
	rich := drawn(t, Options{Color: true, Environ: []string{"TERM=xterm-256color"}})
	lines := strings.Split(strings.TrimSuffix(rich, "\n"), "\n")
	for _, line := range lines {
		if !strings.HasPrefix(line, "\x1b[") || !strings.HasSuffix(line, "m") {
			t.Fatalf("%q", line)
		}
	}
	if strings.ContainsAny(lines[0], "▀▄█") {
		t.Errorf("the quiet zone has ink: %q", lines[0])
	}
}

func TestJSONAndQuietOutputHaveNoDrawing(t *testing.T) {
	for _, o := range []Options{{JSON: true}, {Quiet: true}} {
		if got := drawn(t, o); got != "" {
			t.Errorf("%+v draws %q", o, got)
		}
	}
}
