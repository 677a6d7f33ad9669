package journey

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

func TestF76AKeyWithAnotherBodyHasNoSecondEffect(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	done := doneOnce(t, g)
	before := s.state(t)
	for name, a := range map[string]wire.Answer{
		"another title": tryCreate(t, g, done.createKey, wire.Declare("other", page("p"))),
		"another file":  tryCreate(t, g, done.createKey, wire.Declare("T", page("q"))),
		"another route": tryPublish(t, g, done.pubKey, done.published.ArtifactID, done.published.RevisionID, map[string]any{}),
	} {
		t.Run(name, func(t *testing.T) { refused(t, a, 400, fault.InvalidIdempotencyKey) })
	}
	s.unchanged(t, before)
	key := wire.NewKey()
	answers := s.atOnce(t, 8, func(i int) (wire.Answer, error) {
		return s.create(g, key, wire.Declare(fmt.Sprint("title ", i%2), page("p")))
	})
	created := map[string]bool{}
	for i, a := range answers {
		switch a.Status {
		case http.StatusOK:
			created[fmt.Sprint(i%2, " ", ids(t, a))] = true
		case http.StatusConflict:
			refused(t, a, 409, fault.IdempotencyInFlight)
		default:
			refused(t, a, 400, fault.InvalidIdempotencyKey)
		}
	}
	if len(created) != 1 {
		t.Errorf("I8: one key created %v", created)
	}
}

// faultRoutes are all routes of an agent, about an artifact, a revision and a session; none of them changes anything
// when these are not the caller's.
func faultRoutes(g *wire.Agent, a id.Artifact, r id.Revision, u id.Session) map[string]func(*testing.T) wire.Answer {
	get := func(path string) func(*testing.T) wire.Answer {
		return func(t *testing.T) wire.Answer { return do(t, g, "GET", g.At.APIURL+path, nil) }
	}
	of := "/v1/artifacts/" + string(a)
	return map[string]func(*testing.T) wire.Answer{
		"whoami": get("/v1/whoami"), "usage policy": get("/v1/usage-policy"), "list": get("/v1/artifacts"), "view": get(of + "/agent-view"),
		"revisions": get(of + "/revisions"), "file": get(of + "/file-content?path=index.html"), "revision": get(of + "/revisions/" + string(r) + "/agent-view"),
		"publish":  func(t *testing.T) wire.Answer { return tryPublish(t, g, wire.NewKey(), a, r, nil) },
		"delete":   func(t *testing.T) wire.Answer { return tryDelete(t, g, a) },
		"finalize": func(t *testing.T) wire.Answer { return tryFinalize(t, g, wire.NewKey(), u) },
		"create": func(t *testing.T) wire.Answer {
			declared := wire.Declare("T", page("p"))
			declared.ArtifactID = a
			return tryCreate(t, g, wire.NewKey(), declared)
		},
	}
}

// TestT48WhatIsNotThereCostsAsMuchAsWhatIsSomebodyElses counts calls: time is what they take.
func TestT48WhatIsNotThereCostsAsMuchAsWhatIsSomebodyElses(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	owner := s.agent(t)
	guest := s.agent(t)
	member := s.agent(t)
	s.change(t, "W#"+string(parsed(t, member).Workspace), "META", map[string]any{"claimed_at": s.options.Now()})
	p, deleted := published(t, owner, "mine"), published(t, owner, "gone")
	u := s.uploaded(t, owner, "", "mine, too")
	if a := tryDelete(t, owner, deleted.ArtifactID); a.Status != http.StatusOK {
		t.Fatal(a.Status, a.Code())
	}
	for who, stranger := range map[string]*wire.Agent{"a guest": guest, "a member": member} {
		do(t, stranger, "GET", s.Origins.API+"/v1/whoami", nil) // a first use is stamped
		unknown := faultRoutes(stranger, id.NewArtifact(), id.NewRevision(), id.NewSession())
		s.alike(t, who+", somebody else's", faultRoutes(stranger, p.ArtifactID, p.RevisionID, u.UploadSessionID), unknown)
		ended := faultRoutes(stranger, deleted.ArtifactID, deleted.RevisionID, id.NewSession())
		s.alike(t, who+", one that was deleted", ended, unknown)
	}
}

// alike checks that requests about things of others make the same calls and get the same answers as those about things
// that never were.
func (s *faultStand) alike(t *testing.T, which string, foreign, unknown map[string]func(*testing.T) wire.Answer) {
	t.Helper()
	for name := range foreign {
		var a, b wire.Answer
		one := s.calls(t, func() { a = foreign[name](t) })
		other := s.calls(t, func() { b = unknown[name](t) })
		if !slices.Equal(one, other) {
			t.Errorf("%s, %s: it costs %q, an unknown one %q", which, name, one, other)
		}
		if a.Status != b.Status || a.Code() != b.Code() || a.Message() != b.Message() {
			t.Errorf("%s, %s: it answers %d %q, an unknown one %d %q", which, name, a.Status, a.Message(), b.Status, b.Message())
		}
	}
}

func TestT75EveryKeyThatIsNoneCostsOneRead(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	revoked := s.agent(t)
	expired := s.agent(t)
	closed := s.agent(t)
	do(t, revoked, "POST", s.Origins.API+"/v1/api-keys/current/revoke", nil)
	s.change(t, "K#"+string(parsed(t, expired).Public), "K", map[string]any{"exp": s.options.Now()})
	s.change(t, "W#"+string(parsed(t, closed).Workspace), "META", map[string]any{"lock": "lkd_00000000000000000000000000"})
	guessed := credential.Mint(credential.APIKey, credential.Preview, parsed(t, g).Workspace, "")
	unknown := guessed.Reveal()
	guessed.Public = parsed(t, g).Public
	first := ""
	for name, key := range map[string]string{
		"unknown": unknown, "another secret": guessed.Reveal(), "revoked": revoked.Key, "expired": expired.Key, "of a closed workspace": closed.Key,
		"of an unknown workspace": credential.Mint(credential.APIKey, credential.Preview, id.NewWorkspace(), "").Reveal(),
	} {
		caller := &wire.Agent{HTTP: g.HTTP, At: g.At, Key: key}
		var a wire.Answer
		if calls := s.calls(t, func() { a = do(t, caller, "GET", s.Origins.API+"/v1/whoami", nil) }); !slices.Equal(calls, []string{"BatchGetItem"}) {
			t.Errorf("a key that is %s costs %q", name, calls)
		}
		refused(t, a, 401, fault.NotAuthenticated)
		body := strings.ReplaceAll(string(a.Body), a.Header.Get("X-Request-Id"), "")
		if first == "" {
			first = body
		}
		if body != first {
			t.Errorf("a key that is %s answers %s, another %s", name, body, first)
		}
	}
}

func TestT83ANewEpochEndsAllOldCredentialsAtOnce(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	second := s.sibling(t, g, credential.Publish, credential.Read)
	done := doneOnce(t, g)
	u := s.uploaded(t, g, "", "pending")
	s.change(t, "W#"+string(parsed(t, g).Workspace), "META", map[string]any{"epoch": 1})
	before := s.state(t)
	for _, old := range []*wire.Agent{g, second} {
		for name, ask := range faultRoutes(old, done.published.ArtifactID, done.published.RevisionID, u.UploadSessionID) {
			if a := ask(t); a.Status != http.StatusUnauthorized || a.Code() != fault.NotAuthenticated || a.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s with an old key answers %d %s", name, a.Status, a.Code())
			}
		}
	}
	for name, a := range done.again(t, g) {
		t.Run("replay of "+name, func(t *testing.T) { refused(t, a, 401, fault.NotAuthenticated) })
	}
	s.unchanged(t, before)
	s.change(t, "K#"+string(parsed(t, second).Public), "K", map[string]any{"epoch": 1})
	must(second.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
}
