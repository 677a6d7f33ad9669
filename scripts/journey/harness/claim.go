package harness

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

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

const ClaimPath = "/v1/ephemeral/claim"

// ClaimEnv is a deployment in which members claim workspaces, and whose artifacts the test moves itself. Claims and
// moves go through an injector of their own: faults of one do not meet the requests of the other.
type ClaimEnv struct {
	*FaultEnv
	Store     *dynamo.Store
	JobFaults *chaos.Injector // of claims and moves
	Migrator  *claim.Migrator
	Lists     sync.RWMutex // held by who lists meanwhile: no list takes as long as rests
}

func NewClaimEnv(t testing.TB, change ...func(*stack.Options)) *ClaimEnv {
	t.Helper()
	s := &ClaimEnv{FaultEnv: NewFaultEnv(t, change...), JobFaults: chaos.For(t)}
	cfg := s.Options.Engines.AWS()
	cfg.APIOptions = append(cfg.APIOptions, s.JobFaults.Add)
	s.Store = dynamo.New(dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
		o.BaseEndpoint = &s.Options.Engines.DynamoDB
	}), s.Tables)
	s.Migrator = &claim.Migrator{Store: s.Store, Now: s.Options.Now}
	return s
}

// Claimant is a member with an API key of their workspace.
type Claimant struct {
	*wire.Agent
	Workspace id.Workspace
	Actor     credential.Actor
}

// NewClaimant makes a workspace that a member has.
func (s *ClaimEnv) NewClaimant(t testing.TB) *Claimant {
	t.Helper()
	g := s.NewAgent(t)
	c := &Claimant{Agent: g, Workspace: TokenOf(t, g).Workspace}
	s.Update(t, "W#"+string(c.Workspace), "META", map[string]any{"claimed_at": s.Options.Now()})
	c.Actor = credential.Actor{
		Member:    id.NewMember(),
		Scopes:    []credential.Scope{credential.Publish, credential.Read, credential.Admin},
		Policy:    s.Options.Limits.Tiers[limits.Free],
		Workspace: workspace.Workspace{ID: c.Workspace, Plan: workspace.FreePlan, ClaimedAt: s.Options.Now()},
	}
	return c
}

// Source is a workspace that waits to be claimed.
type Source struct {
	*wire.Agent
	contract.Provisioned
}

func (s *ClaimEnv) NewSource(t testing.TB) Source {
	t.Helper()
	g, p, err := s.Anyone.Provision(ctx)
	NoError(t, err)
	return Source{g, p}
}

func (s *ClaimEnv) ClaimService(t testing.TB) *claim.Service {
	return &claim.Service{
		Store:       s.Store,
		Peppers:     s.peppers(t),
		Environment: credential.Preview,
		Now:         s.Options.Now,
	}
}

// Claim makes a claim under a key.
func (s *ClaimEnv) Claim(t testing.TB, c *Claimant, key, token string) (contract.Claimed, error) {
	t.Helper()
	return s.ClaimService(t).Claim(ctx, c.Actor, idempotency.Command{
		Key: idempotency.Key{Actor: c.Actor.Subject(), Operation: idempotency.ClaimWorkspace, Client: key},
		Fingerprint: idempotency.FingerprintOf(
			"POST", "/v1/ephemeral/claim", []byte(fmt.Sprintf(`{"claim_token":%q}`, token)),
		),
	}, nil, token)
}

// MustClaim makes a claim that has to work.
func (s *ClaimEnv) MustClaim(t testing.TB, c *Claimant, token string) contract.Claimed {
	t.Helper()
	return Must(s.Claim(t, c, wire.NewKey(), token))(t)
}

// BetweenSteps passes after each step of a move: twice until the index is believed.
const BetweenSteps = 3 * time.Second

// Rest lets time pass in which lists end that were begun.
func (s *ClaimEnv) Rest(d time.Duration) {
	s.Lists.Lock()
	defer s.Lists.Unlock()
	s.Clock.Advance(d)
}

// Migrate runs the migrator until nothing is left to do.
func (s *ClaimEnv) Migrate(t testing.TB, w id.Workspace) {
	t.Helper()
	for range 1000 {
		done, err := s.Migrator.Run(ctx, w)
		if NoError(t, err); done {
			return
		}
		s.Rest(BetweenSteps)
	}
	t.Fatal("the move does not end")
}

// ListArtifacts are the artifacts of a list, all pages.
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

// ListAllArtifacts may be called from a goroutine.
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

// WantOpen checks that an artifact can be read in every way, by strangers with the URLs of its publication and by its
// owner.
func (s *ClaimEnv) WantOpen(t testing.TB, owner *wire.Agent, p contract.Published) {
	t.Helper()
	for what, a := range s.readAll(t, owner, p) {
		if a.Status != http.StatusOK {
			t.Errorf("%s of %s answers %d %s", what, p.ArtifactID, a.Status, a.Body)
		}
	}
}

// WantClosed checks that an artifact can be read in no way.
func (s *ClaimEnv) WantClosed(t testing.TB, owner *wire.Agent, p contract.Published) {
	t.Helper()
	for what, a := range s.readAll(t, owner, p) {
		if a.Status != http.StatusNotFound && a.Status != http.StatusUnauthorized {
			t.Errorf("%s of %s answers %d", what, p.ArtifactID, a.Status)
		}
	}
}

func (s *ClaimEnv) readAll(t testing.TB, owner *wire.Agent, p contract.Published) map[string]wire.Answer {
	t.Helper()
	view := s.Origins.API + "/v1/artifacts/" + string(p.ArtifactID)
	out := map[string]wire.Answer{
		"the content URL":  s.Get(t, p.RevisionContentURL),
		"the public view":  s.Get(t, p.AgentViewURL, "Accept", "application/json"),
		"the owner's view": Do(t, owner, "GET", view+"/agent-view", nil),
		"the pinned view":  Do(t, owner, "GET", view+"/revisions/"+string(p.RevisionID)+"/agent-view", nil),
		"the file content": Do(t, owner, "GET", view+"/file-content?path=index.html", nil),
		"the revisions":    Do(t, owner, "GET", view+"/revisions", nil),
	}
	if out["the owner's view"].Status == http.StatusNotFound {
		delete(out, "the revisions") // they are listed whatever the status of the artifact
	}
	if p.UnlistedURL != "" {
		public, blob, err := wire.SplitLink(p.UnlistedURL)
		NoError(t, err)
		out["the link"] = Do(t, s.Anyone, "POST", s.Origins.API+"/v1/access-links/resolve", contract.ResolveRequest{
			PublicID: public,
			Blob:     blob,
		})
	}
	return out
}

func DeclareRevision(a id.Artifact, words string) contract.CreateSession {
	r := wire.Declare(words, Page(words))
	r.ArtifactID = a
	return r
}
