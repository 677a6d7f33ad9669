package render

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"vitrine/shared/platform/limits"
)

// output is what a cell put out.
type output struct {
	Type      string                     `json:"output_type"`
	Text      joined                     `json:"text"`
	Stream    string                     `json:"name"` // of a stream
	Data      map[string]joined          `json:"data"`
	Metadata  map[string]json.RawMessage `json:"metadata"`
	Traceback stacked                    `json:"traceback"`
	Name      string                     `json:"ename"`
	Value     string                     `json:"evalue"`

	// Version 3 has these beside each other.
	PNG       joined `json:"png"`
	JPEG      joined `json:"jpeg"`
	SVG       joined `json:"svg"`
	HTML      joined `json:"html"`
	Latex     joined `json:"latex"`
	OldStream string `json:"stream"`
}

// data returns the forms of an output by their media types.
func (o output) data() map[string]joined {
	if o.Data != nil {
		return o.Data
	}
	return map[string]joined{
		"image/png":     o.PNG,
		"image/jpeg":    o.JPEG,
		"image/svg+xml": o.SVG,
		"text/html":     o.HTML,
		"text/latex":    o.Latex,
		"text/plain":    o.Text,
	}
}

// merged joins what a program printed at several times, as notebooks show it.
func merged(outputs []output) (out []output) {
	for _, o := range outputs {
		if last := len(out) - 1; last >= 0 && o.Type == "stream" && out[last].Type == "stream" &&
			out[last].Stream == o.Stream && out[last].OldStream == o.OldStream {
			out[last].Text += o.Text
			continue
		}
		out = append(out, o)
	}
	return out
}

// pictures are the media types of the images that an output may hold, the best first.
var pictures = []string{"image/png", "image/jpeg", "image/webp", "image/gif", "image/svg+xml"}

// output writes the richest form of an output that a page can hold.
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

// width returns the attribute of how wide an output says its image is, which those for fine screens do.
func (o output) width() string {
	for _, kind := range pictures {
		var size struct {
			Width float64 `json:"width"`
		}
		if json.Unmarshal(o.Metadata[kind], &size) == nil && size.Width >= 1 && size.Width < 100_000 {
			return fmt.Sprintf(` width="%.0f"`, size.Width)
		}
	}
	return ""
}

// rich writes an output that is no image.
func (n *notebookWriter) rich(i int, data map[string]joined) error {
	if markup := string(data["text/html"]); markup != "" {
		n.b.printf(`<div class="v-wide v-html" tabindex="0" dir="auto">`)
		m := n.source.markup(n.b)
		m.styled = true
		m.rewrite(clip(string(text8([]byte(markup))), limits.RenderedText))
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
func (n *notebookWriter) picture(data map[string]joined) (address string, is bool) {
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

// image returns an image as a data URL. is is false for what is none, and for what is too much.
func (n *notebookWriter) image(kind, data string) (address string, is bool) {
	var encoded string
	if kind == "image/svg+xml" {
		encoded = base64.StdEncoding.EncodeToString([]byte(data))
	} else {
		encoded = strings.Join(strings.Fields(data), "")
		if _, err := base64.StdEncoding.DecodeString(encoded); err != nil {
			return "", false
		}
	}
	if n.images += len(encoded); n.images > limits.NotebookImages {
		n.imagesLeft = true
		return "", false
	}
	return "data:" + kind + ";base64," + encoded, true
}

// latex returns the formula of an output that is one formula.
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
