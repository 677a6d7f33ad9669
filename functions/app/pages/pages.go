// Package pages contains the pages of the app host: one struct for each page, templates, and the files that they load.
package pages

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"slices"
	"sync"
	"time"
)

//go:embed templates assets inline
var files embed.FS

// Page is a page; the zero value of each renders.
type Page interface{ template() string }

// Home describes this deployment and how to publish to it.
type Home struct {
	APIURL string
	AppURL string
	SignIn string // path
	Connect
	// AccountsOnly says that nobody publishes without an account.
	AccountsOnly bool
	Windows      bool // the visitor has it
}

// Viewer is the page that opens an access link in the browser. The server never gets the secret in the URL's fragment.
type Viewer struct {
	PublicID string
	// ContentOrigin is the only origin that the page links to. It frames that one and OwnOrigins, a pattern with * in place of
	// the label of an artifact; empty: there are none.
	ContentOrigin string
	OwnOrigins    string
	APIURL        string
	Scripts       string // whether scripts of unclaimed artifacts run: on, ask or off
	Pace
}

// Pace is the slowest speed at which a reader may take a file: Rate bytes a second, and Patience besides.
type Pace struct {
	Patience time.Duration
	Rate     int64
}

// Message is a page with a short text, mostly an error.
type Message struct {
	Heading string
	Text    string
	// RequestID helps the operator to find the request in the log; "" shows none.
	RequestID string
	// Links are the next steps; none: the front page.
	Links []Link
}

func (Home) template() string    { return "home.html" }
func (Viewer) template() string  { return "viewer.html" }
func (Message) template() string { return "message.html" }

// Gone is the page of every access link that does not work, whatever the reason.
var Gone = Message{
	Heading: "This link opens nothing",
	Text: "It may have expired or been withdrawn, or a piece of it got lost on the way: everything after the # " +
		"belongs to it. Ask whoever shared it for a fresh one.",
}

// Gone returns the page, so that the viewer shows the same text.
func (Viewer) Gone() Message { return Gone }

var templates = parse()

// placed is the template of a page, with the site that it is of and the time that it tells other times relative to. One
// execution at a time uses it.
type placed struct {
	*template.Template
	site Site
	now  time.Time
}

// places returns a pool of copies of a template. site and ago are functions, and functions belong to a template, so
// executions with different times need different copies. A hundred places call them, most of them in parts that get a row
// and not the page, so that fields would have to be handed down through all of them.
func places(page *template.Template) *sync.Pool {
	return &sync.Pool{New: func() any {
		c := &placed{Template: template.Must(page.Clone())}
		c.Funcs(template.FuncMap{
			"site": func() Site { return c.site },
			"ago":  func(at time.Time) string { return ago(at, c.now) },
		})
		return c
	}}
}

// shared are the templates of the layout and of parts of pages.
var shared = []string{
	"layout.html", "parts.html", "panel.html", "strip.html", "admin-parts.html", "export.html", "delete-section.html",
	"upload.html", "threads.html", "remark.html",
}

// parse parses the layout, the shared parts and each page, and returns the pages by name.
func parse() map[string]*sync.Pool {
	parts := template.New("layout.html").Funcs(functions)
	for _, name := range shared {
		template.Must(parts.ParseFS(files, "templates/"+name))
	}
	entries, err := fs.ReadDir(files, "templates")
	if err != nil {
		panic(err) // the files are part of the program
	}
	all := make(map[string]*sync.Pool, len(entries))
	for _, e := range entries {
		if name := e.Name(); !slices.Contains(shared, name) {
			all[name] = places(template.Must(template.Must(parts.Clone()).ParseFS(files, "templates/"+name)))
		}
	}
	return all
}

// Render returns the page as a whole document of a site, with times relative to now.
func Render(p Page, s Site, now time.Time) ([]byte, error) {
	free := templates[p.template()]
	page := free.Get().(*placed)
	defer free.Put(page)
	page.site, page.now = s.named(), now
	var b bytes.Buffer
	if err := page.Execute(&b, p); err != nil {
		return nil, fmt.Errorf("render %s: %w", p.template(), err)
	}
	return b.Bytes(), nil
}

// Asset is a file that pages load.
type Asset struct {
	Type string
	Body []byte
}

var types = map[string]string{
	".css":  "text/css; charset=utf-8",
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".svg":  "image/svg+xml",
}

var assets, build = load()

// load reads the embedded assets, and hashes their names and bytes.
func load() (map[string]Asset, string) {
	all, sum := map[string]Asset{}, sha256.New()
	entries, err := fs.ReadDir(files, "assets") // sorted by name
	for _, e := range entries {
		var body []byte
		if body, err = files.ReadFile("assets/" + e.Name()); err != nil {
			break
		}
		if path.Ext(e.Name()) == ".html" {
			body = part(body)
		}
		body = terse(body)
		fmt.Fprintf(sum, "%s %d\n%s", e.Name(), len(body), body)
		all[e.Name()] = Asset{types[path.Ext(e.Name())], body}
	}
	if err != nil {
		panic(err) // the files are part of the program
	}
	return all, hex.EncodeToString(sum.Sum(nil)[:8])
}

// part renders the part of a page that guest.js adds, so that the pages of links without feedback are small.
func part(source []byte) []byte {
	t := template.Must(template.ParseFS(files, "templates/remark.html"))
	var b bytes.Buffer
	err := template.Must(t.Parse(string(source))).Execute(&b, Feedback{Draft: Draft{About: Abouts[0].Code}})
	if err != nil {
		panic(err) // the files are part of the program
	}
	return b.Bytes()
}

// Build returns the hash in the path of every asset, so that changed bytes have a new path.
func Build() string { return build }

// FindAsset returns the asset with a name.
func FindAsset(name string) (Asset, bool) {
	a, ok := assets[name]
	return a, ok
}

// Inline is a script that stands in a page, because nothing may come before it.
type Inline string

// The scripts that stand in pages.
var (
	Opening = inline("opening.js") // of Viewer
	Early   = inline("early.js")   // of Private
)

func inline(name string) Inline {
	source, err := files.ReadFile("inline/" + name)
	if err != nil {
		panic(err) // the files are part of the program
	}
	return Inline(terse(source))
}

// terse returns a script or a style sheet without indentation, empty lines and lines that are comments.
func terse(source []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(source) {
		line = bytes.TrimSpace(line)
		comment := bytes.HasPrefix(line, []byte("//")) || bytes.HasPrefix(line, []byte("/*")) && bytes.HasSuffix(line, []byte("*/"))
		if len(line) > 0 && !comment {
			out.Write(line)
			out.WriteByte('\n')
		}
	}
	return out.Bytes()
}

// Opening returns the script that asks what the link opens.
func (Viewer) Opening() template.JS { return template.JS(Opening) }

// Early returns the script that keeps what the frame tells until another one hears it.
func (Private) Early() template.JS { return template.JS(Early) }

// AssetPath returns the path of an asset. Templates call it.
func AssetPath(name string) (string, error) {
	if _, ok := assets[name]; !ok {
		return "", fmt.Errorf("no asset %q", name)
	}
	return "/assets/" + build + "/" + name, nil
}
