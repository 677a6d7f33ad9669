package lifecycle

import (
	"net/http"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func tryPin(t testing.TB, who *harness.Member, a id.Artifact) wire.Answer {
	t.Helper()
	return harness.TryAs(t, who, "POST", harness.PinPath(a), nil, harness.KeyHeader()...)
}

func pin(t testing.TB, who *harness.Member, a id.Artifact) contract.WebArtifact {
	t.Helper()
	return harness.CallAs[contract.WebArtifact](t, who, 200, "POST", harness.PinPath(a), nil, harness.KeyHeader()...)
}

func unpin(t testing.TB, who *harness.Member, a id.Artifact) contract.WebArtifact {
	t.Helper()
	return harness.CallAs[contract.WebArtifact](t, who, 200, "POST", harness.UnpinPath(a), nil, harness.KeyHeader()...)
}

// mayPin changes how much claimed workspaces may pin.
func mayPin(n int) func(*stack.Options) {
	return func(o *stack.Options) {
		free := o.Limits.Tiers[limits.Free]
		free.LiveArtifacts = n
		o.Limits.Tiers = map[limits.Tier]limits.Policy{
			limits.Ephemeral: o.Limits.Tiers[limits.Ephemeral], limits.Free: free, limits.Pro: o.Limits.Tiers[limits.Pro],
		}
	}
}

// pause lets time pass, and gives the member of a deployment a token for what follows.
func pause(t testing.TB, s *harness.LinkEnv, d time.Duration) {
	t.Helper()
	s.Clock.Advance(d)
	s.Member = s.GrantTo(t, s.Member, "cli", s.Origins.API)
}

func TestAPinnedArtifactOutlivesItsTimeAndAnUnpinnedOneGetsADay(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	a := s.Published.ArtifactID
	for range 2 {
		pinned := pin(t, s.Member, a)
		if !pinned.Pinned || pinned.AutoDeleteAt != nil || pinned.Viewer == nil || s.PinCount(t) != "1" {
			t.Errorf("%+v, %s counted, want one pinned artifact without an end", pinned, s.PinCount(t))
		}
	}
	share := harness.CreateLink(t, s.Agent, a, harness.ShareLink).ID
	if r := harness.Must(s.Anyone.Resolve(ctx, harness.MintLink(t, s.Agent, share)))(t); !r.Pinned {
		t.Errorf("a link of it does not say that it is kept: %+v", r)
	}
	pause(t, s, 30*limits.Day)
	row := harness.CallAs[contract.WebArtifactList](t, s.Member, 200, "GET", "/v1/web/artifacts", nil).Items[0]
	if !row.Pinned || row.Status != "Published" || row.LatestRevisionID == nil {
		t.Errorf("%+v, want it published and pinned", row)
	}
	shown := harness.CallAs[contract.WebArtifact](t, s.Member, 200, "GET", "/v1/web/artifacts/"+string(a), nil)
	s.WantContent(t, shown.Viewer.IframeSrc, harness.Page("shared").Body)
	want := s.Options.Now().Add(limits.UnpinnedLife).UTC().Truncate(time.Millisecond)
	for range 2 {
		loose := unpin(t, s.Member, a)
		if loose.Pinned || loose.AutoDeleteAt == nil || !loose.AutoDeleteAt.Equal(want) || s.PinCount(t) != "0" {
			t.Errorf("unpinned: %+v, %s counted", loose.WebArtifactRow, s.PinCount(t))
		}
	}
	fresh := harness.CallAs[contract.MintedLink](
		t, s.Member, 200, "POST", "/v1/web/access-links/"+string(share)+"/mint", nil,
	).URL
	if r := harness.Must(s.Anyone.Resolve(ctx, fresh))(t); r.Pinned {
		t.Errorf("a link says that it is still kept: %+v", r)
	}
	pause(t, s, limits.UnpinnedLife)
	harness.WantRefused(t, tryPin(t, s.Member, a), 404, fault.ArtifactNotFound)
}

func TestF52PinsInParallelAtTheCapMakeOne(t *testing.T) {
	t.Parallel()
	const most = 3
	s := harness.NewLinkEnv(t, mayPin(most))
	before := make([]contract.Published, most-1)
	for n := range before {
		before[n] = harness.PublishPage(t, s.Agent, "before")
		pin(t, s.Member, before[n].ArtifactID)
	}
	wanted := make([]id.Artifact, 10)
	for n := range wanted {
		wanted[n] = harness.PublishPage(t, s.Agent, "wanted").ArtifactID
	}
	won, lost := 0, id.Artifact("")
	for n, answer := range s.Concurrently(t, len(wanted), func(n int) (wire.Answer, error) {
		return s.Member.Do(ctx, "POST", s.Origins.API+harness.PinPath(wanted[n]), nil, harness.KeyHeader()...)
	}) {
		switch answer.Status {
		case http.StatusOK:
			won++
		case http.StatusServiceUnavailable: // it met the others too often
			harness.WantRefused(t, answer, 503, fault.DatabaseUnavailable)
		default:
			lost = wanted[n]
			harness.WantRefused(t, answer, 409, fault.PinnedArtifactCap)
		}
	}
	if won != 1 || s.PinCount(t) != "3" {
		t.Errorf("%d were pinned at once, %s counted", won, s.PinCount(t))
	}
	deleteArtifacts(t, s.Agent, before[0])
	if pin(t, s.Member, lost); s.PinCount(t) != "3" {
		t.Errorf("after a pinned one was deleted %s are counted", s.PinCount(t))
	}
}

func TestOneArtifactIsPinnedOnceByManyAtOnce(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	for _, path := range []string{harness.PinPath(s.Published.ArtifactID), harness.UnpinPath(s.Published.ArtifactID)} {
		for _, a := range harness.Together(func() wire.Answer {
			return harness.TryAs(t, s.Member, "POST", path, nil, harness.KeyHeader()...)
		}) {
			if a.Status != http.StatusOK && a.Status != http.StatusServiceUnavailable {
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
		}
	}
	if s.PinCount(t) != "0" {
		t.Errorf("%s counted", s.PinCount(t))
	}
}

// TestF53APinAndTheEndOfAnArtifactExcludeEachOther pins an artifact after the jobs read that its time was over, on a
// clock that is a little behind theirs, and another one afterwards.
func TestF53APinAndTheEndOfAnArtifactExcludeEachOther(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t)
	m := s.NewClaimant(t)
	who := s.AddMember(t, m.Workspace)
	p := harness.PublishPage(t, m.Agent, "pinned")
	const early = time.Second
	s.Clock.Advance(limits.Default().Tiers[limits.Free].DefaultLife + early)
	release := runJobsUntil(t, s, "TransactWriteItems")
	s.Clock.Advance(-2 * early)
	who = s.GrantTo(t, who, "cli", s.Origins.API)
	if got := pin(t, who, p.ArtifactID); !got.Pinned {
		t.Errorf("%+v, want it pinned", got)
	}
	s.Clock.Advance(2 * early)
	release()
	ended := harness.PublishPage(t, m.Agent, "ended")
	s.RunCollector(t)
	wantObjects(t, s, m.Agent, 2)
	s.Clock.Advance(limits.Default().Tiers[limits.Free].DefaultLife)
	who = s.GrantTo(t, who, "cli", s.Origins.API)
	harness.WantRefused(t, tryPin(t, who, ended.ArtifactID), 404, fault.ArtifactNotFound)
	s.RunCollector(t)
	if status := harness.Text(gateOf(t, s, p.ArtifactID)["status"]); status != "active" {
		t.Errorf("the pinned artifact is %s", status)
	}
	wantObjects(t, s, m.Agent, 1)
}

func TestAPinnedArtifactIsRevisedAndItsDraftStillFallsDue(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	a := s.Published.ArtifactID
	pin(t, s.Member, a)
	pause(t, s, 5*limits.Day) // past its time, not past that of the key
	next := s.DraftBlank(t, s.Agent, a)
	s.CheckInvariants(t)
	if got := harness.Text(s.GetItem(t, "A#"+string(a), "META")["g2p"]); got == "" {
		t.Error("nothing falls due of the draft")
	}
	harness.Must(s.Agent.Publish(ctx, wire.NewKey(), a, next.RevisionID))(t)
	s.CheckInvariants(t)
	other := s.DraftBlank(t, s.Agent, a)
	unpin(t, s.Member, a)
	s.CheckInvariants(t)
	pin(t, s.Member, a)
	s.CheckInvariants(t)
	harness.Must(s.Agent.Publish(ctx, wire.NewKey(), a, other.RevisionID))(t)
}

func TestWhatWasClaimedCanBePinnedBeforeItIsMoved(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t)
	c, src := s.NewClaimant(t), s.NewSource(t)
	who := s.AddMember(t, c.Workspace)
	shown := harness.PublishPage(t, src.Agent, "claimed")
	s.MustClaim(t, c, src.ClaimToken)
	if got := pin(t, who, shown.ArtifactID); !got.Pinned {
		t.Errorf("%+v, want it pinned", got)
	}
	s.CheckInvariants(t)
	s.Migrate(t, src.WorkspaceID)
	if got := unpin(t, who, shown.ArtifactID); got.Pinned || got.AutoDeleteAt == nil {
		t.Errorf("%+v, want it unpinned, with an end", got)
	}
}
