package render

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
)

// rowsOf are the rows of a text with their lines, as this package reads them.
func rowsOf(t *testing.T, text string) (out []string) {
	t.Helper()
	b := new(body)
	r, err := newCellReader(bufio.NewReader(strings.NewReader(text)), ',', b)
	expect.OK(t, err)
	out = append(out, fmt.Sprintf("%q", r.names))
	for {
		row, err := r.next()
		if errors.Is(err, io.EOF) {
			return append(out, fmt.Sprint(b.notes))
		}
		expect.OK(t, err)
		out = append(out, fmt.Sprintf("%d %q", row.line, row.cells))
	}
}

// libraryRowsOf are the rows as the library reads them.
func libraryRowsOf(t *testing.T, text string) (out []string) {
	t.Helper()
	b := new(body)
	cut := &clipper{b: b}
	r := csv.NewReader(strings.NewReader(text))
	r.LazyQuotes, r.FieldsPerRecord = true, -1
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			if out == nil {
				out = append(out, "[]")
			}
			return append(out, fmt.Sprint(b.notes))
		}
		expect.OK(t, err)
		if line, _ := r.FieldPos(0); out == nil {
			out = append(out, fmt.Sprintf("%q", cut.row(row)))
		} else {
			out = append(out, fmt.Sprintf("%d %q", line, cut.row(row)))
		}
	}
}

func FuzzRowsAreThoseOfTheLibrary(f *testing.F) {
	for _, text := range []string{
		"a,b\n1,2\n", "a,b\r\n\r\n1,\"x\r\ny\"\r\n", `a,"b""c",d"e,"f"g"h` + "\n\n\nx", "\"", "\"a\r", "a\r", "\r", "\n\n",
		",", ",\n,", "\"a\",",
		"\"a\"\r\n\"b\"\rc\n", "a\r\r\n\"\"\"\n", strings.Repeat("a,", 250) + "\n" + strings.Repeat("é", 600) + ",\"" + strings.Repeat("\"\"", 1100),
		strings.Repeat("x", 1024) + "," + strings.Repeat("y", 1025) + "\n\"" + strings.Repeat("z\n", 600) + "\",2\nnext,3",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, want := rowsOf(t, text), libraryRowsOf(t, text)
		if strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q is\n%s, not\n%s", text, got, want)
		}
	})
}

func TestARecordIsHeldOnlyAsFarAsItIsShown(t *testing.T) {
	for _, text := range []string{
		strings.Repeat(",", 1<<20), strings.Repeat("x", 1<<20), "\"" + strings.Repeat("x\n", 1<<19),
	} {
		r, err := newCellReader(bufio.NewReader(strings.NewReader(text)), ',', new(body))
		expect.OK(t, err)
		if columns, bytes := cap(r.row), cap(r.cell); columns > 512 || bytes > 4<<10 {
			t.Errorf("%.5q…: %d columns and %d bytes of a cell are held", text, columns, bytes)
		}
	}
}
