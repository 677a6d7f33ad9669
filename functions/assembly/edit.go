package assembly

import (
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/comparison"
	"vitrine/shared/publishing/edit"
)

// Edits makes the service that publishes texts and changes files of artifacts.
func (s *Services) Edits(artifacts *artifact.Service) *edit.Service {
	return &edit.Service{
		Uploads:   s.Uploads(),
		Artifacts: artifacts,
		Store:     s.stores.Edits,
		Objects:   s.blobs,
		Now:       s.Config.Now,
	}
}

// Comparisons makes the service that tells what changed between revisions.
func (s *Services) Comparisons(artifacts *artifact.Service) *comparison.Service {
	return &comparison.Service{
		Store:   s.stores.Artifacts,
		Bytes:   s.blobs,
		Cursors: artifacts.Cursors,
		Now:     s.Config.Now,
	}
}
