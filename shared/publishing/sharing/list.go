package sharing

import (
	"context"
	"slices"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
)

// List returns links of an artifact of the caller's workspace: the newest limits.LinksListed in any status, and older
// ones that have not ended. Another artifact is artifact_not_found. RevokedAt of a listed link is when it ended, even
// if it ended with all links of its artifact.
func (s *Service) List(ctx context.Context, by credential.Actor, t Target) ([]link.Link, error) {
	a, err := s.owned(ctx, by, t)
	if err != nil {
		return nil, err
	}
	links, err := s.unpaged(ctx, by, a)
	return ended(links, map[id.Artifact]*artifact.Artifact{a.ID: a}), err
}

// maxListRounds bounds how far back List looks for links that have not ended, in steps of limits.LinksListed.
const maxListRounds = 10

// unpaged reads the links that List returns.
func (s *Service) unpaged(ctx context.Context, by credential.Actor, a *artifact.Artifact) (all []link.Link, err error) {
	now := s.Now()
	for round, after := 0, ""; round == 0 || after != "" && round < maxListRounds; round++ {
		links, next, err := s.Store.List(ctx, s.query(by, a.ID, after, limits.LinksListed))
		if err != nil {
			return nil, err
		}
		if round > 0 {
			links = slices.DeleteFunc(links, func(l link.Link) bool { return !isOpen(l, a, now) })
		}
		all, after = append(all, links...), next
	}
	return all, nil
}

// isOpen reports whether a link has not ended.
func isOpen(l link.Link, a *artifact.Artifact, now time.Time) bool {
	return l.Opens(a.ID, now) && l.Ended(a.LinksRevokedBefore).IsZero()
}

// Of returns one page of the links of an artifact to a member of its workspace. Another artifact is artifact_not_found.
func (s *Service) Of(
	ctx context.Context, by credential.Actor, t Target, p cursor.Page,
) (_ []link.Link, next string, _ error) {
	a, err := s.owned(ctx, by, t)
	if err != nil {
		return nil, "", err
	}
	links, next, err := s.page(ctx, by, a.ID, p)
	return ended(links, map[id.Artifact]*artifact.Artifact{a.ID: a}), next, err
}

// All returns one page of the links of a member's workspace.
func (s *Service) All(ctx context.Context, by credential.Actor, p cursor.Page) (_ []link.Link, next string, _ error) {
	links, of, next, err := s.all(ctx, by, p)
	return ended(links, of), next, err
}

// Shared is a link and the artifact that it opens.
type Shared struct {
	Link     link.Link          // RevokedAt as in lists
	Artifact *artifact.Artifact // as the workspace has it; nil: it no longer exists
}

// Overview returns one page of the links of a member's workspace as All does, each with its artifact.
func (s *Service) Overview(
	ctx context.Context, by credential.Actor, p cursor.Page,
) (_ []Shared, next string, _ error) {
	links, of, next, err := s.all(ctx, by, p)
	if err == nil {
		err = s.follow(ctx, by, of)
	}
	if err != nil {
		return nil, "", err
	}
	shared := make([]Shared, len(links))
	for i, l := range ended(links, of) {
		shared[i] = Shared{l, of[l.Artifact]}
	}
	return shared, next, nil
}

// Find returns a link of the caller's workspace. Another link is not_found.
func (s *Service) Find(ctx context.Context, by credential.Actor, named id.Link) (Shared, error) {
	l, a, err := s.withArtifact(ctx, by, named)
	if err != nil {
		return Shared{}, err
	}
	return sharedOf(*l, a), nil
}

// follow resolves pending claims. An artifact that names another owner becomes the caller's if the caller's workspace
// claimed that owner, and is removed from the map if not. It costs one read for each such owner.
func (s *Service) follow(ctx context.Context, by credential.Actor, of map[id.Artifact]*artifact.Artifact) error {
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
		if source != nil && source.ClaimedInto == by.Workspace.ID {
			of[named] = a.AfterClaimOf(*source)
		} else {
			delete(of, named)
		}
	}
	return nil
}

// all reads one page of the links of a workspace and the artifacts that they name.
func (s *Service) all(
	ctx context.Context, by credential.Actor, p cursor.Page,
) ([]link.Link, map[id.Artifact]*artifact.Artifact, string, error) {
	links, next, err := s.page(ctx, by, "", p)
	if err != nil {
		return nil, nil, next, err
	}
	var named []id.Artifact
	for _, l := range links {
		named = append(named, l.Artifact)
	}
	slices.Sort(named)
	of, err := s.Store.Artifacts(ctx, slices.Compact(named))
	return links, of, next, err
}

// page reads one page of the links of an artifact, or of the workspace if the id is empty.
func (s *Service) page(
	ctx context.Context, by credential.Actor, of id.Artifact, p cursor.Page,
) (_ []link.Link, next string, _ error) {
	list := cursor.List{Workspace: by.Workspace.ID, Name: "links." + string(of), Now: s.Now()}
	return cursor.Read(s.Cursors, list, p, func(after string, limit int) ([]link.Link, string, error) {
		return s.Store.List(ctx, s.query(by, of, after, limit))
	})
}

func (s *Service) query(by credential.Actor, of id.Artifact, after string, limit int) Query {
	return Query{
		Workspace: by.Workspace.ID,
		Claimed:   !by.Workspace.ClaimedAt.IsZero(),
		Artifact:  of,
		After:     after,
		Limit:     limit,
	}
}

// ended sets RevokedAt of links that ended with all links of their artifact. It leaves links whose artifact no longer
// exists as they are.
func ended(links []link.Link, of map[id.Artifact]*artifact.Artifact) []link.Link {
	for i, l := range links {
		if a := of[l.Artifact]; a != nil {
			links[i].RevokedAt = l.Ended(a.LinksRevokedBefore)
		}
	}
	return links
}

// sharedOf returns a link with its artifact.
func sharedOf(l link.Link, a *artifact.Artifact) Shared {
	l.RevokedAt = l.Ended(a.LinksRevokedBefore)
	return Shared{l, a}
}
