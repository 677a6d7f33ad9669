package boot

import (
	"vitrine/shared/identity/account"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/publishing/lockdown"
)

// Warden sets and lifts operators' lockdowns; it needs the ring seal.
func (s *Services) Warden() (*lockdown.Warden, error) {
	cursors, err := cursor.New(s.Config.Rings.Seal)
	return &lockdown.Warden{Store: s.store, Cursors: cursors, Now: s.Config.Now}, err
}

// Overseer shows operators what was done in all workspaces; it needs the ring seal.
func (s *Services) Overseer() (*account.Overseer, error) {
	cursors, err := cursor.New(s.Config.Rings.Seal)
	return &account.Overseer{Store: s.store, Cursors: cursors, Now: s.Config.Now}, err
}
