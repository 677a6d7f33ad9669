package main

import (
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
		{"other lines pass through", "go: downloading x", 0, 0, "go: downloading x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			sum := &tally{out: &out, held: map[string][]string{}}
			if err := sum.read(strings.NewReader(tt.stream)); err != nil {
				t.Fatal(err)
			}
			if sum.passed != tt.passed || sum.failed != tt.failed || !strings.Contains(out.String(), tt.shows) {
				t.Errorf("%d passed, %d failed, %q", sum.passed, sum.failed, out.String())
			}
		})
	}
}
