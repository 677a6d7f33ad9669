package dynamo

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/id"
)

func mac(c byte) credential.Hash {
	h := credential.Hash{Pepper: 3, MAC: make([]byte, 32)}
	h.MAC[0], h.MAC[31] = c, c
	return h
}

// fresh is the proof of a grant that has no other.
func fresh() oauth.Proof {
	return oauth.Proof{Digest: string(id.NewPublic()), Until: now().Add(time.Minute)}
}

func newGrant(w id.Workspace) oauth.Grant {
	at := now()
	return oauth.Grant{
		Public:     id.NewPublic(),
		Client:     oauth.CLI,
		Name:       "CLI",
		Member:     id.NewMember(),
		Workspace:  w,
		Audience:   "https://api.example.com",
		Scopes:     []credential.Scope{credential.Read},
		Epoch:      2,
		ChainKeyID: 7,
		Operator:   at.Add(-time.Minute),
		CreatedAt:  at,
		ExpiresAt:  at.Add(time.Hour),
		Access: []oauth.AccessToken{
			{Hash: mac('a'), ExpiresAt: at.Add(time.Minute)},
			{Hash: mac('b'), ExpiresAt: at.Add(2 * time.Minute)},
		},
		Refresh:    mac('r'),
		Previous:   mac('p'),
		Generation: 4,
		RotatedAt:  at,
		IdleAt:     at.Add(time.Minute),
	}
}

func TestAGrantIsReadBackAsItWasWritten(t *testing.T) {
	s := newStore(t)
	g := newGrant(id.NewWorkspace())
	noError(t, s.Grants.Add(ctx, g, fresh(), record(g.Workspace, now())))
	got, err := s.Grants.Grant(ctx, g.Public)
	if diff := cmp.Diff(&g, got); err != nil || diff != "" {
		t.Errorf("%v, the grant (-want +got):\n%s", err, diff)
	}
	if none, err := s.Grants.Grant(ctx, id.NewPublic()); none != nil || err != nil {
		t.Error(none, err)
	}
	stump := grantItem(g).bin("tokens", packTokens(g.Access)[:tokenLen+5])
	if kept := readGrant(stump, g.Public).Access; len(kept) != 1 || !cmp.Equal(kept[0], g.Access[0]) {
		t.Errorf("of a value that was cut off: %+v", kept)
	}
}

func TestOnlyTheNewestRefreshTokenOfALiveGrantIsReplaced(t *testing.T) {
	s := newStore(t)
	g := newGrant(id.NewWorkspace())
	noError(t, s.Grants.Add(ctx, g, fresh(), record(g.Workspace, now())))
	next := g
	next.Previous = g.Refresh
	next.Refresh = mac('s')
	next.Generation = 5
	next.RotatedAt = now().Add(time.Second)
	next.IdleAt = now().Add(time.Hour)
	next.ChainKeyID = 8
	next.Access = []oauth.AccessToken{g.Access[1], {Hash: mac('c'), ExpiresAt: now().Add(time.Hour)}}
	if moved, err := s.Grants.Rotate(ctx, next, g.Refresh); moved != nil || err != nil {
		t.Fatal(moved, err)
	}
	if diff := cmp.Diff(&next, must(s.Grants.Grant(ctx, g.Public))(t)); diff != "" {
		t.Errorf("the rotated grant (-want +got):\n%s", diff)
	}
	late := g
	late.Refresh = mac('t')
	if moved, err := s.Grants.Rotate(ctx, late, g.Refresh); err != nil || !cmp.Equal(moved, &next) {
		t.Errorf("a late rotation: %+v %v, want %+v", moved, err, next)
	}
	at := now()
	for range 2 {
		if err := s.Grants.Revoke(ctx, g.Public, at, record(g.Workspace, now())); err != nil {
			t.Error(err)
		}
	}
	if moved, err := s.Grants.Rotate(ctx, late, next.Refresh); err != nil || moved == nil || !moved.RevokedAt.Equal(at) {
		t.Errorf("a revoked grant is rotated: %+v %v", moved, err)
	}
	late.Public = id.NewPublic()
	if moved, err := s.Grants.Rotate(ctx, late, g.Refresh); err != nil || moved == nil || moved.RevokedAt.IsZero() {
		t.Errorf("a grant that is not there is rotated: %+v %v", moved, err)
	}
	if err := s.Grants.Revoke(ctx, late.Public, at, record(g.Workspace, now())); err != nil {
		t.Error(err)
	}
	if made, _ := s.Grants.Grant(ctx, late.Public); made != nil {
		t.Error("revoking makes a grant")
	}
}

// TestGrantsAreListedByMemberNewestFirst has more dead ones than a page holds before the live ones.
func TestGrantsAreListedByMemberNewestFirst(t *testing.T) {
	s := newStore(t)
	mine := newGrant(id.NewWorkspace())
	const dead = 7
	for n := range dead + 3 {
		g := mine
		g.Public, g.CreatedAt = id.NewPublic(), mine.CreatedAt.Add(time.Duration(n)*time.Second)
		if g.Name = "live"; n > 1 {
			g.Name = "dead"
		}
		if n == dead+2 {
			g.Name, g.Member = "live", id.NewMember()
		}
		noError(t, s.Grants.Add(ctx, g, fresh(), record(mine.Workspace, now())))
	}
	q := cursor.Query[oauth.Grant]{
		Workspace: mine.Workspace,
		Live:      func(g oauth.Grant) bool { return g.Name == "live" },
	}
	var all []oauth.Grant
	for _, q.Limit = range []int{1, 2, 3} {
		got, next, err := s.Grants.List(ctx, mine.Member, q)
		if err != nil || len(got) != min(q.Limit, 2) || (next == "") != (q.Limit > 1) {
			t.Fatalf("of %d are %+v (%q, %v)", q.Limit, got, next, err)
		}
		all = got
	}
	if !all[0].CreatedAt.After(all[1].CreatedAt) || all[0].Name != "live" || all[1].Name != "live" {
		t.Errorf("%+v, want the two live ones, newest first", all)
	}
	q.Limit = 1
	for n := range 2 {
		one, next, err := s.Grants.List(ctx, mine.Member, q)
		if err != nil || len(one) != 1 || one[0].Public != all[n].Public || (next == "") != (n == 1) {
			t.Error(n, one, next, err)
		}
		q.After = next
	}
	noError(t, s.Grants.Revoke(ctx, all[0].Public, now(), record(mine.Workspace, now())))
	if left, _, err := s.Grants.List(ctx, mine.Member, q); err != nil || len(left) != 1 || left[0].Public != all[1].Public {
		t.Error(left, err)
	}
}
