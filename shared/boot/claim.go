package boot

import "vitrine/shared/entry/claim"

// Claimer lets members take over ephemeral workspaces; it needs the ring pepper.
func (s *Services) Claimer() (*claim.Service, error) {
	peppers, err := s.peppers()
	return &claim.Service{
		Store:       s.store.Claims,
		Artifacts:   s.store.Artifacts,
		Peppers:     peppers,
		Environment: s.Config.Environment,
		Now:         s.Config.Now,
	}, err
}

// Migrator moves the artifacts of workspaces that were claimed.
func (s *Services) Migrator() *claim.Migrator {
	return &claim.Migrator{Store: s.store.Claims, Now: s.Config.Now}
}
