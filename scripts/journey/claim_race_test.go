package journey

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

func TestT27CredentialsOfAClaimedWorkspaceAreDeadAtOnce(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t)
	c, src := s.claimant(t), s.source(t)
	p, before := published(t, src.Agent, "claimed"), s.sibling(t, src.Agent, credential.Read)
	answer := s.claimed(t, c, src.ClaimToken)
	if answer.DestinationWorkspaceID != c.workspace || answer.SourceWorkspaceID != src.WorkspaceID || answer.ClaimTokenID != src.ClaimTokenID ||
		len(answer.ArtifactIDs) != 1 || answer.ArtifactIDs[0] != p.ArtifactID {
		t.Errorf("%+v", answer)
	}
	for _, when := range []string{"before the move", "after it"} {
		for _, g := range []*wire.Agent{src.Agent, before} {
			refused(t, do(t, g, "GET", s.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
		}
		refused(t, tryCreate(t, src.Agent, wire.NewKey(), wire.Declare("late", page("late"))), 401, fault.NotAuthenticated)
		refused(t, tryDelete(t, src.Agent, p.ArtifactID), 401, fault.NotAuthenticated)
		s.opens(t, c.Agent, p)
		t.Log(when)
		s.moves(t, src.WorkspaceID)
	}
	if n := s.count(t, s.names.Core, "K#"+string(parsed(t, src.Agent).Public)) + s.count(t, s.names.Core, "K#"+string(parsed(t, before).Public)); n != 0 {
		t.Errorf("%d keys of the claimed workspace are left", n)
	}
}

// TestT68WhateverIsWrongWithAClaimTokenLooksAlike also has a member look first.
func TestT68WhateverIsWrongWithAClaimTokenLooksAlike(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t)
	c := s.claimant(t)
	src := s.source(t)
	used := s.source(t)
	old := s.source(t)
	mine := s.source(t)
	s.claimed(t, c, used.ClaimToken)
	right := must(parsedClaim(src.ClaimToken))(t)
	swapped := right
	swapped.ClaimCode = "clm_" + strings.Repeat("0", 26)
	elsewhere := right
	elsewhere.Workspace = used.WorkspaceID
	s.change(t, "CT#"+string(must(parsedClaim(old.ClaimToken))(t).Public), "C",
		map[string]any{"exp": s.options.Now()})
	own := must(parsedClaim(mine.ClaimToken))(t) // as a token of the member's own workspace would be stored
	own.Workspace = c.workspace
	s.change(t, "CT#"+string(own.Public), "C", map[string]any{"ws": string(c.workspace)})
	said := ""
	for name, token := range map[string]string{
		"nothing": "", "no token": "ap_ct_preview_x", "swapped claim code": swapped.Reveal(), "wrong secret": credential.MintAs(credential.ClaimToken, credential.Preview, right.Workspace, right.Public).Reveal(),
		"other environment": relabelled(t, src.ClaimToken, "_preview_", "_production_"), "wrong checksum": strings.Replace(src.ClaimToken, "preview", "production", 1),
		"other kind": relabelled(t, src.ClaimToken, "ap_ct_", "ap_ca_"), "an API key": src.Key, "other workspace": elsewhere.Reveal(), "own workspace": own.Reveal(),
		"unknown": credential.Mint(credential.ClaimToken, credential.Preview, src.WorkspaceID, "").Reveal(), "redeemed": used.ClaimToken, "expired": old.ClaimToken,
	} {
		before := s.state(t)
		_, err := s.claims(t, c, wire.NewKey(), token)
		_, unseen := s.claimer(t).Preview(ctx, c.actor, token)
		if fault.CodeOf(err) != fault.NotFound || fmt.Sprint(unseen) != err.Error() || said != "" && err.Error() != said {
			t.Errorf("%s: claiming says %v, looking %v, others %q", name, err, unseen, said)
		}
		said = err.Error()
		s.unchanged(t, before)
	}
	s.change(t, "CT#"+string(own.Public), "C", map[string]any{"ws": string(mine.WorkspaceID)})
	stranger := c.actor
	stranger.Member = ""
	if _, err := s.claimer(t).Preview(ctx, stranger, src.ClaimToken); fault.CodeOf(err) != fault.NotAuthenticated {
		t.Errorf("an API key looks: %v", err)
	}
	s.claimed(t, c, src.ClaimToken)
}

func TestALookAtAClaimTellsWhatItBringsAndChangesNothing(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t, unlimited)
	c, src := s.claimant(t), s.source(t)
	for n := range 12 {
		s.clock.pass(1e6)
		published(t, src.Agent, fmt.Sprint("artifact ", n))
	}
	before := s.state(t)
	p := must(s.claimer(t).Preview(ctx, c.actor, src.ClaimToken))(t)
	s.unchanged(t, before)
	if p.Workspace != src.WorkspaceID || p.Count != 12 || len(p.Titles) != 10 || p.Titles[0] != "artifact 11" || !p.ExpiresAt.After(p.CreatedAt) {
		t.Errorf("%+v", p)
	}
}

// TestT25F28OneTokenIsClaimedOnce has members use one token at once, and one of them repeat the command.
func TestT25F28OneTokenIsClaimedOnce(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t)
	src, members := s.source(t), []*claimant{s.claimant(t), s.claimant(t), s.claimant(t)}
	p := published(t, src.Agent, "wanted")
	key := wire.NewKey()
	type result struct {
		by  *claimant
		got contract.Claimed
		err error
	}
	results := make([]result, 9)
	var all sync.WaitGroup
	for n := range results {
		all.Go(func() {
			c := members[n%3]
			got, err := s.claims(t, c, key, src.ClaimToken)
			results[n] = result{c, got, err}
		})
	}
	all.Wait()
	var winner *claimant
	for _, r := range results {
		if r.err == nil && winner == nil {
			winner = r.by
		}
	}
	if winner == nil {
		t.Fatalf("nobody won: %v", results)
	}
	for _, r := range results {
		switch code := fault.CodeOf(r.err); {
		case r.err == nil && r.by == winner && r.got.DestinationWorkspaceID == winner.workspace && len(r.got.ArtifactIDs) == 1:
		case code == fault.DatabaseUnavailable: // the crowd was too dense: to be repeated
		case r.by == winner && code == fault.IdempotencyInFlight, r.by != winner && code == fault.NotFound:
		default:
			t.Errorf("%+v %v", r.got, r.err)
		}
	}
	for _, c := range members {
		want := []id.Artifact{}
		if c == winner {
			want = append(want, p.ArtifactID)
		}
		sameArtifacts(t, "a member's list", listed(t, c.Agent, 50), want)
	}
}

func TestAClaimIsReplayedFromItsRecord(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t)
	c := s.claimant(t)
	src := s.source(t)
	other := s.source(t)
	p, key := published(t, src.Agent, "claimed"), wire.NewKey()
	s.worn.On("TransactWriteItems").After(chaos.Crash) // it took effect and nobody heard
	if _, err := s.claims(t, c, key, src.ClaimToken); err == nil {
		t.Error("the process did not die")
	}
	s.worn.Clear()
	s.worn.Revive()
	do(t, c.Agent, "DELETE", s.Origins.API+"/v1/artifacts/"+string(p.ArtifactID), nil)
	again, err := s.claims(t, c, key, src.ClaimToken)
	if err != nil || len(again.ArtifactIDs) != 1 || again.ArtifactIDs[0] != p.ArtifactID {
		t.Errorf("%+v %v", again, err)
	}
	if _, err := s.claims(t, c, key, other.ClaimToken); fault.CodeOf(err) != fault.InvalidIdempotencyKey {
		t.Errorf("the key with another token: %v", err)
	}
	if _, err := s.claims(t, c, wire.NewKey(), src.ClaimToken); fault.CodeOf(err) != fault.NotFound {
		t.Errorf("the token with another key: %v", err)
	}
}

// TestF26APublicationAndAClaimOvertakeEachOther holds each at its commit while the other commits.
func TestF26APublicationAndAClaimOvertakeEachOther(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t)
	c := s.claimant(t)
	src := s.source(t)
	d, key := s.blank(t, src.Agent, ""), wire.NewKey()
	late := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) { return s.publish(src.Agent, key, d.ArtifactID, d.RevisionID) }, func() {
		s.claimed(t, c, src.ClaimToken)
	})
	refused(t, late, 401, fault.NotAuthenticated)
	sameArtifacts(t, "the draft comes along", listed(t, c.Agent, 50), []id.Artifact{d.ArtifactID})
	must(c.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t) // migrates on write

	src = s.source(t)
	d = s.blank(t, src.Agent, "")
	s.worn.On("TransactWriteItems").Before(chaos.Run(func() {
		if a, err := s.publish(src.Agent, wire.NewKey(), d.ArtifactID, d.RevisionID); err != nil || a.Status != http.StatusOK {
			t.Errorf("publishing before the commit of the claim answers %d %s (%v)", a.Status, a.Body, err)
		}
	}))
	s.claimed(t, c, src.ClaimToken)
	if v, err := c.AgentView(ctx, d.ArtifactID); err != nil || v.RevisionID != d.RevisionID {
		t.Errorf("what was published before the claim is not part of it: %v", err)
	}
}

// TestF27AnUploadAndAClaimOvertakeEachOther does it with sessions: a pending one never ends, for whomever.
func TestF27AnUploadAndAClaimOvertakeEachOther(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t)
	c := s.claimant(t)
	src := s.source(t)
	other := s.source(t)
	wanted := wire.Declare("late", page("late"))
	late := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) { return s.create(other.Agent, wire.NewKey(), wanted) }, func() {
		s.claimed(t, c, other.ClaimToken)
	})
	refused(t, late, 401, fault.NotAuthenticated)
	pending, racing := s.uploaded(t, src.Agent, "", "pending"), s.uploaded(t, src.Agent, "", "racing")
	late = s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) {
		return s.finalize(src.Agent, wire.NewKey(), racing.UploadSessionID)
	}, func() { s.claimed(t, c, src.ClaimToken) })
	refused(t, late, 401, fault.NotAuthenticated)
	for _, u := range []contract.Session{pending, racing} {
		refused(t, tryFinalize(t, src.Agent, wire.NewKey(), u.UploadSessionID), 401, fault.NotAuthenticated)
		refused(t, tryFinalize(t, c.Agent, wire.NewKey(), u.UploadSessionID), 404, fault.NotFound)
		if status := s.status(t, u.UploadSessionID); status != "pending" {
			t.Errorf("the session is %s", status)
		}
	}
	sameArtifacts(t, "unfinished uploads are no part", listed(t, c.Agent, 50), nil)
	third := s.source(t)
	u := s.uploaded(t, third.Agent, "", "finalized in time")
	s.worn.On("TransactWriteItems").Before(chaos.Run(func() {
		if a, err := s.finalize(third.Agent, wire.NewKey(), u.UploadSessionID); err != nil || a.Status != http.StatusOK {
			t.Errorf("finalizing before the commit of the claim answers %d %s (%v)", a.Status, a.Body, err)
		}
	}))
	s.claimed(t, c, third.ClaimToken)
	sameArtifacts(t, "a draft is", listed(t, c.Agent, 50), []id.Artifact{u.ArtifactID})
}
