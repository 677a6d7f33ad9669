package journey

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/entry/claim"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

// moments runs checks while nothing is moved, when everything is, and when what was claimed is cleared away.
func (s *claimStand) moments(t *testing.T, w id.Workspace, check func(*testing.T)) {
	t.Helper()
	t.Run("before the move", check)
	if done, err := s.mover.Run(ctx, w); err != nil || done {
		t.Fatalf("one step is not all: %t %v", done, err)
	}
	t.Run("moved", check)
	s.moves(t, w)
	t.Run("after the move", check)
}

// TestF29NothingThatIsClaimedEndsEarly claims what would end soon, what is over, and what was deleted.
func TestF29NothingThatIsClaimedEndsEarly(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t)
	now := s.options.Now()
	s.clock.pass(now.Truncate(time.Hour).Add(time.Hour + 10*time.Minute).Sub(now)) // URLs live on to the end of an hour
	c, src := s.claimant(t), s.source(t)
	over := published(t, src.Agent, "over")
	s.clock.pass(10 * time.Minute)
	soon := published(t, src.Agent, "soon")
	soon.UnlistedURL = "" // it ends by itself
	s.clock.pass(limits.EphemeralArtifact - 5*time.Minute)
	s.claimed(t, c, src.ClaimToken) // when what was published first is over
	claimedAt := s.options.Now()
	s.clock.pass(10 * time.Minute) // and the other would be
	s.moments(t, src.WorkspaceID, func(t *testing.T) {
		s.opens(t, c.Agent, soon)
		s.shut(t, c.Agent, over)
		sameArtifacts(t, "the list", listed(t, c.Agent, 50), []id.Artifact{soon.ArtifactID})
		v := must(c.AgentView(ctx, soon.ArtifactID))(t)
		s.reads(t, v.RevisionContentURL, page("soon").Body)
		if left := v.ExpiresAt.Sub(claimedAt.Add(3 * limits.Day)); left.Abs() > time.Millisecond || v.EphemeralTier {
			t.Errorf("it ends %s from three days after the claim; ephemeral: %t", left, v.EphemeralTier)
		}
	})
	s.clock.pass(3 * limits.Day)
	s.shut(t, c.Agent, soon)
}

// TestF29TheFloorIsWhatTheDestinationChose lets it choose longer than its tier's default, and a life that is longer.
func TestF29TheFloorIsWhatTheDestinationChose(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t, func(o *stack.Options) {
		tier(func(p *limits.Policy) { p.DefaultLife, p.MaxLife = 30*limits.Day, 30*limits.Day })(&o.Limits)
	})
	c, src := s.claimant(t), s.source(t)
	c.actor.Workspace.AutoDays = 7
	long := must(src.Draft(ctx, wire.NewKey(), wire.Declare("blank", wire.File{Path: "blank.txt"}), wire.File{Path: "blank.txt"}))(t)
	short := published(t, src.Agent, "short")
	s.claimed(t, c, src.ClaimToken)
	s.moves(t, src.WorkspaceID)
	for a, days := range map[id.Artifact]time.Duration{long.ArtifactID: 30, short.ArtifactID: 7} {
		got := must(s.store.Artifacts.Artifact(ctx, a))(t)
		if left := got.ExpiresAt.Sub(s.options.Now()); left < days*limits.Day-time.Minute || left > days*limits.Day {
			t.Errorf("it ends in %s, want %d days", left, days)
		}
	}
}

// TestF31AClaimOfManyArtifactsIsWholeAtOnce claims more than any transaction holds.
func TestF31AClaimOfManyArtifactsIsWholeAtOnce(t *testing.T) {
	t.Parallel()
	const many = 250
	s := newClaimStand(t, unlimited)
	c, src := s.claimant(t), s.source(t)
	want := []id.Artifact{published(t, c.Agent, "own").ArtifactID}
	made := make([]id.Artifact, many)
	s.atOnce(t, 10, func(part int) (wire.Answer, error) {
		for n := part; n < many; n += 10 {
			d, err := src.Draft(ctx, wire.NewKey(), wire.Declare("blank", wire.File{Path: "blank.txt"}), wire.File{Path: "blank.txt"})
			if err == nil && n%5 == 0 {
				_, err = src.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID)
			}
			if made[n] = d.ArtifactID; err != nil {
				return wire.Answer{}, err
			}
		}
		return wire.Answer{}, nil
	})
	want = append(want, made...)
	actions := 0
	s.worn.On("TransactWriteItems").Before(func(_ context.Context, call *chaos.Call) error {
		actions = len(call.Input.(*dynamodb.TransactWriteItemsInput).TransactItems)
		return nil
	})
	answer := s.claimed(t, c, src.ClaimToken)
	if actions != 15 || len(answer.ArtifactIDs) != limits.ClaimListed {
		t.Errorf("the claim took %d actions and names %d artifacts", actions, len(answer.ArtifactIDs))
	}
	s.moments(t, src.WorkspaceID, func(t *testing.T) {
		sameArtifacts(t, "the list", listed(t, c.Agent, 70), want)
	})
}

// TestF32WhatTheIndexMissesIsReadThroughTheSource has the index behind in the first pass, and for another claim in all.
func TestF32WhatTheIndexMissesIsReadThroughTheSource(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t)
	c := s.claimant(t)
	late := s.source(t)
	lost := s.source(t)
	p, q := published(t, late.Agent, "late"), published(t, lost.Agent, "lost")
	s.claimed(t, c, late.ClaimToken)
	s.claimed(t, c, lost.ClaimToken)
	behind := func(w id.Workspace) *chaos.Rule {
		return s.worn.On("Query").If(chaos.Key("list", "W#"+string(w)+"#ART")).After(func(_ context.Context, call *chaos.Call) error {
			call.Output.(*dynamodb.QueryOutput).Items = nil
			return nil
		})
	}
	behind(late.WorkspaceID)
	if done, err := s.mover.Run(ctx, late.WorkspaceID); err != nil || done {
		t.Errorf("the first pass ends the move: %t %v", done, err)
	}
	s.opens(t, c.Agent, p)
	s.clock.pass(claim.Recheck + time.Second)
	for range 2 { // one finds it, the next one nothing: too soon to believe
		if done, err := s.mover.Run(ctx, late.WorkspaceID); err != nil || done {
			t.Errorf("a find does not make the migrator wait anew: %t %v", done, err)
		}
	}
	s.moves(t, late.WorkspaceID)
	if a := must(s.store.Artifacts.Artifact(ctx, p.ArtifactID))(t); a.Owner != c.workspace {
		t.Error("the second pass did not move what the first one missed")
	}
	behind(lost.WorkspaceID).Always()
	s.moves(t, lost.WorkspaceID)
	s.opens(t, c.Agent, q) // the gate of the source still leads to the destination
	s.change(t, "JOB#MIGRATE#"+string(lost.WorkspaceID), "J", nil)
	s.worn.Clear()
	s.remains(t, lost.WorkspaceID, c.workspace) // what a later job finds
	s.moves(t, lost.WorkspaceID)
	s.opens(t, c.Agent, q)
}

// remains puts a finished move back to work.
func (s *claimStand) remains(t testing.TB, from, to id.Workspace) {
	t.Helper()
	for _, key := range []stored{pair("W#"+string(to), "ALIAS#"+string(from)), pair("JOB#MIGRATE#"+string(from), "J")} {
		s.put(t, key, map[string]any{"since": s.options.Now(), "floor": s.options.Now(), "g2p": "DUE#MIGRATE#0", "g2s": "0"})
	}
	s.change(t, "W#"+string(from), "META", map[string]any{"ttl": nil})
}

func pair(pk, sk string) stored {
	i := stored{}
	alter(i, map[string]any{"pk": pk, "sk": sk})
	return i
}

// lock sets or lifts a lockdown as an operator does.
func (s *claimStand) lock(t testing.TB, w id.Workspace, lock any) {
	t.Helper()
	s.change(t, "W#"+string(w), "META", map[string]any{"lock": lock})
}

// TestF33F35LocksOfBothWorkspacesHoldInTheWindow locks one, both, and one again.
func TestF33F35LocksOfBothWorkspacesHoldInTheWindow(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t, unlimited)
	c, src := s.claimant(t), s.source(t)
	p := published(t, src.Agent, "locked")
	s.claimed(t, c, src.ClaimToken)
	later := must(c.AgentView(ctx, p.ArtifactID))(t).RevisionContentURL // signed after the claim
	s.moments(t, src.WorkspaceID, func(t *testing.T) {
		s.opens(t, c.Agent, p)
		s.lock(t, c.workspace, "lkd_destination")
		s.shut(t, c.Agent, p)
		s.gone(t, later)
		s.lock(t, src.WorkspaceID, "lkd_source")
		s.lock(t, c.workspace, nil)
		for _, url := range []string{p.RevisionContentURL, p.AgentViewURL} { // one lock is lifted, the other holds
			s.gone(t, url)
		}
		if _, err := s.anyone.Resolve(ctx, p.UnlistedURL); err == nil {
			t.Error("the link opens")
		}
		s.lock(t, src.WorkspaceID, nil)
		s.opens(t, c.Agent, p)
		s.reads(t, later, page("locked").Body)
	})
}

// TestF34ALockAndAClaimAtOnce has one overtake the other, in both orders, for both workspaces.
func TestF34ALockAndAClaimAtOnce(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t, unlimited)
	c, src := s.claimant(t), s.source(t)
	p := published(t, src.Agent, "locked")
	for w, code := range map[id.Workspace]fault.Code{c.workspace: fault.NotAuthenticated, src.WorkspaceID: fault.NotFound} {
		s.worn.On("TransactWriteItems").Before(chaos.Run(func() { s.lock(t, w, "lkd_first") }))
		if _, err := s.claims(t, c, wire.NewKey(), src.ClaimToken); fault.CodeOf(err) != code {
			t.Errorf("the claim of what is locked first: %v", err)
		}
		s.lock(t, w, nil)
	}
	s.opens(t, src.Agent, p)
	s.worn.On("TransactWriteItems").After(chaos.Run(func() { s.lock(t, c.workspace, "lkd_second") }))
	s.claimed(t, c, src.ClaimToken)
	s.shut(t, c.Agent, p)
	s.lock(t, c.workspace, nil)
	s.opens(t, c.Agent, p)
	var both sync.WaitGroup
	third := s.source(t)
	q := published(t, third.Agent, "raced")
	both.Go(func() { s.lock(t, c.workspace, "lkd_third") })
	both.Go(func() { s.claims(t, c, wire.NewKey(), third.ClaimToken) })
	both.Wait()
	if s.item(t, "W#"+string(third.WorkspaceID), "META")["into"] != nil {
		s.shut(t, c.Agent, q)
	} else {
		s.opens(t, third.Agent, q)
	}
	s.lock(t, c.workspace, nil)
}

// TestTheTierOfTheOwnerCountsFromTheClaimOn has a URL from before the claim and one from after it.
func TestTheTierOfTheOwnerCountsFromTheClaimOn(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t)
	c, src := s.claimant(t), s.source(t)
	p := published(t, src.Agent, "tier")
	frame := []string{"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "cross-site"}
	scripts := func(url string) bool {
		return strings.Contains(s.get(t, url, frame...).Header.Get("Content-Security-Policy"), "'unsafe-eval'")
	}
	if robots := s.get(t, p.RevisionContentURL).Header.Get("X-Robots-Tag"); robots == "" || scripts(p.RevisionContentURL) {
		t.Errorf("unclaimed: X-Robots-Tag %q, scripts", robots)
	}
	s.claimed(t, c, src.ClaimToken)
	s.moments(t, src.WorkspaceID, func(t *testing.T) {
		after := must(c.AgentView(ctx, p.ArtifactID))(t).RevisionContentURL
		resolved := must(s.anyone.Resolve(ctx, p.UnlistedURL))(t)
		for _, url := range []string{p.RevisionContentURL, after, resolved.IframeSrc} {
			if robots := s.get(t, url).Header.Get("X-Robots-Tag"); robots != "" {
				t.Errorf("X-Robots-Tag is %q", robots)
			}
		}
		if scripts(p.RevisionContentURL) || !scripts(after) || !scripts(resolved.IframeSrc) || resolved.AgentView.EphemeralTier {
			t.Errorf("scripts of the old URL: %t, of new ones: %t %t", scripts(p.RevisionContentURL), scripts(after), scripts(resolved.IframeSrc))
		}
	})
}

// TestTheDestinationWritesBeforeTheMove deletes, revises and publishes what still says that it is in the source.
func TestTheDestinationWritesBeforeTheMove(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t)
	c, src := s.claimant(t), s.source(t)
	gone := published(t, src.Agent, "gone")
	revised := published(t, src.Agent, "revised")
	drafted := s.blank(t, src.Agent, "")
	left := published(t, src.Agent, "left")
	earlier := published(t, src.Agent, "deleted before")
	tryDelete(t, src.Agent, earlier.ArtifactID)
	s.clock.pass(limits.EphemeralArtifact - 2*time.Minute)
	s.claimed(t, c, src.ClaimToken)
	revised = s.fresh(t, c, revised)
	left = s.fresh(t, c, left)
	gone = s.fresh(t, c, gone)
	s.clock.pass(3 * time.Minute) // all would be over now but for the claim
	next := must(c.PublishFiles(ctx, "next", revised.ArtifactID, page("next")))(t)
	must(c.Publish(ctx, wire.NewKey(), drafted.ArtifactID, drafted.RevisionID))(t)
	if a := tryDelete(t, c.Agent, gone.ArtifactID); a.Status != http.StatusOK {
		t.Errorf("deleting answers %d %s", a.Status, a.Body)
	}
	for _, a := range []id.Artifact{gone.ArtifactID, revised.ArtifactID, drafted.ArtifactID} {
		if got := must(s.store.Artifacts.Artifact(ctx, a))(t); got.Owner != c.workspace {
			t.Errorf("a write leaves %s in the source", a)
		}
	}
	open := s.uploaded(t, c.Agent, left.ArtifactID, "held open")
	s.moments(t, src.WorkspaceID, func(t *testing.T) {
		s.shut(t, c.Agent, gone)
		s.reads(t, next.RevisionContentURL, page("next").Body)
		s.reads(t, revised.RevisionContentURL, page("revised").Body)
		sameArtifacts(t, "the list", listed(t, c.Agent, 2), []id.Artifact{revised.ArtifactID, drafted.ArtifactID, left.ArtifactID})
		sameArtifacts(t, "the member's list", s.web(t, c, 2), []id.Artifact{
			revised.ArtifactID, drafted.ArtifactID, left.ArtifactID, gone.ArtifactID, earlier.ArtifactID,
		})
		refused(t, tryDelete(t, c.Agent, earlier.ArtifactID), 404, fault.ArtifactNotFound)
		s.opens(t, c.Agent, left)
	})
	f := must(c.Finalize(ctx, wire.NewKey(), open.UploadSessionID))(t) // its session is from before the move
	must(c.Publish(ctx, wire.NewKey(), f.ArtifactID, f.RevisionID))(t)
}

// TestASessionOfTheDestinationEndsInTheWindow finalizes while the artifact still says that it is in the source, and lets
// the migrator and a publication overtake each other.
func TestASessionOfTheDestinationEndsInTheWindow(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t)
	c, src := s.claimant(t), s.source(t)
	p, q := published(t, src.Agent, "one"), published(t, src.Agent, "two")
	s.claimed(t, c, src.ClaimToken)
	s.clock.pass(limits.EphemeralArtifact + time.Minute)
	d := must(c.Draft(ctx, wire.NewKey(), revisionOf(p.ArtifactID, "second"), page("second")))(t)
	e := must(c.Draft(ctx, wire.NewKey(), revisionOf(q.ArtifactID, "second"), page("second")))(t)
	late := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) { return s.publish(c.Agent, wire.NewKey(), d.ArtifactID, d.RevisionID) }, func() {
		s.moves(t, src.WorkspaceID)
	})
	if late.Status != http.StatusOK {
		t.Errorf("a publication that the move overtakes answers %d %s", late.Status, late.Body)
	}
	refused(t, tryCreate(t, c.Agent, wire.NewKey(), revisionOf(q.ArtifactID, "third")), 409, fault.DraftRevisionConflict)
	deleted := s.overtaken(t, "TransactWriteItems", func() (wire.Answer, error) { return s.remove(c.Agent, q.ArtifactID) }, func() {
		must(c.Publish(ctx, wire.NewKey(), e.ArtifactID, e.RevisionID))(t)
	})
	if deleted.Status != http.StatusOK {
		t.Errorf("deleting answers %d %s", deleted.Status, deleted.Body)
	}
	s.shut(t, c.Agent, q)
	sameArtifacts(t, "the list", listed(t, c.Agent, 50), []id.Artifact{p.ArtifactID})
}

func revisionOf(a id.Artifact, words string) contract.CreateSession {
	r := wire.Declare(words, page(words))
	r.ArtifactID = a
	return r
}

// fresh has URLs that were signed after the claim.
func (s *claimStand) fresh(t testing.TB, c *claimant, p contract.Published) contract.Published {
	t.Helper()
	v := must(c.AgentView(ctx, p.ArtifactID))(t)
	p.RevisionContentURL = v.RevisionContentURL
	p.AgentViewURL = v.RevisionContentURL
	p.UnlistedURL = ""
	return p
}

// web is the member's list, all pages.
func (s *claimStand) web(t testing.TB, c *claimant, limit int) (ids []id.Artifact) {
	t.Helper()
	for q := (artifact.Query{
		Workspace: c.workspace,
		Claimed:   true,
		Gone:      true,
		Limit:     limit,
		Now:       s.options.Now(),
	}); ; {
		rows, more, err := s.store.Artifacts.List(ctx, q)
		succeed(t, err)
		for _, a := range rows {
			if a.Owner != c.workspace {
				t.Errorf("%s is listed as of %s", a.ID, a.Owner)
			}
			ids = append(ids, a.ID)
		}
		if !more {
			return ids
		}
		last := rows[len(rows)-1]
		q.After = artifact.Position{CreatedAt: last.CreatedAt, ID: last.ID}
	}
}

// TestNobodyElseGetsAtWhatIsBeingMoved asks with the key of a third workspace, which has claimed something too.
func TestNobodyElseGetsAtWhatIsBeingMoved(t *testing.T) {
	t.Parallel()
	s := newClaimStand(t)
	c := s.claimant(t)
	other := s.claimant(t)
	src := s.source(t)
	third := s.source(t)
	p := published(t, src.Agent, "mine")
	s.claimed(t, c, src.ClaimToken)
	s.claimed(t, other, third.ClaimToken)
	s.moments(t, src.WorkspaceID, func(t *testing.T) {
		view := s.Origins.API + "/v1/artifacts/" + string(p.ArtifactID)
		refused(t, do(t, other.Agent, "GET", view+"/agent-view", nil), 404, fault.NotFound)
		refused(t, do(t, other.Agent, "GET", view+"/revisions", nil), 404, fault.ArtifactNotFound)
		refused(t, tryDelete(t, other.Agent, p.ArtifactID), 404, fault.ArtifactNotFound)
		refused(t, tryCreate(t, other.Agent, wire.NewKey(), revisionOf(p.ArtifactID, "theirs")), 404, fault.ArtifactNotFound)
		if _, err := s.lister().Find(ctx, other.actor, p.ArtifactID); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("another member finds it: %v", err)
		}
		if a, err := s.lister().Find(ctx, c.actor, p.ArtifactID); err != nil || a.Owner != c.workspace {
			t.Errorf("its member does not: %+v %v", a, err)
		}
		sameArtifacts(t, fmt.Sprint("the other list"), listed(t, other.Agent, 50), nil)
	})
}
