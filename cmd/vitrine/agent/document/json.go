package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// JSON is JSON with comments and trailing commas. A file of a program that takes neither has none.
type JSON struct{}

// parse returns the tree of a text without its byte order mark, nil for a blank one.
func parse(body []byte) (*hujson.Value, error) {
	if isBlank(body) {
		return nil, nil
	}
	root, err := hujson.Parse(append(bytes.Clone(body), '\n')) // which ends a comment on the last line
	if err != nil {
		return nil, misplaced("JSON", position.FindString(err.Error()))
	}
	return &root, nil
}

// position finds where a text is broken. The rest of such an error may quote the text.
var position = regexp.MustCompile(`line \d+, column \d+`)

func misplaced(format, at string) error { return fmt.Errorf("it is not %s at %s", format, at) }

// step is an object on a path, and the member in it that the path names.
type step struct {
	*hujson.Object
	start int // of the object
	index int // -1 if the path ends here
}

// end returns the offset after a member's comma, or after its value if no comma follows, and whether one does.
func (s step) end(i int) (offset int, comma bool) {
	value := s.Members[i].Value
	if i == len(s.Members)-1 && value.AfterExtra == nil { // only a trailing comma leaves the last member its extra
		return value.EndOffset, false
	}
	return value.EndOffset + len(value.AfterExtra) + 1, true
}

// descend returns the objects along a path, as far as it exists.
func descend(root *hujson.Value, path []string) (steps []step, err error) {
	value := *root
	for i, name := range path {
		object, ok := value.Value.(*hujson.Object)
		if !ok {
			return nil, notObject(path[:i])
		}
		s := step{Object: object, start: value.StartOffset, index: -1}
		for n, m := range object.Members {
			if m.Name.Value.(hujson.Literal).String() != name {
				continue
			}
			if s.index >= 0 {
				return nil, fmt.Errorf("it has %s twice", strings.Join(path[:i+1], "."))
			}
			s.index = n
		}
		if steps = append(steps, s); s.index < 0 {
			break
		}
		value = object.Members[s.index].Value
	}
	return steps, nil
}

// Find implements Format.
func (JSON) Find(text []byte, path []string) (any, error) {
	_, body := split(text)
	root, err := parse(body)
	if root == nil || err != nil {
		return nil, err
	}
	steps, err := descend(root, path)
	if err != nil || len(steps) < len(path) || steps[len(steps)-1].index < 0 {
		return nil, err
	}
	last := steps[len(steps)-1]
	found := last.Members[last.index].Value.Clone()
	found.Standardize()
	var value any
	return value, json.Unmarshal(found.Pack(), &value)
}

// Add implements Format. It inserts the member before the others of its object, where no comment of theirs can come to
// stand behind it.
func (JSON) Add(text []byte, path []string, value Object) ([]byte, string, error) {
	head, body := split(text)
	root, err := parse(body)
	if err != nil {
		return nil, "", err
	}
	if root == nil {
		edited, _, err := JSON{}.Add([]byte("{}"), path, value)
		piece := string(edited) + "\n"
		return insert(text, len(text), piece), piece, err
	}
	steps, err := descend(root, path)
	if err != nil {
		return nil, "", err
	}
	last := steps[len(steps)-1]
	if last.index >= 0 {
		return nil, "", errors.New("it has the entry already")
	}
	name, rest := path[len(steps)-1], path[len(steps):]
	for _, outer := range slices.Backward(rest) {
		value = Object{outer, value}
	}
	at, piece, err := layoutOf(body, root).place(last, Object{name, value}, len(steps) == 1)
	return insert(text, len(head)+at, piece), piece, err
}

// layout is how a file is written.
type layout struct {
	body    []byte
	newline string
	indent  string // of one level
}

func layoutOf(body []byte, root *hujson.Value) layout {
	l := layout{body: body, newline: newlineOf(body), indent: "  "}
	if o, ok := root.Value.(*hujson.Object); ok && len(o.Members) > 0 {
		if own := indentOf(o.Members[0].Name.BeforeExtra); own != "" {
			l.indent = own
		}
	}
	return l
}

// indentOf returns the indentation of the last line of a text.
func indentOf(text []byte) string {
	line := text[bytes.LastIndexByte(text, '\n')+1:]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// place returns where to insert a member in an object, and what: in lines of its own, unless the members of the object
// are not.
func (l layout) place(s step, member Object, top bool) (at int, piece string, err error) {
	at, inner := s.start+1, s.AfterExtra
	comma := ""
	if len(s.Members) > 0 {
		inner, comma = s.Members[0].Name.BeforeExtra, ","
	}
	outer := indentOf(l.body[:s.start])
	switch {
	case bytes.Contains(inner, []byte("\n")):
		own := outer + l.indent
		if comma != "" {
			own = indentOf(inner)
		}
		piece, err = l.lines(member, own)
		return at + commentOn(inner), l.newline + own + piece + comma, err
	case comma != "", !top && !bytes.Contains(bytes.TrimSpace(l.body), []byte("\n")):
		piece, err = Encode(member)
		return at, piece[1:len(piece)-1] + comma, err
	}
	piece, err = l.lines(member, outer+l.indent)
	return at, l.newline + outer + l.indent + piece + l.newline + outer, err
}

// lines writes a member in several lines.
func (l layout) lines(member Object, indent string) (string, error) {
	compact, err := Encode(member[1])
	var text bytes.Buffer
	if err == nil {
		err = json.Indent(&text, []byte(compact), indent, l.indent)
	}
	return fmt.Sprintf("%q: %s", member[0], strings.ReplaceAll(text.String(), "\n", l.newline)), err
}

// commentOn returns the length of a comment that ends the line of an opening brace, which belongs to the brace.
func commentOn(extra []byte) int {
	line, _, _ := bytes.Cut(extra, []byte("\n"))
	if !bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("//")) {
		return 0
	}
	return len(bytes.TrimSuffix(line, []byte("\r")))
}

// Remove implements Format.
func (f JSON) Remove(text []byte, path, pieces []string) ([]byte, error) {
	head, body := split(text)
	for n := len(path); n > 0; n-- {
		root, err := parse(body)
		if root == nil || err != nil {
			return text, err
		}
		steps, err := descend(root, path[:n])
		if err != nil {
			return nil, err
		}
		if len(steps) < n || steps[n-1].index < 0 {
			return text, nil
		}
		last := steps[n-1]
		member := last.Members[last.index]
		if n == len(path) {
			for _, piece := range pieces {
				start := member.Name.StartOffset - max(0, strings.Index(piece, quoted(path[n-1])))
				if cut := f.without(body, start, piece, path); cut != nil {
					return bytes.Join([][]byte{head, cut}, nil), nil
				}
			}
		} else if !holdsNothing(member.Value.Value) || !slices.ContainsFunc(pieces, makes(path[n-1])) {
			break
		}
		body = cutMember(body, last)
		text = bytes.Join([][]byte{head, body}, nil)
	}
	if left, err := f.Find(text, path); err != nil || left != nil {
		return nil, errors.New("the entry cannot be taken out of it without changing something else")
	}
	return text, nil
}

func makes(name string) func(piece string) bool {
	return func(piece string) bool { return strings.Contains(piece, quoted(name)) }
}

// without returns a text without a piece that begins at an offset; nil if the piece is not there, or if more than the
// member has come to depend on it.
func (f JSON) without(body []byte, start int, piece string, path []string) []byte {
	if start < 0 || !bytes.HasPrefix(body[start:], []byte(piece)) {
		return nil
	}
	cut := remove(body, start, start+len(piece))
	if left, err := f.Find(cut, path); err != nil || left != nil {
		return nil
	}
	return cut
}

// cutMember deletes a member with a comma of it, and its lines if it has them for itself. Comments stay.
func cutMember(body []byte, s step) []byte {
	member := s.Members[s.index]
	from, to := member.Name.StartOffset, member.Value.EndOffset
	after, comma := s.end(s.index)
	switch {
	case comma && isBlank(member.Value.AfterExtra):
		to = after
	case comma:
		body = remove(body, after-1, after)
	}
	line := bytes.LastIndexByte(body[:from], '\n') + 1
	end := bytes.IndexByte(body[to:], '\n') + 1
	if from = len(bytes.TrimRight(body[:from], " \t")); end > 0 && from <= line && isBlank(body[to:to+end]) {
		from, to = line, to+end
	}
	body = remove(body, from, to)
	if !comma && s.index > 0 {
		before, _ := s.end(s.index - 1)
		body = remove(body, before-1, before)
	}
	return body
}

// holdsNothing reports whether a value is an object without members and comments.
func holdsNothing(value hujson.ValueTrimmed) bool {
	o, ok := value.(*hujson.Object)
	return ok && len(o.Members) == 0 && isBlank(o.AfterExtra)
}

// Empty implements Format.
func (JSON) Empty(text []byte) bool {
	_, body := split(text)
	root, err := parse(body)
	return err == nil && (root == nil ||
		holdsNothing(root.Value) && isBlank(root.BeforeExtra) && isBlank(root.AfterExtra))
}
