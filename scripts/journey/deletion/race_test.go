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
	for name, prepare := range map[string]func(testing.TB, *person) func() (wire.Answer, error){
		"an upload session": func(_ testing.TB, p *person) func() (wire.Answer, error) {
			return func() (wire.Answer, error) {
				return s.Create(p.Agent, wire.NewKey(), wire.Declare("new", harness.Page("new")))
			}
		},
		"a finalization": func(t testing.TB, p *person) func() (wire.Answer, error) {
			u := s.Upload(t, p.Agent, "", "drafted")
			return func() (wire.Answer, error) { return s.Finalize(p.Agent, wire.NewKey(), u.UploadSessionID) }
		},
		"a publication": func(t testing.TB, p *person) func() (wire.Answer, error) {
			d := harness.DraftPage(t, p.Agent, "drafted")
			return func() (wire.Answer, error) { return s.Publish(p.Agent, wire.NewKey(), d.ArtifactID, d.RevisionID) }
		},
		"a link": func(t testing.TB, p *person) func() (wire.Answer, error) {
			made := harness.PublishPage(t, p.Agent, "shown")
			return func() (wire.Answer, error) {
				return p.Do(ctx, "POST", s.Origins.API+harness.LinksPath(made.ArtifactID), harness.ShareLink,
					"Idempotency-Key", wire.NewKey())
			}
		},
		"an API key": func(_ testing.TB, p *person) func() (wire.Answer, error) {
			return func() (wire.Answer, error) {
				return p.member.Do(ctx, "POST", s.Origins.API+"/v1/web/keys", contract.CreateKey{Name: "late"},
					"Idempotency-Key", wire.NewKey())
			}
		},
		"the settings": func(_ testing.TB, p *person) func() (wire.Answer, error) {
			return func() (wire.Answer, error) {
				return p.member.Do(ctx, "PATCH", s.Origins.API+"/v1/web/settings",
					contract.UpdateSettings{WorkspaceName: "late", AutoDeletionDays: 2}, "Idempotency-Key", wire.NewKey())
			}
		},
		"a claim": func(t testing.TB, p *person) func() (wire.Answer, error) {
			source := s.NewSource(t)
			return func() (wire.Answer, error) {
				return p.member.Do(ctx, "POST", s.Origins.API+harness.ClaimPath,
					contract.ClaimRequest{ClaimToken: source.ClaimToken}, "Idempotency-Key", wire.NewKey())
			}
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

func TestAClaimIntoAWorkspaceThatIsBeingDeletedLeavesTheSourceAlone(t *testing.T) {
	t.Parallel()
	s := harness.NewPeopleEnv(t, harness.Unlimited)
	p := newPerson(t, s, "ada@example.org")
	source := s.NewSource(t)
	made := harness.PublishPage(t, source.Agent, "of an agent")
	p.delete(t)
	if a := harness.TryClaim(t, p.member.Agent, source.ClaimToken); a.Status != 401 {
		t.Errorf("the claim answers %d %s", a.Status, a.Body)
	}
	p.signIn(t)
	if a := harness.TryClaim(t, p.member.Agent, source.ClaimToken); a.Status != 401 {
		t.Errorf("the claim after a new sign-in answers %d %s", a.Status, a.Body)
	}
	s.WantContent(t, made.RevisionContentURL, harness.Page("of an agent").Body)
	harness.PublishPage(t, source.Agent, "the agent goes on")
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
	runToTheEnd(t, s)
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
	t.Run("the removal", func(t *testing.T) {
		s := harness.NewPeopleEnv(t, harness.Unlimited)
		p := newPerson(t, s, "ada@example.org")
		p.delete(t)
		s.Clock.Advance(limits.DeletionGrace)
		p.signIn(t)
		a := s.Overtake(t, transact, func() (wire.Answer, error) {
			return p.member.Do(ctx, "DELETE", s.Origins.API+deletionPath, nil)
		}, func() { harness.NoError(t, s.Host.Run(ctx)) })
		if a.Status != 401 {
			t.Errorf("keeping answers %d %s", a.Status, a.Body)
		}
		runToTheEnd(t, s)
		wantGone(t, s, p)
	})
	t.Run("the cancellation", func(t *testing.T) {
		s := harness.NewPeopleEnv(t, harness.Unlimited)
		p := newPerson(t, s, "ada@example.org")
		p.delete(t)
		s.Clock.Advance(limits.DeletionGrace)
		p.signIn(t)
		held := make(chan struct{})
		ended := make(chan error, 1)
		rule := s.JobFaults.On("UpdateItem").If(chaos.Key("pk", "W#"+string(p.workspace.ID))).Before(chaos.Hold(held))
		go func() { ended <- s.Host.Run(ctx) }()
		<-rule.Reached()
		p.keep(t)
		close(held)
		harness.NoError(t, <-ended)
		harness.PublishPage(t, p.Agent, "kept")
		if slices.Contains(actions(t, s, p.workspace.ID), "workspace.deletion.done") {
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
	harness.WantPage(t, "a sign-in", w.SignIn(t, "/", harness.Identity{Email: p.email}), 403, "The operator of this deployment closed")
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
	runToTheEnd(t, s) // a lock does not hold a deletion up
	wantGone(t, s, p)
}
