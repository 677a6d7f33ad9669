package assembly

import "vitrine/shared/entry/claim"

// Claims lets members take over ephemeral workspaces; it needs the ring pepper.
func (s *Services) Claims() (*claim.Service, error) {
	peppers, err := s.peppers()
	return &claim.Service{
		Store:       s.stores.Claims,
		Artifacts:   s.stores.Artifacts,
		Peppers:     peppers,
		Environment: s.Config.Environment,
		Now:         s.Config.Now,
	}, err
}
