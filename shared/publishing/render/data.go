package render

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"vitrine/shared/platform/media"
)

const (
	maxData       = 2 << 20 // bytes of a document
	maxDepth      = 64      // levels of it
	maxNodes      = 60_000  // values that are shown
	maxYAMLValues = 150_000 // that a document may have
)

func init() {
	// Numbers in YAML take most; JSON takes 20.
	views[media.DataView] = viewer{show: dataView, weight: 576, most: maxData}
}

// dataView shows JSON and YAML as a tree whose branches open and close.
func dataView(ctx context.Context, s Source, b *body, _ Query) error {
	if s.File.Size > maxData {
		b.note("Documents above %s are shown as text.", size(maxData))
		return codeView(ctx, s, b, Query{})
	}
	source, err := s.read(ctx, maxData)
	if err != nil {
		return err
	}
	source = text8(source)
	w := &treeWriter{b: b}
	b.printf(`<div class="v-tree" dir="ltr">`)
	if ext := strings.ToLower(path.Ext(s.Path)); ext == ".yaml" || ext == ".yml" {
		err = w.yaml(source)
	} else {
		err = w.json(source)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errFailed, err)
	}
	b.printf("</div>")
	if w.deep {
		b.note("Values below %d levels are left out.", maxDepth)
	}
	if w.nodes > maxNodes {
		b.note("Only the first %d values are shown.", maxNodes)
	}
	return nil
}

// treeWriter writes values. It counts values that lie too deep or come too late, and leaves them out.
type treeWriter struct {
	b     *body
	nodes int
	depth int
	open  int // outer levels that are written and not closed yet
	deep  bool
}

// openLevels is how many levels of a tree are open when the page loads.
const openLevels = 2

// hidden reports whether the next value is left out.
func (w *treeWriter) hidden() bool {
	if w.depth > maxDepth {
		w.deep = true
	}
	return w.depth > maxDepth || w.nodes > maxNodes || w.b.full()
}

// begin opens an object or a list.
func (w *treeWriter) begin(key string, line int, sign string) {
	w.nodes++
	w.depth++
	if w.hidden() || w.open < w.depth-1 {
		return
	}
	w.open++
	open := ""
	if w.depth <= openLevels {
		open = " open"
	}
	w.b.printf(`<details data-line="%d"%s><summary>%s<span class="v-sign">%s</span></summary><div class="v-branch">`, line, open, key, sign)
}

func (w *treeWriter) end() {
	if w.open == w.depth {
		w.b.printf("</div></details>")
		w.open--
	}
	w.depth--
}

// endAll closes all open levels.
func (w *treeWriter) endAll() {
	for ; w.open > 0; w.open-- {
		w.b.printf("</div></details>")
	}
}

// leaf writes a value without parts.
func (w *treeWriter) leaf(key string, line int, class, text string) {
	w.nodes++
	w.depth++
	defer func() { w.depth-- }()
	if w.hidden() || w.open < w.depth-1 {
		return
	}
	w.b.printf(`<div class="v-leaf" data-line="%d">%s<span class="%s">%s</span></div>`, line, key, class, escape(clip(text, 4*maxCell)))
}

// keyOf writes the name of a member.
func keyOf(name string) string {
	return `<span class="v-key">` + escape(clip(name, 200)) + `</span> `
}

// level is an object or a list of JSON that is being read.
type level struct {
	object  bool
	key     string // of the next value
	wantKey bool
	index   int
}

// json writes one or several JSON documents. It reads tokens, so that depth costs no stack.
func (w *treeWriter) json(source []byte) error {
	d := json.NewDecoder(bytes.NewReader(source))
	d.UseNumber()
	lines := newLines(source)
	var levels []level
	for {
		t, err := d.Token()
		if errors.Is(err, io.EOF) && len(levels) == 0 || w.nodes > maxNodes {
			w.endAll()
			return nil
		}
		if err != nil {
			return fmt.Errorf("it is not JSON from line %d on", lines.at(int(d.InputOffset())))
		}
		line := lines.at(int(d.InputOffset()) - 1)
		if t == json.Delim('}') || t == json.Delim(']') {
			levels = levels[:len(levels)-1]
			w.end()
			continue
		}
		key := ""
		if n := len(levels); n > 0 {
			l := &levels[n-1]
			if l.object && l.wantKey {
				l.key, l.wantKey = t.(string), false
				continue
			}
			key, l.wantKey = l.label(), true
			l.index++
		}
		if delim, is := t.(json.Delim); is {
			levels = append(levels, level{object: delim == '{', wantKey: true})
			w.begin(key, line, map[json.Delim]string{'{': "{…}", '[': "[…]"}[delim])
			continue
		}
		class, text := jsonLeaf(t)
		w.leaf(key, line, class, text)
	}
}

func (l *level) label() string {
	if l.object {
		return keyOf(l.key)
	}
	return `<span class="v-index">` + strconv.Itoa(l.index) + `</span> `
}

func jsonLeaf(t json.Token) (class, text string) {
	switch t := t.(type) {
	case string:
		quoted, _ := json.Marshal(t)
		return "c-s", unescapeHTML(string(quoted))
	case json.Number:
		return "c-n", t.String()
	case bool:
		return "c-k", strconv.FormatBool(t)
	}
	return "c-c", "null"
}

// unescapeHTML undoes the HTML escapes of json.Marshal, because the page escapes by itself.
func unescapeHTML(s string) string { return unescaper.Replace(s) }

var unescaper = strings.NewReplacer(`\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// yaml writes the documents of a YAML file. It shows aliases by name and never follows them, so that aliases of aliases
// cost no more than their text.
func (w *treeWriter) yaml(source []byte) error {
	if yamlValues(source) > maxYAMLValues {
		return fmt.Errorf("it has more than %d values", maxYAMLValues)
	}
	d := yaml.NewDecoder(bytes.NewReader(source))
	for {
		var n yaml.Node
		err := d.Decode(&n)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("it is not YAML: %s", clip(err.Error(), 200))
		}
		for _, c := range n.Content {
			w.node("", c)
		}
	}
}

// yamlValues returns an upper bound of the number of values in a YAML file, by counting separators. It bounds memory,
// because the parser holds some hundred bytes for each value, however short it is.
func yamlValues(source []byte) (n int) {
	for i, c := range source {
		next := byte('\n')
		if i+1 < len(source) {
			next = source[i+1]
		}
		switch ends := strings.IndexByte(" \t\r\n,[]{}", next) >= 0; {
		case c == ',', c == '[', c == '{', (c == '-' || c == '?') && ends:
			n++
		case c == ':' && (ends || i > 0 && (source[i-1] == '"' || source[i-1] == '\'')):
			n += 2
		}
	}
	return n
}

func (w *treeWriter) node(key string, n *yaml.Node) {
	if n.Anchor != "" {
		key += `<span class="v-anchor">&amp;` + escape(clip(n.Anchor, 100)) + `</span> `
	}
	switch n.Kind {
	case yaml.MappingNode:
		w.begin(key, n.Line, "{…}")
		for i := 0; i+1 < len(n.Content) && !w.hidden(); i += 2 {
			w.node(keyOf(inline(n.Content[i], 0)), n.Content[i+1])
		}
		w.end()
	case yaml.SequenceNode:
		w.begin(key, n.Line, "[…]")
		for i := 0; i < len(n.Content) && !w.hidden(); i++ {
			w.node((&level{index: i}).label(), n.Content[i])
		}
		w.end()
	case yaml.AliasNode:
		w.leaf(key, n.Line, "c-a", "*"+n.Value)
	default:
		w.leaf(key, n.Line, yamlClass(n.Tag), n.Value)
	}
}

func yamlClass(tag string) string {
	switch tag {
	case "!!int", "!!float":
		return "c-n"
	case "!!bool":
		return "c-k"
	case "!!null":
		return "c-c"
	}
	return "c-s"
}
