package signin_test

import (
	"testing"

	"vitrine/shared/identity/member"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// withAgents adds a member whom a provider of agents made.
func (s *env) withAgents(t *testing.T, email string) member.NewMember {
	t.Helper()
	s.Takeovers = &signin.Takeovers{Store: s.Stores.Takeovers, Sessions: s.Sessions, Now: s.clock.Now}
	made := member.New(member.Agents(id.DelegationOf("i", email, "a"), email), s.clock.Now(), "")
	if err := s.Stores.Members.Add(ctx, made); err != nil {
		t.Fatal(err)
	}
	return made
}

func TestT82ASessionOpensOnceThePersonHasAnswered(t *testing.T) {
	s := newEnv(t)
	made := s.withAgents(t, "ada@example.org")
	in := s.signIn(t, "ada@example.org")
	if in.Session != "" || in.Question == "" {
		t.Fatalf("%+v", in)
	}
	q, linked, err := s.Takeovers.PendingTakeover(ctx, in.Question)
	if err != nil || q.Workspace != made.Workspace.ID || len(linked) != 0 {
		t.Fatal(q, linked, err)
	}
	done, err := s.Takeovers.FinishTakeover(ctx, in.Question, nil, "", about, "")
	if err != nil || done.Member.ID != made.Member.ID {
		t.Fatal(done, err)
	}
	opened, err := s.Sessions.Authenticate(ctx, done.Session, "")
	if err != nil || opened.Actor.Workspace.ID != made.Workspace.ID || opened.Member.ProviderMade() {
		t.Errorf("%+v %v", opened, err)
	}
	if again := s.signIn(t, "ada@example.org"); again.Question != "" || again.Member.ID != made.Member.ID {
		t.Errorf("asked again: %+v", again)
	}
	if _, err := s.Takeovers.FinishTakeover(ctx, in.Question, nil, "", session.Client{}, ""); fault.CodeOf(err) != fault.InvalidRequest {
		t.Error("a question is answered twice", err)
	}
}

func TestT82AQuestionIsForItsBrowserAndTime(t *testing.T) {
	s := newEnv(t)
	s.withAgents(t, "ada@example.org")
	in := s.signIn(t, "ada@example.org")
	for _, secret := range []string{"", "x", in.Question[:42] + "_", in.Question + "A"} {
		if _, _, err := s.Takeovers.PendingTakeover(ctx, secret); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%q: %v", secret, err)
		}
	}
	s.clock.Advance(limits.TakeoverLife)
	if _, err := s.Takeovers.FinishTakeover(ctx, in.Question, nil, "", about, ""); fault.CodeOf(err) != fault.InvalidRequest {
		t.Error("an old question is answered", err)
	}
	if later := s.signIn(t, "ada@example.org"); later.Question == "" {
		t.Error("the question is not asked again")
	}
}
