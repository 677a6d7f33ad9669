package sweep

import (
	"context"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// References tells what keeps bytes. It is read strongly: what is deleted is gone for good.
type References interface {
	// ArtifactFiles reads an artifact with all its revisions whose files are there.
	ArtifactFiles(ctx context.Context, a id.Artifact) (ArtifactFiles, error)
	// UploaderOf tells for which artifact a session brought its files.
	UploaderOf(ctx context.Context, u id.Session) (id.Artifact, error)
	// ReferencesTo tells whether a revision that has its files refers to an object. If none does, dead are those that refer to
	// it and have none: they were purged, or never came, or come yet.
	ReferencesTo(ctx context.Context, o tree.Object) (held bool, dead []id.Revision, err error)
}

// ArtifactFiles is an artifact with the revisions whose files are there.
type ArtifactFiles struct {
	Artifact *artifact.Artifact // nil: there is none
	Contents []artifact.Contents
}

// liveObjects are those of revisions that can be read or published, if the artifact can.
func (h ArtifactFiles) liveObjects() map[tree.Object]bool {
	live := map[tree.Object]bool{}
	if h.Artifact == nil || h.Artifact.Status != artifact.Live {
		return live
	}
	for _, c := range h.Contents {
		if c.Revision.Status == artifact.Retained {
			continue
		}
		for _, f := range c.Tree {
			live[f.Object] = true
		}
	}
	return live
}

// referenceCache looks at the shelf for one purge or deletion. It asks for each thing once: what it saw can only have become
// less since, because what nothing keeps and nobody finds is not taken up again.
type referenceCache struct {
	references    References
	uploaders map[id.Session]id.Artifact
	live     map[id.Artifact]map[tree.Object]bool
}

func newReferenceCache(s References) *referenceCache {
	return &referenceCache{s, map[id.Session]id.Artifact{}, map[id.Artifact]map[tree.Object]bool{}}
}

// inUse tells whether anything keeps an object: the artifact that it came for, or a reference.
func (r *referenceCache) inUse(ctx context.Context, o tree.Object) (kept bool, dead []id.Revision, err error) {
	a, known := r.uploaders[o.Session]
	if !known {
		if a, err = r.references.UploaderOf(ctx, o.Session); err != nil {
			return false, nil, err
		}
		r.uploaders[o.Session] = a
	}
	if r.live[a] == nil {
		h, err := r.references.ArtifactFiles(ctx, a)
		if err != nil {
			return false, nil, err
		}
		r.live[a] = h.liveObjects()
	}
	if r.live[a][o] {
		return true, nil, nil
	}
	return r.references.ReferencesTo(ctx, o)
}
