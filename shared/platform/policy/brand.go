package policy

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// The backgrounds of the pages in the light and in the dark theme, as the style sheet of the app has them.
const (
	LightBackground = "#edf0ee"
	DarkBackground  = "#0d1412"
)

// minContrast is the least contrast between the accent and both backgrounds. WCAG 2.2 wants it of what is no text.
const minContrast = 3

var colour = regexp.MustCompile(`^#[0-9a-f]{6}$`)

func (r *reader) accent(at string, raw json.RawMessage) string {
	s := strings.ToLower(r.text(at, raw))
	if !colour.MatchString(s) {
		r.refuse(at, raw, `must be a colour such as "#1f6feb"`)
		return ""
	}
	for _, background := range []string{LightBackground, DarkBackground} {
		if c := contrast(s, background); c < minContrast {
			r.refuse(at, raw, fmt.Sprintf("has a contrast of %.1f to the background %s, and needs %d; choose a colour that is %s",
				c, background, minContrast, map[bool]string{true: "darker", false: "lighter"}[background == LightBackground]))
		}
	}
	return s
}

// contrast returns the contrast ratio of two colours by WCAG 2.2.
func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance returns the relative luminance of a colour by WCAG 2.2.
func luminance(c string) float64 {
	var sum float64
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, _ := strconv.ParseUint(c[1+2*i:3+2*i], 16, 8) // the form was checked
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

// OnAccent returns the text colour, black or white, that is easier to read on the accent.
func (b Brand) OnAccent() string {
	if contrast(b.Accent, "#000000") > contrast(b.Accent, "#ffffff") {
		return "#000000"
	}
	return "#ffffff"
}

// MaxLogo is the largest logo in bytes.
const MaxLogo = 20 << 10

// logoTypes are the media types of logos by the extensions of their files.
var logoTypes = map[string]string{".svg": "image/svg+xml", ".png": "image/png"}

// Load returns the policy in a file whose logo is a file beside it: in the policy's File, a data URL replaces the path of
// the logo, which counts from the folder of the policy. It fails as Read does.
func Load(file string, d Deployment) (Policy, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return Policy{}, err
	}
	if data, err = inline(data, filepath.Dir(file)); err != nil {
		return Policy{}, fmt.Errorf("%s: %w", file, err)
	}
	p, err := Read(data, d)
	if err != nil {
		return Policy{}, fmt.Errorf("%s:\n%w", file, err)
	}
	return p, nil
}

func inline(data []byte, folder string) ([]byte, error) {
	var whole, brand map[string]json.RawMessage
	var logo string
	if json.Unmarshal(data, &whole) != nil || json.Unmarshal(whole["brand"], &brand) != nil ||
		json.Unmarshal(brand["logo"], &logo) != nil || strings.HasPrefix(logo, "data:") {
		return data, nil // Read says what is wrong with it
	}
	if !filepath.IsAbs(logo) {
		logo = filepath.Join(folder, logo)
	}
	image, err := os.ReadFile(logo)
	if err != nil {
		return nil, fmt.Errorf("brand.logo: %w", err)
	}
	if len(image) > MaxLogo {
		return nil, fmt.Errorf("brand.logo: %q: has %d bytes, %d more than the most, %d", logo, len(image),
			len(image)-MaxLogo, MaxLogo)
	}
	kind := cmp.Or(logoTypes[strings.ToLower(filepath.Ext(logo))], "application/octet-stream")
	encoded, err1 := json.Marshal("data:" + kind + ";base64," + base64.StdEncoding.EncodeToString(image))
	brand["logo"] = encoded
	encoded, err2 := json.Marshal(brand)
	whole["brand"] = encoded
	out, err3 := json.Marshal(whole)
	return out, errors.Join(err1, err2, err3)
}

// Title returns the name of the deployment.
func (b Brand) Title() string { return cmp.Or(b.Name, DefaultName) }

// ContactText returns the contact as people read it: an address of e-mail, or a URL without its scheme.
func (b Brand) ContactText() string {
	_, shown, _ := strings.Cut(b.Contact, ":")
	shown, _, _ = strings.Cut(strings.TrimPrefix(shown, "//"), "?")
	return strings.TrimSuffix(shown, "/")
}

// logo reads a logo from a data URL.
func (r *reader) logo(at string, raw json.RawMessage) Logo {
	s := r.text(at, raw)
	for _, kind := range logoTypes {
		encoded, ok := strings.CutPrefix(s, "data:"+kind+";base64,")
		if !ok {
			continue
		}
		data, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil || len(data) > MaxLogo {
			break
		}
		logo, err := cleanLogo(Logo{Type: kind, Data: data})
		if err != nil {
			r.refuse(at, raw, err.Error())
		}
		return logo
	}
	r.refuse(at, raw, fmt.Sprintf("must be the path of an SVG or PNG file of at most %d bytes", MaxLogo))
	return Logo{}
}
