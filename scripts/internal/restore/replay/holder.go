package replay

import (
	"context"
	"strings"
	"time"

	"vitrine/scripts/testkit/rows"
	"vitrine/shared/entry/claim"
	"vitrine/shared/platform/id"
)

// holders is what events name by its holder and not by its key. It is read by one scan, when the first event needs it.
type holders struct {
	grants  []grant
	tokens  map[id.Workspace]id.Public // claim tokens by source
	members map[id.Workspace]id.Member
}

// grant is what a revocation has to know of an OAuth grant.
type grant struct {
	public    id.Public
	workspace id.Workspace
	member    id.Member
	client    string
	created   time.Time
	revoked   time.Time
}

// holding returns who holds what in the set.
func (a *applier) holding(ctx context.Context) (*holders, error) {
	if a.holders != nil {
		return a.holders, nil
	}
	h := &holders{tokens: map[id.Workspace]id.Public{}, members: map[id.Workspace]id.Member{}}
	for i, err := range a.Scan(ctx, a.Tables.Core) {
		if err != nil {
			return nil, err
		}
		pk, sk := i.Text("pk"), i.Text("sk")
		switch {
		case strings.HasPrefix(pk, "CT#"):
			h.tokens[id.Workspace(i.Text("ws"))] = nameIn[id.Public](i)
		case strings.HasPrefix(pk, "CRED#") && sk == "G":
			h.grants = append(h.grants, readGrant(i))
		case strings.HasPrefix(pk, "W#") && strings.HasPrefix(sk, "MEM#"):
			h.members[nameIn[id.Workspace](i)] = id.Member(strings.TrimPrefix(sk, "MEM#"))
		}
	}
	a.holders = h
	return h, nil
}

func readGrant(i rows.Item) grant {
	g := grant{
		public:    nameIn[id.Public](i),
		workspace: id.Workspace(i.Text("ws")),
		member:    id.Member(i.Text("mem")),
		client:    i.Text("client"),
		created:   time.UnixMilli(i.Number("created")),
	}
	if at := i.Number("rev_at"); at > 0 {
		g.revoked = time.UnixMilli(at)
	}
	return g
}

// nameIn returns the id at the end of the name of an item's partition.
func nameIn[ID ~string](i rows.Item) ID {
	_, name, _ := strings.Cut(i.Text("pk"), "#")
	return ID(name)
}

// tokenOf returns the claim token of a workspace; nil: there is none.
func (a *applier) tokenOf(ctx context.Context, source id.Workspace) (*claim.Token, error) {
	h, err := a.holding(ctx)
	if err != nil || h.tokens[source] == "" {
		return nil, err
	}
	return a.stores.Claims.Token(ctx, h.tokens[source])
}

// memberOf returns the member of a workspace, which has one at most.
func (a *applier) memberOf(ctx context.Context, w id.Workspace) (id.Member, error) {
	h, err := a.holding(ctx)
	if err != nil {
		return "", err
	}
	return h.members[w], nil
}
