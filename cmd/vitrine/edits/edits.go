// Package edits changes a text by literal replacements, all of them or none.
package edits

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// Most is how many edits one list may hold; MaxBytes bounds its JSON.
const (
	Most     = 100
	MaxBytes = 32 << 20
)

// Edit replaces a text that must be there exactly once, or every time with ReplaceAll.
type Edit struct {
	Old        string  `json:"old_string"`
	New        *string `json:"new_string"`
	ReplaceAll bool    `json:"replace_all"`
}

// ErrMalformed is the cause of every error of Parse.
var ErrMalformed = errors.New("the edits are no JSON array of 1 to 100 {old_string, new_string, replace_all?}")

// Parse reads a JSON array of edits. Members that it does not know, members twice, text after the array and text that is
// no Unicode are errors: an edit is never half understood.
func Parse(text []byte) ([]Edit, error) {
	var list []Edit
	if err := json.Unmarshal(text, &list, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if len(list) == 0 || len(list) > Most {
		return nil, fmt.Errorf("%w: there are %d", ErrMalformed, len(list))
	}
	for i, e := range list {
		switch {
		case e.Old == "":
			return nil, fmt.Errorf("%w: edits[%d] has no old_string", ErrMalformed, i)
		case e.New == nil:
			return nil, fmt.Errorf("%w: edits[%d] has no new_string", ErrMalformed, i)
		}
	}
	return list, nil
}

// NoMatch says that an edit does not fit the text.
type NoMatch struct {
	Index int // of the edit, from 0
	Times int // how often old_string is there, overlaps included; 2 for any more
}

func (n NoMatch) Error() string {
	if n.Times == 0 {
		return fmt.Sprintf("edits[%d]: old_string was not found", n.Index)
	}
	return fmt.Sprintf("edits[%d]: old_string is there more than once", n.Index)
}

// ErrTooLarge says that the text would grow beyond what a file may have.
var ErrTooLarge = errors.New("the edited text is too large")

// Apply makes the edits in order, each on the result of those before it. The text never grows beyond most bytes; errors
// are NoMatch and ErrTooLarge.
func Apply(text string, list []Edit, most int64) (string, error) {
	for i, e := range list {
		first := strings.Index(text, e.Old)
		if first < 0 {
			return "", NoMatch{Index: i}
		}
		if !e.ReplaceAll && strings.Contains(text[first+1:], e.Old) {
			return "", NoMatch{Index: i, Times: 2}
		}
		times := 1
		if e.ReplaceAll {
			times = strings.Count(text, e.Old)
		}
		if int64(len(text))+int64(times)*int64(len(*e.New)-len(e.Old)) > most {
			return "", ErrTooLarge
		}
		text = strings.Replace(text, e.Old, *e.New, times)
	}
	return text, nil
}

// IsText tells whether bytes are text that can be edited and compared line by line: UTF-8 without a zero.
func IsText(b []byte) bool { return utf8.Valid(b) && !bytes.Contains(b, []byte{0}) }
