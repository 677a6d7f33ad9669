package claim

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/entry/claim"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

// atEachStep runs checks while nothing is moved, when everything is, and when what was claimed is cleared away.
func atEachStep(t *testing.T, s *harness.ClaimEnv, w id.Workspace, check func(*testing.T)) {
	t.Helper()
	t.Run("before the move", check)
	if done, err := s.Migrator.Run(ctx, w); err != nil || done {
		t.Fatalf("one step is not all: %t %v", done, err)
	}
	t.Run("moved", check)
	s.Migrate(t, w)
	t.Run("after the move", check)
}

// TestF29NothingThatIsClaimedEndsEarly claims what would end soon, what is over, and what was deleted.
func TestF29NothingThatIsClaimedEndsEarly(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t)
	now := s.Options.Now()
	s.Clock.Advance(now.Truncate(time.Hour).Add(time.Hour + 10*time.Minute).Sub(now)) // URLs live on to the end of an hour
	c, src := s.NewClaimant(t), s.NewSource(t)
	over := harness.PublishPage(t, src.Agent, "over")
	s.Clock.Advance(10 * time.Minute)
	soon := harness.PublishPage(t, src.Agent, "soon")
	soon.UnlistedURL = "" // it ends by itself
	s.Clock.Advance(limits.EphemeralArtifact - 5*time.Minute)
	s.MustClaim(t, c, src.ClaimToken) // when what was published first is over
	claimedAt := s.Options.Now()
	s.Clock.Advance(10 * time.Minute) // and the other would be
	atEachStep(t, s, src.WorkspaceID, func(t *testing.T) {
		s.WantOpen(t, c.Agent, soon)
		s.WantClosed(t, c.Agent, over)
		wantSameArtifacts(t, "the list", harness.ListArtifacts(t, c.Agent, 50), []id.Artifact{soon.ArtifactID})
		v := harness.Must(c.AgentView(ctx, soon.ArtifactID))(t)
		s.WantContent(t, v.RevisionContentURL, harness.Page("soon").Body)
		if left := v.ExpiresAt.Sub(claimedAt.Add(3 * limits.Day)); left.Abs() > time.Millisecond || v.EphemeralTier {
			t.Errorf("it ends %s from three days after the claim; ephemeral: %t", left, v.EphemeralTier)
		}
	})
	s.Clock.Advance(3 * limits.Day)
	s.WantClosed(t, c.Agent, soon)
}

// TestF29TheFloorIsWhatTheDestinationChose lets it choose longer than an artifact has left, and shorter.
func TestF29TheFloorIsWhatTheDestinationChose(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t, func(o *stack.Options) {
		harness.WithPolicy(func(p *limits.Policy) { p.DefaultLife, p.MaxLife = 8*limits.Day, 8*limits.Day })(&o.Limits)
	})
	c, src := s.NewClaimant(t), s.NewSource(t)
	c.Actor.Workspace.AutoDays = 7
	short := harness.PublishPage(t, src.Agent, "short")
	s.Clock.Advance(3 * limits.Day)
	long := harness.Must(src.Draft(
		ctx, wire.NewKey(), wire.Declare("blank", wire.File{Path: "blank.txt"}), wire.File{Path: "blank.txt"},
	))(t)
	s.MustClaim(t, c, src.ClaimToken)
	s.Migrate(t, src.WorkspaceID)
	for a, days := range map[id.Artifact]time.Duration{long.ArtifactID: 8, short.ArtifactID: 7} {
		got := harness.Must(s.Store.Artifacts.Artifact(ctx, a))(t)
		if left := got.ExpiresAt.Sub(s.Options.Now()); left < days*limits.Day-time.Minute || left > days*limits.Day {
			t.Errorf("it ends in %s, want %d days", left, days)
		}
	}
}

// TestF31AClaimOfManyArtifactsIsWholeAtOnce claims more than any transaction holds.
func TestF31AClaimOfManyArtifactsIsWholeAtOnce(t *testing.T) {
	t.Parallel()
	const many = 250
	s := harness.NewClaimEnv(t, harness.Unlimited)
	c, src := s.NewClaimant(t), s.NewSource(t)
	want := []id.Artifact{harness.PublishPage(t, c.Agent, "own").ArtifactID}
	made := make([]id.Artifact, many)
	s.Concurrently(t, 10, func(part int) (wire.Answer, error) {
		for n := part; n < many; n += 10 {
			d, err := src.Draft(
				ctx, wire.NewKey(), wire.Declare("blank", wire.File{Path: "blank.txt"}), wire.File{Path: "blank.txt"},
			)
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
	s.JobFaults.On("TransactWriteItems").Before(func(_ context.Context, call *chaos.Call) error {
		actions = len(call.Input.(*dynamodb.TransactWriteItemsInput).TransactItems)
		return nil
	})
	answer := s.MustClaim(t, c, src.ClaimToken)
	if actions != 15 || len(answer.ArtifactIDs) != limits.ClaimListed {
		t.Errorf("the claim took %d actions and names %d artifacts", actions, len(answer.ArtifactIDs))
	}
	atEachStep(t, s, src.WorkspaceID, func(t *testing.T) {
		wantSameArtifacts(t, "the list", harness.ListArtifacts(t, c.Agent, 70), want)
	})
}

// TestF32WhatTheIndexMissesIsReadThroughTheSource has the index behind in the first pass, and for another claim in all.
func TestF32WhatTheIndexMissesIsReadThroughTheSource(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t)
	c, late, lost := s.NewClaimant(t), s.NewSource(t), s.NewSource(t)
	p, q := harness.PublishPage(t, late.Agent, "late"), harness.PublishPage(t, lost.Agent, "lost")
	s.MustClaim(t, c, late.ClaimToken)
	s.MustClaim(t, c, lost.ClaimToken)
	behind := func(w id.Workspace) *chaos.Rule {
		list := chaos.Key("list", "W#"+string(w)+"#ART")
		return s.JobFaults.On("Query").If(list).After(func(_ context.Context, call *chaos.Call) error {
			call.Output.(*dynamodb.QueryOutput).Items = nil
			return nil
		})
	}
	behind(late.WorkspaceID)
	if done, err := s.Migrator.Run(ctx, late.WorkspaceID); err != nil || done {
		t.Errorf("the first pass ends the move: %t %v", done, err)
	}
	s.WantOpen(t, c.Agent, p)
	s.Clock.Advance(claim.Recheck + time.Second)
	for range 2 { // one finds it, the next one nothing: too soon to believe
		if done, err := s.Migrator.Run(ctx, late.WorkspaceID); err != nil || done {
			t.Errorf("a find does not make the migrator wait anew: %t %v", done, err)
		}
	}
	s.Migrate(t, late.WorkspaceID)
	if a := harness.Must(s.Store.Artifacts.Artifact(ctx, p.ArtifactID))(t); a.Owner != c.Workspace {
		t.Error("the second pass did not move what the first one missed")
	}
	behind(lost.WorkspaceID).Always()
	s.Migrate(t, lost.WorkspaceID)
	s.WantOpen(t, c.Agent, q) // the gate of the source still leads to the destination
	s.Update(t, "JOB#MIGRATE#"+string(lost.WorkspaceID), "J", nil)
	s.JobFaults.Clear()
	wantNothingLeft(t, s, lost.WorkspaceID, c.Workspace) // what a later job finds
	s.Migrate(t, lost.WorkspaceID)
	s.WantOpen(t, c.Agent, q)
}

// wantNothingLeft puts a finished move back to work.
func wantNothingLeft(t testing.TB, s *harness.ClaimEnv, from, to id.Workspace) {
	t.Helper()
	alias, job := itemWithKey("W#"+string(to), "ALIAS#"+string(from)), itemWithKey("JOB#MIGRATE#"+string(from), "J")
	for _, key := range []harness.Item{alias, job} {
		s.Put(t, key, map[string]any{"since": s.Options.Now(), "floor": s.Options.Now(), "g2p": "DUE#MIGRATE#0", "g2s": "0"})
	}
	s.Update(t, "W#"+string(from), "META", map[string]any{"ttl": nil})
}

func itemWithKey(pk, sk string) harness.Item {
	i := harness.Item{}
	harness.SetAttributes(i, map[string]any{"pk": pk, "sk": sk})
	return i
}

// setLock sets or lifts a lockdown as an operator does.
func setLock(t testing.TB, s *harness.ClaimEnv, w id.Workspace, lock any) {
	t.Helper()
	s.Update(t, "W#"+string(w), "META", map[string]any{"lock": lock})
}

// TestF33F35LocksOfBothWorkspacesHoldInTheWindow locks one, both, and one again.
func TestF33F35LocksOfBothWorkspacesHoldInTheWindow(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t, harness.Unlimited)
	c, src := s.NewClaimant(t), s.NewSource(t)
	p := harness.PublishPage(t, src.Agent, "locked")
	s.MustClaim(t, c, src.ClaimToken)
	later := harness.Must(c.AgentView(ctx, p.ArtifactID))(t).RevisionContentURL // signed after the claim
	atEachStep(t, s, src.WorkspaceID, func(t *testing.T) {
		s.WantOpen(t, c.Agent, p)
		setLock(t, s, c.Workspace, "lkd_destination")
		s.WantClosed(t, c.Agent, p)
		s.WantGone(t, later)
		setLock(t, s, src.WorkspaceID, "lkd_source")
		setLock(t, s, c.Workspace, nil)
		for _, url := range []string{p.RevisionContentURL, p.AgentViewURL} { // one lock is lifted, the other holds
			s.WantGone(t, url)
		}
		if _, err := s.Anyone.Resolve(ctx, p.UnlistedURL); err == nil {
			t.Error("the link opens")
		}
		setLock(t, s, src.WorkspaceID, nil)
		s.WantOpen(t, c.Agent, p)
		s.WantContent(t, later, harness.Page("locked").Body)
	})
}

// TestF34ALockAndAClaimAtOnce has one overtake the other, in both orders, for both workspaces.
func TestF34ALockAndAClaimAtOnce(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t, harness.Unlimited)
	c, src := s.NewClaimant(t), s.NewSource(t)
	p := harness.PublishPage(t, src.Agent, "locked")
	for w, code := range map[id.Workspace]fault.Code{
		c.Workspace:     fault.NotAuthenticated,
		src.WorkspaceID: fault.NotFound,
	} {
		s.JobFaults.On("TransactWriteItems").Before(chaos.Run(func() { setLock(t, s, w, "lkd_first") }))
		if _, err := s.Claim(t, c, wire.NewKey(), src.ClaimToken); fault.CodeOf(err) != code {
			t.Errorf("the claim of what is locked first: %v", err)
		}
		setLock(t, s, w, nil)
	}
	s.WantOpen(t, src.Agent, p)
	s.JobFaults.On("TransactWriteItems").After(chaos.Run(func() { setLock(t, s, c.Workspace, "lkd_second") }))
	s.MustClaim(t, c, src.ClaimToken)
	s.WantClosed(t, c.Agent, p)
	setLock(t, s, c.Workspace, nil)
	s.WantOpen(t, c.Agent, p)
	var both sync.WaitGroup
	third := s.NewSource(t)
	q := harness.PublishPage(t, third.Agent, "raced")
	both.Go(func() { setLock(t, s, c.Workspace, "lkd_third") })
	both.Go(func() { s.Claim(t, c, wire.NewKey(), third.ClaimToken) })
	both.Wait()
	if s.GetItem(t, "W#"+string(third.WorkspaceID), "META")["into"] != nil {
		s.WantClosed(t, c.Agent, q)
	} else {
		s.WantOpen(t, third.Agent, q)
	}
	setLock(t, s, c.Workspace, nil)
}

// TestTheTierOfTheOwnerCountsFromTheClaimOn has a URL from before the claim and one from after it.
func TestTheTierOfTheOwnerCountsFromTheClaimOn(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t)
	c, src := s.NewClaimant(t), s.NewSource(t)
	p := harness.PublishPage(t, src.Agent, "tier")
	frame := []string{"Sec-Fetch-Dest", "iframe", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Site", "cross-site"}
	scripts := func(url string) bool {
		return strings.Contains(s.Get(t, url, frame...).Header.Get("Content-Security-Policy"), "'unsafe-eval'")
	}
	if robots := s.Get(t, p.RevisionContentURL).Header.Get("X-Robots-Tag"); robots == "" || scripts(p.RevisionContentURL) {
		t.Errorf("unclaimed: X-Robots-Tag %q, scripts", robots)
	}
	s.MustClaim(t, c, src.ClaimToken)
	atEachStep(t, s, src.WorkspaceID, func(t *testing.T) {
		after := harness.Must(c.AgentView(ctx, p.ArtifactID))(t).RevisionContentURL
		resolved := harness.Must(s.Anyone.Resolve(ctx, p.UnlistedURL))(t)
		for _, url := range []string{p.RevisionContentURL, after, resolved.IframeSrc} {
			if robots := s.Get(t, url).Header.Get("X-Robots-Tag"); robots != "" {
				t.Errorf("X-Robots-Tag is %q", robots)
			}
		}
		if scripts(p.RevisionContentURL) || !scripts(after) || !scripts(resolved.IframeSrc) ||
			resolved.AgentView.EphemeralTier {
			t.Errorf(
				"scripts of the old URL: %t, of new ones: %t %t",
				scripts(p.RevisionContentURL),
				scripts(after),
				scripts(resolved.IframeSrc),
			)
		}
	})
}

// TestTheDestinationWritesBeforeTheMove deletes, revises and publishes what still says that it is in the source.
func TestTheDestinationWritesBeforeTheMove(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t)
	c, src := s.NewClaimant(t), s.NewSource(t)
	gone := harness.PublishPage(t, src.Agent, "gone")
	revised := harness.PublishPage(t, src.Agent, "revised")
	drafted := s.DraftBlank(t, src.Agent, "")
	left := harness.PublishPage(t, src.Agent, "left")
	earlier := harness.PublishPage(t, src.Agent, "deleted before")
	harness.DeleteArtifact(t, src.Agent, earlier.ArtifactID)
	s.Clock.Advance(limits.EphemeralArtifact - 2*time.Minute)
	s.MustClaim(t, c, src.ClaimToken)
	revised = publishAgain(t, s, c, revised)
	left = publishAgain(t, s, c, left)
	gone = publishAgain(t, s, c, gone)
	s.Clock.Advance(3 * time.Minute) // all would be over now but for the claim
	next := harness.Must(c.PublishFiles(ctx, "next", revised.ArtifactID, harness.Page("next")))(t)
	harness.Must(c.Publish(ctx, wire.NewKey(), drafted.ArtifactID, drafted.RevisionID))(t)
	harness.DeleteArtifact(t, c.Agent, gone.ArtifactID)
	for _, a := range []id.Artifact{gone.ArtifactID, revised.ArtifactID, drafted.ArtifactID} {
		if got := harness.Must(s.Store.Artifacts.Artifact(ctx, a))(t); got.Owner != c.Workspace {
			t.Errorf("a write leaves %s in the source", a)
		}
	}
	open := s.Upload(t, c.Agent, left.ArtifactID, "held open")
	atEachStep(t, s, src.WorkspaceID, func(t *testing.T) {
		s.WantClosed(t, c.Agent, gone)
		s.WantContent(t, next.RevisionContentURL, harness.Page("next").Body)
		s.WantContent(t, revised.RevisionContentURL, harness.Page("revised").Body)
		wantSameArtifacts(t, "the list", harness.ListArtifacts(t, c.Agent, 2), []id.Artifact{
			revised.ArtifactID, drafted.ArtifactID, left.ArtifactID,
		})
		wantSameArtifacts(t, "the member's list", listAsMember(t, s, c, 2), []id.Artifact{
			revised.ArtifactID, drafted.ArtifactID, left.ArtifactID, gone.ArtifactID, earlier.ArtifactID,
		})
		harness.WantRefused(t, harness.Must(harness.Delete(c.Agent, earlier.ArtifactID))(t), 404, fault.ArtifactNotFound)
		s.WantOpen(t, c.Agent, left)
	})
	f := harness.Must(c.Finalize(ctx, wire.NewKey(), open.UploadSessionID))(t) // its session is from before the move
	harness.Must(c.Publish(ctx, wire.NewKey(), f.ArtifactID, f.RevisionID))(t)
}

// TestASessionOfTheDestinationEndsInTheWindow finalizes while the artifact still says that it is in the source, and
// lets the migrator and a publication overtake each other.
func TestASessionOfTheDestinationEndsInTheWindow(t *testing.T) {
	t.Parallel()
	s := harness.NewClaimEnv(t)
	c, src := s.NewClaimant(t), s.NewSource(t)
	p, q := harness.PublishPage(t, src.Agent, "one"), harness.PublishPage(t, src.Agent, "two")
	s.MustClaim(t, c, src.ClaimToken)
	s.Clock.Advance(limits.EphemeralArtifact + time.Minute)
	d := harness.Must(c.Draft(
		ctx, wire.NewKey(), harness.DeclareRevision(p.ArtifactID, "second"), harness.Page("second"),
	))(t)
	e := harness.Must(c.Draft(
		ctx, wire.NewKey(), harness.DeclareRevision(q.ArtifactID, "second"), harness.Page("second"),
	))(t)
	late := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
		return harness.Publish(c.Agent, wire.NewKey(), d.ArtifactID, d.RevisionID)
	}, func() {
		s.Migrate(t, src.WorkspaceID)
	})
	if late.Status != http.StatusOK {
		t.Errorf("a publication that the move overtakes answers %d %s", late.Status, late.Body)
	}
	harness.WantRefused(
		t,
		harness.Must(harness.Create(c.Agent, wire.NewKey(), harness.DeclareRevision(q.ArtifactID, "third")))(t),
		409,
		fault.DraftRevisionConflict,
	)
	deleted := s.Overtake(t, "TransactWriteItems", func() (wire.Answer, error) {
		return harness.Delete(c.Agent, q.ArtifactID)
	}, func() {
		harness.Must(c.Publish(ctx, wire.NewKey(), e.ArtifactID, e.RevisionID))(t)
	})
	if deleted.Status != http.StatusOK {
		t.Errorf("deleting answers %d %s", deleted.Status, deleted.Body)
	}
	s.WantClosed(t, c.Agent, q)
	wantSameArtifacts(t, "the list", harness.ListArtifacts(t, c.Agent, 50), []id.Artifact{p.ArtifactID})
}

// publishAgain has URLs that were signed after the claim.
func publishAgain(t testing.TB, s *harness.ClaimEnv, c *harness.Claimant, p contract.Published) contract.Published {
	t.Helper()
	v := harness.Must(c.AgentView(ctx, p.ArtifactID))(t)
	p.RevisionContentURL = v.RevisionContentURL
	p.AgentViewURL = v.RevisionContentURL
	p.UnlistedURL = ""
	return p
}

// listAsMember is the member's list, all pages.
func listAsMember(t testing.TB, s *harness.ClaimEnv, c *harness.Claimant, limit int) (ids []id.Artifact) {
	t.Helper()
	for q := (artifact.Query{
		Workspace: c.Workspace,
		Claimed:   true,
		Gone:      true,
		Limit:     limit,
		Now:       s.Options.Now(),
	}); ; {
		rows, more, err := s.Store.Artifacts.List(ctx, q)
		harness.NoError(t, err)
		for _, a := range rows {
			if a.Owner != c.Workspace {
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
	s := harness.NewClaimEnv(t)
	c, other := s.NewClaimant(t), s.NewClaimant(t)
	src, third := s.NewSource(t), s.NewSource(t)
	p := harness.PublishPage(t, src.Agent, "mine")
	s.MustClaim(t, c, src.ClaimToken)
	s.MustClaim(t, other, third.ClaimToken)
	atEachStep(t, s, src.WorkspaceID, func(t *testing.T) {
		view := s.Origins.API + "/v1/artifacts/" + string(p.ArtifactID)
		harness.WantRefused(t, harness.Do(t, other.Agent, "GET", view+"/agent-view", nil), 404, fault.NotFound)
		harness.WantRefused(t, harness.Do(t, other.Agent, "GET", view+"/revisions", nil), 404, fault.ArtifactNotFound)
		harness.WantRefused(t, harness.Must(harness.Delete(other.Agent, p.ArtifactID))(t), 404, fault.ArtifactNotFound)
		harness.WantRefused(
			t,
			harness.Must(harness.Create(other.Agent, wire.NewKey(), harness.DeclareRevision(p.ArtifactID, "theirs")))(t),
			404,
			fault.ArtifactNotFound,
		)
		if _, err := newLister(s).Find(ctx, other.Actor, p.ArtifactID); fault.CodeOf(err) != fault.NotFound {
			t.Errorf("another member finds it: %v", err)
		}
		if a, err := newLister(s).Find(ctx, c.Actor, p.ArtifactID); err != nil || a.Owner != c.Workspace {
			t.Errorf("its member does not: %+v %v", a, err)
		}
		wantSameArtifacts(t, "the other list", harness.ListArtifacts(t, other.Agent, 50), nil)
	})
}
