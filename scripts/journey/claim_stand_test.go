package journey

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
	"vitrine/shared/publishing/artifact"
)

// claimStand is a deployment in which members claim workspaces, and whose artifacts the test moves itself. Claims and
// moves go through an injector of their own: faults of one do not meet the requests of the other.
type claimStand struct {
	*faultStand
	store *dynamo.Store
	worn  *chaos.Injector // of claims and moves
	mover *claim.Migrator
	lists sync.RWMutex // held by who lists meanwhile: no list takes as long as rests
}

func newClaimStand(t testing.TB, change ...func(*stack.Options)) *claimStand {
	t.Helper()
	s := &claimStand{faultStand: newFaultStand(t, change...), worn: chaos.For(t)}
	cfg := s.options.Engines.AWS()
	cfg.APIOptions = append(cfg.APIOptions, s.worn.Add)
	s.store = dynamo.New(dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.BaseEndpoint = &s.options.Engines.DynamoDB }), s.names)
	s.mover = &claim.Migrator{Store: s.store, Now: s.options.Now}
	return s
}

// claimant is a member with an API key of their workspace.
type claimant struct {
	*wire.Agent
	workspace id.Workspace
	actor     credential.Actor
}

// claimant makes a workspace that a member has.
func (s *claimStand) claimant(t testing.TB) *claimant {
	t.Helper()
	g := s.agent(t)
	c := &claimant{Agent: g, workspace: parsed(t, g).Workspace}
	s.change(t, "W#"+string(c.workspace), "META", map[string]any{"claimed_at": s.options.Now()})
	c.actor = credential.Actor{
		Member:    id.NewMember(),
		Scopes:    []credential.Scope{credential.Publish, credential.Read, credential.Admin},
		Policy:    s.options.Limits.Tiers[limits.Free],
		Workspace: workspace.Workspace{ID: c.workspace, Plan: workspace.FreePlan, ClaimedAt: s.options.Now()},
	}
	return c
}

// source is a workspace that waits to be claimed.
type source struct {
	*wire.Agent
	contract.Provisioned
}

func (s *claimStand) source(t testing.TB) source {
	t.Helper()
	g, p, err := s.anyone.Provision(ctx)
	succeed(t, err)
	return source{g, p}
}

func (s *claimStand) claimer(t testing.TB) *claim.Service {
	return &claim.Service{
		Store:       s.store,
		Peppers:     s.peppers(t),
		Environment: credential.Preview,
		Now:         s.options.Now,
	}
}

// claims makes a claim under a key.
func (s *claimStand) claims(t testing.TB, c *claimant, key, token string) (contract.Claimed, error) {
	t.Helper()
	return s.claimer(t).Claim(ctx, c.actor, idempotency.Command{
		Key:         idempotency.Key{Actor: c.actor.Subject(), Operation: idempotency.ClaimWorkspace, Client: key},
		Fingerprint: idempotency.FingerprintOf("POST", "/v1/ephemeral/claim", []byte(fmt.Sprintf(`{"claim_token":%q}`, token))),
	}, nil, token)
}

// claimed makes a claim that has to work.
func (s *claimStand) claimed(t testing.TB, c *claimant, token string) contract.Claimed {
	t.Helper()
	return must(s.claims(t, c, wire.NewKey(), token))(t)
}

// betweenSteps passes after each step of a move: twice until the index is believed.
const betweenSteps = 3 * time.Second

// rests lets time pass in which lists end that were begun.
func (s *claimStand) rests(d time.Duration) {
	s.lists.Lock()
	defer s.lists.Unlock()
	s.clock.pass(d)
}

// moves runs the migrator until nothing is left to do.
func (s *claimStand) moves(t testing.TB, w id.Workspace) {
	t.Helper()
	for range 1000 {
		done, err := s.mover.Run(ctx, w)
		if succeed(t, err); done {
			return
		}
		s.rests(betweenSteps)
	}
	t.Fatal("the move does not end")
}

// listed are the artifacts of a list, all pages.
func listed(t testing.TB, g *wire.Agent, limit int) []id.Artifact {
	t.Helper()
	ids, err := allListed(g, limit)
	succeed(t, err)
	for n, a := range ids {
		if slices.Contains(ids[:n], a) {
			t.Errorf("%s is listed twice", a)
		}
	}
	return ids
}

// allListed may be called from a goroutine.
func allListed(g *wire.Agent, limit int) (ids []id.Artifact, err error) {
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

// sameArtifacts checks that two lists hold the same artifacts, in whatever order.
func sameArtifacts(t testing.TB, what string, got, want []id.Artifact) {
	t.Helper()
	got, want = slices.Clone(got), slices.Clone(want)
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%s: %d artifacts %v, want %d %v", what, len(got), got, len(want), want)
	}
}

// opens checks that an artifact can be read in every way, by strangers with the URLs of its publication and by its owner.
func (s *claimStand) opens(t testing.TB, owner *wire.Agent, p contract.Published) {
	t.Helper()
	for what, a := range s.read(t, owner, p) {
		if a.Status != http.StatusOK {
			t.Errorf("%s of %s answers %d %s", what, p.ArtifactID, a.Status, a.Body)
		}
	}
}

// shut checks that an artifact can be read in no way.
func (s *claimStand) shut(t testing.TB, owner *wire.Agent, p contract.Published) {
	t.Helper()
	for what, a := range s.read(t, owner, p) {
		if a.Status != http.StatusNotFound && a.Status != http.StatusUnauthorized {
			t.Errorf("%s of %s answers %d", what, p.ArtifactID, a.Status)
		}
	}
}

func (s *claimStand) read(t testing.TB, owner *wire.Agent, p contract.Published) map[string]wire.Answer {
	t.Helper()
	view := s.Origins.API + "/v1/artifacts/" + string(p.ArtifactID)
	out := map[string]wire.Answer{
		"the content URL":  s.get(t, p.RevisionContentURL),
		"the public view":  s.get(t, p.AgentViewURL, "Accept", "application/json"),
		"the owner's view": do(t, owner, "GET", view+"/agent-view", nil),
		"the pinned view":  do(t, owner, "GET", view+"/revisions/"+string(p.RevisionID)+"/agent-view", nil),
		"the file content": do(t, owner, "GET", view+"/file-content?path=index.html", nil),
		"the revisions":    do(t, owner, "GET", view+"/revisions", nil),
	}
	if out["the owner's view"].Status == http.StatusNotFound {
		delete(out, "the revisions") // they are listed whatever the status of the artifact
	}
	if p.UnlistedURL != "" {
		public, blob, err := wire.SplitLink(p.UnlistedURL)
		succeed(t, err)
		out["the link"] = do(t, s.anyone, "POST", s.Origins.API+"/v1/access-links/resolve", contract.ResolveRequest{PublicID: public, Blob: blob})
	}
	return out
}

// lister is what members see of their workspaces.
func (s *claimStand) lister() *artifact.Service {
	return &artifact.Service{Store: s.store, Now: s.options.Now}
}

// dies lets the next run of the migrator die at a call, and tells whether it did.
func (s *claimStand) dies(w id.Workspace, rule func(*chaos.Rule)) (died bool) {
	process := chaos.Process(ctx)
	r := s.worn.On("")
	rule(r)
	for !chaos.Died(process) {
		done, err := s.mover.Run(process, w)
		if done || err != nil && !chaos.Died(process) {
			break
		}
		s.rests(betweenSteps)
	}
	s.worn.Clear()
	return chaos.Died(process)
}

func parsedClaim(text string) (credential.Token, error) {
	return credential.Parse(text, credential.ClaimToken, credential.Preview)
}
