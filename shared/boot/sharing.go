package boot

import (
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sharing"
)

// Links makes, lists, locks and ends the access links of artifacts.
func (s *Services) Links(artifacts *artifact.Service) *sharing.Service {
	return &sharing.Service{
		Store:     s.stores.Links,
		Changes:   s.stores.Links,
		Addresses: artifacts.URLs,
		Cursors:   artifacts.Cursors,
		Now:       s.Config.Now,
	}
}
