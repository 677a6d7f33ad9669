package render

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// output is an output of a cell.
type output struct {
	Type      string          `json:"output_type"`
	Text      joined          `json:"text"`
	Stream    string          `json:"name"` // of a stream
	Data      forms           `json:"data"`
	Metadata  json.RawMessage `json:"metadata"`
	Traceback stacked         `json:"traceback"`
	Name      string          `json:"ename"`
	Value     string          `json:"evalue"`

	// Version 3 has these fields in place of Data.
	PNG       joined `json:"png"`
	JPEG      joined `json:"jpeg"`
	SVG       joined `json:"svg"`
	HTML      joined `json:"html"`
	Latex     joined `json:"latex"`
	OldStream string `json:"stream"`
}

// forms has the forms of an output that pages show, by media type.
type forms map[string]joined

// UnmarshalJSON implements json.Unmarshaler.
func (f *forms) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	if b[0] != '{' {
		return errNotebook
	}
	*f = forms{}
	for kind, value := range jsonParts(b) {
		if slices.Contains(pictures, kind) || slices.Contains(texts, kind) {
			(*f)[kind] = joined(join(value, ""))
		}
	}
	return nil
}

// outputsOf reads a list of outputs. left is how many more may be read. It is negative after a list that has more.
func outputsOf(list json.RawMessage, left *int) (out []output, err error) {
	if len(list) > 0 && list[0] != '[' && list[0] != 'n' {
		return nil, errNotebook
	}
	for _, value := range jsonParts(list) {
		if *left--; *left < 0 {
			break
		}
		var one output
		if json.Unmarshal(value, &one) != nil {
			return nil, errNotebook
		}
		out = append(out, one)
	}
	return out, nil
}

// attached returns the images inside a Markdown cell, by name.
func attached(list json.RawMessage) map[string]forms {
	out := map[string]forms{}
	for name, value := range jsonParts(list) {
		var one forms
		if json.Unmarshal(value, &one) == nil && len(out) < maxNotebookCells {
			out[name] = one
		}
	}
	return out
}

// data returns the forms of an output by media type.
func (o output) data() forms {
	if o.Data != nil {
		return o.Data
	}
	return forms{
		"image/png":     o.PNG,
		"image/jpeg":    o.JPEG,
		"image/svg+xml": o.SVG,
		"text/html":     o.HTML,
		"text/latex":    o.Latex,
		"text/plain":    o.Text,
	}
}

// merged joins successive outputs of one stream, as notebooks do.
func merged(outputs []output) (out []output) {
	var printed []string
	for i, o := range outputs {
		printed = append(printed, string(o.Text))
		if i+1 < len(outputs) && o.Type == "stream" && outputs[i+1].Type == "stream" &&
			outputs[i+1].Stream == o.Stream && outputs[i+1].OldStream == o.OldStream {
			continue
		}
		if len(printed) > 1 {
			o.Text = joined(strings.Join(printed, ""))
		}
		out, printed = append(out, o), printed[:0]
	}
	return out
}

// pictures are the media types of images that an output may hold, the best first.
var pictures = []string{"image/png", "image/jpeg", "image/webp", "image/gif", "image/svg+xml"}

// texts are the other media types that pages show.
var texts = []string{"text/html", "text/markdown", "text/latex", "application/json", "text/plain"}

// output writes the richest form of an output that a page can show.
func (n *notebookWriter) output(i int, o output) error {
	switch {
	case o.Type == "stream":
		n.terminal("v-out", string(o.Text))
		return nil
	case o.Type == "error" || o.Type == "pyerr":
		text := string(o.Traceback)
		if text == "" {
			text = o.Name + ": " + o.Value
		}
		n.terminal("v-error", text)
		return nil
	}
	data := o.data()
	if picture, is := n.picture(data); is {
		n.b.printf(`<p class="v-image"><img alt="Output of the cell" src="%s"%s></p>`, picture, o.width())
		return nil
	}
	return n.rich(i, data)
}

// width returns the width attribute of an output's image, empty if the output does not tell it. Outputs for
// high-resolution screens do.
func (o output) width() string {
	found := map[string]float64{}
	for kind, about := range jsonParts(o.Metadata) {
		var size struct {
			Width float64 `json:"width"`
		}
		if slices.Contains(pictures, kind) && json.Unmarshal(about, &size) == nil && size.Width >= 1 && size.Width < 100_000 {
			found[kind] = size.Width
		}
	}
	for _, kind := range pictures {
		if found[kind] > 0 {
			return fmt.Sprintf(` width="%.0f"`, found[kind])
		}
	}
	return ""
}

// rich writes an output that is not an image.
func (n *notebookWriter) rich(i int, data forms) error {
	if markup := string(data["text/html"]); markup != "" {
		n.b.printf(`<div class="v-wide v-html" tabindex="0" dir="auto">`)
		m := n.source.markup(n.b)
		m.styled = true
		m.rewrite(clip(string(text8([]byte(markup))), maxText))
		n.b.printf("</div>")
		return nil
	}
	if text := string(data["text/markdown"]); text != "" {
		return n.markdown(i, text, nil)
	}
	if tex, is := latex(string(data["text/latex"])); is {
		n.b.printf(`<p>`)
		n.source.rewrite(n.b, n.b.formulas.add(tex, true))
		n.b.printf(`</p>`)
		return nil
	}
	for _, kind := range []string{"text/latex", "application/json", "text/plain"} {
		if text := string(data[kind]); text != "" {
			n.terminal("v-out", text)
			return nil
		}
	}
	return nil
}

// picture returns the best image among forms as a data URL.
func (n *notebookWriter) picture(data forms) (address string, is bool) {
	for _, kind := range pictures {
		if data[kind] == "" {
			continue
		}
		if address, is := n.image(kind, string(data[kind])); is {
			return address, true
		}
	}
	return "", false
}

// image returns an image as a data URL. is is false for data that is not an image, and for images beyond the limit.
func (n *notebookWriter) image(kind, data string) (address string, is bool) {
	if n.images > maxImages {
		n.imagesLeft = true
		return "", false
	}
	var encoded string
	if kind == "image/svg+xml" {
		encoded = base64.StdEncoding.EncodeToString([]byte(data))
	} else {
		encoded = strings.Join(strings.Fields(data), "")
	}
	if n.images += len(encoded); n.images > maxImages {
		n.imagesLeft = true
		return "", false
	}
	if _, err := base64.StdEncoding.DecodeString(encoded); err != nil {
		return "", false
	}
	return "data:" + kind + ";base64," + encoded, true
}

// latex returns the formula of an output that is a single formula.
func latex(text string) (tex string, is bool) {
	tex = strings.TrimSpace(text)
	for _, ends := range [][2]string{{"$$", "$$"}, {"$", "$"}, {`\[`, `\]`}, {`\(`, `\)`}} {
		if inner, begins := strings.CutPrefix(tex, ends[0]); begins {
			if inner, begins = strings.CutSuffix(inner, ends[1]); begins && !strings.Contains(inner, "$") {
				return inner, true
			}
		}
	}
	return tex, endOfEnvironment([]byte(tex)) != ""
}
