package sweep

import (
	"context"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/tree"
)

// References reads what uses an object. Its reads are strong, because deletion is final.
type References interface {
	// ArtifactFiles reads an artifact and all its revisions that still have their files.
	ArtifactFiles(ctx context.Context, a id.Artifact) (ArtifactFiles, error)
	// UploaderOf returns the artifact that a session uploaded its files for.
	UploaderOf(ctx context.Context, u id.Session) (id.Artifact, error)
	// ReferencesTo reports whether a revision that has its files references an object. If none does, dead lists revisions
	// without files that reference it: they were purged, were never committed, or are not committed yet.
	ReferencesTo(ctx context.Context, o tree.Object) (held bool, dead []id.Revision, err error)
}

// ArtifactFiles is an artifact with its revisions that still have their files.
type ArtifactFiles struct {
	Artifact *artifact.Artifact // nil: it does not exist
	Contents []artifact.Contents
}

// liveObjects returns the objects of revisions that can be read or published. There are none if the artifact ended.
func (a ArtifactFiles) liveObjects() map[tree.Object]bool {
	live := map[tree.Object]bool{}
	if a.Artifact == nil || a.Artifact.Status != artifact.Live {
		return live
	}
	for _, c := range a.Contents {
		if c.Revision.Status == artifact.Retained {
			continue
		}
		for _, f := range c.Tree {
			live[f.Object] = true
		}
	}
	return live
}

// referenceCache reads each item of References once for one purge or collection. That is safe because uses can only
// disappear meanwhile: no session can find an object that is neither referenced nor indexed.
type referenceCache struct {
	references References
	uploaders  map[id.Session]id.Artifact
	live       map[id.Artifact]map[tree.Object]bool
}

func newReferenceCache(s References) *referenceCache {
	return &referenceCache{s, map[id.Session]id.Artifact{}, map[id.Artifact]map[tree.Object]bool{}}
}

// inUse reports whether an object is used by the artifact that it was uploaded for or by a reference. dead is that of
// ReferencesTo.
func (r *referenceCache) inUse(ctx context.Context, o tree.Object) (used bool, dead []id.Revision, err error) {
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
