// Package edits changes a text by literal replacements, either all of them or none.
package edits

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// MaxEdits is how many edits one list may contain; MaxBytes bounds its JSON.
const (
	MaxEdits = 100
	MaxBytes = 32 << 20
)

// Edit replaces one text by another. The text must occur exactly once, unless ReplaceAll replaces every occurrence.
type Edit struct {
	Old        string  `json:"old_string"`
	New        *string `json:"new_string"`
	ReplaceAll bool    `json:"replace_all"`
}

// ErrMalformed is the cause of every error of Parse.
var ErrMalformed = errors.New("the edits are not a JSON array of 1 to 100 {old_string, new_string, replace_all?}")

// Parse parses a JSON array of edits. Unknown or repeated members, text after the array and invalid Unicode are
// errors, because an edit must never be misread.
func Parse(text []byte) ([]Edit, error) {
	var list []Edit
	if err := json.Unmarshal(text, &list, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if len(list) == 0 || len(list) > MaxEdits {
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

// NoMatch means that an edit does not fit the text.
type NoMatch struct {
	Index int // index of the edit, from 0
	Times int // how often old_string occurs, overlaps included; 2 for any more
}

func (n NoMatch) Error() string {
	if n.Times == 0 {
		return fmt.Sprintf("edits[%d]: old_string was not found", n.Index)
	}
	return fmt.Sprintf("edits[%d]: old_string occurs more than once", n.Index)
}

// ErrTooLarge means that the text would exceed the largest size of a file.
var ErrTooLarge = errors.New("the edited text is too large")

// Apply applies the edits in order, each to the result of the previous ones. The text never exceeds most bytes. The
// errors are NoMatch and ErrTooLarge.
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

// IsText reports whether bytes are text that can be edited and compared line by line: UTF-8 without a NUL.
func IsText(b []byte) bool { return utf8.Valid(b) && !bytes.Contains(b, []byte{0}) }
