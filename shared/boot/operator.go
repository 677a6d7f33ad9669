package boot

import "vitrine/shared/publishing/lockdown"

// Lockdowns sets and lifts operators' lockdowns; it needs the ring seal.
func (s *Services) Lockdowns() (*lockdown.Service, error) {
	cursors, err := s.cursors()
	return &lockdown.Service{Store: s.stores.Lockdowns, Cursors: cursors, Now: s.Config.Now}, err
}
