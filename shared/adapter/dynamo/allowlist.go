package dynamo

import (
	"context"
	"errors"
	"strings"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
)

// The item with the sign-ins of a workspace has an attribute for each member, which is called by the member's id. Its
// value is a word, a blank and the e-mail address.

const (
	operatorSignIn = "operator"
	personSignIn   = "person"
)

func signInText(in workspace.SignIn) string {
	if in.Operator {
		return operatorSignIn + " " + in.Email
	}
	return personSignIn + " " + in.Email
}

func readSignIns(i item) map[id.Member]workspace.SignIn {
	all := map[id.Member]workspace.SignIn{}
	for name := range i {
		if m := id.Member(name); m.Valid() {
			word, email, _ := strings.Cut(i.getStr(name), " ")
			all[m] = workspace.SignIn{Email: email, Operator: word == operatorSignIn}
		}
	}
	return all
}

// setSignIn writes the last sign-in of a member.
func (t *transaction) setSignIn(m member.Member, in workspace.SignIn) {
	expression := "SET #member = :in"
	t.add(types.TransactWriteItem{Update: &types.Update{
		TableName:                 &t.tables.Core,
		Key:                       signInsKey(m.Workspace).attributes(),
		UpdateExpression:          &expression,
		ExpressionAttributeNames:  map[string]string{"#member": string(m.ID)},
		ExpressionAttributeValues: values{"in": signInText(in)}.attributes(),
	}}, nil)
}

// errMemberGone means that the member was removed meanwhile.
var errMemberGone = errors.New("the member is gone")

// RecordSignIn implements member.Store.
func (s Members) RecordSignIn(ctx context.Context, m member.Member, in workspace.SignIn) error {
	t := s.begin()
	t.check(memberKey(m.Workspace, m.ID), "attribute_exists(#pk)", nil, func(item) error { return errMemberGone })
	t.setSignIn(m, in)
	if err := s.commit(ctx, t); !errors.Is(err, errMemberGone) {
		return err
	}
	return nil
}

// judged returns the keys of a workspace and, if callers are judged by them, of the sign-ins of its members.
func (s *db) judged(w id.Workspace) []key {
	if s.judges {
		return []key{workspaceKey(w), signInsKey(w)}
	}
	return []key{workspaceKey(w)}
}

// readJudged decodes what judged asked for.
func (s *db) readJudged(f found, w id.Workspace) *workspace.Workspace {
	out := readWorkspace(f.at(workspaceKey(w)), w)
	if out != nil && s.judges {
		out.SignIns = readSignIns(f.at(signInsKey(w)))
	}
	return out
}
