package assembly

import (
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/platform/address"
	"vitrine/shared/publishing/abuse"
	"vitrine/shared/publishing/lockdown"
	"vitrine/shared/publishing/lookup"
)

// Lockdowns sets and lifts operators' lockdowns; it needs the ring seal.
func (s *Services) Lockdowns() (*lockdown.Service, error) {
	cursors, err := s.cursors()
	return &lockdown.Service{Store: s.stores.Lockdowns, Cursors: cursors, Now: s.Config.Now}, err
}

// Inbox shows reports of abuse to operators; it needs the ring seal.
func (s *Services) Inbox() (*abuse.Inbox, error) {
	cursors, err := s.cursors()
	return &abuse.Inbox{Store: s.stores.Reports, Cursors: cursors, Now: s.Config.Now}, err
}

// Lookups tells operators what an address or an id is.
func (s *Services) Lookups(urls *address.URLBuilder) *lookup.Service {
	return &lookup.Service{
		Store:   s.stores.Lookups,
		Locks:   s.stores.Lockdowns,
		Reader:  s.pasted(urls),
		URLs:    urls,
		Marks:   s.stores.Counters,
		Members: s.stores.Members,
		Now:     s.Config.Now,
	}
}

// Gate shows operators the quota of ephemeral workspaces, and changes it.
func (s *Services) Gate() *ephemeral.Gate {
	return &ephemeral.Gate{Store: s.stores.Workspaces, Counters: s.stores.Counters, Now: s.Config.Now}
}
