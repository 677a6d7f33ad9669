package journey

import (
	"net/http"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
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

func pinPath(a id.Artifact) string { return "/v1/web/artifacts/" + string(a) + "/pin" }

func unpinPath(a id.Artifact) string { return "/v1/web/artifacts/" + string(a) + "/unpin" }

func pins(t testing.TB, who *person, a id.Artifact) contract.WebArtifact {
	t.Helper()
	return asks[contract.WebArtifact](t, who, 200, "POST", pinPath(a), nil, keyed()...)
}

func unpins(t testing.TB, who *person, a id.Artifact) contract.WebArtifact {
	t.Helper()
	return asks[contract.WebArtifact](t, who, 200, "POST", unpinPath(a), nil, keyed()...)
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

// counted is what the counter of pins says.
func (s *linkStand) counted(t testing.TB) string {
	t.Helper()
	if n := s.item(t, "W#"+string(s.who.workspace), "PINS")["n"]; n != nil {
		return text(n)
	}
	return "none"
}

// ends is what a job does with an artifact whose time seems to be up; a is as it was read.
func (s *linkStand) ends(t testing.TB, a id.Artifact, read *artifact.Artifact) {
	t.Helper()
	store := dynamo.New(s.client, s.names)
	if read == nil {
		read = must(store.Artifacts.Artifact(ctx, a))(t)
	}
	now := s.options.Now()
	succeed(t, store.Queue.Expire(ctx, sweep.Artifact{Artifact: *read}, now, event.Event{
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
	s := newLinkStand(t)
	a := s.made.ArtifactID
	pinned := pins(t, s.who, a)
	if !pinned.Pinned || pinned.AutoDeleteAt != nil || pinned.Viewer == nil || s.counted(t) != "1" {
		t.Errorf("%+v, %s counted", pinned, s.counted(t))
	}
	if again := pins(t, s.who, a); !again.Pinned || s.counted(t) != "1" {
		t.Errorf("pinned twice: %+v, %s counted", again, s.counted(t))
	}
	share := links(t, s.agent, a, shareLink).ID
	if r := must(s.anyone.Resolve(ctx, minted(t, s.agent, share)))(t); !r.Pinned {
		t.Errorf("a link of it does not say that it is kept: %+v", r)
	}
	s.clock.pass(30 * limits.Day)
	s.who = s.lets(t, s.who, "cli", s.Origins.API) // the old token has ended
	s.ends(t, a, nil)
	row := asks[contract.WebArtifactList](t, s.who, 200, "GET", "/v1/web/artifacts", nil).Items[0]
	if !row.Pinned || row.Status != "Published" || row.LatestRevisionID == nil {
		t.Errorf("%+v", row)
	}
	shown := asks[contract.WebArtifact](t, s.who, 200, "GET", "/v1/web/artifacts/"+string(a), nil)
	s.reads(t, shown.Viewer.IframeSrc, page("shared").Body)
	loose := unpins(t, s.who, a)
	fresh := asks[contract.MintedLink](t, s.who, 200, "POST", "/v1/web/access-links/"+string(share)+"/mint", nil).URL
	if r := must(s.anyone.Resolve(ctx, fresh))(t); r.Pinned {
		t.Errorf("a link says that it is still kept: %+v", r)
	}
	if want := s.options.Now().Add(limits.UnpinnedLife).UTC().Truncate(time.Millisecond); loose.Pinned || loose.AutoDeleteAt == nil || !loose.AutoDeleteAt.Equal(want) {
		t.Errorf("unpinned: %+v", loose.WebArtifactRow)
	}
	if again := unpins(t, s.who, a); again.Pinned || s.counted(t) != "0" {
		t.Errorf("unpinned twice: %+v, %s counted", again, s.counted(t))
	}
	s.clock.pass(limits.UnpinnedLife)
	s.who = s.lets(t, s.who, "cli", s.Origins.API)
	refused(t, tries(t, s.who, "POST", pinPath(a), nil, keyed()...), 404, fault.ArtifactNotFound)
	refused(t, tries(t, s.who, "POST", unpinPath(a), nil, keyed()...), 404, fault.ArtifactNotFound)
}

func TestUnpinningChangesNoTimeThatIsFarOff(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	a := s.made.ArtifactID
	before := asks[contract.WebArtifact](t, s.who, 200, "GET", "/v1/web/artifacts/"+string(a), nil)
	pins(t, s.who, a)
	if got := unpins(t, s.who, a); !got.AutoDeleteAt.Equal(before.AutoDeleteAt.Time) {
		t.Errorf("it ended at %s, and now at %s", before.AutoDeleteAt, got.AutoDeleteAt)
	}
}

func TestWhatCannotBePinnedIsRefused(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t, mayPin(1))
	stranger := s.person(t)
	defer func() { // it has no key and no token to claim with, which the invariants would miss
		s.change(t, "W#"+string(stranger.workspace), "META", nil)
	}()
	unpublished := draft(t, s.agent, "unpublished").ArtifactID
	gone := published(t, s.agent, "gone").ArtifactID
	tryDelete(t, s.agent, gone)
	for name, a := range map[string]id.Artifact{
		"without revision": unpublished, "deleted": gone, "of nobody": id.NewArtifact(), "malformed": "art_1",
	} {
		t.Log(name)
		refused(t, tries(t, s.who, "POST", pinPath(a), nil, keyed()...), 404, fault.ArtifactNotFound)
	}
	refused(t, tries(t, stranger, "POST", pinPath(s.made.ArtifactID), nil, keyed()...), 404, fault.ArtifactNotFound)
	refused(t, tries(t, stranger, "POST", unpinPath(s.made.ArtifactID), nil, keyed()...), 404, fault.ArtifactNotFound)
	refused(t, tries(t, s.who, "POST", pinPath(s.made.ArtifactID), nil), 400, fault.InvalidIdempotencyKey)
	refused(t, do(t, s.agent, "POST", s.agent.At.APIURL+pinPath(s.made.ArtifactID), nil, keyed()...), 401, fault.NotAuthenticated)
	pins(t, s.who, s.made.ArtifactID)
	other := published(t, s.agent, "other").ArtifactID
	refused(t, tries(t, s.who, "POST", pinPath(other), nil, keyed()...), 409, fault.PinnedArtifactCap)
	tryDelete(t, s.agent, s.made.ArtifactID)
	if got := pins(t, s.who, other); !got.Pinned || s.counted(t) != "1" {
		t.Errorf("after a pinned one was deleted: %+v, %s counted", got, s.counted(t))
	}
}

func TestARepeatedPinIsAnsweredAsTheFirst(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	a, idem := s.made.ArtifactID, wire.NewKey()
	s.faults.On("TransactWriteItems").Times(3).After(chaos.Timeout)
	refused(t, tries(t, s.who, "POST", pinPath(a), nil, "Idempotency-Key", idem), 503, fault.DatabaseUnavailable)
	if got := asks[contract.WebArtifact](t, s.who, 200, "POST", pinPath(a), nil, "Idempotency-Key", idem); !got.Pinned || got.Viewer == nil {
		t.Errorf("%+v", got)
	}
	unpins(t, s.who, a)
	if got := asks[contract.WebArtifact](t, s.who, 200, "POST", pinPath(a), nil, "Idempotency-Key", idem); !got.Pinned || s.counted(t) != "0" {
		t.Errorf("%+v, %s counted", got, s.counted(t))
	}
}

func TestF52PinsInParallelAtTheCapMakeOne(t *testing.T) {
	t.Parallel()
	const most = 3
	s := newLinkStand(t, mayPin(most))
	for range most - 1 {
		pins(t, s.who, published(t, s.agent, "before").ArtifactID)
	}
	wanted := make([]id.Artifact, 10)
	for n := range wanted {
		wanted[n] = published(t, s.agent, "wanted").ArtifactID
	}
	won := 0
	for _, answer := range s.atOnce(t, len(wanted), func(n int) (wire.Answer, error) {
		return s.who.Do(ctx, "POST", s.Origins.API+pinPath(wanted[n]), nil, keyed()...)
	}) {
		switch answer.Status {
		case http.StatusOK:
			won++
		case http.StatusServiceUnavailable: // it met the others too often
			refused(t, answer, 503, fault.DatabaseUnavailable)
		default:
			refused(t, answer, 409, fault.PinnedArtifactCap)
		}
	}
	if won != 1 || s.counted(t) != "3" {
		t.Errorf("%d were pinned at once, %s counted", won, s.counted(t))
	}
}

func TestOneArtifactIsPinnedOnceByManyAtOnce(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	for _, path := range []string{pinPath(s.made.ArtifactID), unpinPath(s.made.ArtifactID)} {
		for _, a := range together(func() wire.Answer { return tries(t, s.who, "POST", path, nil, keyed()...) }) {
			if a.Status != http.StatusOK && a.Status != http.StatusServiceUnavailable {
				t.Errorf("%s: %d %s", path, a.Status, a.Body)
			}
		}
	}
	if s.counted(t) != "0" {
		t.Errorf("%s counted", s.counted(t))
	}
}

func TestF53APinAndTheEndOfAnArtifactExcludeEachOther(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	first, second := s.made.ArtifactID, published(t, s.agent, "second").ArtifactID
	store := dynamo.New(s.client, s.names)
	seen := must(store.Artifacts.Artifact(ctx, first))(t)
	pins(t, s.who, first)
	s.clock.pass(7 * limits.Day)
	s.who = s.lets(t, s.who, "cli", s.Origins.API)
	s.ends(t, first, seen) // read before it was pinned
	if got := asks[contract.WebArtifact](t, s.who, 200, "GET", "/v1/web/artifacts/"+string(first), nil); !got.Pinned || got.Status != "Published" {
		t.Errorf("pinned first: %+v", got)
	}
	s.ends(t, second, nil)
	refused(t, tries(t, s.who, "POST", pinPath(second), nil, keyed()...), 404, fault.ArtifactNotFound)
	if got := asks[contract.WebArtifact](t, s.who, 200, "GET", "/v1/web/artifacts/"+string(second), nil); got.Status != "Expired" || s.counted(t) != "1" {
		t.Errorf("ended first: %+v", got)
	}
}

func TestAPinnedArtifactIsRevisedAndItsDraftStillFallsDue(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	a := s.made.ArtifactID
	pins(t, s.who, a)
	s.clock.pass(5 * limits.Day) // past its time, not past that of the key
	next := s.blank(t, s.agent, a)
	s.sound(t)
	if got := text(s.item(t, "A#"+string(a), "META")["g2p"]); got == "" {
		t.Error("nothing falls due of the draft")
	}
	must(s.agent.Publish(ctx, wire.NewKey(), a, next.RevisionID))(t)
	s.sound(t)
	other := s.blank(t, s.agent, a)
	s.who = s.lets(t, s.who, "cli", s.Origins.API)
	unpins(t, s.who, a)
	s.sound(t)
	pins(t, s.who, a)
	s.sound(t)
	must(s.agent.Publish(ctx, wire.NewKey(), a, other.RevisionID))(t)
}

func TestWhatWasClaimedCanBePinnedBeforeItIsMoved(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t)
	c, src := s.claimant(t), s.source(t)
	who := s.colleague(t, c.workspace)
	shown := published(t, src.Agent, "claimed")
	s.claimed(t, c, src.ClaimToken)
	if got := pins(t, who, shown.ArtifactID); !got.Pinned {
		t.Errorf("%+v", got)
	}
	s.sound(t)
	s.moves(t, src.WorkspaceID)
	if got := unpins(t, who, shown.ArtifactID); got.Pinned || got.AutoDeleteAt == nil {
		t.Errorf("%+v", got)
	}
}

func TestAnArtifactIsRenamed(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	path := s.Origins.API + "/v1/artifacts/" + string(s.made.ArtifactID) + "/display-metadata"
	for _, title := range []string{"  Gallery  ", "Gallery"} {
		got := answered[contract.DisplayMetadata](t, s.agent, 200, "PATCH", "/v1/artifacts/"+string(s.made.ArtifactID)+"/display-metadata", contract.UpdateMetadata{Title: title})
		if got.Title != "Gallery" || got.Description != nil {
			t.Errorf("%+v", got)
		}
	}
	if rows := answered[contract.ArtifactList](t, s.agent, 200, "GET", "/v1/artifacts", nil).Data; rows[0].Title != "Gallery" {
		t.Errorf("%+v", rows)
	}
	if v := must(s.agent.AgentView(ctx, s.made.ArtifactID))(t); v.Title != "Gallery" {
		t.Errorf("the view says %q", v.Title)
	}
	for _, body := range []string{`{}`, `{"title":"  "}`, `{"title":"x","description":"y"}`, `{"title":null}`, `[]`} {
		refused(t, do(t, s.agent, "PATCH", path, body), 400, fault.InvalidRequest)
	}
	refused(t, do(t, s.agent, "PATCH", path, contract.UpdateMetadata{Title: string(make([]rune, 161))}), 400, fault.InvalidRequest)
	refused(t, do(t, s.sibling(t, s.agent, "read"), "PATCH", path, `{"title":"x"}`), 403, fault.Forbidden)
	other, _, err := s.anyone.Provision(ctx)
	succeed(t, err)
	refused(t, do(t, other, "PATCH", path, `{"title":"x"}`), 404, fault.ArtifactNotFound)
	must(s.agent.PublishFiles(ctx, "Newer", s.made.ArtifactID, page("newer")))(t)
	if v := must(s.agent.AgentView(ctx, s.made.ArtifactID))(t); v.Title != "Newer" {
		t.Errorf("after a publication the view says %q", v.Title)
	}
	tryDelete(t, s.agent, s.made.ArtifactID)
	refused(t, do(t, s.agent, "PATCH", path, `{"title":"x"}`), 404, fault.ArtifactNotFound)
}

func TestMembersSeeRevisionsAsKeysDo(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	path := "/artifacts/" + string(s.made.ArtifactID) + "/revisions"
	mine := asks[contract.RevisionList](t, s.who, 200, "GET", "/v1/web"+path, nil)
	if len(mine.Items) != 1 || mine.Items[0].RevisionID != s.made.RevisionID {
		t.Errorf("%+v", mine)
	}
	refused(t, tries(t, s.who, "GET", "/v1/web/artifacts/art_1/revisions", nil), 404, fault.ArtifactNotFound)
}
