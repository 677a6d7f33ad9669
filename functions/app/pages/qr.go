package pages

import (
	"fmt"
	"strings"

	"rsc.io/qr"
)

// quiet is how many modules around a code stay light, so that cameras find it (ISO/IEC 18004).
const quiet = 4

// QR is the drawing of a code, as text of SVG.
type QR struct {
	Side int    // of the square, in modules
	Path string // the dark modules
}

// DrawQR returns the code of a text. At the middle level of correction it can be read although a finger covers a
// corner.
func DrawQR(text string) (*QR, error) {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil, fmt.Errorf("encode as QR: %w", err)
	}
	var path strings.Builder
	for y := range code.Size {
		for x := 0; x < code.Size; x++ {
			begin := x
			for code.Black(x, y) { // false beyond the last one
				x++
			}
			if x > begin {
				fmt.Fprintf(&path, "M%d %dh%dv1H%dz", begin+quiet, y+quiet, x-begin, begin+quiet)
			}
		}
	}
	return &QR{Side: code.Size + 2*quiet, Path: path.String()}, nil
}

// SVG returns the drawing as a document. It is dark on light in every theme, because some cameras need that.
func (q *QR) SVG() string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[1]d" shape-rendering="crispEdges">`+
		`<path fill="#fff" d="M0 0h%[1]dv%[1]dH0z"/><path d="%[2]s"/></svg>`, q.Side, q.Path)
}
