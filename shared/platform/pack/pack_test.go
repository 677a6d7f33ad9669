package pack_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/testkit/unpack"
	"vitrine/shared/platform/pack"
)

var text = strings.Repeat("All the same, but for a number: 1, 2, 3.\n", 10_000)

// unpacked returns the text that a coding makes of packed bytes.
func unpacked(t *testing.T, c pack.Coding, packed string) string {
	t.Helper()
	return unpack.Text(t, http.Header{"Content-Encoding": {string(c)}}, []byte(packed))
}

func TestAPackedTextIsTheText(t *testing.T) {
	for _, c := range pack.Codings {
		for _, want := range []string{text, "", "a"} {
			packed, err := pack.Text(c, strings.NewReader(want))
			if err != nil || unpacked(t, c, packed) != want {
				t.Errorf("Text(%s) of %d bytes: %v, or another text", c, len(want), err)
			}
			if tightly := pack.Tightly(c, []byte(want)); unpacked(t, c, tightly) != want || len(tightly) > len(packed) {
				t.Errorf("Tightly(%s) of %d bytes has %d, want at most %d", c, len(want), len(tightly), len(packed))
			}
		}
	}
}

// failing is a text that breaks off.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestATextThatBreaksOffIsNone(t *testing.T) {
	for _, c := range pack.Codings {
		packed, err := pack.Text(c, io.MultiReader(strings.NewReader(text), failing{}))
		if packed != "" || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("Text(%s) = %d bytes, %v, want none and the failure", c, len(packed), err)
		}
	}
}

func TestAWriterThatWasCutOffIsUsedAgain(t *testing.T) {
	for _, c := range pack.Codings {
		var cut bytes.Buffer
		w := pack.NewWriter(&cut, c)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		w.Release()
		before := cut.Len()
		for range 20 {
			if packed, err := pack.Text(c, strings.NewReader("next")); err != nil || unpacked(t, c, packed) != "next" {
				t.Errorf("Text(%s): %v, or another text", c, err)
			}
		}
		if cut.Len() != before {
			t.Errorf("%s: the writer goes on after its release", c)
		}
	}
}
