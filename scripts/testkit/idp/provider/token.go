package provider

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
)

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
