package policy

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"image/png"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The bounds of a logo.
const (
	maxElements = 2000
	maxDepth    = 64
	maxSide     = 4096 // of width, height and viewBox of an SVG
	maxPixels   = 1024 // of each side of a PNG
)

// cleanLogo returns a logo that can run and load nothing. The error says what a refused one has.
func cleanLogo(l Logo) (Logo, error) {
	clean := cleanSVG
	if l.Type == "image/png" {
		clean = cleanPNG
	}
	data, err := clean(l.Data)
	return Logo{Type: l.Type, Data: data}, err
}

// cleanPNG returns a PNG as it is, because nothing in one runs.
func cleanPNG(data []byte) ([]byte, error) {
	size, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("is no PNG")
	}
	if size.Width > maxPixels || size.Height > maxPixels {
		return nil, fmt.Errorf("has %d x %d pixels, and may have %d x %d", size.Width, size.Height, maxPixels, maxPixels)
	}
	in := bytes.NewReader(data)
	if _, err := png.Decode(in); err != nil || in.Len() > 0 {
		return nil, errors.New("is not one whole PNG")
	}
	return data, nil
}

const (
	svgSpace   = "http://www.w3.org/2000/svg"
	xlinkSpace = "http://www.w3.org/1999/xlink"
)

// elements are the elements of SVG that a logo keeps.
var elements = words(`svg g defs style title desc symbol use path rect circle ellipse line polyline polygon text tspan
	linearGradient radialGradient stop clipPath mask pattern`)

// attributes are the attributes that a logo keeps.
var attributes = words(`id class style d x y x1 y1 x2 y2 cx cy r rx ry fx fy fr width height points viewBox
	preserveAspectRatio transform gradientUnits gradientTransform spreadMethod offset clipPathUnits maskUnits
	maskContentUnits patternUnits patternContentUnits patternTransform pathLength dx dy rotate textLength lengthAdjust
	fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-linecap stroke-linejoin stroke-miterlimit
	stroke-dasharray stroke-dashoffset opacity color stop-color stop-opacity clip-path clip-rule mask mask-type
	paint-order vector-effect shape-rendering text-rendering display visibility overflow font-family font-size
	font-style font-weight letter-spacing word-spacing text-anchor dominant-baseline text-decoration role`)

func words(s string) map[string]bool {
	all := map[string]bool{}
	for _, word := range strings.Fields(s) {
		all[word] = true
	}
	return all
}

var errMalformed = errors.New("is no well-formed SVG in UTF-8, or uses an entity that XML does not have")

// svg writes an SVG again from what is allowed.
type svg struct {
	out             bytes.Buffer
	elements, depth int
}

func cleanSVG(data []byte) ([]byte, error) {
	var s svg
	in := xml.NewDecoder(bytes.NewReader(data))
	for {
		token, err := in.Token()
		switch {
		case errors.Is(err, io.EOF) && s.elements > 0:
			return s.out.Bytes(), nil
		case errors.Is(err, io.EOF):
			return nil, errors.New("is no SVG")
		case err != nil:
			return nil, errMalformed
		}
		if err := s.write(in, token); err != nil {
			return nil, err
		}
	}
}

func (s *svg) write(in *xml.Decoder, token xml.Token) error {
	switch t := token.(type) {
	case xml.Directive:
		return errors.New("has a DOCTYPE or an entity; remove it")
	case xml.ProcInst:
		if t.Target != "xml" {
			return fmt.Errorf("has the processing instruction %s; remove it", t.Target)
		}
	case xml.StartElement:
		return s.start(in, t)
	case xml.EndElement:
		s.depth--
		s.out.WriteString("</" + t.Name.Local + ">")
	case xml.CharData:
		if s.depth > 0 {
			s.out.WriteString(html.EscapeString(string(t)))
		}
	}
	return nil
}

func (s *svg) start(in *xml.Decoder, e xml.StartElement) error {
	s.elements++
	s.depth++
	name := e.Name.Local
	switch {
	case s.elements == 1 && (e.Name.Space != svgSpace || name != "svg"):
		return errors.New("is no SVG: its first element must be svg of the namespace " + svgSpace)
	case s.elements > maxElements:
		return fmt.Errorf("has more than %d elements", maxElements)
	case s.depth > maxDepth:
		return fmt.Errorf("has elements more than %d deep", maxDepth)
	case e.Name.Space != svgSpace, name == "metadata":
		s.depth--
		if in.Skip() != nil { // what editors keep for themselves
			return errMalformed
		}
		return nil
	case s.elements > 1 && s.depth == 1:
		return errMalformed
	case !elements[name]:
		return fmt.Errorf("has the element %s, which a logo may not have; draw with paths, shapes and gradients", name)
	}
	s.out.WriteString("<" + name)
	if s.elements == 1 {
		s.out.WriteString(` xmlns="` + svgSpace + `"`)
	}
	plain := slices.ContainsFunc(e.Attr, func(a xml.Attr) bool { return a.Name == xml.Name{Local: "href"} })
	for _, a := range e.Attr {
		if plain && a.Name.Space == xlinkSpace {
			continue // editors write the reference in both ways
		}
		if err := s.attribute(a); err != nil {
			return err
		}
	}
	s.out.WriteByte('>')
	if name == "style" {
		return s.style(in, e)
	}
	return nil
}

// style writes the rest of a style element. Comments are gone from its text, so that what stood around one is judged as
// it is written.
func (s *svg) style(in *xml.Decoder, e xml.StartElement) error {
	var sheet struct {
		Text string `xml:",chardata"`
	}
	if in.DecodeElement(&sheet, &e) != nil {
		return errMalformed
	}
	if err := check("style", sheet.Text); err != nil {
		return err
	}
	s.depth--
	s.out.WriteString(html.EscapeString(sheet.Text) + "</style>")
	return nil
}

// attribute writes an attribute, drops one that draws nothing, and refuses one that could run or load something.
func (s *svg) attribute(a xml.Attr) error {
	name, value := a.Name.Local, strings.TrimSpace(a.Value)
	switch {
	case name == "href" && (a.Name.Space == "" || a.Name.Space == xlinkSpace):
		if !fragment.MatchString(value) {
			return fmt.Errorf("refers to %q; it may refer to its own parts alone, as #name", short(value))
		}
	case a.Name.Space != "":
		return nil
	case strings.HasPrefix(strings.ToLower(name), "on"):
		return fmt.Errorf("has the attribute %s, which runs a script; remove it", name)
	case !attributes[name]:
		return nil
	}
	if err := check(name, value); err != nil {
		return err
	}
	s.out.WriteString(" " + name + `="` + html.EscapeString(value) + `"`)
	return nil
}

var (
	fragment  = regexp.MustCompile(`^#[A-Za-z_][\w.:-]*$`)
	reference = regexp.MustCompile(`(?i)url\(\s*(['"]?)([^'")]*)['"]?\s*\)`)
	loading   = regexp.MustCompile(`(?i)@|\\|url|image(?:-set)?\(|src\(`)
	number    = regexp.MustCompile(`-?[0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?`)
)

// check refuses values that load something, and sizes that no logo needs.
func check(name, value string) error {
	rest := reference.ReplaceAllStringFunc(value, func(s string) string {
		if fragment.MatchString(reference.FindStringSubmatch(s)[2]) {
			return ""
		}
		return s
	})
	switch name {
	case "id", "class", "href", "role", "d", "points":
		return nil
	case "width", "height", "viewBox":
		if slices.ContainsFunc(number.FindAllString(value, -1), tooLarge) {
			return fmt.Errorf("has the %s %q; no side may be larger than %d", name, short(value), maxSide)
		}
	}
	if m := loading.FindString(rest); m != "" {
		return fmt.Errorf("has %s in its %s, which could load something; it may refer to its own parts alone, as url(#name)",
			m, name)
	}
	return nil
}

func tooLarge(s string) bool {
	n, err := strconv.ParseFloat(s, 64)
	return err != nil || n > maxSide || n < -maxSide
}

func short(s string) string {
	if len(s) > shown {
		return strings.ToValidUTF8(s[:shown], "") + "…"
	}
	return s
}
