package harness

import (
	"encoding/binary"
	"net/http"
	"testing"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// TryCreateKey asks for a key with an Idempotency-Key.
func TryCreateKey(t testing.TB, who *Member, name, idem string) wire.Answer {
	t.Helper()
	return TryAs(t, who, "POST", "/v1/web/keys", contract.CreateKey{Name: name}, "Idempotency-Key", idem)
}

// CreatedKey unpacks a key that was made.
func CreatedKey(t testing.TB, a wire.Answer) (made contract.CreatedKey) {
	t.Helper()
	if a.Status != http.StatusCreated {
		t.Fatal(a.Status, a.Code(), a.Message())
	}
	Decode(t, a, &made)
	return made
}

// WithToken returns the same member with another bearer token.
func (m *Member) WithToken(bearer string) *Member {
	other := *m
	other.Agent = &wire.Agent{HTTP: m.HTTP, At: m.At, Key: bearer}
	return &other
}

// Member is a member of a workspace who sends an access token.
type Member struct {
	*wire.Agent
	ID        id.Member
	Workspace id.Workspace
	Grant     id.Public
}

// allScopes is what members may do as a rule.
var allScopes = []credential.Scope{credential.Publish, credential.Read, credential.Admin}

// NewMember stores a claimed workspace with a member; the access token is one of the command line client.
func (e *BackendEnv) NewMember(t testing.TB, scopes ...credential.Scope) *Member {
	t.Helper()
	now := e.Options.Now()
	w := id.NewWorkspace()
	e.Put(t, Item{}, map[string]any{
		"pk":         "W#" + string(w),
		"sk":         "META",
		"name":       "Someone's Workspace",
		"plan":       "free",
		"created":    now,
		"claimed_at": now,
	})
	return e.AddMember(t, w, scopes...)
}

// newClaimed makes a workspace that counts as claimed, with the API key of an agent.
func (e *BackendEnv) newClaimed(t testing.TB) (*wire.Agent, id.Workspace) {
	t.Helper()
	g := e.NewAgent(t)
	w := TokenOf(t, g).Workspace
	e.Update(t, "W#"+string(w), "META", map[string]any{"claimed_at": e.Options.Now()})
	return g, w
}

// AddMember stores another member of a workspace; without scopes the member has all of them.
func (e *BackendEnv) AddMember(t testing.TB, w id.Workspace, scopes ...credential.Scope) *Member {
	t.Helper()
	if scopes == nil {
		scopes = allScopes
	}
	now := e.Options.Now()
	who := &Member{ID: id.NewMember(), Workspace: w}
	e.Put(t, Item{}, map[string]any{
		"pk":      "W#" + string(w),
		"sk":      "MEM#" + string(who.ID),
		"iss":     "https://id.test",
		"sub":     string(who.ID),
		"email":   "someone@id.test",
		"scopes":  scopeList(scopes),
		"created": now,
		"seen":    now,
	})
	return e.GrantTo(t, who, oauth.CLI, e.Origins.API)
}

// GrantTo stores a grant of the member to a client for a host. The result sends its access token.
func (e *BackendEnv) GrantTo(t testing.TB, who *Member, client id.Client, audience string) *Member {
	t.Helper()
	now := e.Options.Now()
	token := credential.Mint(credential.AccessToken, credential.Preview, who.Workspace, "")
	h := token.Hash(e.peppers(t))
	issued := binary.BigEndian.AppendUint64([]byte{h.Pepper}, uint64(now.Add(limits.AccessTokenLife).UnixMilli()))
	e.Put(t, Item{}, map[string]any{
		"pk":      "CRED#" + string(token.Public),
		"sk":      "G",
		"client":  string(client),
		"name":    "client",
		"mem":     string(who.ID),
		"ws":      string(who.Workspace),
		"aud":     audience,
		"scopes":  "read publish",
		"created": now,
		"auth_at": now,
		"exp":     now.Add(limits.MaxRefreshLife),
		"tokens":  append(issued, h.MAC...),
	})
	return &Member{
		Agent:     &wire.Agent{HTTP: e.Anyone.HTTP, At: e.Anyone.At, Key: token.Reveal()},
		ID:        who.ID,
		Workspace: who.Workspace,
		Grant:     token.Public,
	}
}

// CallAs sends a request of a member to the api host and decodes the answer, which has to have this status.
func CallAs[T any](t testing.TB, who *Member, status int, method, path string, body any, headers ...string) T {
	t.Helper()
	return Call[T](t, who.Agent, status, method, path, body, headers...)
}

// TryAs sends a request of a member to the api host and returns the answer.
func TryAs(t testing.TB, who *Member, method, path string, body any, headers ...string) wire.Answer {
	t.Helper()
	return Do(t, who.Agent, method, who.At.APIURL+path, body, headers...)
}

// KeyHeader is the header of a repeatable command, with a new key.
func KeyHeader() []string { return []string{"Idempotency-Key", wire.NewKey()} }

// PinPath is the route that pins an artifact.
func PinPath(a id.Artifact) string { return "/v1/web/artifacts/" + string(a) + "/pin" }

// UnpinPath is the route that unpins an artifact.
func UnpinPath(a id.Artifact) string { return "/v1/web/artifacts/" + string(a) + "/unpin" }

// PinCount returns the stored number of pinned artifacts, or "none".
func (e *LinkEnv) PinCount(t testing.TB) string {
	t.Helper()
	if n := e.GetItem(t, "W#"+string(e.Member.Workspace), "PINS")["n"]; n != nil {
		return Text(n)
	}
	return "none"
}
