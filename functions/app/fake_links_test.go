package app

import (
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

// sealLinks are a share link, a link to one revision, and two that have ended.
func sealLinks() []link.Link {
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
	revoked := row("al_01J8Z0T7Q1W2E3R4T5Y6V7X8Z7", firstID, 0)
	revoked.RevokedAt = noon.Add(-time.Minute)
	return []link.Link{
		row(shareID, "", 0), row(pinnedID, oldID, 2*time.Hour),
		row("al_01J8Z0T7Q1W2E3R4T5Y6V7X8Z6", oldID, -time.Minute), revoked,
	}
}

type fakeLinks struct {
	*fakeServices
	AddressFn func(*sharing.Address) // changes an address; nil: nothing does
	wanted    sharing.Request        // of the last link that was made
}

func (f *fakeLinks) Of(
	ctx context.Context, _ credential.Actor, t sharing.Target, p cursor.Page,
) ([]link.Link, string, error) {
	if err := f.called(ctx, "Of "+string(t.RequestedID)); err != nil {
		return nil, "", err
	}
	if t.RequestedID != artifactID || t.Artifact == nil {
		return nil, "", artifact.NotFound()
	}
	next, err := f.turn(ctx, p.Cursor)
	return f.links, next, err
}

func (f *fakeLinks) Find(ctx context.Context, _ credential.Actor, l id.Link) (sharing.Shared, error) {
	row, known := f.find(l)
	if !known {
		return sharing.Shared{}, sharing.NotFound()
	}
	return sharing.Shared{Link: row, Artifact: f.found(row.Artifact)}, f.called(ctx, "Find "+string(l))
}

func (f *fakeLinks) find(l id.Link) (link.Link, bool) {
	if i := slices.IndexFunc(f.links, func(r link.Link) bool { return r.ID == l }); i >= 0 {
		return f.links[i], true
	}
	return link.Link{}, false
}

// Overview has the links of the artifact. Those that ended lead to one that is not there any more.
func (f *fakeLinks) Overview(
	ctx context.Context, _ credential.Actor, p cursor.Page,
) ([]sharing.Shared, string, error) {
	if err := f.called(ctx, "Overview"); err != nil {
		return nil, "", err
	}
	var out []sharing.Shared
	for i, l := range f.links {
		one := sharing.Shared{Link: l, Artifact: f.found(l.Artifact)}
		if i > 1 {
			one.Link.Artifact, one.Artifact = strangeID, nil
		}
		out = append(out, one)
	}
	next, err := f.turn(ctx, p.Cursor)
	return out, next, err
}

func (f *fakeLinks) Create(
	ctx context.Context, _ credential.Actor, t sharing.Target, r sharing.Request,
) (link.Record, error) {
	f.wanted = r
	if err := f.commanded(ctx, t.Command, "CreateLink "+string(r.Kind)+" "+string(r.Revision)); err != nil {
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
	if there, known := f.find(shareID); known && r.Kind == link.Share {
		made = there
	}
	return made.Record(), nil
}

func (f *fakeLinks) Address(ctx context.Context, _ credential.Actor, l id.Link) (sharing.Address, error) {
	if err := f.changed(ctx, "Address "+string(l)); err != nil {
		return sharing.Address{}, err
	}
	found := f.found(artifactID)
	if !found.Readable(noon) || !found.LinksLockedAt.IsZero() {
		return sharing.Address{}, sharing.NotFound()
	}
	row, _ := f.find(l)
	if l == shareID {
		row = sealLinks()[0]
		if end := f.wanted.ExpiresAt; f.wanted.Kind == link.Revision && end != nil { // the link that Create made
			row.Kind, row.Revision, row.ExpiresAt = link.Revision, f.wanted.Revision, *end
		}
	}
	out := sharing.Address{
		Shared: sharing.Shared{Link: row, Artifact: found},
		URL:    linkAddress,
	}
	if f.AddressFn != nil {
		f.AddressFn(&out)
	}
	return out, nil
}

func (f *fakeLinks) Revoke(ctx context.Context, _ credential.Actor, l id.Link) (time.Time, error) {
	return noon, f.changed(ctx, "RevokeLink "+string(l))
}

func (f *fakeLinks) SetVisibility(
	ctx context.Context, _ credential.Actor, t sharing.Target, word string,
) (sharing.Visibility, error) {
	return sharing.Visibility{
		Artifact: t.RequestedID,
		Is:       word,
		Link:     shareID,
		URL:      linkAddress,
	}, f.changed(ctx, "SetVisibility "+word)
}

func (f *fakeLinks) Lock(ctx context.Context, _ credential.Actor, t sharing.Target) error {
	return f.commanded(ctx, t.Command, "Lock "+string(t.RequestedID))
}

func (f *fakeLinks) Unlock(ctx context.Context, _ credential.Actor, t sharing.Target) error {
	return f.commanded(ctx, t.Command, "Unlock "+string(t.RequestedID))
}
