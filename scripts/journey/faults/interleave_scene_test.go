package faults

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// The kinds of situations: a member's own workspace, one that was claimed and is not moved yet, and one that waits to
// be claimed.
const (
	owned = iota
	moving
	unclaimed
	sceneKinds
)

// scene is one artifact with what surrounds it. It shows the page "first"; its next revision is "second".
type scene struct {
	*interleaveEnv
	seed uint64
	kind int
	due  string // what falls due when the jobs run: "", "the draft", "the artifact"

	agent      *wire.Agent       // has the key that operations are sent with
	mine       *harness.Claimant // owns or claims; otherMine may claim, too
	who        *harness.Member
	otherMine  *harness.Claimant
	other      *harness.Member
	source     *harness.Source // nil: owned
	target     id.Workspace    // that operators lock
	shown      contract.Published
	next       contract.Session
	ready      bool // next is a draft
	share      sceneLink
	revision   sceneLink
	viewed     string // content URL as its owner had it just before
	chosen     []operation
	starts     []time.Duration
	prepared   map[string]bool // operations whose effect is there before
	answers    map[string]wire.Answer
	operatedBy *harness.Member
}

// sceneLink is a link with what it gave before.
type sceneLink struct {
	id id.Link
	harness.OpenedLink
}

// String tells what was done and answered.
func (c *scene) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "seed %d, %s, a draft: %t, due: %q, artifact %s, prepared %v", c.seed, []string{
		"own", "moving", "unclaimed",
	}[c.kind], c.ready, c.due, c.shown.ArtifactID, c.prepared)
	for _, o := range c.chosen {
		fmt.Fprintf(&out, "\n%s: %d %.300s", o.name, c.answers[o.name].Status, c.answers[o.name].Body)
	}
	return out.String()
}

// did tells whether one of these operations said that it was done.
func (c *scene) did(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { a, ok := c.answers[n]; return ok && a.Status < 300 })
}

// tried tells whether one of these operations ran, or whether its effect was there before.
func (c *scene) tried(names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool {
		return c.prepared[n] || slices.ContainsFunc(c.chosen, func(o operation) bool { return o.name == n })
	})
}

// scene makes the situation of a seed.
func (s *interleaveEnv) scene(t testing.TB, seed uint64) *scene {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	c := &scene{
		interleaveEnv: s,
		seed:          seed,
		kind:          r.IntN(sceneKinds),
		prepared:      map[string]bool{},
		answers:       map[string]wire.Answer{},
	}
	c.choose(r)
	c.ready = r.IntN(2) == 0
	if c.tried("jobs") && r.IntN(4) > 0 {
		c.due = "the artifact"
		if c.ready && c.kind != unclaimed && r.IntN(2) == 0 {
			c.due = "the draft"
		}
	}
	c.mine = s.NewClaimant(t)
	c.who = s.AddMember(t, c.mine.Workspace)
	c.agent, c.target = c.mine.Agent, c.mine.Workspace
	if c.kind != owned {
		src := s.NewSource(t)
		c.source, c.agent = &src, src.Agent
	}
	if c.tried("claim by another") {
		c.otherMine = s.NewClaimant(t)
	}
	if c.kind == unclaimed && r.IntN(2) == 0 {
		c.target = c.source.WorkspaceID
	}
	c.setUp(t, r)
	return c
}

// choose takes two or three operations. What a situation is about is among them more often than others.
func (c *scene) choose(r *rand.Rand) {
	most := 2 + min(r.IntN(4), 1) // mostly three
	switch {
	case c.kind == unclaimed: // without a claim it is as a workspace of one's own
		c.chosen = []operation{operationNamed("claim")}
	case r.IntN(4) <= c.kind:
		c.chosen = []operation{operationNamed("jobs")}
	}
	for _, n := range r.Perm(len(operations)) {
		o := operations[n]
		if len(c.chosen) < most && (len(o.kinds) == 0 || slices.Contains(o.kinds, c.kind)) && !c.tried(o.name) {
			c.chosen = append(c.chosen, o)
		}
	}
	for range c.chosen {
		c.starts = append(c.starts, randomPause(r, longPause/2))
	}
}

// setUp publishes, shares and drafts, and lets time pass until what is to fall due is about to.
func (c *scene) setUp(t testing.TB, r *rand.Rand) {
	t.Helper()
	c.shown = harness.PublishPage(t, c.agent, "first")
	if c.kind == moving {
		c.MustClaim(t, c.mine, c.source.ClaimToken)
		c.agent = c.mine.Agent
	}
	if c.due == "the artifact" {
		c.passTo(harness.Must(c.agent.AgentView(ctx, c.shown.ArtifactID))(t).ExpiresAt.Time)
	}
	c.next = c.Upload(t, c.agent, c.shown.ArtifactID, "second")
	if c.ready {
		harness.Must(c.agent.Finalize(ctx, wire.NewKey(), c.next.UploadSessionID))(t)
	}
	if c.due == "the draft" {
		c.passTo(c.Options.Now().Add(limits.DraftLife))
	}
	c.who = c.GrantTo(t, c.who, "cli", c.Origins.API)
	if c.otherMine != nil {
		c.other = c.AddMember(t, c.otherMine.Workspace)
	}
	c.operatedBy = c.Promote(t, c.GrantTo(t, c.op, "cli", c.Origins.API), c.Options.Now())
	c.share, c.revision = c.linked(t, harness.ShareLink), c.linked(t, harness.RevisionLink(c.shown.RevisionID))
	c.viewed = harness.Must(c.agent.AgentView(ctx, c.shown.ArtifactID))(t).RevisionContentURL
	for _, set := range []string{"pin", "lock links", "lock artifact", "lock workspace"} {
		odds := 0
		if o := operationNamed(set); c.tried(o.undone) {
			odds = 3
		} else if set == "pin" {
			odds = 1
		}
		if c.kind != unclaimed && r.IntN(4) < odds {
			c.prepares(t, set)
		}
	}
	for n, o := range c.chosen {
		if c.prepared["lock workspace"] && o.name != "lift workspace" || c.due != "" && o.name == "jobs" {
			c.starts[n] += longPause // too early it is refused, or what comes later is
		}
	}
	c.prepared[noDraft] = !c.ready
	c.prepared[noArtifactLock], c.prepared[noWorkspaceLock] = !c.prepared["lock artifact"], !c.prepared["lock workspace"]
}

// passTo lets time pass until a millisecond before.
func (c *scene) passTo(at time.Time) {
	c.Clock.Advance(at.Sub(c.Options.Now()).Truncate(time.Millisecond) - time.Millisecond)
}

func (c *scene) prepares(t testing.TB, name string) {
	t.Helper()
	if a := harness.Must(operationNamed(name).ask(c))(t); a.Status >= 300 {
		t.Fatalf("%s answers %d %s", name, a.Status, a.Body)
	}
	c.prepared[name] = true
}

// linked makes a link and opens it.
func (c *scene) linked(t testing.TB, wanted contract.CreateLink) sceneLink {
	t.Helper()
	made := harness.CreateLink(t, c.agent, c.shown.ArtifactID, wanted)
	url := harness.MintLink(t, c.agent, made.ID)
	return sceneLink{made.ID, harness.OpenedLink{URL: url, Content: harness.Must(c.Anyone.Resolve(ctx, url))(t).IframeSrc}}
}

// operation is a request or a job that may run beside others.
type operation struct {
	name   string
	id     string // in the documents; empty: no request
	kinds  []int  // of the situations where it makes sense; none: all
	undone string // by which other operation
	// spoils are what is a reason to refuse it; unless it is a platform's, a lock of the workspace and a claim are too.
	spoils   []string
	platform bool
	ask      func(*scene) (wire.Answer, error)
}

// reasons are what may be a reason to refuse the operation.
func (o operation) reasons(c *scene) []string {
	switch {
	case o.platform:
		return o.spoils
	case c.kind == unclaimed && !slices.Contains(o.kinds, unclaimed):
		return append(slices.Clone(o.spoils), "lock workspace", "claim", "claim by another")
	}
	return append(slices.Clone(o.spoils), "lock workspace")
}

func operationNamed(name string) operation {
	return operations[slices.IndexFunc(operations, func(o operation) bool { return o.name == name })]
}

// send sends a command with a fresh Idempotency-Key to the api host.
func (c *scene) send(g *wire.Agent, method, path string, body any) (wire.Answer, error) {
	return g.Do(ctx, method, c.Origins.API+path, body, harness.KeyHeader()...)
}

func (c *scene) web(verb string) (wire.Answer, error) {
	return c.send(c.who.Agent, "POST", "/v1/web/artifacts/"+string(c.shown.ArtifactID)+"/"+verb, nil)
}

func (c *scene) owns(method, verb string, body any) (wire.Answer, error) {
	return c.send(c.agent, method, "/v1/artifacts/"+string(c.shown.ArtifactID)+verb, body)
}

func (c *scene) operates(method, scope, target string) (wire.Answer, error) {
	if method == "DELETE" {
		return c.send(c.operatedBy.Agent, method, harness.LocksPath+"/"+scope+"/"+target, nil)
	}
	return c.send(c.operatedBy.Agent, method, harness.LocksPath, harness.LockdownOf(scope, target))
}

// sweeps lets fall due what is about to, and does the jobs.
func (c *scene) sweeps() (wire.Answer, error) {
	c.Clock.Advance(2 * time.Millisecond)
	err := c.Host.Run(ctx)
	if fault.CodeOf(err) == fault.DatabaseUnavailable { // it lost too often; the next run goes on
		return wire.Answer{Status: 503, Body: []byte(`{"error":{"code":"database_unavailable"}}`)}, nil
	}
	return wire.Answer{Status: 200}, err
}

func (c *scene) claims(who *harness.Member) (wire.Answer, error) {
	return c.send(who.Agent, "POST", harness.ClaimPath, contract.ClaimRequest{ClaimToken: c.source.ClaimToken})
}

var operations []operation

func init() { // what they do refers to them
	operations = slices.Concat(artifactOperations(), memberOperations(), lockdownOperations(), claimOperations())
}

// The kinds of situations in which a workspace has a member, and the operations that end an artifact.
var (
	claimed = []int{owned, moving}
	ends    = []string{"delete", "lock artifact", "jobs"}
)

// artifactOperations are the commands of an agent about the artifact and its links.
func artifactOperations() []operation {
	return []operation{
		{
			name:   "finalize",
			id:     "uploadSessions.finalize",
			spoils: ends,
			ask: func(c *scene) (wire.Answer, error) {
				return c.Finalize(c.agent, wire.NewKey(), c.next.UploadSessionID)
			},
		},
		{
			name:   "publish",
			id:     "revisions.publish",
			spoils: append([]string{noDraft}, ends...),
			ask: func(c *scene) (wire.Answer, error) {
				return c.Publish(c.agent, wire.NewKey(), c.shown.ArtifactID, c.next.RevisionID)
			},
		},
		{
			name:   "delete",
			id:     "artifacts.delete",
			spoils: ends[2:],
			ask:    func(c *scene) (wire.Answer, error) { return c.owns("DELETE", "", nil) },
		},
		{
			name:   "rename",
			id:     "artifacts.updateDisplayMetadata",
			spoils: ends,
			ask: func(c *scene) (wire.Answer, error) {
				return c.owns("PATCH", "/display-metadata", contract.UpdateMetadata{Title: "renamed"})
			},
		},
		{
			name:   "private",
			id:     "artifacts.setVisibility",
			spoils: ends,
			ask: func(c *scene) (wire.Answer, error) {
				return c.owns("PUT", "/visibility", contract.SetVisibility{Visibility: "private"})
			},
		},
		{
			name:   "unlisted",
			id:     "artifacts.setVisibility",
			spoils: append([]string{"lock links"}, ends...),
			ask: func(c *scene) (wire.Answer, error) {
				return c.owns("PUT", "/visibility", contract.SetVisibility{Visibility: "unlisted"})
			},
		},
		{name: "revoke", id: "accessLinks.revoke", ask: func(c *scene) (wire.Answer, error) {
			return c.send(c.agent, "POST", harness.LinkPath(c.share.id, "revoke"), nil)
		}},
	}
}

// memberOperations are the commands that members alone have.
func memberOperations() []operation {
	return []operation{
		{
			name:   "pin",
			id:     "web.artifacts.pin",
			undone: "unpin",
			spoils: ends,
			ask:    func(c *scene) (wire.Answer, error) { return c.web("pin") },
		},
		{
			name:   "unpin",
			id:     "web.artifacts.unpin",
			kinds:  claimed,
			spoils: ends,
			ask:    func(c *scene) (wire.Answer, error) { return c.web("unpin") },
		},
		{
			name:   "lock links",
			id:     "web.accessLinks.lockdown.set",
			undone: "unlock links",
			spoils: ends,
			ask: func(c *scene) (wire.Answer, error) {
				return c.web("access-link-lockdown")
			},
		},
		{
			name:   "unlock links",
			id:     "web.accessLinks.lockdown.lift",
			kinds:  claimed,
			spoils: ends,
			ask: func(c *scene) (wire.Answer, error) {
				return c.web("access-link-lockdown/lift")
			},
		},
	}
}

// lockdownOperations are the lockdowns of operators, and the jobs.
func lockdownOperations() []operation {
	return []operation{
		{
			name:     "lock artifact",
			id:       "web.admin.lockdown.set",
			undone:   "lift artifact",
			platform: true,
			ask: func(c *scene) (wire.Answer, error) {
				return c.operates("POST", "artifact", string(c.shown.ArtifactID))
			},
		},
		{
			name:     "lift artifact",
			id:       "web.admin.lockdown.lift",
			kinds:    claimed,
			platform: true,
			spoils:   []string{noArtifactLock},
			ask: func(c *scene) (wire.Answer, error) {
				return c.operates("DELETE", "artifact", string(c.shown.ArtifactID))
			},
		},
		{
			name:     "lock workspace",
			id:       "web.admin.lockdown.set",
			undone:   "lift workspace",
			platform: true,
			spoils:   []string{"claim", "claim by another"},
			ask: func(c *scene) (wire.Answer, error) {
				return c.operates("POST", "workspace", string(c.target))
			},
		},
		{
			name:     "lift workspace",
			id:       "web.admin.lockdown.lift",
			kinds:    claimed,
			platform: true,
			spoils:   []string{noWorkspaceLock},
			ask: func(c *scene) (wire.Answer, error) {
				return c.operates("DELETE", "workspace", string(c.target))
			},
		},
		{name: "jobs", platform: true, ask: (*scene).sweeps},
	}
}

// claimOperations are the claims of the workspace, by its later owner and by another member.
func claimOperations() []operation {
	waits := []int{unclaimed}
	return []operation{
		{
			name:   "claim",
			id:     "ephemeral.claim",
			kinds:  waits,
			spoils: []string{"claim by another"},
			ask: func(c *scene) (wire.Answer, error) {
				return c.claims(c.who)
			},
		},
		{
			name:   "claim by another",
			id:     "ephemeral.claim",
			kinds:  waits,
			spoils: []string{"claim"},
			ask: func(c *scene) (wire.Answer, error) {
				return c.claims(c.other)
			},
		},
	}
}

// What a situation lacks may be a reason for a refusal too.
const (
	noDraft         = "no draft"
	noArtifactLock  = "no lock of the artifact"
	noWorkspaceLock = "no lock of the workspace"
)

// answerOf unpacks what an operation answered.
func answerOf[T any](t testing.TB, c *scene, name string) (out T) {
	t.Helper()
	harness.Decode(t, c.answers[name], &out)
	return out
}
