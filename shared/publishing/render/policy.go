package render

import (
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"

	"github.com/microcosm-cc/bluemonday"
)

// escape returns a text in a form for HTML, in elements and in quoted attributes.
func escape(s string) string { return html.EscapeString(strings.ToValidUTF8(s, "\uFFFD")) }

// policy is the closed list of elements and attributes that a page may hold, of any origin. All markup that
// does not come from the templates of this package has to pass it.
var policy = newPolicy()

var (
	number     = regexp.MustCompile(`^[0-9]{1,7}$`)
	length     = regexp.MustCompile(`^[0-9]{1,5}(%|px)?$`)
	identifier = regexp.MustCompile(`^[\p{L}\p{N}_][\p{L}\p{M}\p{N}_:.\-]{0,199}$`)
	alignment  = regexp.MustCompile(`^(left|right|center|justify)$`)
	// classes matches the classes that the views of this package write, and none of the page around them.
	classes = regexp.MustCompile(`^((c|v|a)-[a-z0-9-]{1,24}|language-[A-Za-z0-9+#._-]{1,40}|footnotes|footnote-ref|` +
		`footnote-backref)( (c|v|a)-[a-z0-9-]{1,24})*$`)
	picture = regexp.MustCompile(`^image/(png|jpeg|gif|webp|svg\+xml);base64,[A-Za-z0-9+/]*={0,2}$`)
	label   = regexp.MustCompile(`^[^\x00-\x1f]{1,300}$`)
)

func newPolicy() *bluemonday.Policy {
	p := bluemonday.NewPolicy()
	p.AllowElements("h1", "h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "div", "span", "section", "aside", "nav", "article",
		"header", "pre", "code", "kbd", "samp", "var", "tt", "sub", "sup", "b", "i", "u", "s", "em", "strong", "small", "del",
		"strike", "ins", "mark", "abbr", "cite", "q", "dfn", "blockquote", "ul", "ol", "li", "dl", "dt", "dd", "table",
		"caption", "thead", "tbody", "tfoot", "tr", "th", "td", "details", "summary", "figure", "figcaption", "ruby", "rt",
		"rp", "bdi", "wbr", "center")
	p.AllowAttrs("id").Matching(identifier).Globally()
	p.AllowAttrs("class").Matching(classes).Globally()
	p.AllowAttrs("data-line").Matching(number).Globally()
	p.AllowAttrs("dir").Matching(regexp.MustCompile(`^(ltr|rtl|auto)$`)).Globally()
	p.AllowAttrs("lang").Matching(regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$`)).Globally()
	p.AllowAttrs("title", "aria-label").Matching(label).Globally()
	p.AllowAttrs("align").Matching(alignment).OnElements("p", "div", "h1", "h2", "h3", "h4", "h5", "h6", "td", "th", "tr",
		"img", "table")
	p.AllowAttrs("open").Matching(regexp.MustCompile(`^(open)?$`)).OnElements("details")
	p.AllowAttrs("start", "value").Matching(number).OnElements("ol", "li")
	p.AllowAttrs("colspan", "rowspan").Matching(regexp.MustCompile(`^[0-9]{1,3}$`)).OnElements("td", "th")
	p.AllowAttrs("scope").Matching(regexp.MustCompile(`^(row|col)$`)).OnElements("th")
	p.AllowAttrs("aria-sort").Matching(regexp.MustCompile(`^(ascending|descending)$`)).OnElements("th")
	p.AllowAttrs("tabindex").Matching(regexp.MustCompile(`^(0|-1)$`)).OnElements("div", "pre", "a", "span")
	p.AllowAttrs("role").Matching(regexp.MustCompile(`^(doc-(backlink|endnotes|noteref)|region)$`)).
		OnElements("a", "div", "section", "li")
	p.AllowAttrs("alt").OnElements("img")
	p.AllowAttrs("width", "height").Matching(length).OnElements("img", "video", "td", "th", "table")
	p.AllowAttrs("loading").Matching(regexp.MustCompile(`^lazy$`)).OnElements("img")
	p.AllowAttrs("decoding").Matching(regexp.MustCompile(`^async$`)).OnElements("img")
	p.AllowAttrs("controls").Matching(regexp.MustCompile(`^(controls)?$`)).OnElements("audio", "video")
	p.AllowAttrs("preload").Matching(regexp.MustCompile(`^(none|metadata)$`)).OnElements("audio", "video")
	p.AllowAttrs("type").Matching(regexp.MustCompile(`^checkbox$`)).OnElements("input")
	p.AllowAttrs("checked", "disabled").Matching(regexp.MustCompile(`^(checked|disabled)?$`)).OnElements("input")
	p.AllowAttrs("href").OnElements("a")
	p.AllowAttrs("src").OnElements("img", "audio", "video")
	allowURLs(p)
	allowMath(p)
	return p
}

// allowURLs adds the URLs of links and media. A data URL is an image inside a notebook, because the rewriting of links
// lets no other data URL through.
func allowURLs(p *bluemonday.Policy) {
	p.RequireParseableURLs(true)
	p.AllowRelativeURLs(true)
	p.AllowURLSchemes("http", "https", "mailto")
	p.AllowURLSchemeWithCustomPolicy("data", isPicture)
	p.RequireNoFollowOnFullyQualifiedLinks(true)
	p.RequireNoReferrerOnFullyQualifiedLinks(true)
	p.AddTargetBlankToFullyQualifiedLinks(true)
}

// sanitise passes the body through the policy.
func (b *body) sanitise() error {
	var out strings.Builder
	out.Grow(b.out.Len() + b.out.Len()/8)
	if err := sanitise(&out, strings.NewReader(b.out.String())); err != nil {
		return fmt.Errorf("%w: %w", errFailed, err)
	}
	b.out = out
	return nil
}

// sanitise writes the part of a markup that the policy allows.
func sanitise(w io.Writer, markup io.Reader) error { return policy.SanitizeReaderToWriter(markup, w) }
