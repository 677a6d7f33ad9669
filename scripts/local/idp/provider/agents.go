package provider

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// agentRoutes are the plain URLs of an issuer: assertions, events, keys and their change.
func (i *Issuer) agentRoutes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"GET /assertion":             i.mintAssertion,
		"GET /event":                 i.mintEvent,
		"GET /.well-known/jwks.json": i.jwks,
		"POST /rotate":               i.rotate,
	}
}

func (i *Issuer) jwks(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Cache-Control", "public, max-age=600")
	answer(w, http.StatusOK, i.public())
}

// rotate changes the keys: the ones before stay published, with drop=1 they do not. With announce=1 it publishes those
// of the next time only.
func (i *Issuer) rotate(w http.ResponseWriter, r *http.Request) {
	change := i.RollOver
	switch q := r.URL.Query(); {
	case q.Get("drop") != "":
		change = i.Rotate
	case q.Get("announce") != "":
		change = i.Announce
	}
	if err := change(); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	answer(w, http.StatusOK, i.public())
}

// mintAssertion prints an assertion: ?email=, and if wanted sub=, scope=, alg=, signed_in= (1h30m ago) and hostile=.
func (i *Issuer) mintAssertion(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	ago, err := time.ParseDuration(cmp.Or(q.Get("signed_in"), "0s"))
	who := person(q)
	if err != nil || !strings.Contains(who.Email, "@") {
		http.Error(w, fmt.Sprintf("ask for /assertion?email=ada@example.org; sub, scope, alg, signed_in=1h30m and "+
			"hostile (one of %v) may be added", assertionDefects.names()), http.StatusBadRequest)
		return
	}
	token, err := i.Assertion(Assertion{
		Person:    who,
		Algorithm: q.Get("alg"),
		Scope:     q.Get("scope"),
		SignedIn:  ago,
		Hostile:   Hostile(q.Get("hostile")),
	})
	printToken(w, token, err)
}

// mintEvent prints a security event: ?sub= or ?email=, and if wanted type=, jti=, alg= and hostile=.
func (i *Issuer) mintEvent(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	who := person(q)
	if who.Email == "" && who.Subject == "" {
		http.Error(w, fmt.Sprintf("ask for /event?email=ada@example.org or /event?sub=…; type, jti, alg and hostile (one "+
			"of %v) may be added", eventDefects.names()), http.StatusBadRequest)
		return
	}
	token, err := i.Event(Event{
		Person:    who,
		Type:      q.Get("type"),
		ID:        q.Get("jti"),
		Algorithm: q.Get("alg"),
		Hostile:   Hostile(q.Get("hostile")),
	})
	printToken(w, token, err)
}

func printToken(w http.ResponseWriter, token string, err error) {
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintln(w, token)
}

func person(q url.Values) Person {
	return Person{Email: strings.TrimSpace(q.Get("email")), Subject: q.Get("sub"), Groups: groups(q)}
}
