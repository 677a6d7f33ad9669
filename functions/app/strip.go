package app

import (
	"vitrine/functions/app/pages"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

// strip returns which revision the viewer of a member shows, and which ones are next to it.
func (a *seenArtifact) strip() pages.Strip {
	shown := a.view.Revision.ID
	s := pages.Strip{
		Artifact: string(a.ID),
		Revision: string(shown),
		Newest:   string(a.Current),
		Follows:  shown == a.Current,
		Count:    a.Artifact.Number,
	}
	var newer id.Revision             // than one
	for _, one := range a.revisions { // newest first
		if one.Status != artifact.Published {
			continue
		}
		if s.Number > 0 {
			s.Older = string(one.ID)
			s.Compare = comparePath(a.ID, one.ID, shown)
			break
		}
		if one.ID == shown {
			s.Number, s.Newer = one.Number, string(newer)
		}
		newer = one.ID
	}
	return s
}
