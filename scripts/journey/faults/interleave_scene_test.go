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
func (e *interleaveEnv) scene(t testing.TB, seed uint64) *scene {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 0))
	c := &scene{
		interleaveEnv: e,
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
	c.mine = e.NewClaimant(t)
	c.who = e.AddMember(t, c.mine.Workspace)
	c.agent, c.target = c.mine.Agent, c.mine.Workspace
	if c.kind != owned {
		src := e.NewSource(t)
		c.source, c.agent = &src, src.Agent
	}
	if c.tried("claim by another") {
		c.otherMine = e.NewClaimant(t)
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
	for _, scope := range []string{"artifact", "workspace"} {
		c.prepared[noLock+scope] = !c.prepared["lock "+scope]
	}
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

// sweeps lets fall due what is about to, and does the jobs.
func (c *scene) sweeps() (wire.Answer, error) {
	c.Clock.Advance(2 * time.Millisecond)
	err := c.Host.Run(ctx)
	if fault.CodeOf(err) == fault.DatabaseUnavailable { // it lost too often; the next run goes on
		return wire.Answer{Status: 503, Body: []byte(`{"error":{"code":"database_unavailable"}}`)}, nil
	}
	return wire.Answer{Status: 200}, err
}

// asks is a command of a client.
func asks(name, id string, spoils []string, ask func(*scene) (wire.Answer, error)) operation {
	return operation{
		name:   name,
		id:     id,
		spoils: spoils,
		ask:    ask,
	}
}

// agents is a command of an agent about the artifact.
func agents(name, id, method, verb string, body any, spoils ...string) operation {
	return asks(name, id, spoils, func(c *scene) (wire.Answer, error) {
		return c.send(c.agent, method, "/v1/artifacts/"+string(c.shown.ArtifactID)+verb, body)
	})
}

// members is a command about the artifact that members alone have.
func members(name, id, verb string) operation {
	return asks(name, id, ends, func(c *scene) (wire.Answer, error) {
		return c.send(c.who.Agent, "POST", "/v1/web/artifacts/"+string(c.shown.ArtifactID)+"/"+verb, nil)
	})
}

// locks is the lockdown of an operator, and lifts its end.
func locks(scope string, spoils ...string) operation {
	return operation{
		name:     "lock " + scope,
		id:       "web.admin.lockdown.set",
		platform: true,
		spoils:   spoils,
		ask: func(c *scene) (wire.Answer, error) {
			return c.send(c.operatedBy.Agent, "POST", harness.LocksPath, harness.LockdownOf(scope, c.targetOf(scope)))
		},
	}
}

func lifts(scope string) operation {
	return operation{
		name:     "lift " + scope,
		id:       "web.admin.lockdown.lift",
		platform: true,
		spoils:   []string{noLock + scope},
		ask: func(c *scene) (wire.Answer, error) {
			return c.send(c.operatedBy.Agent, "DELETE", harness.LocksPath+"/"+scope+"/"+c.targetOf(scope), nil)
		},
	}
}

// targetOf is what operators lock.
func (c *scene) targetOf(scope string) string {
	if scope == "artifact" {
		return string(c.shown.ArtifactID)
	}
	return string(c.target)
}

// claims is a claim of the workspace that waits for one.
func claims(name, other string, by func(*scene) *harness.Member) operation {
	return operation{
		name:   name,
		id:     "ephemeral.claim",
		kinds:  []int{unclaimed},
		spoils: []string{other},
		ask: func(c *scene) (wire.Answer, error) {
			return c.send(by(c).Agent, "POST", harness.ClaimPath, contract.ClaimRequest{ClaimToken: c.source.ClaimToken})
		},
	}
}

// undone are an operation and the one that undoes it where a workspace has a member.
func undone(set, clear operation) []operation {
	set.undone, clear.kinds = clear.name, []int{owned, moving}
	return []operation{set, clear}
}

// ends are the operations that end an artifact.
var ends = []string{"delete", "lock artifact", "jobs"}

// What a situation lacks may be a reason for a refusal too.
const (
	noDraft = "no draft"
	noLock  = "no lock of the " // artifact, workspace
)

var operations []operation

func init() { // what they do refers to them
	finalize := func(c *scene) (wire.Answer, error) {
		return harness.Finalize(c.agent, wire.NewKey(), c.next.UploadSessionID)
	}
	publish := func(c *scene) (wire.Answer, error) {
		return harness.Publish(c.agent, wire.NewKey(), c.shown.ArtifactID, c.next.RevisionID)
	}
	revoke := func(c *scene) (wire.Answer, error) {
		return c.send(c.agent, "POST", harness.LinkPath(c.share.id, "revoke"), nil)
	}
	visible := func(word string) contract.SetVisibility { return contract.SetVisibility{Visibility: word} }
	operations = slices.Concat(
		[]operation{
			asks("finalize", "uploadSessions.finalize", ends, finalize),
			asks("publish", "revisions.publish", append([]string{noDraft}, ends...), publish),
			asks("revoke", "accessLinks.revoke", nil, revoke),
			{name: "jobs", platform: true, ask: (*scene).sweeps},
			agents("delete", "artifacts.delete", "DELETE", "", nil, "jobs"),
			agents("rename", "artifacts.updateDisplayMetadata", "PATCH", "/display-metadata",
				contract.UpdateMetadata{Title: "renamed"}, ends...),
			agents("private", "artifacts.setVisibility", "PUT", "/visibility", visible("private"), ends...),
			agents("unlisted", "artifacts.setVisibility", "PUT", "/visibility", visible("unlisted"),
				append([]string{"lock links"}, ends...)...),
			claims("claim", "claim by another", func(c *scene) *harness.Member { return c.who }),
			claims("claim by another", "claim", func(c *scene) *harness.Member { return c.other }),
		},
		undone(members("pin", "web.artifacts.pin", "pin"), members("unpin", "web.artifacts.unpin", "unpin")),
		undone(
			members("lock links", "web.accessLinks.lockdown.set", "access-link-lockdown"),
			members("unlock links", "web.accessLinks.lockdown.lift", "access-link-lockdown/lift"),
		),
		undone(locks("artifact"), lifts("artifact")),
		undone(locks("workspace", "claim", "claim by another"), lifts("workspace")),
	)
}
