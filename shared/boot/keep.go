package boot

import "vitrine/shared/publishing/artifact"

// Pinner keeps artifacts from expiring; the lister answers what was pinned.
func (s *Services) Pinner(lister *artifact.Lister) *artifact.Pinner {
	return &artifact.Pinner{Store: s.stores.Artifacts, Lister: lister, Now: s.Config.Now}
}

// Restorer publishes older revisions again.
func (s *Services) Restorer() *artifact.Restorer {
	return &artifact.Restorer{Store: s.stores.Artifacts, Now: s.Config.Now}
}

// Renamer gives artifacts other titles.
func (s *Services) Renamer() *artifact.Renamer {
	return &artifact.Renamer{Store: s.stores.Artifacts, Now: s.Config.Now}
}
