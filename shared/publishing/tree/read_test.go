package tree

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"vitrine/shared/platform/fault"
)

func TestAFileIsReadWholeAndRightOrNotAtAll(t *testing.T) {
	const text = "content"
	f := File{Size: int64(len(text)), SHA256: DigestOf(text)}
	reset := errors.New("reset")
	broken := io.MultiReader(strings.NewReader("con"), iotest.ErrReader(reset))
	for name, c := range map[string]struct {
		object io.Reader
		cause  error
		want   fault.Code
	}{
		"its bytes":              {strings.NewReader(text), nil, ""},
		"its bytes one by one":   {iotest.OneByteReader(strings.NewReader(text)), nil, ""},
		"other bytes":            {strings.NewReader("CONTENT"), nil, fault.StorageUnavailable},
		"too few":                {strings.NewReader("cont"), nil, fault.StorageUnavailable},
		"one too many":           {strings.NewReader("contents"), nil, fault.StorageUnavailable},
		"bytes without end":      {endless{}, nil, fault.StorageUnavailable},
		"a failure":              {iotest.ErrReader(reset), reset, fault.StorageUnavailable},
		"a failure after a part": {broken, reset, fault.StorageUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := f.ReadAll(c.object)
			if fault.CodeOf(err) != c.want || c.cause != nil && !errors.Is(err, c.cause) || (got == text) != (err == nil) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}

// endless never ends.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// TestTheMemoryOfATreeIsItsFilesWithTheirNames compares the size with what the parts take.
func TestTheMemoryOfATreeIsItsFilesWithTheirNames(t *testing.T) {
	const files, path, session = 100, 500, 30
	tr := make(Tree, files)
	for n := range tr {
		tr[n].Path, tr[n].Object.Session = strings.Repeat("p", path), "ups_00000000000000000000000000"
	}
	least := int64(files * (path + session + 80))
	if got := tr.MemorySize(); got < least || got > least*3/2 {
		t.Errorf("%d bytes, want a little more than %d", got, least)
	}
	if Tree(nil).MemorySize() != 0 {
		t.Error("no tree takes memory")
	}
}
