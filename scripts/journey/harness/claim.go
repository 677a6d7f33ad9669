package harness

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

// ClaimPath is the route by which members claim workspaces.
const ClaimPath = "/v1/ephemeral/claim"

// TryClaim redeems a claim token at the plain route, for the member whose credential the agent sends.
func TryClaim(t testing.TB, g *wire.Agent, token string) wire.Answer {
	t.Helper()
	return Do(t, g, "POST", g.At.APIURL+ClaimPath, contract.ClaimRequest{ClaimToken: token}, KeyHeader()...)
}

// ClaimEnv is a FaultEnv in which members claim workspaces, and the test runs the migrator itself. Claims and moves go
// through JobFaults, so that their faults do not meet requests.
type ClaimEnv struct {
	*FaultEnv
	Store     dynamo.Stores
	JobFaults *chaos.Injector // of claims and moves
	Migrator  *claim.Migrator
	Lists     sync.RWMutex // read-locked while a list is read, because no list takes as long as Rest
}

// NewClaimEnv starts a deployment for claims.
func NewClaimEnv(t testing.TB, change ...func(*stack.Options)) *ClaimEnv {
	t.Helper()
	return newClaimEnv(t, NewFaultEnv(t, change...))
}

func newClaimEnv(t testing.TB, of *FaultEnv) *ClaimEnv {
	t.Helper()
	s := &ClaimEnv{FaultEnv: of, JobFaults: chaos.For(t)}
	s.Store = dynamo.New(s.Options.Engines.DynamoDBClient(s.JobFaults.Add), s.Tables)
	s.Migrator = &claim.Migrator{Store: s.Store.Claims, Now: s.Options.Now}
	return s
}

// Claimant is a member with an API key of their workspace.
type Claimant struct {
	*wire.Agent
	Workspace id.Workspace
	Actor     credential.Actor
}

// NewClaimant makes a claimed workspace with a member and an API key.
func (e *ClaimEnv) NewClaimant(t testing.TB) *Claimant {
	t.Helper()
	g, w := e.newClaimed(t)
	c := &Claimant{Agent: g, Workspace: w}
	c.Actor = credential.Actor{
		Member:    id.NewMember(),
		Scopes:    []credential.Scope{credential.Publish, credential.Read, credential.Admin},
		Policy:    e.Options.Limits.Tiers[limits.Free],
		Workspace: workspace.Workspace{ID: c.Workspace, Plan: workspace.FreePlan, ClaimedAt: e.Options.Now()},
	}
	return c
}

// Source is an unclaimed workspace with its agent and its claim token.
type Source struct {
	*wire.Agent
	contract.Provisioned
}

// NewSource provisions an unclaimed workspace.
func (e *ClaimEnv) NewSource(t testing.TB) Source {
	t.Helper()
	g, p, err := e.Anyone.Provision(ctx)
	NoError(t, err)
	return Source{g, p}
}

// Claim claims the workspace of a token, under an idempotency key.
func (e *ClaimEnv) Claim(t testing.TB, c *Claimant, key, token string) (contract.Claimed, error) {
	t.Helper()
	service := &claim.Service{
		Store:       e.Store.Claims,
		Artifacts:   e.Store.Artifacts,
		Peppers:     e.peppers(t),
		Environment: credential.Preview,
		Now:         e.Options.Now,
	}
	body := fmt.Appendf(nil, `{"claim_token":%q}`, token)
	return service.Claim(ctx, c.Actor, idempotency.Command{
		Key:         idempotency.Key{Actor: c.Actor.Subject(), Operation: idempotency.ClaimWorkspace, Client: key},
		Fingerprint: idempotency.FingerprintOf("POST", ClaimPath, body),
	}, nil, token)
}

// MustClaim claims the workspace of a token, which has to succeed.
func (e *ClaimEnv) MustClaim(t testing.TB, c *Claimant, token string) contract.Claimed {
	t.Helper()
	return Must(e.Claim(t, c, wire.NewKey(), token))(t)
}

// BetweenSteps is how far the clock goes on after each step of a move. The migrator trusts the index after two of them.
const BetweenSteps = 3 * time.Second

// Rest advances the clock when no list is being read, because a list takes less time than that.
func (e *ClaimEnv) Rest(d time.Duration) {
	e.Lists.Lock()
	defer e.Lists.Unlock()
	e.Clock.Advance(d)
}

// Migrate runs the migrator until a claimed workspace is moved.
func (e *ClaimEnv) Migrate(t testing.TB, w id.Workspace) {
	t.Helper()
	for range 1000 {
		done, err := e.Migrator.Run(ctx, w)
		if NoError(t, err); done {
			return
		}
		e.Rest(BetweenSteps)
	}
	t.Fatal("the move does not end")
}

// ListArtifacts returns all pages of the list of artifacts, and checks that none is listed twice.
func ListArtifacts(t testing.TB, g *wire.Agent, limit int) []id.Artifact {
	t.Helper()
	ids, err := ListAllArtifacts(g, limit)
	NoError(t, err)
	for n, a := range ids {
		if slices.Contains(ids[:n], a) {
			t.Errorf("%s is listed twice", a)
		}
	}
	return ids
}

// ListAllArtifacts returns all pages of the list of artifacts. It may run in a goroutine.
func ListAllArtifacts(g *wire.Agent, limit int) (ids []id.Artifact, err error) {
	for cursor := ""; ; {
		var page contract.ArtifactList
		a, err := g.Do(ctx, "GET", fmt.Sprintf("%s/v1/artifacts?limit=%d%s", g.At.APIURL, limit, cursor), nil)
		if err != nil || a.Status != http.StatusOK || json.Unmarshal(a.Body, &page) != nil {
			return nil, fmt.Errorf("the list answers %d %s %w", a.Status, a.Body, err)
		}
		for _, row := range page.Data {
			ids = append(ids, row.ID)
		}
		if !page.PageInfo.HasMore {
			return ids, nil
		}
		cursor = "&cursor=" + *page.PageInfo.NextCursor
	}
}

// WantOpen checks that an artifact can be read in every way: by the URLs of its publication without a credential, and
// by its owner.
func (e *ClaimEnv) WantOpen(t testing.TB, owner *wire.Agent, p contract.Published) {
	t.Helper()
	for what, a := range e.readAll(t, owner, p) {
		if a.Status != http.StatusOK {
			t.Errorf("%s of %s answers %d %s", what, p.ArtifactID, a.Status, a.Body)
		}
	}
}

// WantClosed checks that an artifact can be read in no way.
func (e *ClaimEnv) WantClosed(t testing.TB, owner *wire.Agent, p contract.Published) {
	t.Helper()
	for what, a := range e.readAll(t, owner, p) {
		if a.Status != http.StatusNotFound && a.Status != http.StatusUnauthorized {
			t.Errorf("%s of %s answers %d", what, p.ArtifactID, a.Status)
		}
	}
}

// readAll reads an artifact in every way and returns the answers by name.
func (e *ClaimEnv) readAll(t testing.TB, owner *wire.Agent, p contract.Published) map[string]wire.Answer {
	t.Helper()
	view := e.Origins.API + "/v1/artifacts/" + string(p.ArtifactID)
	out := map[string]wire.Answer{
		"the content URL":  e.Get(t, p.RevisionContentURL),
		"the public view":  e.Get(t, p.AgentViewURL, "Accept", "application/json"),
		"the owner's view": Do(t, owner, "GET", view+"/agent-view", nil),
		"the pinned view":  Do(t, owner, "GET", view+"/revisions/"+string(p.RevisionID)+"/agent-view", nil),
		"the file content": Do(t, owner, "GET", view+"/file-content?path=index.html", nil),
		"the revisions":    Do(t, owner, "GET", view+"/revisions", nil),
	}
	if out["the owner's view"].Status == http.StatusNotFound {
		delete(out, "the revisions") // they are listed for every status of the artifact
	}
	if p.UnlistedURL != "" {
		out["the link"] = e.Resolve(t, p.UnlistedURL)
	}
	return out
}
