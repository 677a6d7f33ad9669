package deletion

import (
	"slices"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

const transact = "TransactWriteItems"

// TestAWriteThatIsUnderWayAtTheCommitHasNoEffect holds writes before they commit, and deletes the workspace meanwhile.
func TestAWriteThatIsUnderWayAtTheCommitHasNoEffect(t *testing.T) {
	t.Parallel()
	s := harness.NewPeopleEnv(t, harness.Unlimited)
	type request = func() (wire.Answer, error)
	sends := func(g *wire.Agent, method, path string, body any) request {
		return func() (wire.Answer, error) {
			return g.Do(ctx, method, s.Origins.API+path, body, harness.KeyHeader()...)
		}
	}
	for name, prepare := range map[string]func(testing.TB, *person) request{
		"an upload session": func(_ testing.TB, p *person) request {
			return func() (wire.Answer, error) {
				return harness.Create(p.Agent, wire.NewKey(), wire.Declare("new", harness.Page("new")))
			}
		},
		"a finalization": func(t testing.TB, p *person) request {
			u := s.Upload(t, p.Agent, "", "drafted")
			return func() (wire.Answer, error) { return harness.Finalize(p.Agent, wire.NewKey(), u.UploadSessionID) }
		},
		"a publication": func(t testing.TB, p *person) request {
			d := harness.DraftPage(t, p.Agent, "drafted")
			return func() (wire.Answer, error) {
				return harness.Publish(p.Agent, wire.NewKey(), d.ArtifactID, d.RevisionID)
			}
		},
		"a link": func(t testing.TB, p *person) request {
			made := harness.PublishPage(t, p.Agent, "shown")
			return sends(p.Agent, "POST", harness.LinksPath(made.ArtifactID), harness.ShareLink)
		},
		"an API key": func(_ testing.TB, p *person) request {
			return sends(p.member.Agent, "POST", "/v1/web/keys", contract.CreateKey{Name: "late"})
		},
		"the settings": func(_ testing.TB, p *person) request {
			return sends(p.member.Agent, "PATCH", "/v1/web/settings",
				contract.UpdateSettings{WorkspaceName: "late", AutoDeletionDays: 2})
		},
		"a claim": func(t testing.TB, p *person) request {
			return sends(p.member.Agent, "POST", harness.ClaimPath,
				contract.ClaimRequest{ClaimToken: s.NewSource(t).ClaimToken})
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t, s, string(wire.NewKey())+"@example.org")
			ask := prepare(t, p)
			before := len(actions(t, s, p.workspace.ID))
			a := s.Overtake(t, transact, ask, func() { p.delete(t) })
			if a.Status != 401 || a.Code() != fault.NotAuthenticated {
				t.Errorf("it answers %d %s", a.Status, a.Body)
			}
			if told := actions(t, s, p.workspace.ID)[before:]; len(told) != 1 {
				t.Errorf("it is told as %v", told)
			}
		})
	}
}

// TestAClaimOfJustBeforeGoesWithTheWorkspace claims, deletes before anything is moved, and looks for what is left.
func TestAClaimOfJustBeforeGoesWithTheWorkspace(t *testing.T) {
	t.Parallel()
	s := harness.NewPeopleEnv(t, harness.Unlimited, longLives)
	p := newPerson(t, s, "ada@example.org")
	made := p.claim(t)
	p.signIn(t)
	p.delete(t)
	if a := s.Get(t, made.RevisionContentURL); a.Status != 404 {
		t.Errorf("what was claimed answers %d", a.Status)
	}
	p.runToTheEnd(t)
	wantGone(t, s, p)
}

func TestSeveralRequestsAtOnceAreOne(t *testing.T) {
	t.Parallel()
	s := harness.NewPeopleEnv(t, harness.Unlimited)
	p := newPerson(t, s, "ada@example.org")
	ask := func() (wire.Answer, error) {
		return p.member.Do(ctx, "POST", s.Origins.API+deletionPath, contract.RequestDeletion{Confirm: p.workspace.Name})
	}
	first := p.workspace
	var d contract.WorkspaceDeletion
	a := s.Overtake(t, transact, ask, func() { d = p.delete(t) })
	var second contract.WorkspaceDeletion
	if harness.Decode(t, a, &second); a.Status != 200 || second.DeletesAt == nil || *second.DeletesAt != *d.DeletesAt {
		t.Errorf("the second answers %d %s", a.Status, a.Body)
	}
	p.signIn(t)
	if again := p.delete(t); *again.DeletesAt != *d.DeletesAt {
		t.Errorf("a third, with a new sign-in, moves the day to %v", again.DeletesAt)
	}
	told := actions(t, s, first.ID)
	if n := len(slices.DeleteFunc(told, func(a string) bool { return a != "workspace.deletion.requested" })); n != 1 {
		t.Errorf("the record tells it %d times", n)
	}
}

// TestOfACancellationAndTheBeginOfARemovalOneWins lets each overtake the other.
func TestOfACancellationAndTheBeginOfARemovalOneWins(t *testing.T) {
	t.Parallel()
	due := func(t *testing.T) (*harness.JobEnv, *person) {
		s := harness.NewPeopleEnv(t, harness.Unlimited)
		p := newPerson(t, s, "ada@example.org")
		p.delete(t)
		s.Clock.Advance(limits.DeletionGrace)
		p.signIn(t)
		return s, p
	}
	t.Run("the removal", func(t *testing.T) {
		s, p := due(t)
		a := s.Overtake(t, transact, func() (wire.Answer, error) {
			return p.member.Do(ctx, "DELETE", s.Origins.API+deletionPath, nil)
		}, func() { harness.NoError(t, s.Host.Run(ctx)) })
		if a.Status != 401 {
			t.Errorf("keeping answers %d %s", a.Status, a.Body)
		}
		p.runToTheEnd(t)
		wantGone(t, s, p)
	})
	t.Run("the cancellation", func(t *testing.T) {
		s, p := due(t)
		held := make(chan struct{})
		ended := make(chan error, 1)
		rule := s.JobFaults.On("UpdateItem").If(chaos.Key("pk", "W#"+string(p.workspace.ID))).Before(chaos.Hold(held))
		go func() { ended <- s.Host.Run(ctx) }()
		<-rule.Reached()
		p.keep(t)
		close(held)
		harness.NoError(t, <-ended)
		harness.PublishPage(t, p.Agent, "kept")
		if p.removed(t) {
			t.Error("it is removed as well")
		}
	})
}

func TestALockdownAndADeletionDoNotUndoEachOther(t *testing.T) {
	t.Parallel()
	s := harness.NewPeopleEnv(t, harness.Unlimited, longLives)
	op := s.NewOperator(t)
	p := newPerson(t, s, "ada@example.org")
	made := harness.PublishPage(t, p.Agent, "locked")
	p.delete(t)
	p.signIn(t)
	harness.Lock(t, op, "workspace", string(p.workspace.ID))
	if a := harness.TryAs(t, p.member, "DELETE", deletionPath, nil); a.Status != 401 {
		t.Errorf("keeping a locked workspace answers %d %s", a.Status, a.Body)
	}
	w := s.NewFakeBrowser()
	harness.WantPage(t, "a sign-in", w.SignIn(t, "/", p.email), 403, "The operator of this deployment closed")
	lift := harness.LocksPath + "/workspace/" + string(p.workspace.ID)
	harness.CallAs[contract.Lockdown](t, op, 200, "DELETE", lift, nil, harness.KeyHeader()...)
	if a := s.Get(t, made.RevisionContentURL); a.Status != 404 {
		t.Errorf("without the lock it answers %d", a.Status)
	}
	p.keep(t)
	s.WantContent(t, made.RevisionContentURL, harness.Page("locked").Body)
	p.signIn(t)
	p.delete(t)
	s.Update(t, "CRED#"+string(op.Grant), "G", map[string]any{"op_at": s.Options.Now()})
	harness.Lock(t, op, "workspace", string(p.workspace.ID))
	p.runToTheEnd(t) // a lock does not hold a deletion up
	wantGone(t, s, p)
}
