package app

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sharing"
)

const (
	newestID    = "rev_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9"
	oldID       = "rev_01J8Z0T7Q1W2E3R4T5Y6V7X8Z8"
	firstID     = "rev_01J8Z0T7Q1W2E3R4T5Y6V7X8Z7" // its files are gone
	draftID     = "rev_01J8Z0T7Q1W2E3R4T5Y6V7X8Z6"
	shareID     = "al_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9"
	pinnedID    = "al_01J8Z0T7Q1W2E3R4T5Y6V7X8Z8"
	strangeID   = "art_01J8Z0T7Q1W2E3R4T5Y6V7X8ZZ" // of somebody else
	restorePath = "/artifacts/" + artifactID + "/revisions/" + oldID + "/restore"
	linkPath    = "/artifacts/" + artifactID + "/links/" + shareID
	linkAddress = "http://localhost:8704/al/T5Y6V7X8Z9ABCDEF#" + blob
)

// The scenes of an artifact.
const (
	private = "private" // without a link
	locked  = "locked"
	pinned  = "pinned"
	ended   = "ended"
	deleted = "deleted"
	closed  = "closed" // by the operator
	draft   = "draft"
	odd     = "odd" // nothing that browsers show
)

type artifacts struct{ *house }

func (s artifacts) Web(ctx context.Context, _ credential.Actor, p artifact.Page) (contract.WebArtifactList, error) {
	if err := s.called(ctx, "Web "+p.Cursor); err != nil || s.empty {
		return contract.WebArtifactList{}, err
	}
	if p.Cursor == "stale" {
		return contract.WebArtifactList{}, fault.NewCode(fault.InvalidCursor)
	}
	row := func(title, status string, pinned bool) contract.WebArtifactRow {
		r := contract.WebArtifactRow{
			ID:              artifactID,
			Title:           title,
			Status:          status,
			Pinned:          pinned,
			LastPublishedAt: new(contract.At(noon)),
		}
		if !pinned && status != "Deleted" {
			r.AutoDeleteAt = new(contract.At(noon.Add(72 * time.Hour)))
		}
		return r
	}
	list := contract.WebArtifactList{
		Items: []contract.WebArtifactRow{
			row(s.title, "Published", false), row("Tide tables", "Published", true), row("Notes of the first meeting", "Expired", false),
			row("A draft that was not wanted", "Deleted", false), {ID: artifactID, Title: "Being prepared", Status: "Published"},
		},
		PageInfo: contract.PageInfo{HasMore: true, NextCursor: new("next+cursor")},
	}
	for i := range list.Items[1:] {
		list.Items[i+1].ID = id.Artifact(strings.TrimSuffix(artifactID, "Z9")) + id.Artifact("Z"+string(rune('1'+i)))
	}
	return list, nil
}

func (s artifacts) Detail(ctx context.Context, _ credential.Actor, a id.Artifact) (contract.WebArtifact, error) {
	if err := s.called(ctx, "Detail "+string(a)); err != nil {
		return contract.WebArtifact{}, err
	}
	if a != artifactID {
		return contract.WebArtifact{}, fault.New(fault.NotFound, "no such artifact")
	}
	out := contract.WebArtifact{
		WebArtifactRow: contract.WebArtifactRow{
			ID:               a,
			Title:            s.title,
			Status:           "Published",
			LastPublishedAt:  new(contract.At(noon)),
			AutoDeleteAt:     new(contract.At(noon.Add(72 * time.Hour))),
			LatestRevisionID: new(id.Revision(newestID)),
			Lockdown:         s.scene == locked,
			Pinned:           s.scene == pinned,
		},
		Entrypoint: s.entrypoint(),
		FileCount:  3,
		SizeBytes:  2_340_000,
	}
	switch s.scene {
	case pinned:
		out.AutoDeleteAt = nil
	case ended:
		out.Status = "Expired"
		return out, nil
	case deleted:
		out.Status, out.AutoDeleteAt = "Deleted", nil
		return out, nil
	case draft:
		out.LastPublishedAt, out.LatestRevisionID = nil, nil
		return out, nil
	case closed:
		return out, nil
	}
	out.Viewer = &contract.WebViewer{IframeSrc: s.contentURL + "/v/plain/" + s.entrypoint(), RenderMode: "html"}
	return out, nil
}

func (s *house) entrypoint() string {
	if s.scene == odd {
		return "minutes of the meeting.pdf"
	}
	return "report.html"
}

func (s artifacts) Find(ctx context.Context, by credential.Actor, a id.Artifact) (*artifact.Artifact, error) {
	if err := s.called(ctx, "Find "+string(a)); err != nil {
		return nil, err
	}
	if a != artifactID {
		return nil, fault.New(fault.NotFound, "no such artifact")
	}
	found := s.found(a)
	found.Owner = by.Workspace.ID
	return found, nil
}

// found is the gate of an artifact in its scene.
func (s *house) found(a id.Artifact) *artifact.Artifact {
	found := &artifact.Artifact{
		ID:          a,
		Title:       s.title,
		Status:      artifact.Live,
		Current:     newestID,
		CreatedAt:   noon.Add(-time.Hour),
		PublishedAt: noon,
		ExpiresAt:   noon.Add(72 * time.Hour),
	}
	switch s.scene {
	case pinned:
		found.PinnedAt = noon
	case locked:
		found.LinksLockedAt = noon
	case closed:
		found.Lock, found.LockedAt = "lkd_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9", noon
	case ended:
		found.ExpiresAt = noon.Add(-time.Hour)
	case deleted:
		found.Status, found.DeletedAt = artifact.Deleted, noon.Add(-2*time.Hour)
	}
	return found
}

// shelf answers in place of what keeps artifacts.
type shelf struct{ *house }

// views shows artifacts to members.
type views struct{ *house }

func (s views) Latest(ctx context.Context, _ credential.Actor, a *artifact.Artifact) (contract.AgentView, error) {
	if err := s.called(ctx, "Latest "+string(a.ID)); err != nil {
		return contract.AgentView{}, err
	}
	if s.scene == ended || s.scene == draft {
		return contract.AgentView{}, fault.New(fault.NotFound, "nothing can be read")
	}
	return s.view(a, newestID), nil
}

func (s views) Pinned(ctx context.Context, _ credential.Actor, a *artifact.Artifact, r *artifact.Revision) (contract.AgentView, error) {
	if err := s.called(ctx, "Pinned "+string(a.ID)); err != nil {
		return contract.AgentView{}, err
	}
	switch {
	case r == nil || r.Artifact != a.ID || r.Status == artifact.Draft:
		return contract.AgentView{}, fault.New(fault.NotFound, "no such revision")
	case r.Status == artifact.Retained:
		return contract.AgentView{}, fault.New(fault.RevisionRetained, "its bytes are gone")
	}
	return s.view(a, r.ID), nil
}

func (s views) view(a *artifact.Artifact, r id.Revision) contract.AgentView {
	token := "scripts"
	if r == oldID {
		token = "plain"
	}
	at := func(name string) string { return s.contentURL + "/v/" + token + "/" + name }
	out := contract.AgentView{PublicAgentView: contract.PublicAgentView{
		ArtifactID:         a.ID,
		RevisionID:         r,
		Title:              a.Title,
		CreatedAt:          contract.At(a.CreatedAt),
		ExpiresAt:          contract.At(a.ExpiresAt),
		Entrypoint:         s.entrypoint(),
		RevisionContentURL: at(s.entrypoint()),
		Files: []contract.AgentViewFile{
			{Path: s.entrypoint(), SizeBytes: 18_412, URL: at(s.entrypoint())}, {Path: "data/counts.csv", SizeBytes: 2_340_000, URL: at("data/counts.csv")},
		},
	}}
	if s.scene == closed { // members see the view, to learn so; its addresses are dead
		out.Lockdown = &contract.ViewLockdowns{Platform: contract.ViewPlatforms{Artifact: contract.Locked{Locked: true, LockedAt: new(contract.At(noon))}}}
	}
	return out
}

func (s shelf) Revision(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Revision, error) {
	if err := s.called(ctx, "Revision "+string(r)); err != nil {
		return nil, err
	}
	statuses := map[id.Revision]artifact.RevisionStatus{oldID: artifact.Published, firstID: artifact.Retained, draftID: artifact.Draft}
	if status, ok := statuses[r]; ok {
		return &artifact.Revision{ID: r, Artifact: a, Status: status}, nil
	}
	return nil, nil
}

func (s shelf) Revisions(ctx context.Context, _ credential.Actor, a *artifact.Artifact) (contract.RevisionList, error) {
	if err := s.called(ctx, "List "+string(a.ID)); err != nil {
		return contract.RevisionList{}, err
	}
	row := func(r id.Revision, number int, status artifact.RevisionStatus, ago time.Duration) contract.RevisionSummary {
		out := contract.RevisionSummary{
			RevisionID: r,
			Status:     string(status),
			FileCount:  3,
			SizeBytes:  2_340_000,
			CreatedAt:  contract.At(noon.Add(-ago)),
		}
		if number > 0 {
			out.RevisionNumber, out.PublishedAt = &number, new(contract.At(noon.Add(-ago)))
		}
		return out
	}
	out := contract.RevisionList{ArtifactID: a.ID, Items: []contract.RevisionSummary{row(draftID, 0, artifact.Draft, 0)}}
	if s.scene != draft {
		out.Items = append(out.Items, row(newestID, 3, artifact.Published, 0), row(oldID, 2, artifact.Published, time.Hour), row(firstID, 1, artifact.Retained, 48*time.Hour))
	}
	return out, nil
}

func (s shelf) Pin(ctx context.Context, _ credential.Actor, t artifact.Target) (contract.WebArtifact, error) {
	s.commands = append(s.commands, t.Command)
	return contract.WebArtifact{}, cmp.Or(s.called(ctx, "Pin "+string(t.RequestedID)), s.pinRefused)
}

func (s shelf) Restore(ctx context.Context, _ credential.Actor, t artifact.Target, from id.Revision) (id.Revision, error) {
	s.commands = append(s.commands, t.Command)
	return newestID, cmp.Or(s.called(ctx, "Restore "+string(t.RequestedID)+" "+string(from)), s.restoreRefused)
}

func (s shelf) Unpin(ctx context.Context, _ credential.Actor, t artifact.Target) (contract.WebArtifact, error) {
	s.commands = append(s.commands, t.Command)
	return contract.WebArtifact{}, s.called(ctx, "Unpin "+string(t.RequestedID))
}

func (s shelf) Rename(ctx context.Context, _ credential.Actor, a *artifact.Artifact, title string) (contract.DisplayMetadata, error) {
	if err := s.called(ctx, "Rename "+string(a.ID)); err != nil {
		return contract.DisplayMetadata{}, err
	}
	if strings.TrimSpace(title) == "" {
		return contract.DisplayMetadata{}, fault.New(fault.InvalidRequest, "title must have 1 to 160 characters")
	}
	s.title2 = title
	return contract.DisplayMetadata{Title: title}, nil
}

func (s shelf) Delete(ctx context.Context, _ credential.Actor, t artifact.Target) (contract.DeletedArtifact, error) {
	s.commands = append(s.commands, t.Command)
	return contract.DeletedArtifact{}, s.called(ctx, "Delete "+string(t.Artifact.ID))
}

// doorkeeper answers in place of what keeps access links.
type doorkeeper struct{ *house }

func (s doorkeeper) links() contract.WebLinkList {
	row := func(l id.Link, r id.Revision, end time.Duration) contract.WebLinkRow {
		out := contract.WebLinkRow{
			ID:         l,
			Type:       "share",
			ArtifactID: artifactID,
			CreatedAt:  contract.At(noon.Add(-time.Hour)),
		}
		if r != "" {
			out.Type, out.RevisionID = "revision", &r
		}
		if end != 0 {
			out.ExpiresAt = new(contract.At(noon.Add(end)))
		}
		return out
	}
	over := row("al_01J8Z0T7Q1W2E3R4T5Y6V7X8Z7", firstID, 0)
	over.Revoked, over.RevokedAt = true, new(contract.At(noon.Add(-time.Minute)))
	list := contract.WebLinkList{Items: []contract.WebLinkRow{
		row(shareID, "", 0), row(pinnedID, oldID, 2*time.Hour), row("al_01J8Z0T7Q1W2E3R4T5Y6V7X8Z6", oldID, -time.Minute), over,
	}}
	if s.scene == private {
		list.Items = list.Items[2:]
	}
	if s.empty || s.scene == draft {
		list.Items = nil
	}
	return list
}

func (s doorkeeper) Of(ctx context.Context, _ credential.Actor, a id.Artifact, p cursor.Page) (contract.WebLinkList, error) {
	if err := s.called(ctx, "Of "+string(a)); err != nil {
		return contract.WebLinkList{}, err
	}
	if a != artifactID {
		return contract.WebLinkList{}, artifact.NotFound()
	}
	list := s.links()
	info, err := s.turn(p)
	list.PageInfo = info
	return list, err
}

func (s doorkeeper) Find(ctx context.Context, _ credential.Actor, l id.Link) (sharing.Shared, error) {
	for _, row := range s.links().Items {
		if row.ID == l {
			return sharing.Shared{Link: row, Artifact: s.found(row.ArtifactID)}, s.called(ctx, "Find "+string(l))
		}
	}
	return sharing.Shared{}, sharing.NotFound()
}

// Overview has the links of the artifact, and two that lead to one that is not there any more.
func (s doorkeeper) Overview(ctx context.Context, _ credential.Actor, p cursor.Page) ([]sharing.Shared, contract.PageInfo, error) {
	var out []sharing.Shared
	for i, l := range s.links().Items {
		one := sharing.Shared{Link: l, Artifact: s.found(l.ArtifactID)}
		if i > 1 {
			one.Link.ArtifactID, one.Artifact = strangeID, nil
		}
		out = append(out, one)
	}
	info, err := s.turn(p)
	return out, info, cmp.Or(s.called(ctx, "Overview"), err)
}

func (s doorkeeper) Create(ctx context.Context, _ credential.Actor, t sharing.Target, r contract.CreateLink) (contract.CreatedLink, error) {
	s.commands, s.wanted = append(s.commands, t.Command), r
	if err := s.called(ctx, "CreateLink "+r.Type+" "+string(r.RevisionID)); err != nil {
		return contract.CreatedLink{}, err
	}
	if r.Type == "revision" && !slices.Contains([]id.Revision{newestID, oldID}, r.RevisionID) {
		return contract.CreatedLink{}, sharing.NoRevision()
	}
	made := contract.CreatedLink{
		ID:         shareID,
		Type:       r.Type,
		ArtifactID: t.RequestedID,
		CreatedAt:  contract.At(noon),
	}
	if r.RevisionID != "" {
		made.RevisionID = &r.RevisionID
	} else if s.scene != private {
		made.CreatedAt = contract.At(noon.Add(-time.Hour))
	}
	return made, nil
}

func (s doorkeeper) Address(ctx context.Context, _ credential.Actor, l id.Link) (sharing.Address, error) {
	err := cmp.Or(s.called(ctx, "Address "+string(l)), s.mintRefused)
	if err == nil && (s.scene == locked || s.scene == closed || s.scene == ended || s.scene == deleted) {
		err = sharing.NotFound()
	}
	if err != nil {
		return sharing.Address{}, err
	}
	row := contract.WebLinkRow{
		ID:         l,
		Type:       "share",
		ArtifactID: artifactID,
		CreatedAt:  contract.At(noon.Add(-time.Hour)),
		ExpiresAt:  s.linkEnd,
	}
	switch i := slices.IndexFunc(s.links().Items, func(r contract.WebLinkRow) bool { return r.ID == l }); {
	case l != shareID && i >= 0:
		row = s.links().Items[i]
	case s.wanted.Type == "revision": // the link that Create made
		row.Type = "revision"
		row.RevisionID = &s.wanted.RevisionID
		row.ExpiresAt = s.wanted.ExpiresAt
	}
	return sharing.Address{Shared: sharing.Shared{Link: row, Artifact: s.found(artifactID)}, URL: linkAddress, Until: noon.Add(24 * time.Hour)}, nil
}

func (s doorkeeper) Revoke(ctx context.Context, _ credential.Actor, l id.Link) (contract.RevokedLink, error) {
	return contract.RevokedLink{}, s.called(ctx, "RevokeLink "+string(l))
}

func (s doorkeeper) SetVisibility(ctx context.Context, _ credential.Actor, t sharing.Target, word string) (contract.Visibility, error) {
	return contract.Visibility{
		ArtifactID:   t.RequestedID,
		Visibility:   word,
		AccessLinkID: shareID,
		UnlistedURL:  linkAddress,
	}, s.called(ctx, "SetVisibility "+word)
}

func (s doorkeeper) Lock(ctx context.Context, _ credential.Actor, t sharing.Target) (contract.WebArtifact, error) {
	s.commands = append(s.commands, t.Command)
	return contract.WebArtifact{}, s.called(ctx, "Lock "+string(t.RequestedID))
}

func (s doorkeeper) Unlock(ctx context.Context, _ credential.Actor, t sharing.Target) (contract.WebArtifact, error) {
	s.commands = append(s.commands, t.Command)
	return contract.WebArtifact{}, s.called(ctx, "Unlock "+string(t.RequestedID))
}
