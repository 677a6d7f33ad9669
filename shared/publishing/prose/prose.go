// Package prose tells the text of a file as its reader sees it, so that a quote can be found in it.
package prose

import (
	"bytes"
	"errors"
	"regexp"
	"unicode/utf8"

	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/markdown"
)

// Most is the largest file that is read, in bytes.
const Most = 4 * limits.MiB

// What is refused, besides Markdown that costs too much to parse. The texts are for readers.
var (
	ErrLarge  = errors.New("it has more than 4 MiB")
	ErrBinary = errors.New("it is not text in UTF-8")
)

// Prose is what readers see of a file.
type Prose struct {
	Text    string // a line for each block of HTML and Markdown
	Scripts bool   // of the page; they may show another text
}

// Of returns the prose of the file at a path: of HTML, of Markdown with the fields before it, of the cells of a
// notebook and their outputs, and of a log without what colours it. Any other text is as it is: code, data, tables,
// long Markdown, and what is no notebook. It fails with ErrLarge, ErrBinary, or a sentence about what in the Markdown
// costs too much.
func Of(path string, body []byte) (Prose, error) {
	source, err := Source(body)
	if err != nil {
		return Prose{}, err
	}
	p := &page{whole: media.IsHTML(path)}
	switch view := media.ViewOf(path); {
	case p.whole:
		p.read(source)
	case view == media.MarkdownView && len(source) <= markdown.Most:
		err = p.markdown(source, markdown.NewBudget())
	case view == media.NotebookView && p.notebook(source):
	case view == media.LogView:
		p.verbatim(Control.ReplaceAll(source, nil))
	default:
		p.verbatim(source)
	}
	return Prose{Text: p.out.String(), Scripts: p.scripts && p.whole}, err
}

// Source returns a file as it is, without a byte order mark. It fails with ErrLarge or ErrBinary.
func Source(body []byte) ([]byte, error) {
	switch {
	case len(body) > Most:
		return nil, ErrLarge
	case !utf8.Valid(body), bytes.IndexByte(body, 0) >= 0:
		return nil, ErrBinary
	}
	return bytes.TrimPrefix(body, []byte("\uFEFF")), nil
}

// Control matches what a terminal does not print: control sequences, titles of windows, and single control characters.
var Control = regexp.MustCompile("\x1b(?:\\[[0-9:;<=>?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?|" +
	"[@-Z\\\\^_()#][0-9A-Za-z]?)?|[\x00-\x08\x0b-\x1f\x7f]")
