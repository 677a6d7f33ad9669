package provider

import (
	"bytes"
	_ "embed"
	"html/template"
	"net/http"
	"net/url"
	"slices"
)

//go:embed page.html
var pageText string

//go:embed style.css
var styleText []byte

var pages = template.Must(template.New("page").Parse(pageText))

// page is a page for people.
type page struct {
	Title  string
	Text   string
	Form   bool
	Wrong  string // about the address
	Email  string
	Groups string
	Hidden []field
	Choice []Hostile
	Chosen Hostile
}

type field struct{ Name, Value string }

// form asks for the e-mail address. It carries the parameters of the request along, so that no
// state is kept meanwhile.
func (p *Provider) form(w http.ResponseWriter, status int, q url.Values, wrong string) {
	shown := page{
		Title:  "Sign in",
		Form:   true,
		Wrong:  wrong,
		Email:  q.Get("email"),
		Groups: q.Get("groups"),
		Choice: Hostilities,
		Chosen: Hostile(q.Get("hostile")),
	}
	for name := range q {
		if !slices.Contains([]string{"email", "groups", "hostile", "cancel", "login_hint"}, name) {
			shown.Hidden = append(shown.Hidden, field{name, q.Get(name)})
		}
	}
	p.page(w, status, shown)
}

func (p *Provider) refuse(w http.ResponseWriter, text string) {
	p.page(w, http.StatusBadRequest, page{Title: "This does not work", Text: text})
}

func (p *Provider) home(w http.ResponseWriter, _ *http.Request) {
	p.page(w, http.StatusOK, page{
		Title: "Identity provider for development",
		Text: "It signs in anyone who types an e-mail address. Start at the app; /mint?email=ada@example.org prints an " +
			"ID token, /assertion?email=ada@example.org what a provider of agents signs, and /event?email=ada@example.org " +
			"the event that takes it back.",
	})
}

// page writes a page. Its policy does not restrict form-action, because the form's answer redirects
// to the client.
func (p *Provider) page(w http.ResponseWriter, status int, shown page) {
	var b bytes.Buffer
	if err := pages.Execute(&b, shown); err != nil {
		http.Error(w, "the page cannot be shown", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy",
		"default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(status)
	w.Write(b.Bytes())
}

func style(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/css; charset=utf-8")
	w.Write(styleText)
}
