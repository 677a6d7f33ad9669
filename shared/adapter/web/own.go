package web

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// OwnRoute answers a request at the own origin of an artifact, or returns the failure to be written. A nil one is not_found.
type OwnRoute func(w http.ResponseWriter, r *http.Request, a id.Artifact) error

// WithOwn returns a handler that leads requests for the own origins of artifacts to routes, and all others to next. The
// routes are named by patterns of paths, and answer GET and HEAD. Nothing else is at these origins, because all their
// other paths are those of files.
func (s *Server) WithOwn(at address.Origins, routes map[string]OwnRoute, next http.Handler) http.Handler {
	domain := at.OwnDomain()
	if domain == "" {
		return next
	}
	shared, own := mustName(at.Content), s.own(domain, routes)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name := hostName(r); name != shared && strings.HasSuffix(name, domain) {
			own.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func (s *Server) own(domain string, routes map[string]OwnRoute) http.Handler {
	out := *s
	out.Serves, out.Metadata = nil, ""
	out.Headers = map[string]string{
		"Referrer-Policy":              "same-origin",
		"Cross-Origin-Resource-Policy": "same-origin",
		"Origin-Agent-Cluster":         "?1",
	}
	mux := http.NewServeMux()
	for pattern, route := range routes {
		mux.HandleFunc("GET "+pattern, func(w http.ResponseWriter, r *http.Request) {
			if err := ownRoute(w, r, domain, route); err != nil {
				writeError(w, r, err)
			}
		})
	}
	mux.HandleFunc("/", rootMethods{http.MethodGet, http.MethodHead}.refuse)
	return out.Around(Pack(out.exact(mux)))
}

// ownRoute checks what all routes of own origins check. Frames of the app come from another site, so that what comes from
// this one and another origin is a page of another artifact. A service worker would go on answering for an artifact that
// nobody may read any more, so that none can be registered.
func ownRoute(w http.ResponseWriter, r *http.Request, domain string, route OwnRoute) error {
	deleteForeign(w.Header(), r, domain)
	w.Header().Set("Vary", "Sec-Fetch-Dest, Sec-Fetch-Mode, Sec-Fetch-Site")
	if r.Header.Get("Sec-Fetch-Site") == "same-site" {
		return fault.NewCode(fault.NotFound)
	}
	if r.Header.Get("Service-Worker") != "" || r.Header.Get("Sec-Fetch-Dest") == "serviceworker" {
		return fault.NewCode(fault.Forbidden)
	}
	a, err := id.ArtifactOfLabel(strings.TrimSuffix(hostName(r), domain))
	if err != nil || route == nil {
		return fault.NewCode(fault.NotFound)
	}
	return route(w, r, a)
}

// ByCookie returns the route of what the cookie of SetOpened opens. tokenOf returns the first text that is a token of the
// artifact. If serve fails with refused, the browser forgets the cookie and all that the origin has stored.
func ByCookie(
	tokenOf func(a id.Artifact, texts ...string) string, refused error,
	serve func(w http.ResponseWriter, r *http.Request, token string) error,
) OwnRoute {
	return func(w http.ResponseWriter, r *http.Request, a id.Artifact) error {
		tokens := Opened(r)
		if len(tokens) == 0 {
			return fault.NewCode(fault.NotFound)
		}
		err := serve(w, r, tokenOf(a, tokens...))
		if errors.Is(err, refused) {
			setOpened(w.Header(), "", -1)
			w.Header().Set("Clear-Site-Data", `"cache", "storage"`)
		}
		return err
	}
}

// openedCookie has the token that opened the own origin of an artifact. Browsers keep it for one origin below one site,
// which is that of the page around.
const openedCookie = "__Host-v"

// refusedFor is how long a browser keeps the cookie after its token has ended, so that an answer can clear what the
// browser stored.
const refusedFor = 24 * time.Hour

// SetOpened lets a browser open the own origin of an artifact by a token for as long as that lives.
func SetOpened(h http.Header, token string, life time.Duration) {
	setOpened(h, token, int((life+refusedFor)/time.Second))
}

func setOpened(h http.Header, token string, seconds int) {
	h.Add("Set-Cookie", (&http.Cookie{
		Name:        openedCookie,
		Value:       token,
		Path:        "/",
		MaxAge:      seconds,
		Secure:      true,
		HttpOnly:    true,
		SameSite:    http.SameSiteNoneMode,
		Partitioned: true,
	}).String())
}

// Opened returns the tokens in the cookies of SetOpened. There is more than one if a page has set a cookie of that name
// for its own origin.
func Opened(r *http.Request) (tokens []string) {
	for _, c := range r.CookiesNamed(openedCookie) {
		tokens = append(tokens, c.Value)
	}
	return tokens
}

const (
	maxForeign  = 8 << 10 // bytes of cookies in a request; gateways refuse some more
	maxDeletion = 4 << 10 // bytes of what deletes them, for the same reason
)

// deleteForeign deletes cookies of the whole domain, which any page below it can set, when a browser sends too many. The
// longest ones go first.
func deleteForeign(h http.Header, r *http.Request, domain string) {
	cookies, size := r.Cookies(), 0
	for _, line := range r.Header.Values("Cookie") {
		size += len(line)
	}
	if size <= maxForeign {
		return
	}
	length := func(c *http.Cookie) int { return len(c.Name) + len(c.Value) }
	slices.SortStableFunc(cookies, func(a, b *http.Cookie) int { return cmp.Compare(length(b), length(a)) })
	left := maxDeletion
	for _, c := range cookies {
		if strings.HasPrefix(c.Name, "__Host-") {
			continue // it has no domain
		}
		for _, partitioned := range []bool{true, false} {
			line := (&http.Cookie{
				Name:        c.Name,
				Path:        "/",
				Domain:      domain[1:],
				MaxAge:      -1,
				Secure:      true,
				SameSite:    http.SameSiteNoneMode,
				Partitioned: partitioned,
			}).String()
			if left -= len(line); left >= 0 {
				h.Add("Set-Cookie", line)
			}
		}
	}
}
