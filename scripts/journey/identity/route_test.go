package identity

import (
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// needs are what a route of members asks for.
type needs int

const (
	toRead    needs = 1 << iota // the scope read
	toPublish                   // the scope publish
	toAdmin                     // the scope admin
	keyed                       // an Idempotency-Key
	listed                      // nothing, but it takes cursor and limit
	uncounted                   // nothing; no limit holds for it
)

// memberRoute is a route of members with a request that it takes.
type memberRoute struct {
	name  string // method and path
	needs needs
	body  any
}

var memberRoutes = []memberRoute{
	{"POST /v1/auth/web/callback", uncounted, nil},
	{"GET /v1/web/workspace", 0, nil},
	{"GET /v1/web/settings", toAdmin, nil},
	{"PATCH /v1/web/settings", toAdmin | keyed, contract.UpdateSettings{WorkspaceName: "W", AutoDeletionDays: 3}},
	{"GET /v1/web/workspace/export", toAdmin, nil},
	{"POST /v1/web/workspace/export", toAdmin | keyed, nil},
	{"POST /v1/web/workspace/deletion", toAdmin, contract.RequestDeletion{Confirm: "W"}},
	{"DELETE /v1/web/workspace/deletion", toAdmin, nil},
	{"GET /v1/web/audit", toAdmin | listed, nil},
	{"GET /v1/web/artifacts", toRead | listed, nil},
	{"GET /v1/web/artifacts/art_1", toRead, nil},
	{"GET /v1/web/artifacts/art_1/revisions", toRead, nil},
	{"POST /v1/web/artifacts/art_1/pin", toRead | keyed, nil},
	{"POST /v1/web/artifacts/art_1/unpin", toRead | keyed, nil},
	{"GET /v1/web/artifacts/art_1/access-links", toRead, nil},
	{"POST /v1/web/artifacts/art_1/access-links", toAdmin | keyed, contract.CreateLink{Type: "share"}},
	{"POST /v1/web/artifacts/art_1/access-link-lockdown", toAdmin | keyed, nil},
	{"POST /v1/web/artifacts/art_1/access-link-lockdown/lift", toAdmin | keyed, nil},
	{"GET /v1/web/feedback", toRead | listed, nil},
	{"GET /v1/web/artifacts/art_1/feedback", toRead, nil},
	{"POST /v1/web/artifacts/art_1/feedback", toPublish | keyed, contract.CreateThread{Body: "?"}},
	{"GET /v1/web/artifacts/art_1/feedback/thr_1", toRead, nil},
	{"POST /v1/web/artifacts/art_1/feedback/thr_1", toPublish | keyed, contract.AnswerThreadAsMember{Reply: "?"}},
	{"DELETE /v1/web/artifacts/art_1/feedback/thr_1", toPublish | keyed, nil},
	{"DELETE /v1/web/artifacts/art_1/feedback/thr_1/messages/msg_1", toPublish | keyed, nil},
	{"PUT /v1/web/artifacts/art_1/feedback-policy", toAdmin | keyed, contract.SetFeedbackPolicy{Policy: "off"}},
	{"GET /v1/web/keys", toAdmin | listed, nil},
	{"POST /v1/web/keys", toAdmin | keyed, contract.CreateKey{Name: "K"}},
	{"POST /v1/web/keys/key_1/revoke", toAdmin | keyed, nil},
	{"GET /v1/web/access-links", toRead | listed, nil},
	{"POST /v1/web/access-links/al_1/mint", toAdmin, nil},
	{"POST /v1/web/access-links/al_1/revoke", toAdmin, nil},
	{"POST /v1/ephemeral/claim", keyed, contract.ClaimRequest{ClaimToken: "x"}},
	{"POST /v1/web/agent-auth/claim/complete", 0, contract.CompleteClaim{AttemptToken: "x", UserCode: "123456"}},
}

// try makes the request of a route, with a fresh Idempotency-Key where one is due.
func (r memberRoute) try(who *harness.Member) (wire.Answer, error) {
	method, path, _ := strings.Cut(r.name, " ")
	var headers []string
	if r.needs&keyed != 0 {
		headers = harness.KeyHeader()
	}
	return who.Do(ctx, method, who.At.APIURL+path, r.body, headers...)
}

// ask makes the request of a route.
func (r memberRoute) ask(t testing.TB, who *harness.Member) wire.Answer {
	t.Helper()
	return harness.Must(r.try(who))(t)
}

func TestRoutesOfMembersTakeNoOtherCredential(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	who := p.NewMember(t)
	strangers := map[string]*harness.Member{
		"nobody":                        who.WithToken(""),
		"T70: an ephemeral key":         who.WithToken(p.NewAgent(t).Key),
		"T05: a token for another host": p.GrantTo(t, who, oauth.CLI, "https://mcp.test"),
		"T05: a registered client":      p.GrantTo(t, who, id.NewClient(), p.Origins.API),
	}
	before := p.Snapshot(t)
	for _, r := range memberRoutes {
		for name, stranger := range strangers {
			a := r.ask(t, stranger)
			if a.Status != http.StatusUnauthorized || a.Code() != fault.NotAuthenticated ||
				a.Header.Get("WWW-Authenticate") == "" {
				t.Errorf("%s as %s: %d %s", r.name, name, a.Status, a.Code())
			}
		}
	}
	for _, path := range []string{atMCP, "/v1/whoami"} { // T03, T04: nor do others take that of a member
		harness.WantRefused(t, harness.TryAs(t, who, "GET", path, nil), 401, fault.NotAuthenticated)
	}
	p.WantUnchanged(t, before)
}

// TestRoutesOfMembersRefuseInTheOrderOfTheContract lacks the key of a command, the scope, what is left of a limit, and
// a request that can be read.
func TestRoutesOfMembersRefuseInTheOrderOfTheContract(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, func(o *stack.Options) { o.Limits.Actor.Limit = 1 })
	home := p.NewMember(t).Workspace
	for _, r := range memberRoutes {
		t.Run(r.name, func(t *testing.T) {
			method, path, _ := strings.Cut(r.name, " ")
			poor := p.AddMember(t, home, credential.Publish)
			if r.needs&toPublish != 0 {
				poor = p.AddMember(t, home, credential.Read)
			}
			if r.needs&keyed != 0 {
				harness.WantRefused(t, harness.TryAs(t, poor, method, path, "{"), 400, fault.InvalidIdempotencyKey)
			}
			if r.needs&(toRead|toPublish|toAdmin) != 0 {
				harness.WantRefused(t, r.ask(t, poor), 403, fault.Forbidden)
			}
			if r.needs&toRead != 0 {
				if a := r.ask(t, p.AddMember(t, home, credential.Read)); a.Code() == fault.Forbidden {
					t.Error("who may read is refused")
				}
			}
			busy := p.AddMember(t, home)
			if r.body != nil {
				a := harness.TryAs(t, busy, method, path, `{"a":1,"a":2}`, harness.KeyHeader()...)
				harness.WantRefused(t, a, 400, fault.InvalidRequest)
			} else {
				harness.TryAs(t, busy, "GET", "/v1/web/workspace", nil)
			}
			if r.needs&uncounted == 0 {
				harness.WantRefused(t, r.ask(t, busy), 429, fault.RateLimitedActor)
			}
			if r.needs&listed != 0 {
				harness.WantRefused(t, harness.TryAs(t, busy, method, path+"?limit=0", nil), 429, fault.RateLimitedActor)
				for query, code := range map[string]fault.Code{"limit=0": fault.InvalidRequest, "cursor=x": fault.InvalidCursor} {
					a := harness.TryAs(t, p.AddMember(t, home), method, path+"?"+query, nil)
					harness.WantRefused(t, a, 400, code)
				}
			}
		})
	}
}
