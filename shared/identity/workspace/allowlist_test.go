package workspace_test

import (
	"strings"
	"testing"
	"time"

	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/policy"
)

var (
	everybody = policy.SignIn{}
	operators = policy.SignIn{Operators: true}
	listed    = policy.SignIn{
		Domains:   []string{"example.com", "xn--bcher-kva.example"},
		Addresses: []string{"ada@elsewhere.example", `"a@b"@elsewhere.example`},
	}
)

func TestAnAddressGetsInByItsDomainOrItself(t *testing.T) {
	for _, tt := range []struct {
		people policy.SignIn
		email  string
		want   bool
	}{
		{everybody, "anybody@anywhere.example", true},
		{everybody, "", true},
		{listed, "bob@example.com", true},
		{listed, "Bob@EXAMPLE.com", true},
		{listed, "bob@sub.example.com", false},
		{listed, "bob@example.com.evil.example", false},
		{listed, "bob@notexample.com", false},
		{listed, "bob@example.com@evil.example", false},
		{listed, "evil.example@example.com", true},
		{listed, "bob@bücher.example", true},
		{listed, "bob@BÜCHER.example", true},
		{listed, "bob@xn--bcher-kva.example", true},
		{listed, "ada@elsewhere.example", true},
		{listed, "ADA@Elsewhere.Example", true},
		{listed, "ada+1@elsewhere.example", false},
		{listed, "bob@elsewhere.example", false},
		{listed, `"A@b"@elsewhere.example`, true},
		{listed, "example.com", false},
		{listed, "@example.com", false},
		{listed, "bob@", false},
		{listed, "", false},
		{operators, "bob@example.com", false},
	} {
		a := workspace.Allowlist{People: tt.people}
		if got := a.Allows(workspace.SignIn{Email: tt.email}); got != tt.want {
			t.Errorf("Allows(%q) with %+v = %t, want %t", tt.email, tt.people, got, tt.want)
		}
		// Being an operator helps where operators are let in, and nowhere else.
		got := a.Allows(workspace.SignIn{Email: tt.email, Operator: true})
		if want := tt.want || tt.people.Operators; got != want {
			t.Errorf("Allows(%q) of an operator with %+v = %t, want %t", tt.email, tt.people, got, want)
		}
	}
}

func TestACredentialIsJudgedByItsMember(t *testing.T) {
	in, out := id.NewMember(), id.NewMember()
	claimed := workspace.Workspace{ClaimedAt: time.Now(), SignIns: map[id.Member]workspace.SignIn{
		in:  {Email: "bob@example.com"},
		out: {Email: "bob@evil.example", Operator: true},
	}}
	for name, tt := range map[string]struct {
		people policy.SignIn
		of     workspace.Workspace
		by     id.Member
		want   bool
	}{
		"of a member on the list":             {listed, claimed, in, true},
		"of one who is not":                   {listed, claimed, out, false},
		"of one who is not, but everybody is": {everybody, claimed, out, true},
		"of an operator":                      {operators, claimed, out, true},
		"of a member who is no operator":      {operators, claimed, in, false},
		"of a stranger to the workspace":      {listed, claimed, id.NewMember(), false},
		"of no member":                        {listed, claimed, "", true},
		"of no member, and nobody is on the list": {
			policy.SignIn{Domains: []string{"other.example"}}, claimed, "", false,
		},
		"without a sign-in":                      {listed, workspace.Workspace{ClaimedAt: time.Now()}, in, false},
		"without a sign-in, of no member":        {listed, workspace.Workspace{ClaimedAt: time.Now()}, "", false},
		"without a sign-in, but everybody is":    {everybody, workspace.Workspace{ClaimedAt: time.Now()}, in, true},
		"of a workspace that nobody has claimed": {operators, workspace.Workspace{}, "", true},
	} {
		if got := (workspace.Allowlist{People: tt.people}).Admits(tt.of, tt.by); got != tt.want {
			t.Errorf("%s: Admits = %t, want %t", name, got, tt.want)
		}
	}
}

func TestARefusalNamesTheContactToThePersonAlone(t *testing.T) {
	a := workspace.Allowlist{People: listed, Contact: "mailto:ask@example.com"}
	err := a.Refuse()
	refused, ok := workspace.NotAllowed(err)
	if !ok || refused.Contact != a.Contact || fault.CodeOf(err) != fault.Forbidden ||
		!strings.HasSuffix(fault.Of(err).Message, "to be let in, ask ask@example.com") {
		t.Errorf("Refuse() = %v with %+v", err, refused)
	}
	same := fault.New(fault.NotAuthenticated, "sign in")
	hidden := a.Hide(same)
	if _, ok := workspace.NotAllowed(hidden); !ok || fault.Of(hidden).Message != same.Message ||
		fault.CodeOf(hidden) != same.Code {
		t.Errorf("Hide(%v) = %v", same, hidden)
	}
}
