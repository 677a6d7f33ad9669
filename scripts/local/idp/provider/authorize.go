package provider

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// grant is what a person allowed the client.
type grant struct {
	person    Person
	redirect  string
	nonce     string
	challenge string
	algorithm string
	hostile   Hostile
	ends      time.Time
}

const (
	codeLife  = time.Minute
	maxGrants = 1000 // codes that are kept
)

// authorize shows the form, or takes it. With login_hint it skips the form.
func (p *Provider) authorize(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		p.refuse(w, "The form cannot be read.")
		return
	}
	q := r.Form
	if q.Get("client_id") != p.client.ID || !slices.Contains(p.client.Callbacks, q.Get("redirect_uri")) {
		p.refuse(w, "No such client, or it may not send you there.")
		return
	}
	h, known := hostile(q)
	email := strings.TrimSpace(q.Get("email"))
	if r.Method == http.MethodGet {
		email = strings.TrimSpace(q.Get("login_hint"))
	}
	switch {
	case q.Get("response_type") != "code" || !slices.Contains(strings.Fields(q.Get("scope")), "openid") || !known,
		q.Get("code_challenge_method") != "S256" || len(q.Get("code_challenge")) != 43:
		p.back(w, r, q, url.Values{"error": {"invalid_request"}})
	case q.Get("cancel") != "":
		p.back(w, r, q, url.Values{"error": {"access_denied"}})
	case r.Method == http.MethodGet && email == "":
		p.form(w, http.StatusOK, q, "")
	case !strings.Contains(email, "@"):
		p.form(w, http.StatusBadRequest, q, "An e-mail address has an @ in it.")
	default:
		code := p.keep(grant{
			person:    Person{Email: email, Subject: q.Get("sub"), Groups: groups(q)},
			redirect:  q.Get("redirect_uri"),
			nonce:     q.Get("nonce"),
			challenge: q.Get("code_challenge"),
			algorithm: q.Get("alg"),
			hostile:   h,
			ends:      p.now().Add(codeLife),
		})
		p.back(w, r, q, url.Values{"code": {code}})
	}
}

// back sends the browser to the client.
func (p *Provider) back(w http.ResponseWriter, r *http.Request, q, answer url.Values) {
	answer.Set("iss", p.issuer)
	if state := q.Get("state"); state != "" {
		answer.Set("state", state)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusSeeOther)
}

// keep stores a grant under a new code. It removes expired grants, and all grants if there are too many.
func (p *Provider) keep(g grant) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	for code, old := range p.codes {
		if !now.Before(old.ends) || len(p.codes) >= maxGrants {
			delete(p.codes, code)
		}
	}
	code := rand.Text()
	p.codes[code] = g
	return code
}

// token redeems a code, once.
func (p *Provider) token(w http.ResponseWriter, r *http.Request) {
	fail := func(status int, code string) { answer(w, status, map[string]any{"error": code}) }
	if err := r.ParseForm(); err != nil {
		fail(http.StatusBadRequest, "invalid_request")
		return
	}
	if !p.authentic(r) {
		fail(http.StatusUnauthorized, "invalid_client")
		return
	}
	if r.PostForm.Get("grant_type") != "authorization_code" {
		fail(http.StatusBadRequest, "unsupported_grant_type")
		return
	}
	g, ok := p.redeem(r.PostForm.Get("code"))
	challenge := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
	switch {
	case !ok, g.hostile == Denied, r.PostForm.Get("redirect_uri") != g.redirect,
		base64.RawURLEncoding.EncodeToString(challenge[:]) != g.challenge:
		fail(http.StatusBadRequest, "invalid_grant")
	case g.hostile == TokenStalls:
		<-r.Context().Done()
	case g.hostile == TokenFails:
		fail(http.StatusInternalServerError, "server_error")
	default:
		p.grantTokens(w, g)
	}
}

func (p *Provider) grantTokens(w http.ResponseWriter, g grant) {
	idToken, err := p.Mint(g.person, g.nonce, g.algorithm, g.hostile)
	if err != nil {
		answer(w, http.StatusInternalServerError, map[string]any{"error": "server_error"})
		return
	}
	out := map[string]any{
		"token_type":   "Bearer",
		"expires_in":   int(tokenLife.Seconds()),
		"access_token": rand.Text(),
		"id_token":     idToken,
	}
	if g.hostile == NoToken {
		delete(out, "id_token")
	}
	answer(w, http.StatusOK, out)
}

func (p *Provider) redeem(code string) (grant, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	g, ok := p.codes[code]
	delete(p.codes, code)
	return g, ok && p.now().Before(g.ends)
}

// authentic reports whether the client presents its secret.
func (p *Provider) authentic(r *http.Request) bool {
	name, secret := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	return name == p.client.ID && subtle.ConstantTimeCompare([]byte(secret), []byte(p.client.Secret)) == 1
}
