package artifact

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// History reads the revisions of artifacts.
type History interface {
	// Revisions reads all revisions of an artifact strongly, in any order.
	Revisions(ctx context.Context, a id.Artifact) ([]Revision, error)
}

// Revision reads a revision of an artifact that Find returned, nil if there is none.
func (s *Service) Revision(ctx context.Context, a id.Artifact, r id.Revision) (*Revision, error) {
	return s.Store.Revision(ctx, a, r)
}

// Revisions lists a page of the revisions of an artifact of the caller's workspace, in any status: drafts first, then by
// number and creation, newest first. Drafts do not count against the limit, but no page has more than limits.MaxPage,
// which is the limit if it is zero. next is the cursor of the next page; empty: there is none. Each page reads all
// revisions, because their items are not in this order.
func (s *Service) Revisions(
	ctx context.Context, by credential.Actor, a *Artifact, p cursor.Page,
) (_ []Revision, next string, _ error) {
	if a == nil || a.Owner != by.Workspace.ID {
		return nil, "", NotFound()
	}
	p.Limit = cmp.Or(p.Limit, limits.MaxPage)
	list := cursor.List{Workspace: by.Workspace.ID, Name: "revisions." + string(a.ID), Now: s.Now()}
	return cursor.Read(s.Cursors, list, p, func(after string, limit int) ([]Revision, string, error) {
		all, err := s.Store.Revisions(ctx, a.ID)
		if err != nil {
			return nil, "", err
		}
		page, next := pageOf(all, after, limit)
		return page, next, nil
	})
}

// pageOf returns the revisions after a place, and the place of the last one if more follow.
func pageOf(all []Revision, after string, limit int) (page []Revision, next string) {
	places := make(map[id.Revision]string, len(all))
	for _, r := range all {
		places[r.ID] = r.place()
	}
	slices.SortFunc(all, func(x, y Revision) int { return cmp.Compare(places[y.ID], places[x.ID]) })
	if after != "" {
		all = slices.DeleteFunc(all, func(r Revision) bool { return places[r.ID] >= after })
	}
	for _, r := range all {
		if r.Status == Draft {
			limit++
		}
	}
	most := min(limit, limits.MaxPage)
	if len(all) <= most {
		return all, ""
	}
	return all[:most], places[all[most-1].ID]
}

// place is where a revision stands in a list: the list is in the reverse order of these texts.
func (r Revision) place() string {
	draft := 0
	if r.Status == Draft {
		draft = 1
	}
	return fmt.Sprintf("%d.%06d.%013d.%s", draft, r.Number, r.CreatedAt.UnixMilli(), r.ID)
}
