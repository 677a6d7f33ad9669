package app

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
)

var allowlist = workspace.Allowlist{Contact: "mailto:ask@example.test"}

// refusedSessions are those of a person whom the deployment does not let in.
type refusedSessions struct{ fakeSessions }

func (refusedSessions) Authenticate(context.Context, string, string) (session.Authenticated, error) {
	return session.Authenticated{}, allowlist.Hide(fault.New(fault.NotAuthenticated, "sign in to go on"))
}

// refusedDeletions does the same while a workspace is being deleted.
type refusedDeletions struct{ fakeDeletions }

func (d refusedDeletions) AuthenticateDeleting(
	ctx context.Context, secret, requestID string,
) (session.Authenticated, error) {
	return refusedSessions{}.Authenticate(ctx, secret, requestID)
}

const (
	forReaders = "it shows what was shared"
	forAll     = "it tells everybody the same"
	judging    = ""
)

// openRoutes are the routes that are not for members or operators, and why they need not judge a session; judging: they
// show the page of a refused person.
var openRoutes = map[string]string{
	"GET /{$}":                                 judging,
	"GET /claim":                               judging,
	"GET /api/live/artifacts/{artifactId}":     "it closes the page, as for everybody who is not signed in",
	"GET " + agentPath:                         "it moves the token from the address to a cookie, then members see it",
	"GET /oauth/error":                         "it treats the person as a guest",
	"GET " + requestedPath:                     forAll,
	"GET /al/{publicId}":                       forReaders,
	"POST /al/{publicId}":                      forReaders,
	"POST /api/access-links/resolve":           forReaders,
	"POST /api/access-links/qr":                forReaders,
	"POST /api/live/access-links/{publicId}":   forReaders,
	"GET /assets/{build}/{name}":               forAll,
	"GET /scripts/{program}/{file...}":         forAll,
	"GET /healthz":                             forAll,
	"GET /robots.txt":                          forAll,
	"GET /.well-known/gpc.json":                forAll,
	"GET /skill.md":                            forAll,
	"GET /skills/vitrine.zip":                  forAll,
	"GET /.well-known/agent-skills/index.json": forAll,
	"GET /llms.txt":                            forAll,
	"GET /llms-full.txt":                       forAll,
	"GET /agents.md":                           forAll,
	"GET " + keepPath:                          "the sign-in before it was judged",
	"POST " + keepPath:                         "the sign-in before it was judged",
	"POST " + lettersPath:                      "guests write without an account",
	"POST " + talksPath:                        "guests write without an account",
	"GET /report":                              "anybody may report abuse",
	"POST /report":                             "anybody may report abuse",
	"GET /api/auth/sign-in":                    "the callback judges",
	"GET /api/auth/callback":                   "the person who comes back is judged",
	"GET /signed-out":                          forAll,
	"POST /api/auth/sign-out":                  "it ends the session",
	"GET /install.sh":                          forAll,
	"GET /install.ps1":                         forAll,
	"GET /cli/{version}/{name}":                forAll,
}

func TestAPersonWhoIsNotLetInComesThroughNoRoute(t *testing.T) {
	s := newServices()
	host, _ := s.host()
	host.Sessions, host.Deletions = refusedSessions{fakeSessions{s}}, refusedDeletions{fakeDeletions{s}}
	h := host.Handler()
	ids := strings.NewReplacer("{artifactId}", artifactID, "{linkId}", shareID, "{$}", "")
	left := map[string]bool{}
	for route := range openRoutes {
		left[route] = true
	}
	for _, r := range host.routes() {
		name, status, part := r.method+" "+r.path, http.StatusUnauthorized, `href="mailto:ask@example.test"`
		switch route := r.handle.(type) {
		case members:
			if route.call != nil {
				part = `"code":"not_authenticated"`
			}
		case operators:
			status, part = http.StatusNotFound, "Nothing on show here"
		default:
			reason, listed := openRoutes[name]
			if delete(left, name); !listed {
				t.Errorf("%s is a new route: does the policy judge it?", name)
			}
			if reason != judging || !listed {
				continue
			}
		}
		answer := signedIn(h, r.method, ids.Replace(r.path), url.Values{})
		wantAnswer(t, name, answer, status, part)
	}
	for route := range left {
		t.Errorf("there is no route %s", route)
	}
	if len(s.changes) > 0 {
		t.Errorf("a refused person changed %q", s.changes)
	}
}

func TestARefusedPersonMaySignOut(t *testing.T) {
	s := newServices()
	host, _ := s.host()
	host.Sessions = refusedSessions{fakeSessions{s}}
	r := signedIn(host.Handler(), "POST", "/api/auth/sign-out", url.Values{})
	wantRedirect(t, "signing out", r, "/signed-out")
	if c := cookieOf(t, r, sessionCookie); c == nil || c.MaxAge != -1 {
		t.Errorf("cookie %v", c)
	}
}

// refusedSignIns refuses every person who comes back from the identity provider.
type refusedSignIns struct{ SignIns }

func (refusedSignIns) Finish(
	context.Context, signin.Callback, session.Client, string,
) (signin.Finished, error) {
	return signin.Finished{}, allowlist.Refuse()
}

func TestARefusedSignInNamesTheContact(t *testing.T) {
	host, _ := newServices().host()
	host.SignIns = refusedSignIns{host.SignIns}
	r := send(host.Handler(), "GET", "/api/auth/callback?state=s&code=c", "")
	wantAnswer(t, "the callback", r, http.StatusForbidden, "This account may not use this deployment",
		`href="mailto:ask@example.test"`)
	if cookieOf(t, r, sessionCookie) != nil {
		t.Error("a refused person gets a session")
	}
}
