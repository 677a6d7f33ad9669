package boot

import "vitrine/shared/entry/claim"

// Claims lets members take over ephemeral workspaces; it needs the ring pepper.
func (s *Services) Claims() (*claim.Service, error) {
	peppers, err := s.peppers()
	return &claim.Service{
		Store:       s.store,
		Peppers:     peppers,
		Environment: s.Config.Environment,
		Now:         s.Config.Now,
	}, err
}

// Migrator moves the artifacts of workspaces that were claimed.
func (s *Services) Migrator() *claim.Migrator {
	return &claim.Migrator{Store: s.store, Now: s.Config.Now}
}
