package oauth

import (
	"net/netip"
	"net/url"
)

// Authorization holds the parameters of the authorization endpoint. Repeated names a parameter that occurs more than
// once. From is not a parameter but the address of the browser.
type Authorization struct {
	ResponseType, ClientID, RedirectURI, State, Challenge, ChallengeMethod, Scope, Resource string
	// Prompt is "login" if the client wants the person to authenticate anew. Other values are ignored.
	Prompt   string
	Repeated string
	From     netip.Addr
}

// parameter is a field of an Authorization under its name in a query.
type parameter struct {
	name  string
	field *string
}

// parameters returns the parameters in the order in which repeated ones are reported. client_id and redirect_uri come
// first, because a request that repeats them must not be answered at its redirect URI.
func (a *Authorization) parameters() []parameter {
	return []parameter{
		{"client_id", &a.ClientID},
		{"redirect_uri", &a.RedirectURI},
		{"resource", &a.Resource},
		{"response_type", &a.ResponseType},
		{"state", &a.State},
		{"code_challenge", &a.Challenge},
		{"code_challenge_method", &a.ChallengeMethod},
		{"scope", &a.Scope},
		{"prompt", &a.Prompt},
	}
}

// ParseAuthorization parses a query. It ignores unknown parameters, and returns the zero value for a malformed query.
func ParseAuthorization(query string) (a Authorization) {
	q, err := url.ParseQuery(query)
	if err != nil {
		return a
	}
	for _, p := range a.parameters() {
		*p.field = q.Get(p.name)
		if len(q[p.name]) > 1 && a.Repeated == "" {
			a.Repeated = p.name
		}
	}
	return a
}

// query returns the query that ParseAuthorization parses as a.
func (a Authorization) query() string {
	q := url.Values{}
	for _, p := range a.parameters() {
		if *p.field != "" {
			q.Add(p.name, *p.field)
		}
		if p.name == a.Repeated {
			q[p.name] = []string{*p.field, *p.field}
		}
	}
	return q.Encode()
}
