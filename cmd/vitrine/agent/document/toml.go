package document

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// TOML is the syntax of a file in which a path names a table. The table is written as a block at the end.
type TOML struct{}

func decode(text []byte) (all map[string]any, err error) {
	_, body := split(text)
	if err = toml.Unmarshal(body, &all); err == nil {
		return all, nil
	}
	if broken, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := broken.Position()
		return nil, misplaced("TOML", fmt.Sprintf("line %d, column %d", line, column))
	}
	return nil, errors.New("it is not TOML")
}

// Find implements Format.
func (TOML) Find(text []byte, path []string) (any, error) {
	all, err := decode(text)
	if err != nil {
		return nil, err
	}
	return lookup(all, path)
}

// Add implements Format.
func (f TOML) Add(text []byte, path []string, value Object) ([]byte, string, error) {
	if there, err := f.Find(text, path); err != nil || there != nil {
		return nil, "", errors.Join(err, errors.New("it has the entry already"))
	}
	head, body := split(text)
	newline := newlineOf(body)
	piece := header(path) + newline
	for i := 0; i < len(value); i += 2 {
		encoded, err := Encode(value[i+1]) // strings and lists of them are the same in TOML
		if err != nil {
			return nil, "", err
		}
		piece += fmt.Sprintf("%s = %s%s", value[i], encoded, newline)
	}
	if !isBlank(body) {
		piece = newline + piece
	}
	if len(body) > 0 && !bytes.HasSuffix(body, []byte("\n")) {
		piece = newline + piece
	}
	edited := bytes.Join([][]byte{head, body, []byte(piece)}, nil)
	if there, err := f.Find(edited, path); err != nil || there == nil {
		return nil, "", fmt.Errorf("%s in it is written in a form that a table cannot be added to",
			strings.Join(path[:len(path)-1], "."))
	}
	return edited, piece, nil
}

func header(path []string) string { return "[" + strings.Join(path, ".") + "]" }

// Remove implements Format.
func (f TOML) Remove(text []byte, path, pieces []string) ([]byte, error) {
	for {
		there, err := f.Find(text, path)
		if err != nil || there == nil {
			return text, err
		}
		head, body := split(text)
		from, to := block(body, path)
		if from < 0 {
			return nil, fmt.Errorf("%s in it is not a table of its own", strings.Join(path, "."))
		}
		for _, piece := range pieces {
			start := from - max(0, strings.Index(piece, header(path)))
			if start >= 0 && bytes.HasPrefix(body[start:], []byte(piece)) && start+len(piece) >= to {
				from, to = start, start+len(piece)
				break
			}
		}
		cut := bytes.Join([][]byte{head, remove(body, from, to)}, nil)
		if _, err := decode(cut); err != nil {
			return nil, errors.New("the entry cannot be taken out of it without changing something else")
		}
		text = cut
	}
}

// block returns the lines of a table, or of a table in it: from its header to its last value. from is -1 if there is
// none.
func block(body []byte, path []string) (from, to int) {
	from = -1
	var p unstable.Parser
	p.Reset(body)
	for p.NextExpression() {
		e := p.Expression()
		key, first, end := keyOf(&p, e)
		switch {
		case e.Kind == unstable.KeyValue && from >= 0:
			to = int(e.Raw.Offset + e.Raw.Length)
		case e.Kind == unstable.KeyValue:
		case from >= 0:
			return from, lineEnd(body, to)
		case len(key) >= len(path) && slices.Equal(key[:len(path)], path):
			from, to = bytes.LastIndexByte(body[:first], '\n')+1, end
		}
	}
	return from, lineEnd(body, to)
}

// keyOf returns the names in a key, and where it begins and ends.
func keyOf(p *unstable.Parser, e *unstable.Node) (names []string, first, end int) {
	first = -1
	for it := e.Key(); it.Next(); {
		n := it.Node()
		names = append(names, string(n.Data))
		if first < 0 {
			first = int(n.Raw.Offset)
		}
		end = int(n.Raw.Offset + n.Raw.Length)
	}
	return names, first, end
}

// lineEnd returns the offset after the line that holds another one.
func lineEnd(body []byte, at int) int {
	if i := bytes.IndexByte(body[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(body)
}

// Empty implements Format.
func (TOML) Empty(text []byte) bool {
	_, body := split(text)
	return isBlank(body)
}
