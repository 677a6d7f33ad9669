package oauth_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"vitrine/shared/adapter/fetch"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// fakeFetcher serves documents by their URL.
type fakeFetcher struct {
	documents map[string]string
	fresh     time.Duration
	err       error
	asked     int
}

func (f *fakeFetcher) Get(_ context.Context, url string, maxBytes int) ([]byte, time.Duration, error) {
	f.asked++
	body, found := f.documents[url]
	if f.err != nil || !found || len(body) > maxBytes {
		return nil, 0, errors.Join(f.err, errors.New("not there"))
	}
	return []byte(body), f.fresh, nil
}

const documentID = "https://Robot.example.com/oauth/client.json"

// documentOf returns a metadata document that is in order but for the name.
func documentOf(client, name string) string {
	return fmt.Sprintf(`{"client_id":%q,"client_name":%q,"redirect_uris":[%q],"logo_uri":"x"}`, client, name, elsewhere)
}

// withDocument serves a metadata document at documentID.
func (e *env) withDocument(document string) *fakeFetcher {
	f := &fakeFetcher{documents: map[string]string{documentID: document}}
	e.Fetcher = f
	return f
}

// described returns an authorization request of the client that documentID describes.
func described() oauth.Authorization {
	a := authorization()
	a.ClientID = documentID
	a.RedirectURI = elsewhere
	return a
}

// wantUnknown checks that an authorization ends on a page that says part.
func (e *env) wantUnknown(t *testing.T, what string, a oauth.Authorization, part string) {
	t.Helper()
	to, err := e.Authorize(ctx, a)
	if to != "" || fault.CodeOf(err) != fault.InvalidRequest || !strings.Contains(fault.Of(err).Message, part) {
		t.Errorf("%s: sent to %q, %v; want %q", what, to, err, part)
	}
}

func TestT31MarkupInANameStaysText(t *testing.T) {
	s := newEnv(t)
	s.withDocument(documentOf(documentID, "Robot\u202e <b>\n"))
	shown, err := s.Consent(ctx, s.consent(t, described()))
	if err != nil || shown.Client.Name != "Robot <b>" { // pages escape it
		t.Errorf("%+v %v, want the name without marks", shown, err)
	}
	s.withDocument(strings.Replace(documentOf(documentID, "Robot"), "client_name", "other", 1))
	s.clock.Advance(limits.MinDocumentLife)
	if shown, err := s.Consent(ctx, s.consent(t, described())); err != nil || shown.Client.Name != shown.Client.Host() {
		t.Errorf("without a name: %+v %v", shown, err)
	}
}

func TestAClientIsWhatItsDocumentSays(t *testing.T) {
	s := newEnv(t)
	f := s.withDocument(documentOf(documentID, "Robot"))
	a := described()
	a.Scope = "read publish admin"
	shown, err := s.Consent(ctx, s.consent(t, a))
	if err != nil || shown.Client.Name != "Robot" || shown.Client.Host() != "robot.example.com" ||
		shown.Client.FirstParty || shown.Audience != mcpOrigin || len(shown.Scopes) != 2 {
		t.Errorf("the page shows %+v %v", shown, err)
	}
	out := s.signIn(t, a)
	if out.Scope != "publish read" || !s.works(out.AccessToken, mcpOrigin) || s.works(out.AccessToken, apiOrigin) {
		t.Errorf("granted is %q", out.Scope)
	}
	if c, err := s.Stores.Clients.Client(ctx, documentID); err != nil || !c.UsedAt.IsZero() {
		t.Errorf("its use extends the life of what the document said: %+v %v", c, err)
	}
	s.Fetcher = nil
	out = s.token(t, refreshing(documentID, out))
	s.refuses(t, "another client", refreshing(strings.ToLower(documentID), out), fault.OAuthInvalidGrant)
	s.clock.Advance(limits.MaxDocumentLife)
	s.token(t, refreshing(documentID, out)) // no document is left
	listed, _, err := s.Grants(ctx, s.by, cursor.Page{})
	if err != nil || len(listed) != 1 || listed[0].Host() != "robot.example.com" || listed[0].Client != documentID {
		t.Errorf("%+v %v, want the client with its host", listed, err)
	}
	if f.asked != 1 {
		t.Errorf("the document was read %d times", f.asked)
	}
	s.WantEvents(t, event.ConsentGranted, 1)
	s.checkSecrets(t)
}

func TestADocumentGivesNoPrivilegeOfOurOwnClients(t *testing.T) {
	s := newEnv(t)
	s.withDocument(strings.Replace(documentOf(documentID, "Command line"), elsewhere, loopback, 1))
	a := described()
	a.RedirectURI, a.Scope, a.Resource = loopback, "admin", mcpOrigin
	if shown, err := s.Consent(ctx, s.consent(t, a)); err != nil || shown.Client.FirstParty || !shown.Loopback {
		t.Errorf("%+v %v, want another's client that the page warns of", shown, err)
	}
	s.wantScope(t, "admin", s.signIn(t, a), mcpOrigin, "publish read")
	a.ResponseType = "token"
	if to, _ := s.Authorize(ctx, a); !strings.HasPrefix(to, "https://app.example.com/oauth/error?") {
		t.Errorf("an error goes to %s", to)
	}
	_, err := s.StartDevice(ctx, documentID, "read", "laptop", from)
	wantRefused(t, "a device", err, fault.OAuthUnauthorizedClient)
	s.withProvider()
	r := exchanging()
	r.ClientID = documentID
	s.refuses(t, "an exchange", r, fault.OAuthUnauthorizedClient)
}

// The answer of a client that has several redirects goes to this machine only if the request names one there.
func TestThePageWarnsOfAnAnswerOnThisMachine(t *testing.T) {
	s := newEnv(t)
	both := fmt.Sprintf(`%q,%q`, elsewhere, "http://127.0.0.1/callback")
	s.withDocument(strings.Replace(documentOf(documentID, "Robot"), `"`+elsewhere+`"`, both, 1))
	for redirect, want := range map[string]bool{elsewhere: false, loopback: true} {
		a := described()
		a.RedirectURI = redirect
		if shown, err := s.Consent(ctx, s.consent(t, a)); err != nil || shown.Loopback != want {
			t.Errorf("%s: %+v %v", redirect, shown, err)
		}
	}
}

// TestT30NoInnerAddressIsAClient reads with the real fetcher and counts its connections.
func TestT30NoInnerAddressIsAClient(t *testing.T) {
	s := newEnv(t)
	var dials []string
	f := fetch.New(time.Second, nil)
	f.Resolver = innerNames{}
	f.Dial = func(_ context.Context, _, address string) (net.Conn, error) {
		dials = append(dials, address)
		return nil, errors.New("no connection")
	}
	s.Fetcher = f
	for _, client := range []string{
		"https://127.0.0.1/c", "https://169.254.169.254/latest/meta-data/", "https://[::ffff:10.0.0.1]/c",
		"https://0x7f000001/c", "https://inner.example.com/c", "https://example.com:22/c", "http://example.com/c",
		"gopher://example.com/c", "file:///etc/passwd", "https://example.com", "https://example.com/",
		"https://user@example.com/c", "https://example.com/a/../c", "https://example.com/c#f",
	} {
		a := described()
		a.ClientID = client
		if to, err := s.Authorize(ctx, a); to != "" || fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%s: sent to %q, %v", client, to, err)
		}
	}
	if len(dials) > 0 {
		t.Errorf("connected to %v", dials)
	}
}

// innerNames resolves every name to an inner address.
type innerNames struct{}

func (innerNames) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
}

func TestT31ADocumentThatDescribesNoClientIsRefused(t *testing.T) {
	s := newEnv(t)
	const missing = "missing"
	uris := func(list string) string { return fmt.Sprintf(`{"client_id":%q,"redirect_uris":%s}`, documentID, list) }
	with := func(member string) string {
		return strings.Replace(documentOf(documentID, "Robot"), "{", "{"+member+",", 1)
	}
	long := documentOf(documentID, "Robot") + strings.Repeat(" ", limits.DocumentBytes)
	for name, c := range map[string]struct{ document, says string }{
		"a page":            {"<!doctype html><title>Robot</title>", "no JSON object"},
		"nothing":           {"", "no JSON object"},
		"null":              {"null", "no JSON object"},
		"a list":            {"[" + documentOf(documentID, "Robot") + "]", "no JSON object"},
		"two objects":       {documentOf(documentID, "Robot") + "{}", "no JSON object"},
		"other types":       {uris(`"` + elsewhere + `"`), "no JSON object"},
		"another client":    {documentOf("https://other.example.com/c", "Robot"), "another client_id"},
		"another spelling":  {documentOf(strings.ToLower(documentID), "Robot"), "another client_id"},
		"no client":         {`{"redirect_uris":["` + elsewhere + `"]}`, "another client_id"},
		"no redirect":       {uris("[]"), "1 to 10"},
		"eleven redirects":  {uris(`["` + strings.Repeat(elsewhere+`","`, 10) + elsewhere + `"]`), "1 to 10"},
		"http elsewhere":    {uris(`["http://robot.example.com/"]`), "each redirect URI"},
		"a script":          {uris(`["javascript:alert(1)"]`), "each redirect URI"},
		"a secret":          {with(`"token_endpoint_auth_method":"private_key_jwt"`), "public"},
		"other grants":      {with(`"grant_types":["implicit"]`), "authorization_code"},
		"our name":          {documentOf(documentID, "🔒 Verified: Vitrine"), "name of this service"},
		"a long name":       {documentOf(documentID, strings.Repeat("é", 81)), "80"},
		"more than is read": {long, "cannot be read"},
		"what is not there": {missing, "client_documents off"},
	} {
		s.clock.Advance(limits.MaxDocumentLife) // past the document before
		f := s.withDocument(c.document)
		if c.document == missing {
			delete(f.documents, documentID)
		}
		s.wantUnknown(t, name, described(), c.says)
		s.wantUnknown(t, name+", a second time", described(), c.says)
		if f.asked != 1 {
			t.Errorf("%s: read %d times", name, f.asked)
		}
		f.documents[documentID] = documentOf(documentID, "Robot")
		s.clock.Advance(limits.DocumentRetry)
		s.consent(t, described())
	}
}

// TestWithoutDocumentsNoURLNamesAClient turns them off after one was stored. What the app was granted before goes on.
func TestWithoutDocumentsNoURLNamesAClient(t *testing.T) {
	s := newEnv(t)
	f := s.withDocument(documentOf(documentID, "Robot"))
	before := s.signIn(t, described())
	s.NoDocuments = true
	s.clock.Advance(limits.MinDocumentLife)
	for _, url := range []id.Client{documentID, "https://claude.ai/oauth/claude-code-client-metadata"} {
		a := described()
		a.ClientID = string(url)
		s.wantUnknown(t, string(url), a, "has that turned off; sign out of it in the app and connect again")
	}
	if f.asked != 1 {
		t.Errorf("documents were read %d times", f.asked)
	}
	s.token(t, refreshing(documentID, before))
	s.consent(t, s.robot(t))
}

func TestADocumentIsReadAgainAsItsAnswerSays(t *testing.T) {
	s := newEnv(t)
	for name, c := range map[string]struct{ fresh, want time.Duration }{
		"nothing said":  {0, 5 * time.Minute},
		"a minute":      {time.Minute, 5 * time.Minute},
		"an hour":       {time.Hour, time.Hour},
		"half a year":   {180 * limits.Day, limits.Day},
		"exactly a day": {limits.Day, limits.Day},
	} {
		s.clock.Advance(limits.MaxDocumentLife) // past the document before
		f := s.withDocument(documentOf(documentID, "Robot"))
		f.fresh = c.fresh
		s.consent(t, described())
		s.clock.Advance(c.want - time.Millisecond)
		if s.consent(t, described()); f.asked != 1 {
			t.Errorf("%s: read too early", name)
		}
		f.documents[documentID] = strings.Replace(documentOf(documentID, "Robot"), elsewhere, elsewhere+"/new", 1)
		s.clock.Advance(time.Millisecond)
		if s.wantUnknown(t, name, described(), "did not register"); f.asked != 2 {
			t.Errorf("%s: read %d times", name, f.asked)
		}
	}
}

// A document that was read before counts for a day while it cannot be read.
func TestADocumentThatVanishesForAWhileStillCounts(t *testing.T) {
	s := newEnv(t)
	f := s.withDocument(documentOf(documentID, "Robot"))
	s.consent(t, described())
	f.err = errors.New("down")
	s.clock.Advance(limits.MinDocumentLife)
	for range 2 {
		if s.consent(t, described()); f.asked != 2 {
			t.Errorf("read %d times", f.asked)
		}
	}
	s.clock.Advance(limits.DocumentRetry)
	if s.consent(t, described()); f.asked != 3 {
		t.Errorf("a minute later it was read %d times", f.asked)
	}
	s.clock.Advance(limits.MaxDocumentLife - limits.MinDocumentLife - limits.DocumentRetry)
	s.wantUnknown(t, "after a day", described(), "cannot be read")
}

func TestAllTogetherReadSoManyDocumentsAMinute(t *testing.T) {
	s := newEnv(t)
	s.limits.Documents.Limit = 2
	f := s.withDocument(documentOf(documentID, "Robot"))
	s.consent(t, described())
	other := described()
	for n := range 2 {
		other.ClientID = fmt.Sprintf("https://other.example.com/%d", n)
		_, err := s.Authorize(ctx, other)
		if want := []fault.Code{fault.InvalidRequest, fault.RateLimitedActor}[n]; fault.CodeOf(err) != want {
			t.Errorf("document %d: %v, not %s", n+2, err, want)
		}
	}
	if _, err := s.Authorize(ctx, other); fault.Of(err).RetryAfter <= 0 || f.asked != 2 {
		t.Errorf("%v, %d documents were read", err, f.asked)
	}
	s.clock.Advance(limits.MinDocumentLife)
	for n := range 2 {
		other.ClientID = fmt.Sprintf("https://third.example.com/%d", n)
		s.wantUnknown(t, "others", other, "cannot be read")
	}
	if s.consent(t, described()); f.asked != 4 { // the document as it was
		t.Errorf("%d documents were read", f.asked)
	}
}

func TestOneAddressDoesNotUseUpTheDocumentsOfAll(t *testing.T) {
	s := newEnv(t)
	s.limits.Document.Limit = 1
	s.withDocument(documentOf(documentID, "Robot"))
	a := described()
	a.From = from
	s.consent(t, a)
	a.ClientID = "https://other.example.com/c"
	if _, err := s.Authorize(ctx, a); fault.CodeOf(err) != fault.RateLimitedActor || fault.Of(err).RetryAfter <= 0 {
		t.Errorf("a second document: %v", err)
	}
	a.From = netip.MustParseAddr("198.51.100.1")
	s.wantUnknown(t, "for another address", a, "cannot be read")
}

// A host that reads no documents, as the one with the pages, knows the clients that another one read.
func TestAHostWithoutFetcherKnowsWhatAnotherOneRead(t *testing.T) {
	s := newEnv(t)
	f := s.withDocument(documentOf(documentID, "Robot"))
	a := described()
	a.ResponseType = "token"
	s.Fetcher = nil
	s.wantUnknown(t, "before it was read", a, "not known")
	s.Fetcher = f
	r := s.refusal(t, "then", s.by, a)
	wantError(t, "then", r.RedirectTo, a, fault.OAuthUnsupportedResponse)
	s.Fetcher = nil
	s.clock.Advance(limits.MinDocumentLife)
	if r := s.refusal(t, "when it is not fresh any more", s.by, a); r.Client.Name != "Robot" || r.Trusted {
		t.Errorf("%+v, want the stored name, untrusted", r)
	}
	s.clock.Advance(limits.MaxDocumentLife - limits.MinDocumentLife)
	s.wantUnknown(t, "after a day", a, "not known")
}

func TestAClientThatRegisteredIsNotTakenForADocument(t *testing.T) {
	s := newEnv(t)
	f := s.withDocument("{}")
	s.signIn(t, s.robot(t))
	s.signIn(t, authorization())
	if f.asked != 0 {
		t.Error("a document was read")
	}
	if c := (oauth.Client{ID: id.NewClient()}); c.Host() != "" {
		t.Errorf("it is described at %s", c.Host())
	}
	if r, err := s.Register(ctx, contract.RegisterClient{RedirectURIs: []string{elsewhere}}, from); err != nil ||
		r.AuthMethod != "none" {
		t.Errorf("a client that names no authentication method: %+v %v", r, err)
	}
	g := oauth.Grant{Client: "cli", Scopes: []credential.Scope{credential.Read}}
	if g.Host() != "" {
		t.Errorf("our own client is described at %s", g.Host())
	}
}
