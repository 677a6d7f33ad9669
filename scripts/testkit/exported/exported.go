// Package exported rebuilds the revisions of artifacts from the archives of an export, as docs/wire.md says.
package exported

import (
	"fmt"
	"maps"
	"strings"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/tree"
)

// Archive is an archive of an export, unpacked.
type Archive struct {
	export.Manifest
	Files map[string]string // text by name
}

// Revision names a revision of an artifact.
type Revision struct {
	Artifact id.Artifact
	Number   int
}

// Revisions returns the texts of all files by revision and path. The archives are in order.
func Revisions(archives []Archive) (map[Revision]map[string]string, error) {
	all := map[Revision]map[string]string{}
	unfinished := map[Revision]bool{}
	for _, a := range archives {
		for _, one := range a.Artifacts {
			for _, r := range one.Revisions {
				at := Revision{one.ID, r.Number}
				if all[at] != nil && !unfinished[at] {
					return nil, fmt.Errorf("%v is there twice", at)
				}
				if err := apply(all, at, r, a.Files); err != nil {
					return nil, fmt.Errorf("%v in archive %d: %w", at, a.Volume, err)
				}
				unfinished[at] = r.Continues
			}
		}
	}
	for at, is := range unfinished {
		if is {
			return nil, fmt.Errorf("%v ends early", at)
		}
	}
	return all, nil
}

// apply adds a part of a revision.
func apply(all map[Revision]map[string]string, at Revision, r export.Revision, archived map[string]string) error {
	if all[at] == nil {
		base := all[Revision{at.Artifact, r.Base}]
		if base == nil && r.Base != 0 {
			return fmt.Errorf("revision %d is not there before it", r.Base)
		}
		all[at] = map[string]string{}
		maps.Copy(all[at], base)
	}
	for _, path := range r.Removed {
		if _, found := all[at][path]; !found {
			return fmt.Errorf("%s is removed and was not there", path)
		}
		delete(all[at], path)
	}
	for _, f := range r.Files {
		text, found := archived[f.Archive]
		if f.From != nil {
			text, found = all[Revision{at.Artifact, f.From.Revision}][f.From.Path]
		} else if !strings.Contains(f.Archive, fmt.Sprintf("%s/r%d/", at.Artifact, at.Number)) {
			return fmt.Errorf("%s lies at %s", f.Path, f.Archive)
		}
		if !found || int64(len(text)) != f.SizeBytes || tree.DigestOf(text).String() != f.SHA256 {
			return fmt.Errorf("%s has other bytes, or none", f.Path)
		}
		all[at][f.Path] = text
	}
	return nil
}
