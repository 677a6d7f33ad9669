package boot

import (
	"vitrine/shared/identity/account"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/publishing/lockdown"
)

// Warden sets and lifts operators' lockdowns; it needs the ring seal.
func (s *Services) Warden() (*lockdown.Service, error) {
	cursors, err := cursor.New(s.Config.Rings.Seal)
	return &lockdown.Service{Store: s.stores.Lockdowns, Cursors: cursors, Now: s.Config.Now}, err
}

// Overseer shows operators what was done in all workspaces; it needs the ring seal.
func (s *Services) Overseer() (*account.OperatorLog, error) {
	cursors, err := cursor.New(s.Config.Rings.Seal)
	return &account.OperatorLog{Store: s.stores.Events, Cursors: cursors, Now: s.Config.Now}, err
}
