package boot

import (
	"vitrine/shared/platform/address"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sharing"
)

// Sharer keeps access links.
func (s *Services) Sharer(addresses *address.URLBuilder, details *artifact.Lister) *sharing.Service {
	return &sharing.Service{
		Store:     s.stores.Links,
		Changes:   s.stores.Links,
		Addresses: addresses,
		Details:   details,
		Cursors:   details.Cursors,
		Now:       s.Config.Now,
	}
}
