// Package pages holds what the app host shows: a struct a page, templates, and the files that they load.
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
)

//go:embed templates assets
var files embed.FS

// Page is something to show; the zero value of each renders.
type Page interface{ template() string }

// Home tells what this deployment is and how to publish to it.
type Home struct {
	APIURL string
	AppURL string
	SignIn string // path
}

// Viewer is the shell that opens an access link in the browser; the secret in the URL's fragment never gets here.
type Viewer struct {
	PublicID string
	// ContentOrigin is the only origin that the page frames and links to.
	ContentOrigin string
	APIURL        string
}

// Message is a page of a few words: a failure, mostly.
type Message struct {
	Heading string
	Text    string
	// RequestID helps the operator to find what happened; "" shows none.
	RequestID string
	// Links are what can be done next; none: the front page.
	Links []Link
}

func (Home) template() string    { return "home.html" }
func (Viewer) template() string  { return "viewer.html" }
func (Message) template() string { return "message.html" }

// Gone is what every access link shows that does not open, whatever the reason.
var Gone = Message{
	Heading: "This link opens nothing",
	Text:    "It may have expired or been withdrawn, or a piece of it got lost on the way: everything after the # belongs to it. Ask whoever shared it for a fresh one.",
}

// Gone lets the viewer say the same as the page.
func (Viewer) Gone() Message { return Gone }

var templates = parse()

// parse reads the layout, the parts that pages share, and each page; the names of the latter stand for them.
func parse() map[string]*template.Template {
	shared := template.Must(template.New("layout.html").Funcs(functions).ParseFS(files, "templates/layout.html", "templates/parts.html"))
	entries, err := fs.ReadDir(files, "templates")
	if err != nil {
		panic(err) // the files are part of the program
	}
	all := make(map[string]*template.Template, len(entries))
	for _, e := range entries {
		if name := e.Name(); name != "layout.html" && name != "parts.html" {
			all[name] = template.Must(template.Must(shared.Clone()).ParseFS(files, "templates/"+name))
		}
	}
	return all
}

// Render returns the page as a whole document.
func Render(p Page) ([]byte, error) {
	var b bytes.Buffer
	if err := templates[p.template()].Execute(&b, p); err != nil {
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
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
}

var assets, build = load()

// load reads the embedded assets and hashes names and bytes of all of them.
func load() (map[string]Asset, string) {
	all, sum := map[string]Asset{}, sha256.New()
	entries, err := fs.ReadDir(files, "assets") // in the order of names
	for _, e := range entries {
		var body []byte
		if body, err = files.ReadFile("assets/" + e.Name()); err != nil {
			break
		}
		fmt.Fprintf(sum, "%s %d\n%s", e.Name(), len(body), body)
		all[e.Name()] = Asset{types[path.Ext(e.Name())], body}
	}
	if err != nil {
		panic(err) // the files are part of the program
	}
	return all, hex.EncodeToString(sum.Sum(nil)[:8])
}

// Build is the hash in the path of every asset: other bytes, other path.
func Build() string { return build }

// FindAsset returns the asset of a name.
func FindAsset(name string) (Asset, bool) {
	a, ok := assets[name]
	return a, ok
}

// AssetPath is the path that serves the asset of a name; templates call it.
func AssetPath(name string) (string, error) {
	if _, ok := assets[name]; !ok {
		return "", fmt.Errorf("no asset %q", name)
	}
	return "/assets/" + build + "/" + name, nil
}
