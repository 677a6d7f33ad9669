package lifecycle

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/policy"
)

// withTiers changes the tiers of people's and of unclaimed workspaces.
func withTiers(change func(people, unclaimed *limits.Policy)) func(*stack.Options) {
	return func(o *stack.Options) {
		people, unclaimed := policy.Roomy(), o.Limits.Tiers[limits.Ephemeral]
		change(&people, &unclaimed)
		o.Limits.Tiers = map[limits.Tier]limits.Policy{
			limits.Ephemeral: unclaimed, limits.Free: people, limits.Pro: o.Limits.Tiers[limits.Pro],
		}
	}
}

// lasting are tiers in which artifacts of people do not expire unless the workspace says so.
func lasting(people, unclaimed *limits.Policy) {
	people.DefaultLife = limits.Forever
	unclaimed.DefaultLife, unclaimed.MaxLife = 7*limits.Day, 7*limits.Day
}

// setLife chooses the life of new artifacts.
func setLife(t testing.TB, who *harness.Member, days int) contract.Settings {
	t.Helper()
	asked := contract.UpdateSettings{WorkspaceName: "Seals", AutoDeletionDays: days}
	return harness.CallAs[contract.Settings](t, who, 200, "PATCH", "/v1/web/settings", asked, harness.KeyHeader()...)
}

// row returns an artifact as a member sees it.
func row(t testing.TB, who *harness.Member, a id.Artifact) contract.WebArtifact {
	t.Helper()
	return harness.CallAs[contract.WebArtifact](t, who, 200, "GET", "/v1/web/artifacts/"+string(a), nil)
}

// wantLasting checks that an artifact is stored and answered without an end, in the shapes that any client knows, and
// that nothing of it falls due.
func wantLasting(t testing.TB, s *harness.JobEnv, who *harness.Member, a id.Artifact) {
	t.Helper()
	r := row(t, who, a)
	if r.Status != "Published" || r.AutoDeleteAt != nil || r.Viewer == nil {
		t.Errorf("%+v, want it published without an end", r.WebArtifactRow)
	}
	item := s.GetItem(t, "A#"+string(a), "META")
	if item["exp"] == nil || item["g2p"] != nil || item["g2s"] != nil || item["ttl"] != nil {
		t.Errorf("stored with exp %v, g2p %v, g2s %v, ttl %v, want an end alone",
			item["exp"], item["g2p"], item["g2s"], item["ttl"])
	}
	s.CheckInvariants(t)
}

func TestAnArtifactThatLivesForeverStays(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t, withTiers(lasting))
	m := s.NewClaimant(t)
	who := s.AddMember(t, m.Workspace)
	p := harness.PublishPage(t, m.Agent, "stays")
	a := p.ArtifactID
	if !p.ExpiresAt.Equal(limits.Never) {
		t.Errorf("it is answered to end at %s", p.ExpiresAt)
	}
	wantLasting(t, s, who, a)
	u := harness.Call[contract.UsagePolicy](t, m.Agent, 200, "GET", "/v1/usage-policy", nil)
	if u.MaxTTLSeconds != 24_000*86_400 || u.DefaultTTLSeconds != u.MaxTTLSeconds || u.MinTTLSeconds != 86_400 {
		t.Errorf("the usage policy says %d to %d seconds, %d by default",
			u.MinTTLSeconds, u.MaxTTLSeconds, u.DefaultTTLSeconds)
	}
	link := harness.ShareURL(t, m.Agent, a)
	view := harness.Must(s.Anyone.Resolve(ctx, link))(t).AgentView
	if !view.ExpiresAt.Equal(limits.Never) {
		t.Errorf("its link answers an end at %s", view.ExpiresAt)
	}

	pin(t, who, a)
	s.RunJobs(t)
	if unpin(t, who, a).AutoDeleteAt != nil {
		t.Error("unpinned, it has an end")
	}
	wantLasting(t, s, who, a)

	// Other settings hold for what is new alone.
	if got := setLife(t, who, 5); got.AutoDeletionDays != 5 || got.AutoDeletionBounds.MaxDays != limits.ForeverDays {
		t.Errorf("the settings are %+v", got)
	}
	next := s.Upload(t, m.Agent, a, "stays, revised")
	final := harness.Must(m.Agent.Finalize(ctx, wire.NewKey(), next.UploadSessionID))(t)
	if got := harness.Text(s.GetItem(t, "A#"+string(a), "META")["g2p"]); !strings.HasPrefix(got, "DUE#ARTIFACT#") {
		t.Errorf("with a draft it is due in %q", got)
	}
	again := harness.Must(m.Agent.Publish(ctx, wire.NewKey(), a, final.RevisionID))(t)
	if !again.ExpiresAt.Equal(limits.Never) {
		t.Errorf("revised, it ends at %s", again.ExpiresAt)
	}
	short := harness.PublishPage(t, m.Agent, "five days")
	if want := s.Options.Now().Add(5 * limits.Day); short.ExpiresAt.Sub(want).Abs() > time.Second {
		t.Errorf("a new one ends at %s, want in five days", short.ExpiresAt)
	}
	if got := setLife(t, who, limits.ForeverDays); got.AutoDeletionDays != limits.ForeverDays {
		t.Errorf("the settings are %+v, want forever", got)
	}
	s.DraftBlank(t, m.Agent, a) // is never published

	s.Clock.Advance(6 * limits.Day)
	s.RunJobs(t)
	s.Clock.Advance(20 * 365 * limits.Day)
	s.RunJobs(t)
	who = s.GrantTo(t, who, "cli", s.Origins.API)
	wantLasting(t, s, who, a)
	draft := s.GetItem(t, "A#"+string(a), "META")["draft"]
	if got := *row(t, who, a).LatestRevisionID; got != again.RevisionID || draft != nil {
		t.Errorf("after twenty years it has revision %s, want %s and no draft", got, again.RevisionID)
	}
	s.WantContent(t, row(t, who, a).Viewer.IframeSrc, harness.Page("stays, revised").Body)
	if got := row(t, who, short.ArtifactID); got.Status != "Expired" {
		t.Errorf("the one of five days is %s", got.Status)
	}
}

func TestAClaimIntoAWorkspaceWithoutExpiryKeepsWhatItBrings(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t, withTiers(lasting))
	c, src := s.NewClaimant(t), s.NewSource(t)
	who := s.AddMember(t, c.Workspace)
	p := harness.PublishPage(t, src.Agent, "brought")
	if want := s.Options.Now().Add(7 * limits.Day); p.ExpiresAt.Sub(want).Abs() > time.Second {
		t.Errorf("unclaimed it ends at %s, want in seven days, as its tier says", p.ExpiresAt)
	}
	s.MustClaim(t, c, src.ClaimToken)
	if got := row(t, who, p.ArtifactID); got.AutoDeleteAt != nil {
		t.Errorf("claimed, and not moved yet, it ends at %s", got.AutoDeleteAt)
	}
	s.Clock.Advance(8 * limits.Day) // it would have ended before it is moved
	s.RunJobs(t)
	who = s.GrantTo(t, who, "cli", s.Origins.API)
	wantLasting(t, s, who, p.ArtifactID)
}

func TestAnExportHoldsWhatLivesForever(t *testing.T) {
	t.Parallel()
	e := newExporter(t, withTiers(lasting))
	p := harness.PublishPage(t, e.agent, "stays")
	e.ask(t)
	volumes := e.unpacked(t, e.ready(t))
	wantExported(t, volumes, p.ArtifactID, 1, harness.Page("stays"))
	if got := volumes[0].Artifacts[0].ExpiresAt; !got.Equal(limits.Never) {
		t.Errorf("the manifest says that it ends at %s", got)
	}
}

// beside starts another deployment with the data of one that runs, as during a deployment of another policy. Invariants
// are those of the first one.
func beside(t testing.TB, s *harness.JobEnv, change func(people, unclaimed *limits.Policy)) *harness.BackendEnv {
	t.Helper()
	other := harness.NewBackendEnv(t, withTiers(change), func(o *stack.Options) {
		o.Tables, o.Data, o.Now = s.Options.Tables, s.Options.Data, s.Options.Now
	})
	other.Clock = s.Clock
	return other
}

// at returns an agent that sends its credential to another deployment.
func at(other *harness.BackendEnv, g *wire.Agent) *wire.Agent {
	return &wire.Agent{HTTP: other.Anyone.HTTP, At: other.Anyone.At, Key: g.Key}
}

// TestLowerAndHigherNumbersHoldForWhatIsNew starts deployments with smaller and again with larger numbers on the data of
// one with large numbers. What exists stays as it is on all of them.
func TestLowerAndHigherNumbersHoldForWhatIsNew(t *testing.T) {
	t.Parallel()
	large := func(p, unclaimed *limits.Policy) {
		lasting(p, unclaimed)
		p.NewArtifactsPerDay = 5 // no multiple of the counters
	}
	s := harness.NewJobEnv(t, withTiers(large))
	m := s.NewClaimant(t)
	who := s.AddMember(t, m.Workspace)
	var made []contract.Published
	for _, words := range []string{"first", "second", "third"} {
		made = append(made, harness.PublishPage(t, m.Agent, words))
	}
	a := made[0].ArtifactID
	revised := harness.Must(m.Agent.Publish(ctx, wire.NewKey(), a, s.DraftBlank(t, m.Agent, a).RevisionID))(t)
	pin(t, who, a)
	pin(t, who, made[1].ArtifactID)
	pending := s.Upload(t, m.Agent, "", "begun before the numbers were lowered")

	lower := beside(t, s, func(p, _ *limits.Policy) {
		p.FileSize, p.ArtifactSize, p.FileCount = 4, 4, 1
		p.DefaultLife, p.MaxLife = limits.Day, 2*limits.Day
		p.LiveArtifacts, p.NewArtifactsPerDay, p.Revisions = 1, 1, 1
	})
	small := at(lower, m.Agent)
	member := lower.GrantTo(t, who, "cli", lower.Origins.API)
	u := harness.Call[contract.UsagePolicy](t, small, 200, "GET", "/v1/usage-policy", nil)
	if u.FileSizeCapBytes != 4 || u.MaxTTLSeconds != 2*86_400 || *u.DailyNewArtifactsRemaining != 0 {
		t.Errorf("after lowering the usage policy is %+v", u)
	}
	wantAll := func(where string, g *wire.Agent, by *harness.Member) {
		t.Helper()
		for n, p := range made {
			v := harness.Call[contract.AgentView](t, g, 200, "GET", "/v1/artifacts/"+string(p.ArtifactID)+"/agent-view", nil)
			body := harness.Do(t, g, "GET", v.RevisionContentURL, nil)
			if !v.ExpiresAt.Equal(limits.Never) || body.Status != 200 {
				t.Errorf("%s: artifact %d ends at %s, and its page answers %d", where, n, v.ExpiresAt, body.Status)
			}
			if got := row(t, by, p.ArtifactID); got.Status != "Published" || got.Pinned != (n < 2) {
				t.Errorf("%s: artifact %d is %s, pinned: %t", where, n, got.Status, got.Pinned)
			}
		}
	}
	wantAll("lower", small, member)
	s.RunJobs(t)
	wantAll("before", m.Agent, who)

	// New revisions, pins, files and artifacts meet the lower numbers.
	draft := contract.CreateSession{
		Title: "new", Entrypoint: "index.html", Files: []contract.DeclaredFile{{Path: "index.html", SizeBytes: 3}},
	}
	create := func(change func(*contract.CreateSession)) wire.Answer {
		asked := draft
		change(&asked)
		return harness.Must(harness.Create(small, wire.NewKey(), asked))(t)
	}
	harness.WantRefused(t, create(func(c *contract.CreateSession) { c.ArtifactID = a }), 429, fault.RevisionCeilingExceeded)
	harness.WantRefused(t, create(func(c *contract.CreateSession) {
		c.Files = []contract.DeclaredFile{{Path: "index.html", SizeBytes: 5}}
	}), 400, fault.FileSizeCapExceeded)
	harness.WantRefused(t, tryPin(t, member, made[2].ArtifactID), 409, fault.PinnedArtifactCap)
	harness.WantRefused(t, harness.Must(harness.Finalize(small, wire.NewKey(), pending.UploadSessionID))(t), 400,
		fault.FileSizeCapExceeded)
	if got := unpin(t, member, made[1].ArtifactID); got.AutoDeleteAt != nil {
		t.Errorf("unpinned after lowering it ends at %s", got.AutoDeleteAt)
	}
	harness.WantRefused(t, tryPin(t, member, made[1].ArtifactID), 409, fault.PinnedArtifactCap)
	if got := setLife(t, member, 2); got.AutoDeletionBounds.MaxDays != 2 {
		t.Errorf("after lowering the settings are %+v", got)
	}
	refused := contract.UpdateSettings{WorkspaceName: "Seals", AutoDeletionDays: limits.ForeverDays}
	harness.WantRefused(t, harness.TryAs(t, member, "PATCH", "/v1/web/settings", refused, harness.KeyHeader()...), 400,
		fault.InvalidRequest)

	// With larger numbers again all of it goes on.
	higher := beside(t, s, large)
	again := higher.GrantTo(t, who, "cli", higher.Origins.API)
	setLife(t, again, limits.ForeverDays)
	pin(t, again, made[1].ArtifactID)
	wantAll("higher", at(higher, m.Agent), again)
	final := harness.Must(at(higher, m.Agent).Finalize(ctx, wire.NewKey(), pending.UploadSessionID))(t)
	late := harness.Must(at(higher, m.Agent).Publish(ctx, wire.NewKey(), final.ArtifactID, final.RevisionID))(t)
	if !late.ExpiresAt.Equal(limits.Never) {
		t.Errorf("what began before ends at %s", late.ExpiresAt)
	}
	if got := *row(t, again, a).LatestRevisionID; got != revised.RevisionID {
		t.Errorf("the newest revision is %s, want %s", got, revised.RevisionID)
	}
	s.CheckInvariants(t)
}

func TestThePolicyIsWhatANewDeploymentBeginsWith(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "policy.json")
	harness.NoError(t, os.WriteFile(file, []byte(`{"members": {"max_days": 30, "default_days": 30},
		"anonymous": {"default_days": 2, "max_days": 7, "per_minute": 60}}`), 0o600))
	s := harness.NewBackendEnv(t, func(o *stack.Options) { o.PolicyFile = file })
	if got := harness.Text(s.GetItem(t, "CFG#provision", "C")["per_minute"]); got != "60" {
		t.Errorf("the gate lets in %s a minute, want 60", got)
	}
	p := harness.PublishPage(t, s.NewAgent(t), "unclaimed")
	if want := s.Options.Now().Add(2 * limits.Day); p.ExpiresAt.Sub(want).Abs() > time.Second {
		t.Errorf("an unclaimed artifact ends at %s, want in two days", p.ExpiresAt)
	}
	who := s.NewMember(t)
	got := harness.CallAs[contract.Settings](t, who, 200, "GET", "/v1/web/settings", nil)
	if got.AutoDeletionDays != 30 || got.AutoDeletionBounds.MaxDays != 30 {
		t.Errorf("the settings of a member are %+v, want 30 days", got)
	}
}
