package lifecycle

import (
	"net/http"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
)

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

// wantEnd ends an artifact as the job does that read it when its time was up.
func wantEnd(t testing.TB, s *harness.LinkEnv, a id.Artifact, read *artifact.Artifact) {
	t.Helper()
	store := dynamo.New(s.DB, s.Tables)
	if read == nil {
		read = harness.Must(store.Artifacts.Artifact(ctx, a))(t)
	}
	now := s.Options.Now()
	harness.NoError(t, store.Queue.Expire(ctx, sweep.Artifact{Artifact: *read}, now, event.Event{
		ID:        id.NewEvent(),
		Workspace: read.Owner,
		At:        now,
		Action:    event.ArtifactExpired,
		Actor:     event.BySystem(),
		Target:    event.Target{Type: "artifact", ID: string(a)},
	}))
}

func TestAPinnedArtifactOutlivesItsTimeAndAnUnpinnedOneGetsADay(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	a := s.Published.ArtifactID
	pinned := pin(t, s.Member, a)
	if !pinned.Pinned || pinned.AutoDeleteAt != nil || pinned.Viewer == nil || s.PinCount(t) != "1" {
		t.Errorf("%+v, %s counted", pinned, s.PinCount(t))
	}
	if again := pin(t, s.Member, a); !again.Pinned || s.PinCount(t) != "1" {
		t.Errorf("pinned twice: %+v, %s counted", again, s.PinCount(t))
	}
	share := harness.CreateLink(t, s.Agent, a, harness.ShareLink).ID
	if r := harness.Must(s.Anyone.Resolve(ctx, harness.MintLink(t, s.Agent, share)))(t); !r.Pinned {
		t.Errorf("a link of it does not say that it is kept: %+v", r)
	}
	s.Clock.Advance(30 * limits.Day)
	s.Member = s.GrantTo(t, s.Member, "cli", s.Origins.API) // the old token has ended
	wantEnd(t, s, a, nil)
	row := harness.CallAs[contract.WebArtifactList](t, s.Member, 200, "GET", "/v1/web/artifacts", nil).Items[0]
	if !row.Pinned || row.Status != "Published" || row.LatestRevisionID == nil {
		t.Errorf("%+v", row)
	}
	shown := harness.CallAs[contract.WebArtifact](t, s.Member, 200, "GET", "/v1/web/artifacts/"+string(a), nil)
	s.WantContent(t, shown.Viewer.IframeSrc, harness.Page("shared").Body)
	loose := unpin(t, s.Member, a)
	fresh := harness.CallAs[contract.MintedLink](
		t, s.Member, 200, "POST", "/v1/web/access-links/"+string(share)+"/mint", nil,
	).URL
	if r := harness.Must(s.Anyone.Resolve(ctx, fresh))(t); r.Pinned {
		t.Errorf("a link says that it is still kept: %+v", r)
	}
	want := s.Options.Now().Add(limits.UnpinnedLife).UTC().Truncate(time.Millisecond)
	if loose.Pinned || loose.AutoDeleteAt == nil || !loose.AutoDeleteAt.Equal(want) {
		t.Errorf("unpinned: %+v", loose.WebArtifactRow)
	}
	if again := unpin(t, s.Member, a); again.Pinned || s.PinCount(t) != "0" {
		t.Errorf("unpinned twice: %+v, %s counted", again, s.PinCount(t))
	}
	s.Clock.Advance(limits.UnpinnedLife)
	s.Member = s.GrantTo(t, s.Member, "cli", s.Origins.API)
	harness.WantRefused(
		t, harness.TryAs(t, s.Member, "POST", harness.PinPath(a), nil, harness.KeyHeader()...), 404, fault.ArtifactNotFound,
	)
	harness.WantRefused(
		t, harness.TryAs(t, s.Member, "POST", harness.UnpinPath(a), nil, harness.KeyHeader()...), 404, fault.ArtifactNotFound,
	)
}

func TestUnpinningChangesNoTimeThatIsFarOff(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	a := s.Published.ArtifactID
	before := harness.CallAs[contract.WebArtifact](t, s.Member, 200, "GET", "/v1/web/artifacts/"+string(a), nil)
	pin(t, s.Member, a)
	if got := unpin(t, s.Member, a); !got.AutoDeleteAt.Equal(before.AutoDeleteAt.Time) {
		t.Errorf("it ended at %s, and now at %s", before.AutoDeleteAt, got.AutoDeleteAt)
	}
}

func TestADeletedArtifactMakesRoomForAnotherPin(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t, mayPin(1))
	pin(t, s.Member, s.Published.ArtifactID)
	other := harness.PublishPage(t, s.Agent, "other").ArtifactID
	harness.WantRefused(
		t,
		harness.TryAs(t, s.Member, "POST", harness.PinPath(other), nil, harness.KeyHeader()...),
		409,
		fault.PinnedArtifactCap,
	)
	harness.TryDelete(t, s.Agent, s.Published.ArtifactID)
	if got := pin(t, s.Member, other); !got.Pinned || s.PinCount(t) != "1" {
		t.Errorf("after a pinned one was deleted: %+v, %s counted", got, s.PinCount(t))
	}
}

func TestARepeatedPinIsAnsweredAsTheFirst(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	a, idem := s.Published.ArtifactID, wire.NewKey()
	s.Faults.On("TransactWriteItems").Times(3).After(chaos.Timeout)
	harness.WantRefused(
		t,
		harness.TryAs(t, s.Member, "POST", harness.PinPath(a), nil, "Idempotency-Key", idem),
		503,
		fault.DatabaseUnavailable,
	)
	got := harness.CallAs[contract.WebArtifact](t, s.Member, 200, "POST", harness.PinPath(a), nil, "Idempotency-Key", idem)
	if !got.Pinned || got.Viewer == nil {
		t.Errorf("%+v", got)
	}
	unpin(t, s.Member, a)
	if got := harness.CallAs[contract.WebArtifact](
		t, s.Member, 200, "POST", harness.PinPath(a), nil, "Idempotency-Key", idem,
	); !got.Pinned || s.PinCount(t) != "0" {
		t.Errorf("%+v, %s counted", got, s.PinCount(t))
	}
}

func TestF52PinsInParallelAtTheCapMakeOne(t *testing.T) {
	t.Parallel()
	const most = 3
	s := harness.NewLinkEnv(t, mayPin(most))
	for range most - 1 {
		pin(t, s.Member, harness.PublishPage(t, s.Agent, "before").ArtifactID)
	}
	wanted := make([]id.Artifact, 10)
	for n := range wanted {
		wanted[n] = harness.PublishPage(t, s.Agent, "wanted").ArtifactID
	}
	won := 0
	for _, answer := range s.Concurrently(t, len(wanted), func(n int) (wire.Answer, error) {
		return s.Member.Do(ctx, "POST", s.Origins.API+harness.PinPath(wanted[n]), nil, harness.KeyHeader()...)
	}) {
		switch answer.Status {
		case http.StatusOK:
			won++
		case http.StatusServiceUnavailable: // it met the others too often
			harness.WantRefused(t, answer, 503, fault.DatabaseUnavailable)
		default:
			harness.WantRefused(t, answer, 409, fault.PinnedArtifactCap)
		}
	}
	if won != 1 || s.PinCount(t) != "3" {
		t.Errorf("%d were pinned at once, %s counted", won, s.PinCount(t))
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

func TestF53APinAndTheEndOfAnArtifactExcludeEachOther(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	first, second := s.Published.ArtifactID, harness.PublishPage(t, s.Agent, "second").ArtifactID
	store := dynamo.New(s.DB, s.Tables)
	seen := harness.Must(store.Artifacts.Artifact(ctx, first))(t)
	pin(t, s.Member, first)
	s.Clock.Advance(7 * limits.Day)
	s.Member = s.GrantTo(t, s.Member, "cli", s.Origins.API)
	wantEnd(t, s, first, seen) // read before it was pinned
	got := harness.CallAs[contract.WebArtifact](t, s.Member, 200, "GET", "/v1/web/artifacts/"+string(first), nil)
	if !got.Pinned || got.Status != "Published" {
		t.Errorf("pinned first: %+v", got)
	}
	wantEnd(t, s, second, nil)
	harness.WantRefused(
		t,
		harness.TryAs(t, s.Member, "POST", harness.PinPath(second), nil, harness.KeyHeader()...),
		404,
		fault.ArtifactNotFound,
	)
	if got := harness.CallAs[contract.WebArtifact](
		t, s.Member, 200, "GET", "/v1/web/artifacts/"+string(second), nil,
	); got.Status != "Expired" || s.PinCount(t) != "1" {
		t.Errorf("ended first: %+v", got)
	}
}

func TestAPinnedArtifactIsRevisedAndItsDraftStillFallsDue(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	a := s.Published.ArtifactID
	pin(t, s.Member, a)
	s.Clock.Advance(5 * limits.Day) // past its time, not past that of the key
	next := s.DraftBlank(t, s.Agent, a)
	s.CheckInvariants(t)
	if got := harness.Text(s.GetItem(t, "A#"+string(a), "META")["g2p"]); got == "" {
		t.Error("nothing falls due of the draft")
	}
	harness.Must(s.Agent.Publish(ctx, wire.NewKey(), a, next.RevisionID))(t)
	s.CheckInvariants(t)
	other := s.DraftBlank(t, s.Agent, a)
	s.Member = s.GrantTo(t, s.Member, "cli", s.Origins.API)
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
		t.Errorf("%+v", got)
	}
	s.CheckInvariants(t)
	s.Migrate(t, src.WorkspaceID)
	if got := unpin(t, who, shown.ArtifactID); got.Pinned || got.AutoDeleteAt == nil {
		t.Errorf("%+v", got)
	}
}

func TestAnArtifactIsRenamed(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	path := s.Origins.API + "/v1/artifacts/" + string(s.Published.ArtifactID) + "/display-metadata"
	for _, title := range []string{"  Gallery  ", "Gallery"} {
		got := harness.Call[contract.DisplayMetadata](
			t,
			s.Agent,
			200,
			"PATCH",
			"/v1/artifacts/"+string(s.Published.ArtifactID)+"/display-metadata",
			contract.UpdateMetadata{Title: title},
		)
		if got.Title != "Gallery" || got.Description != nil {
			t.Errorf("%+v", got)
		}
	}
	rows := harness.Call[contract.ArtifactList](t, s.Agent, 200, "GET", "/v1/artifacts", nil).Data
	if rows[0].Title != "Gallery" {
		t.Errorf("%+v", rows)
	}
	if v := harness.Must(s.Agent.AgentView(ctx, s.Published.ArtifactID))(t); v.Title != "Gallery" {
		t.Errorf("the view says %q", v.Title)
	}
	for _, body := range []string{`{}`, `{"title":"  "}`, `{"title":"x","description":"y"}`, `{"title":null}`, `[]`} {
		harness.WantRefused(t, harness.Do(t, s.Agent, "PATCH", path, body), 400, fault.InvalidRequest)
	}
	harness.WantRefused(
		t,
		harness.Do(t, s.Agent, "PATCH", path, contract.UpdateMetadata{Title: string(make([]rune, 161))}),
		400,
		fault.InvalidRequest,
	)
	harness.WantRefused(
		t, harness.Do(t, s.NewKey(t, s.Agent, "read"), "PATCH", path, `{"title":"x"}`), 403, fault.Forbidden,
	)
	other, _, err := s.Anyone.Provision(ctx)
	harness.NoError(t, err)
	harness.WantRefused(t, harness.Do(t, other, "PATCH", path, `{"title":"x"}`), 404, fault.ArtifactNotFound)
	harness.Must(s.Agent.PublishFiles(ctx, "Newer", s.Published.ArtifactID, harness.Page("newer")))(t)
	if v := harness.Must(s.Agent.AgentView(ctx, s.Published.ArtifactID))(t); v.Title != "Newer" {
		t.Errorf("after a publication the view says %q", v.Title)
	}
	harness.TryDelete(t, s.Agent, s.Published.ArtifactID)
	harness.WantRefused(t, harness.Do(t, s.Agent, "PATCH", path, `{"title":"x"}`), 404, fault.ArtifactNotFound)
}

func TestMembersSeeRevisionsAsKeysDo(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	path := "/artifacts/" + string(s.Published.ArtifactID) + "/revisions"
	mine := harness.CallAs[contract.RevisionList](t, s.Member, 200, "GET", "/v1/web"+path, nil)
	if len(mine.Items) != 1 || mine.Items[0].RevisionID != s.Published.RevisionID {
		t.Errorf("%+v", mine)
	}
	harness.WantRefused(
		t, harness.TryAs(t, s.Member, "GET", "/v1/web/artifacts/art_1/revisions", nil), 404, fault.ArtifactNotFound,
	)
}
