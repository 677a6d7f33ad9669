package sharing

import (
	"context"
	"slices"

	"vitrine/shared/artifact"
	"vitrine/shared/contract"
	"vitrine/shared/credential"
	"vitrine/shared/id"
	"vitrine/shared/limits"
	"vitrine/shared/link"
	"vitrine/shared/workspace"
)

// List answers the links of an artifact of the caller's workspace, whatever its status; artifact_not_found for any other.
func (s *Sharer) List(ctx context.Context, by credential.Actor, t Target) (contract.LinkList, error) {
	rows, _, err := s.of(ctx, by, t)
	out := contract.LinkList{ArtifactID: t.Named, Items: make([]contract.LinkRow, len(rows))}
	for i, r := range rows {
		out.Items[i] = contract.LinkRow{
			ID: r.ID, Type: r.Type, ArtifactID: r.ArtifactID, RevisionID: r.RevisionID, CreatedAt: r.CreatedAt, ExpiresAt: r.ExpiresAt, RevokedAt: r.RevokedAt,
		}
	}
	return out, err
}

// Of answers the links of an artifact to a member of its workspace; artifact_not_found for any other.
func (s *Sharer) Of(ctx context.Context, by credential.Actor, named id.Artifact) (contract.WebLinkList, error) {
	rows, more, err := s.of(ctx, by, Target{Named: named})
	return contract.WebLinkList{Items: rows, PageInfo: contract.PageInfo{HasMore: more}}, err
}

func (s *Sharer) of(ctx context.Context, by credential.Actor, t Target) ([]contract.WebLinkRow, bool, error) {
	a, err := s.owned(ctx, by, t)
	if err != nil {
		return nil, false, err
	}
	links, more, err := s.links(ctx, by, a.ID)
	return rows(links, map[id.Artifact]*artifact.Artifact{a.ID: a}), more, err
}

// All answers the newest links of a member's workspace, up to limits.LinksListed.
func (s *Sharer) All(ctx context.Context, by credential.Actor) (contract.WebLinkList, error) {
	links, of, more, err := s.all(ctx, by)
	return contract.WebLinkList{Items: rows(links, of), PageInfo: contract.PageInfo{HasMore: more}}, err
}

// Shared is a link and what it leads to.
type Shared struct {
	Link     contract.WebLinkRow
	Artifact *artifact.Artifact // as the workspace has it; nil: it is not there any more
}

// Overview answers the links of a member's workspace as All does, each with its artifact.
func (s *Sharer) Overview(ctx context.Context, by credential.Actor) (shared []Shared, more bool, err error) {
	links, of, more, err := s.all(ctx, by)
	if err == nil {
		err = s.follow(ctx, by, of)
	}
	if err != nil {
		return nil, false, err
	}
	for _, l := range links {
		shared = append(shared, Shared{row(l, of[l.Artifact]), of[l.Artifact]})
	}
	return shared, more, nil
}

// follow turns artifacts that say another owner into what they are for the workspace of the caller, at one read an owner.
func (s *Sharer) follow(ctx context.Context, by credential.Actor, of map[id.Artifact]*artifact.Artifact) error {
	sources := map[id.Workspace]*workspace.Workspace{}
	for named, a := range of {
		if a.Owner == by.Workspace.ID {
			continue
		}
		source, known := sources[a.Owner]
		if !known {
			var err error
			if source, err = s.Store.Workspace(ctx, a.Owner); err != nil {
				return err
			}
			sources[a.Owner] = source
		}
		if source != nil && source.Into == by.Workspace.ID {
			of[named] = a.ClaimedFrom(*source)
		} else {
			delete(of, named)
		}
	}
	return nil
}

func (s *Sharer) all(ctx context.Context, by credential.Actor) ([]link.Link, map[id.Artifact]*artifact.Artifact, bool, error) {
	links, more, err := s.links(ctx, by, "")
	if err != nil {
		return nil, nil, false, err
	}
	var named []id.Artifact
	for _, l := range links {
		named = append(named, l.Artifact)
	}
	slices.Sort(named)
	of, err := s.Store.Exhibits(ctx, slices.Compact(named))
	return links, of, more, err
}

// links reads the links of an artifact, or of all.
func (s *Sharer) links(ctx context.Context, by credential.Actor, of id.Artifact) ([]link.Link, bool, error) {
	return s.Store.Links(ctx, Query{
		Workspace: by.Workspace.ID, Claimed: !by.Workspace.ClaimedAt.IsZero(), Artifact: of, Limit: limits.LinksListed,
	})
}

// rows are links as members see them, with the artifacts that they lead to.
func rows(links []link.Link, of map[id.Artifact]*artifact.Artifact) []contract.WebLinkRow {
	out := make([]contract.WebLinkRow, len(links))
	for i, l := range links {
		out[i] = row(l, of[l.Artifact])
	}
	return out
}

// row is a link as members see it; nil: its artifact is not there any more.
func row(l link.Link, of *artifact.Artifact) contract.WebLinkRow {
	ended := l.RevokedAt
	if of != nil {
		ended = l.Ended(of.LinksClosed)
	}
	return contract.WebLinkRow{
		ID: l.ID, Type: string(l.Kind), ArtifactID: l.Artifact, RevisionID: revisionOf(l), CreatedAt: contract.At(l.CreatedAt),
		ExpiresAt: contract.AtOrNull(l.ExpiresAt), RevokedAt: contract.AtOrNull(ended), Revoked: !ended.IsZero(),
	}
}
