package sharing

import (
	"context"
	"slices"
	"time"

	"vitrine/shared/contract"
	"vitrine/shared/credential"
	"vitrine/shared/id"
	"vitrine/shared/limits"
	"vitrine/shared/link"
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
	return rows(links, map[id.Artifact]time.Time{a.ID: a.LinksClosed}), more, err
}

// All answers the links of a member's workspace, up to limits.LinksListed.
func (s *Sharer) All(ctx context.Context, by credential.Actor) (contract.WebLinkList, error) {
	links, more, err := s.links(ctx, by, "")
	if err != nil {
		return contract.WebLinkList{}, err
	}
	var of []id.Artifact
	for _, l := range links {
		of = append(of, l.Artifact)
	}
	slices.Sort(of)
	closed, err := s.Store.LinksClosed(ctx, slices.Compact(of))
	return contract.WebLinkList{Items: rows(links, closed), PageInfo: contract.PageInfo{HasMore: more}}, err
}

// links reads the links of an artifact, or of all.
func (s *Sharer) links(ctx context.Context, by credential.Actor, of id.Artifact) ([]link.Link, bool, error) {
	return s.Store.Links(ctx, Query{
		Workspace: by.Workspace.ID, Claimed: !by.Workspace.ClaimedAt.IsZero(), Artifact: of, Limit: limits.LinksListed,
	})
}

// rows are links as members see them, with when all links of their artifacts were closed.
func rows(links []link.Link, closed map[id.Artifact]time.Time) []contract.WebLinkRow {
	out := make([]contract.WebLinkRow, len(links))
	for i, l := range links {
		ended := l.Ended(closed[l.Artifact])
		out[i] = contract.WebLinkRow{
			ID: l.ID, Type: string(l.Kind), ArtifactID: l.Artifact, RevisionID: revisionOf(l), CreatedAt: contract.At(l.CreatedAt),
			ExpiresAt: contract.AtOrNull(l.ExpiresAt), RevokedAt: contract.AtOrNull(ended), Revoked: !ended.IsZero(),
		}
	}
	return out
}
