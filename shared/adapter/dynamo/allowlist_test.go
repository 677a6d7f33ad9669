package dynamo

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vitrine/shared/entry/access"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
)

func TestTheLastSignInOfEachMemberIsReadWhereCallersAreJudged(t *testing.T) {
	s := newStore(t)
	a := newcomer("one")
	noError(t, s.Members.Add(ctx, a))
	w := a.Workspace.ID
	other := member.Member{ID: id.NewMember(), Workspace: w}
	noError(t, s.commit(ctx, func() *transaction {
		x := s.begin()
		x.create(memberItem(other))
		return x
	}()))
	noError(t, s.Members.RecordSignIn(ctx, other, workspace.SignIn{Email: "op@example.org", Operator: true}))
	noError(t, s.Members.RecordSignIn(ctx, a.Member, workspace.SignIn{Email: "new@example.org"}))
	gone := member.Member{ID: id.NewMember(), Workspace: w}
	noError(t, s.Members.RecordSignIn(ctx, gone, workspace.SignIn{Email: "gone@example.org"}))
	want := map[id.Member]workspace.SignIn{
		a.Member.ID: {Email: "new@example.org"},
		other.ID:    {Email: "op@example.org", Operator: true},
	}
	for judges, want := range map[bool]map[id.Member]workspace.SignIn{true: want, false: nil} {
		var options []Option
		if judges {
			options = append(options, JudgeSignIns)
		}
		read := New(newClient(t), s.tables, options...)
		found, err1 := read.Access.Find(ctx, id.NewPublic(), w, access.Request{})
		_, byGrant, err2 := read.Access.GrantAndWorkspace(ctx, id.NewPublic(), w)
		_, byMember, err3 := read.Members.Member(ctx, w, a.Member.ID)
		_, byAgent, err4 := read.Registrations.Registration(ctx, id.RegistrationOf(id.NewPublic()), w)
		for _, err := range []error{err1, err2, err3, err4} {
			noError(t, err)
		}
		for name, got := range map[string]*workspace.Workspace{
			"key": found.Workspace, "grant": byGrant, "member": byMember, "agent": byAgent,
		} {
			if !cmp.Equal(got.SignIns, want) {
				t.Errorf("%s, judged %t: the sign-ins are %v, want %v", name, judges, got.SignIns, want)
			}
		}
	}
}
