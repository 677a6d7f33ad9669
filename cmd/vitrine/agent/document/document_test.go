package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
)

var (
	entry = Object{"type", "http", "url", "https://mcp.test/?a=1&b=<2>", "args", []string{"a", "b c"}}
	paths = [][]string{{"mcpServers", "vitrine"}, {"mcp", "servers", "vitrine"}, {"vitrine"}}
)

// generator writes configuration files as people and programs do.
type generator struct {
	*rand.Rand
	newline, indent string
	comments        bool
}

func newGenerator(seed uint64) generator {
	r := rand.New(rand.NewPCG(seed, 1))
	return generator{
		Rand:     r,
		newline:  []string{"\n", "\r\n"}[r.IntN(2)],
		indent:   []string{"  ", "    ", "\t", ""}[r.IntN(4)],
		comments: r.IntN(2) == 0,
	}
}

// space returns what may stand between two tokens at a depth.
func (g generator) space(depth int) string {
	all := []string{"", " ", g.newline + strings.Repeat(g.indent, depth)}
	if g.comments {
		all = append(all, " /* { \"mcpServers\": */ ", "// \"vitrine\": }"+g.newline+strings.Repeat(g.indent, depth))
	}
	return all[g.IntN(len(all))]
}

var words = []string{
	"a", "mcpServers", "servers", "mcp", "é", `q\"`, "vitrine-2", "\\u0076", "{", "//", "x y", "url", "Vitrine",
}

func (g generator) value(depth int) string {
	if depth > 4 {
		return "null"
	}
	switch g.IntN(6) {
	case 0:
		return `"` + words[g.IntN(len(words))] + `"`
	case 1:
		return "-1.50e3"
	case 2:
		return g.list("[", "]", depth, func() string { return g.value(depth + 1) })
	}
	return g.object(depth)
}

func (g generator) object(depth int) string {
	seen := map[string]bool{}
	return g.list("{", "}", depth, func() string {
		name := words[g.IntN(len(words))]
		if seen[name] {
			name = fmt.Sprint("n", len(seen))
		}
		seen[name] = true
		value := g.value(depth + 1)
		if name == "mcpServers" || name == "mcp" || name == "servers" {
			value = g.object(depth + 1)
		}
		return `"` + name + `"` + g.space(depth) + ":" + g.space(depth) + value
	})
}

func (g generator) list(open, end string, depth int, item func() string) string {
	var text strings.Builder
	text.WriteString(open)
	n := g.IntN(4)
	for i := range n {
		text.WriteString(g.space(depth+1) + item() + g.space(depth+1))
		if i < n-1 || g.comments && g.IntN(3) == 0 {
			text.WriteString(",")
		}
	}
	return text.String() + g.space(depth) + end
}

// file returns a file, which may be blank.
func (g generator) file() string {
	head := []string{"", "\xef\xbb\xbf"}[g.IntN(2)]
	if g.IntN(20) == 0 {
		return head + []string{"", " ", g.newline}[g.IntN(3)]
	}
	return head + g.space(0) + g.object(0) + g.space(0)
}

// decoded returns what a text says, without the member at a path and without the objects on the path that are empty.
func decoded(t *testing.T, text []byte, path []string) any {
	t.Helper()
	_, body := split(text)
	all := map[string]any{}
	if !isBlank(body) {
		plain, err := hujson.Standardize(append(bytes.Clone(body), '\n'))
		if err == nil {
			err = json.Unmarshal(plain, &all)
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	}
	prune(all, path)
	return all
}

func prune(all map[string]any, path []string) {
	if inner, ok := all[path[0]].(map[string]any); ok && len(path) > 1 {
		if prune(inner, path[1:]); len(inner) == 0 {
			delete(all, path[0])
		}
	} else if len(path) == 1 {
		delete(all, path[0])
	}
}

// addAndRemove holds an addition and what takes it back against a text. It returns false if the text is refused.
func addAndRemove(t *testing.T, f Format, text []byte, path []string) bool {
	t.Helper()
	before := bytes.Clone(text)
	edited, piece, err := f.Add(text, path, entry)
	if err != nil {
		return false
	}
	got, err := f.Find(edited, path)
	if want := decodeEntry(t); err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("the entry is %v, %v in\n%q of\n%q", got, err, edited, text)
	}
	back, err := f.Remove(edited, path, []string{"another", piece})
	if err != nil || !bytes.Equal(back, before) || !bytes.Equal(text, before) {
		t.Fatalf("%v; from\n%q to\n%q and back to\n%q", err, before, edited, back)
	}
	if left, err := f.Remove(edited, path, nil); err != nil {
		t.Fatalf("without the piece: %v of\n%q", err, edited)
	} else if there, err := f.Find(left, path); there != nil || err != nil {
		t.Fatalf("without the piece %v, %v is left in\n%q of\n%q", there, err, left, edited)
	} else if _, isJSON := f.(JSON); isJSON {
		want := decoded(t, before, path)
		for _, text := range [][]byte{edited, left} {
			if got := decoded(t, text, path); !reflect.DeepEqual(got, want) {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	}
	return true
}

func decodeEntry(t *testing.T) (value any) {
	t.Helper()
	text, err := Encode(entry)
	if err == nil {
		err = json.Unmarshal([]byte(text), &value)
	}
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestAddingAndRemovingChangesNoByteOfGeneratedJSON(t *testing.T) {
	for seed := range uint64(3_000) {
		g := newGenerator(seed)
		text, path := g.file(), paths[g.IntN(len(paths))]
		if !addAndRemove(t, JSON{}, []byte(text), path) {
			t.Fatalf("seed %d: refused\n%s", seed, text)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for seed := range uint64(200) {
		f.Add([]byte(newGenerator(seed).file()))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, path := range paths {
			addAndRemove(t, JSON{}, text, path)
		}
	})
}

// tomlFile returns a file as Codex has it.
func (g generator) tomlFile() string {
	line := func(texts ...string) string { return texts[g.IntN(len(texts))] + g.newline }
	text := ""
	for range g.IntN(3) {
		text += line("", "# [mcp_servers.vitrine]", "")
	}
	for i := range g.IntN(3) {
		lines := `"""` + g.newline + "[mcp_servers.vitrine]" + g.newline + `"""`
		text += fmt.Sprintf("k%d = ", i) + line(`"a"`, lines, "[1, # one"+g.newline+"2]")
	}
	for i := range g.IntN(4) {
		text += strings.ReplaceAll(line("[mcp_servers.sN]", "[ t.\"a b\".sN ] # t", "[[listN]]"), "N", fmt.Sprint(i))
		text += line("", "command = 'x'", "# nothing", "a.b = {c = 1}")
	}
	if g.IntN(3) == 0 {
		text = strings.TrimSuffix(text, g.newline)
	}
	return text
}

func TestAddingAndRemovingChangesNoByteOfGeneratedTOML(t *testing.T) {
	path := []string{"mcp_servers", "vitrine"}
	for seed := range uint64(1_000) {
		text := newGenerator(seed).tomlFile()
		var all map[string]any
		if err := toml.Unmarshal([]byte(text), &all); err != nil {
			t.Fatalf("seed %d makes no TOML: %v\n%s", seed, err, text)
		}
		for _, whole := range []string{text, string(mark) + text} {
			if !addAndRemove(t, TOML{}, []byte(whole), path) {
				t.Fatalf("seed %d: refused\n%s", seed, whole)
			}
		}
	}
}

func FuzzTOML(f *testing.F) {
	for seed := range uint64(200) {
		f.Add([]byte(newGenerator(seed).tomlFile()))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		addAndRemove(t, TOML{}, text, []string{"mcp_servers", "vitrine"})
	})
}
