package app

import (
	"cmp"
	"context"
	"slices"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/sharing"
)

func (d doorkeeper) links() []link.Link {
	row := func(l id.Link, r id.Revision, end time.Duration) link.Link {
		out := link.Link{
			ID:        l,
			Kind:      link.Share,
			Artifact:  artifactID,
			Revision:  r,
			CreatedAt: noon.Add(-time.Hour),
		}
		out.Public, _ = l.Public()
		if r != "" {
			out.Kind = link.Revision
		}
		if end != 0 {
			out.ExpiresAt = noon.Add(end)
		}
		return out
	}
	over := row("al_01J8Z0T7Q1W2E3R4T5Y6V7X8Z7", firstID, 0)
	over.RevokedAt = noon.Add(-time.Minute)
	list := []link.Link{
		row(shareID, "", 0),
		row(pinnedID, oldID, 2*time.Hour),
		row("al_01J8Z0T7Q1W2E3R4T5Y6V7X8Z6", oldID, -time.Minute),
		over,
	}
	switch {
	case d.empty || d.scene == draft:
		return nil
	case d.scene == private:
		return list[2:]
	}
	return list
}

func (d doorkeeper) Of(
	ctx context.Context, _ credential.Actor, t sharing.Target, p cursor.Page,
) ([]link.Link, string, error) {
	if err := d.called(ctx, "Of "+string(t.RequestedID)); err != nil {
		return nil, "", err
	}
	if t.RequestedID != artifactID || t.Artifact == nil {
		return nil, "", artifact.NotFound()
	}
	next, err := d.turn(p)
	return d.links(), next, err
}

func (d doorkeeper) Find(ctx context.Context, _ credential.Actor, l id.Link) (sharing.Shared, error) {
	for _, row := range d.links() {
		if row.ID == l {
			return sharing.Shared{Link: row, Artifact: d.found(row.Artifact)}, d.called(ctx, "Find "+string(l))
		}
	}
	return sharing.Shared{}, sharing.NotFound()
}

// Overview has the links of the artifact, and two that lead to one that is not there any more.
func (d doorkeeper) Overview(
	ctx context.Context, _ credential.Actor, p cursor.Page,
) ([]sharing.Shared, string, error) {
	var out []sharing.Shared
	for i, l := range d.links() {
		one := sharing.Shared{Link: l, Artifact: d.found(l.Artifact)}
		if i > 1 {
			one.Link.Artifact, one.Artifact = strangeID, nil
		}
		out = append(out, one)
	}
	next, err := d.turn(p)
	return out, next, cmp.Or(d.called(ctx, "Overview"), err)
}

func (d doorkeeper) Create(
	ctx context.Context, _ credential.Actor, t sharing.Target, r sharing.Request,
) (link.Record, error) {
	d.commands, d.wanted = append(d.commands, t.Command), r
	if err := d.called(ctx, "CreateLink "+string(r.Kind)+" "+string(r.Revision)); err != nil {
		return link.Record{}, err
	}
	if r.Kind == link.Revision && !slices.Contains([]id.Revision{newestID, oldID}, r.Revision) {
		return link.Record{}, sharing.NoRevision()
	}
	made := link.Link{
		ID:        shareID,
		Kind:      r.Kind,
		Artifact:  t.RequestedID,
		Revision:  r.Revision,
		CreatedAt: noon,
	}
	if r.Revision == "" && d.scene != private {
		made.CreatedAt = noon.Add(-time.Hour)
	}
	return made.Record(), nil
}

func (d doorkeeper) Address(ctx context.Context, _ credential.Actor, l id.Link) (sharing.Address, error) {
	err := cmp.Or(d.called(ctx, "Address "+string(l)), d.mintRefused)
	if err == nil && (d.scene == locked || d.scene == closed || d.scene == ended || d.scene == deleted) {
		err = sharing.NotFound()
	}
	if err != nil {
		return sharing.Address{}, err
	}
	row := link.Link{
		ID:        l,
		Kind:      link.Share,
		Artifact:  artifactID,
		CreatedAt: noon.Add(-time.Hour),
		ExpiresAt: d.linkEnd,
	}
	row.Public, _ = l.Public()
	switch i := slices.IndexFunc(d.links(), func(r link.Link) bool { return r.ID == l }); {
	case l != shareID && i >= 0:
		row = d.links()[i]
	case d.wanted.Kind == link.Revision: // the link that Create made
		row.Kind = link.Revision
		row.Revision = d.wanted.Revision
		if d.wanted.ExpiresAt != nil {
			row.ExpiresAt = *d.wanted.ExpiresAt
		}
	}
	return sharing.Address{Shared: sharing.Shared{Link: row, Artifact: d.found(artifactID)}, URL: linkAddress, Until: noon.Add(24 * time.Hour)}, nil
}

func (d doorkeeper) Revoke(ctx context.Context, _ credential.Actor, l id.Link) (time.Time, error) {
	return noon, d.called(ctx, "RevokeLink "+string(l))
}

func (d doorkeeper) SetVisibility(
	ctx context.Context, _ credential.Actor, t sharing.Target, word string,
) (sharing.Visibility, error) {
	return sharing.Visibility{
		Artifact: t.RequestedID,
		Is:       word,
		Link:     shareID,
		URL:      linkAddress,
	}, d.called(ctx, "SetVisibility "+word)
}

func (d doorkeeper) Lock(ctx context.Context, _ credential.Actor, t sharing.Target) error {
	d.commanded(t.Command)
	return d.called(ctx, "Lock "+string(t.RequestedID))
}

func (d doorkeeper) Unlock(ctx context.Context, _ credential.Actor, t sharing.Target) error {
	d.commanded(t.Command)
	return d.called(ctx, "Unlock "+string(t.RequestedID))
}
