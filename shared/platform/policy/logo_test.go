package policy

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
)

const (
	open = `<svg xmlns="http://www.w3.org/2000/svg"`
	head = open + ` viewBox="0 0 24 24">`
)

func svgOf(inside string) string { return head + inside + `</svg>` }

func pngOf(t *testing.T, width, height int) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, width, height))); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestALogoKeepsWhatDraws(t *testing.T) {
	for name, c := range map[string]struct{ given, want string }{
		"shapes": {svgOf(`<g fill="none"><path d="M0 0h9"/><circle r="2"/></g>`),
			head + `<g fill="none"><path d="M0 0h9"></path><circle r="2"></circle></g></svg>`},
		"a gradient": {svgOf(`<defs><radialGradient id="a"><stop/></radialGradient></defs><g fill="url(#a)"/>`),
			head + `<defs><radialGradient id="a"><stop></stop></radialGradient></defs><g fill="url(#a)"></g></svg>`},
		"an own part": {open + ` xmlns:xlink="http://www.w3.org/1999/xlink"><use xlink:href="#a"/></svg>`,
			open + `><use href="#a"></use></svg>`},
		"a part in both ways": {open + ` xmlns:xlink="http://www.w3.org/1999/xlink"><use href="#a" xlink:href="#a"/></svg>`,
			open + `><use href="#a"></use></svg>`},
		"text":     {svgOf(`<text x="1">&amp; &lt;script&gt;</text>`), head + `<text x="1">&amp; &lt;script&gt;</text></svg>`},
		"a prefix": {`<v:svg xmlns:v="http://www.w3.org/2000/svg"><v:g/></v:svg>`, open + `><g></g></svg>`},
		"styles": {svgOf(`<style>.a{fill:url(#b)}</style><g style="image-rendering:auto;fill:url('#b')"/>`),
			head + `<style>.a{fill:url(#b)}</style><g style="image-rendering:auto;fill:url(&#39;#b&#39;)"></g></svg>`},
		"what editors write": {`<?xml version="1.0" encoding="UTF-8"?><!-- by an editor -->
			<svg xmlns="http://www.w3.org/2000/svg" xmlns:e="http://editor.example" e:v="1" data-x="y">` +
			`<metadata><e:script>x</e:script></metadata><e:view><g/></e:view><path d="M0 0"/></svg>`,
			open + `><path d="M0 0"></path></svg>`},
	} {
		got, err := cleanLogo(Logo{"image/svg+xml", []byte(c.given)})
		if err != nil || string(got.Data) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got.Data, c.want)
		}
		if again, err := cleanLogo(got); err != nil || string(again.Data) != c.want {
			t.Errorf("%s, once more: %v\n%s", name, err, again.Data)
		}
	}
}

func TestAHostileLogoIsRefused(t *testing.T) {
	bomb := `<!DOCTYPE svg [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>` + svgOf(`<text>&b;</text>`)
	for name, c := range map[string]struct{ given, says string }{
		"a script":                {svgOf(`<script>alert(1)</script>`), "the element script"},
		"a script of the prefix":  {`<v:svg xmlns:v="http://www.w3.org/2000/svg"><v:script/></v:svg>`, "the element script"},
		"HTML":                    {svgOf(`<foreignObject/>`), "the element foreignObject"},
		"an image":                {svgOf(`<image href="https://evil.example/a.png"/>`), "the element image"},
		"a link":                  {svgOf(`<a href="https://evil.example"/>`), "the element a,"},
		"an animation":            {svgOf(`<use href="#a"><set attributeName="href" to="//a.b"/></use>`), "the element set"},
		"an external reference":   {svgOf(`<use href="https://evil.example/a.svg#b"/>`), "its own parts alone"},
		"a reference of a script": {svgOf(`<use href=" javascript:alert(1)"/>`), `"javascript:alert(1)"`},
		"a reference to data":     {svgOf(`<use href="data:text/html,<script>"/>`), "no well-formed SVG"},
		"the same, escaped":       {svgOf(`<use href="data:text/html,x"/>`), "data:text/html,x"},
		"a fill from elsewhere":   {svgOf(`<g fill="url(https://evil.example/#a)"/>`), "url in its fill"},
		"an unclosed one":         {svgOf(`<g fill="url(https://evil.example"/>`), "url in its fill"},
		"a style from elsewhere":  {svgOf(`<g style="fill:URL( 'https://evil.example' )"/>`), "URL in its style"},
		"an escape in a style":    {svgOf(`<g style="fill:u\72l(https://evil.example)"/>`), `\ in its style`},
		"an import":               {svgOf(`<style>@import "https://evil.example";</style>`), "@ in its style"},
		"one around a comment":    {svgOf(`<style>g{fill:ur<!-- -->l(https://evil.example)}</style>`), "url in its style"},
		"an image set":            {svgOf(`<style>g{mask:image-set("https://evil.example")}</style>`), "image-set( in its style"},
		"an event":                {open + ` onload="alert(1)"/>`, "the attribute onload"},
		"an event, in capitals":   {svgOf(`<g ONCLICK="alert(1)"/>`), "the attribute ONCLICK"},
		"an entity bomb":          {bomb, "a DOCTYPE"},
		"an entity":               {svgOf(`<text>&b;</text>`), "no well-formed SVG"},
		"a style sheet":           {`<?xml-stylesheet href="https://evil.example"?>` + svgOf(""), "xml-stylesheet"},
		"10,000 pixels":           {open + ` width="10000px"/>`, `the width "10000px"`},
		"a huge view":             {open + ` viewBox="0 0 24 4097"/>`, "the viewBox"},
		"more than a number":      {open + ` height="1e999"/>`, "the height"},
		"many elements":           {svgOf(strings.Repeat(`<g/>`, maxElements)), "more than 2000 elements"},
		"deep elements":           {svgOf(strings.Repeat(`<g>`, maxDepth)), "more than 64 deep"},
		"HTML by itself":          {`<html xmlns="http://www.w3.org/1999/xhtml"/>`, "must be svg"},
		"no namespace":            {`<svg/>`, "must be svg"},
		"two documents":           {svgOf("") + svgOf(""), "no well-formed SVG"},
		"an open element":         {head, "no well-formed SVG"},
		"an open style":           {head + "<style>", "no well-formed SVG"},
		"open metadata":           {head + "<metadata>", "no well-formed SVG"},
		"nothing":                 {"", "is no SVG"},
	} {
		got, err := cleanLogo(Logo{"image/svg+xml", []byte(c.given)})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want one with %q\n%s", name, err, c.says, got.Data)
		}
	}
}

func TestAPNGIsWholeAndSmall(t *testing.T) {
	whole := pngOf(t, maxPixels, 8)
	if got, err := cleanLogo(Logo{"image/png", whole}); err != nil || !bytes.Equal(got.Data, whole) {
		t.Errorf("a PNG: %v", err)
	}
	for name, c := range map[string]struct {
		data []byte
		says string
	}{
		"a wide one":           {pngOf(t, maxPixels+1, 8), "1025 x 8 pixels"},
		"a high one":           {pngOf(t, 8, maxPixels+1), "8 x 1025 pixels"},
		"half of one":          {whole[:len(whole)/2], "not one whole PNG"},
		"one with more":        {append(bytes.Clone(whole), "<script>"...), "not one whole PNG"},
		"an SVG with its name": {[]byte(svgOf("")), "is no PNG"},
	} {
		_, err := cleanLogo(Logo{"image/png", c.data})
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want one with %q", name, err, c.says)
		}
	}
}

func TestThePolicyKeepsTheCleanLogo(t *testing.T) {
	read := func(data []byte) (Policy, error) {
		logo := "data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(data)
		file, err := json.Marshal(map[string]any{"brand": map[string]any{"logo": logo}})
		if err != nil {
			t.Fatal(err)
		}
		return Read(file, Deployment{})
	}
	p, err := read([]byte(svgOf(`<g data-x="1"/>`)))
	expect.OK(t, err)
	if l, want := p.Brand.Logo, head+`<g></g></svg>`; l.Type != "image/svg+xml" || string(l.Data) != want {
		t.Errorf("%s %s, want %s", l.Type, l.Data, want)
	}
	for says, data := range map[string][]byte{
		"the element script":       []byte(svgOf("<script/>")),
		"is no SVG":                nil,
		fmt.Sprintf("%d", MaxLogo): bytes.Repeat([]byte("x"), MaxLogo+1),
	} {
		_, err := read(data)
		expect.Error(t, err, "brand.logo: ", says)
	}
}
