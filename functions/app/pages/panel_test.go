package pages

import (
	"fmt"
	"strings"
	"testing"

	"rsc.io/qr"

	"vitrine/scripts/testkit/expect"
)

func TestKindsOfFiles(t *testing.T) {
	expect.Results(t, Kind, map[string]string{
		"text/html; charset=utf-8": "Page",
		"TEXT/Markdown":            "Markdown",
		"text/rtf":                 "Text",
		"image/webp":               "Image",
		"application/pdf":          "PDF",
		"application/zip":          "File",
		"text":                     "Text",
		"":                         "File",
		";":                        "File",
	})
}

// TestCodesAreDrawnWhole paints the path again and compares every module.
func TestCodesAreDrawnWhole(t *testing.T) {
	for _, text := range []string{"", "https://app.example/al/0123456789ABCDEF#" + strings.Repeat("x", 75), strings.Repeat("ä", 1000)} {
		drawn, err := DrawQR(text)
		if err != nil {
			t.Fatal(err)
		}
		code, err := qr.Encode(text, qr.M)
		if err != nil || drawn.Side != code.Size+8 {
			t.Fatalf("%d modules of %d: %v", drawn.Side, code.Size, err)
		}
		painted := map[[2]int]bool{}
		for _, part := range strings.Split(drawn.Path, "M")[1:] {
			var x, y, wide, back int
			if n, err := fmt.Sscanf(part, "%d %dh%dv1H%dz", &x, &y, &wide, &back); n != 4 || back != x {
				t.Fatalf("%q: %v", part, err)
			}
			for i := range wide {
				painted[[2]int{x + i, y}] = true
			}
		}
		for y := range drawn.Side {
			for x := range drawn.Side {
				if painted[[2]int{x, y}] != code.Black(x-4, y-4) {
					t.Fatalf("%.20q: module %d, %d is wrong", text, x, y)
				}
			}
		}
	}
	if _, err := DrawQR(strings.Repeat("x", 5000)); err == nil {
		t.Error("a text that no code can hold is drawn")
	}
}
