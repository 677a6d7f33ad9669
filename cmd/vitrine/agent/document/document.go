// Package document adds an entry to a configuration file of another program and takes it out again. All other bytes
// stay as they are: comments, order, indentation, line ends and a byte order mark.
package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// Format is the syntax of a file. A path names a member through the objects that hold it.
type Format interface {
	// Find returns the value at a path as encoding/json would decode it, nil if there is none.
	Find(text []byte, path []string) (any, error)
	// Add inserts a member that is not there. All that it changes is that it inserts one piece, which it returns, too.
	Add(text []byte, path []string, value Object) (edited []byte, piece string, err error)
	// Remove deletes a member. Where one of the pieces that Add has inserted is still there, exactly that piece goes.
	// Otherwise the member goes, with the objects around it that the pieces have made and that would be left empty.
	Remove(text []byte, path, pieces []string) ([]byte, error)
	// Empty reports whether a text may be deleted: it has no member and no comment.
	Empty(text []byte) bool
}

// Object is a value: the names and values of its members in turn, in the order in which they are written. A value is a
// string, a list of strings or an Object.
type Object []any

// MarshalJSON keeps the order.
func (o Object) MarshalJSON() ([]byte, error) {
	var members []string
	for i := 0; i < len(o); i += 2 {
		name, err1 := Encode(o[i])
		value, err2 := Encode(o[i+1])
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		members = append(members, name+":"+value)
	}
	return []byte("{" + strings.Join(members, ",") + "}"), nil
}

// Encode returns a value as compact JSON, in which <, > and & stay as they are.
func Encode(value any) (string, error) {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return strings.TrimSuffix(text.String(), "\n"), err
}

// mark is the byte order mark of UTF-8, which editors of Windows write.
var mark = []byte("\xef\xbb\xbf")

// split returns the byte order mark of a text, if it has one, and the rest.
func split(text []byte) (head, body []byte) {
	if bytes.HasPrefix(text, mark) {
		return text[:len(mark)], text[len(mark):]
	}
	return nil, text
}

// newlineOf returns the line end of a text.
func newlineOf(text []byte) string {
	if i := bytes.IndexByte(text, '\n'); i > 0 && text[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

// isBlank reports whether a text is white space alone.
func isBlank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }

// insert returns a text with a piece at an offset.
func insert(text []byte, at int, piece string) []byte {
	return bytes.Join([][]byte{text[:at], []byte(piece), text[at:]}, nil)
}

// remove returns a text without a part of it.
func remove(text []byte, from, to int) []byte {
	return bytes.Join([][]byte{text[:from], text[to:]}, nil)
}

// quoted returns a name as it is written before a value.
func quoted(name string) string { return `"` + name + `":` }

// lookup returns the value at a path of decoded objects.
func lookup(value any, path []string) (any, error) {
	for i, name := range path {
		object, ok := value.(map[string]any)
		if !ok {
			return nil, notObject(path[:i])
		}
		if value, ok = object[name]; !ok {
			return nil, nil
		}
	}
	return value, nil
}

func notObject(path []string) error {
	if len(path) == 0 {
		return errors.New("it does not hold an object")
	}
	return fmt.Errorf("%s in it is not an object", strings.Join(path, "."))
}
