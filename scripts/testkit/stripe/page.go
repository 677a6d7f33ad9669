package stripe

import (
	"fmt"
	"html"
	"net/http"
	"strings"
)

func (s *Standin) servePages() {
	s.mux.HandleFunc("GET /pay/{id}", s.showCheckout)
	s.mux.HandleFunc("POST /pay/{id}", s.takePayment)
	s.mux.HandleFunc("GET /portal/{customer}", s.showPortal)
	s.mux.HandleFunc("POST /portal/{customer}", s.takeCancellation)
	s.mux.HandleFunc("GET /invoice/{id}", func(w http.ResponseWriter, r *http.Request) {
		show(w, "Invoice", "<p>"+html.EscapeString(r.PathValue("id"))+"</p>")
	})
}

// show writes a page; body is markup.
func show(w http.ResponseWriter, title, body string) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, `<!doctype html><html lang="en"><meta charset="utf-8"><title>%s (stand-in)</title>`+
		`<h1>%s</h1><p>This is a stand-in for Stripe. No money moves.</p>%s</html>`, title, title, body)
}

func (s *Standin) showCheckout(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	c := s.sessions[r.PathValue("id")]
	s.mu.Unlock()
	if c == nil {
		http.NotFound(w, r)
		return
	}
	const form = `<form method="post"><p>%s</p><button>Subscribe</button></form><p><a href="%s">Back</a></p>`
	show(w, "Checkout", fmt.Sprintf(form, dollars(cents(c.asked["line_items[0][price]"])), html.EscapeString(c.asked["cancel_url"])))
}

func (s *Standin) takePayment(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.sessions[r.PathValue("id")]
	if c == nil {
		http.NotFound(w, r)
		return
	}
	s.pay(c.id)
	http.Redirect(w, r, strings.ReplaceAll(c.asked["success_url"], "{CHECKOUT_SESSION_ID}", c.id), http.StatusSeeOther)
}

func (s *Standin) showPortal(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rows strings.Builder
	for _, x := range s.subs {
		if x.customer == r.PathValue("customer") {
			fmt.Fprintf(&rows, `<form method="post"><p>%s: %s until %s</p><input type="hidden" name="subscription" value="%s">`+
				`<button>Cancel</button></form>`, x.id, x.status, x.end.Format("2006-01-02"), x.id)
		}
	}
	show(w, "Subscriptions", rows.String()+`<p><a href="`+html.EscapeString(r.URL.Query().Get("back"))+`">Back</a></p>`)
}

func (s *Standin) takeCancellation(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.subs[r.FormValue("subscription")]
	if x == nil || x.customer != r.PathValue("customer") {
		http.NotFound(w, r)
		return
	}
	s.cancel(x.id)
	http.Redirect(w, r, r.URL.String(), http.StatusSeeOther)
}
