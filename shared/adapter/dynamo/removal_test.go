package dynamo

import (
	"crypto/sha256"
	"slices"
	"testing"

	"vitrine/shared/identity/session"
	"vitrine/shared/publishing/sweep"
)

func TestAMemberIsRemovedAfterWhatIsFoundThroughThem(t *testing.T) {
	d := newDesk(t)
	p := d.person(t, func(p *person) { p.grant.Refresh = mac('r') }) // without it the grant is not listed
	b := session.Session{
		Hash:      sha256.Sum256([]byte("x")),
		Member:    p.member.ID,
		Workspace: p.home.ID,
		CreatedAt: d.clock,
		SeenAt:    d.clock,
	}
	noError(t, d.Sessions.Add(ctx, b, record(p.home.ID, d.clock)))
	for n, c := range []struct {
		left   sweep.Left
		stored []bool // the grant, the session and the member
	}{
		{sweep.More, []bool{false, true, true}},
		{sweep.More, []bool{false, false, true}},
		{sweep.More, []bool{false, false, false}},
		{sweep.Nothing, []bool{false, false, false}},
	} {
		left, err := d.Removals.RemoveMembers(ctx, sweep.Removal{Workspace: p.home.ID})
		noError(t, err)
		var stored []bool
		for _, k := range []key{grantKey(p.grant.Public), sessionKey(b.Hash), memberKey(p.home.ID, p.member.ID)} {
			stored = append(stored, must(d.get(ctx, k))(t) != nil)
		}
		if left != c.left || !slices.Equal(stored, c.stored) {
			t.Errorf("step %d: RemoveMembers = %v and leaves %v, want %v and %v", n+1, left, stored, c.left, c.stored)
		}
	}
}
