package pages

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"vitrine/scripts/testkit/expect"
)

// branded is a site whose owner chose everything.
var branded = Site{
	Name:    "A&B 'C' {{.}} | =1",
	Logo:    "/assets/0011223344556677/logo.svg",
	Style:   "/assets/8899aabbccddeeff/accent.css",
	Contact: Link{Path: "mailto:o'neill+help@example.com?subject=<script>", Text: "<script>"},
	Terms:   "https://example.com/terms?a=1&b='2'",
	Privacy: `https://example.com/privacy#"onload=alert(1)`,
}

// found is what a parser reads in a page.
type found struct {
	title, heard string
	links        map[string]int // by address
	images       int
	styles       []string
}

func parsed(t *testing.T, page []byte) (f found) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(string(page)))
	expect.OK(t, err)
	f.links = map[string]int{}
	for n := range root.Descendants() {
		attribute := map[string]string{}
		for _, a := range n.Attr {
			attribute[a.Key] = a.Val
			if strings.HasPrefix(a.Key, "on") {
				t.Errorf("<%s> has %s", n.Data, a.Key)
			}
		}
		switch {
		case n.Type == html.TextNode && n.Parent.Data == "title":
			f.title = n.Data
		case n.Data == "a" && attribute["class"] == "wordmark":
			f.heard = strings.TrimSpace(textOf(n))
		case n.Data == "a":
			f.links[attribute["href"]]++
		case n.Data == "img" && attribute["src"] == branded.Logo:
			f.images++
		case n.Data == "link" && attribute["rel"] == "stylesheet":
			f.styles = append(f.styles, attribute["href"])
		}
	}
	return f
}

func textOf(n *html.Node) (text string) {
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			text += d.Data
		}
	}
	return text
}

func TestEveryPageCarriesTheBrand(t *testing.T) {
	sheet, err := AssetPath("vitrine.css")
	expect.OK(t, err)
	for _, p := range empty {
		for _, p := range []Page{p, filled(p, forms[0])} {
			body, err := Render(p, branded, now)
			expect.OK(t, err)
			expect.Lacks(t, fmt.Sprintf("%T", p), string(body), "<script>", " style=", "<span>Vitrine", "| Vitrine")
			f := parsed(t, body)
			f.styles = slices.DeleteFunc(f.styles, func(s string) bool { return strings.HasSuffix(s, "/threads.css") })
			_, isHome := p.(Home)
			if !strings.HasSuffix(f.title, branded.Name) && !isHome {
				t.Errorf("%T has the title %q", p, f.title)
			}
			if f.heard != branded.Name || f.images != 1 || !reflect.DeepEqual(f.styles, []string{sheet, branded.Style}) {
				t.Errorf("%T shows %q, %d logos and the styles %q", p, f.heard, f.images, f.styles)
			}
			for _, want := range []string{
				"mailto:o%27neill+help@example.com?subject=%3cscript%3e",
				"https://example.com/terms?a=1&b=%272%27", "https://example.com/privacy#%22onload=alert%281%29",
			} {
				if f.links[want] == 0 {
					t.Errorf("%T does not lead to %s, but to %v", p, want, f.links)
				}
			}
		}
	}
}

// The pages of a deployment without a policy know nothing of brands.
func TestADeploymentWithoutABrandShowsOurs(t *testing.T) {
	for _, p := range empty {
		body, err := Render(p, Site{}, now)
		expect.OK(t, err)
		named, err := Render(p, Site{Name: "Vitrine"}, now)
		expect.OK(t, err)
		if string(named) != string(body) {
			t.Errorf("%T differs for a deployment that is called Vitrine", p)
		}
		expect.Lacks(t, fmt.Sprintf("%T", p), string(body), "/logo.", "accent", "Contact", "Terms", "Privacy")
		if _, isHome := p.(Home); !isHome {
			expect.Lacks(t, fmt.Sprintf("%T", p), string(body), "<footer")
		}
	}
}

func TestPagesForRefusalsSayWhomToAsk(t *testing.T) {
	for _, p := range []Page{Message{Heading: "Something broke"}, AppError{}, Viewer{}} {
		body, err := Render(p, Site{Contact: Link{Path: "https://example.com/help/", Text: "example.com/help"}}, now)
		expect.OK(t, err)
		expect.Has(t, fmt.Sprintf("%T", p), string(body),
			`<p class="fine">Contact: <a href="https://example.com/help/">example.com/help</a></p>`)
	}
}

func TestNoPageOffersReportsWhereNoneAreTaken(t *testing.T) {
	offered := 0
	for _, p := range empty {
		p := filled(p, forms[0])
		if _, form := p.(Report); form {
			continue
		}
		for _, none := range []bool{false, true} {
			body, err := Render(p, Site{NoReports: none}, now)
			expect.OK(t, err)
			switch {
			case none:
				expect.Lacks(t, fmt.Sprintf("%T", p), string(body), `"/report`)
			case strings.Contains(string(body), `"/report`):
				offered++
			}
		}
	}
	if offered != 4 {
		t.Errorf("%d pages offer the form otherwise, want the front page and the three viewers", offered)
	}
}
