package main

import (
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestTally(t *testing.T) {
	for _, tt := range []struct {
		name, stream   string
		passed, failed int
		shows          string
	}{
		{"passes are counted", `{"Action":"pass","Package":"p","Test":"A"}` + "\n" + `{"Action":"pass","Package":"p","Elapsed":0.5}`, 1, 0, "pass  p 0.5s"},
		{"output of failures is shown", `{"Action":"output","Package":"p","Test":"A","Output":"why\n"}` + "\n" + `{"Action":"fail","Package":"p","Test":"A"}`, 0, 1, "why"},
		{"a package that does not build fails", `{"Action":"build-output","ImportPath":"p","Output":"syntax\n"}` + "\n" + `{"Action":"fail","Package":"p"}`, 0, 1, "syntax"},
		{"a skipped test is a failure", `{"Action":"skip","Package":"p","Test":"A"}`, 0, 1, "FAIL  p A"},
		{"a package without tests does not count", `{"Action":"skip","Package":"p"}`, 0, 0, ""},
		{"what ran when a package was ended is named, not what waited", `{"Action":"run","Package":"p","Test":"A"}
{"Action":"run","Package":"p","Test":"B"}
{"Action":"pause","Package":"p","Test":"B"}
{"Action":"output","Package":"p","Test":"A","Output":"panic: test timed out after 10m0s\n"}
{"Action":"fail","Package":"p","Elapsed":602}`, 0, 1, "fail  p 602.0s\n      was running: A\n      panic: test timed out after 10m0s\n"},
		{"a package that never ends is a failure", `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Test":"A","Output":"asking\n"}`, 0, 1, "FAIL  p was stopped before it ended\n      was running: A\n      asking\n"},
		{"other lines pass through", "go: downloading x", 0, 0, "go: downloading x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			sum := newTally(&out)
			if err := sum.read(strings.NewReader(tt.stream)); err != nil {
				t.Fatal(err)
			}
			if sum.passed != tt.passed || sum.failed != tt.failed || !strings.Contains(out.String(), tt.shows) {
				t.Errorf("%d passed, %d failed, %q", sum.passed, sum.failed, out.String())
			}
		})
	}
}

func TestOnlyShortLeavesTestsOut(t *testing.T) {
	const stream = `{"Action":"output","Package":"p","Test":"A","Output":"    a.go:1: left out by -short: it needs a browser\n"}
{"Action":"skip","Package":"p","Test":"A"}
{"Action":"output","Package":"p","Test":"B","Output":"    a.go:1: not today\n"}
{"Action":"skip","Package":"p","Test":"B"}
`
	for _, tt := range []struct {
		short           bool
		failed, leftOut int
	}{
		{short: false, failed: 2},
		{short: true, failed: 1, leftOut: 1},
	} {
		sum := newTally(io.Discard)
		sum.short = tt.short
		if err := sum.read(strings.NewReader(stream)); err != nil {
			t.Fatal(err)
		}
		if sum.failed != tt.failed || sum.leftOut != tt.leftOut {
			t.Errorf("with -short=%t %d failed and %d were left out", tt.short, sum.failed, sum.leftOut)
		}
	}
}

func TestTheSlowestTestsArePrinted(t *testing.T) {
	var stream strings.Builder
	for n := range maxSlowest + 1 {
		fmt.Fprintf(&stream, `{"Action":"pass","Package":"p","Test":"A%d","Elapsed":%d}`+"\n", n, n)
	}
	stream.WriteString(`{"Action":"fail","Package":"p","Test":"A9/of a table","Elapsed":90}
{"Action":"pass","Package":"old","Test":"B","Elapsed":91}
{"Action":"output","Package":"old","Output":"ok  \told\t(cached)\n"}
{"Action":"pass","Package":"old","Elapsed":0.1}
`)
	var out strings.Builder
	sum := newTally(&out)
	if err := sum.read(strings.NewReader(stream.String())); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	sum.printSlowest()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != maxSlowest+1 || lines[1] != "  10.0s p A10" || lines[maxSlowest] != "   1.0s p A1" {
		t.Errorf("it prints\n%s", out.String())
	}
}
