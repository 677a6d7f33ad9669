package boot

import (
	"errors"

	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/access"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/seal"
)

// ForMembers lets members in at a surface, on the routes that want them; it needs the ring pepper.
func (s *Services) ForMembers(surface *web.Server) error {
	here, err := s.Members(s.Config.Origins.API, false)
	if err != nil {
		return err
	}
	there, err := s.Members(s.Config.Origins.Delegated(), true)
	surface.AuthenticateMember, surface.AuthenticateMCP = here.Authenticate, there.Authenticate
	return err
}

// Members checks the access tokens of one audience; it needs the ring pepper.
func (s *Services) Members(audience string, delegated bool) (*access.Members, error) {
	peppers, err := s.peppers()
	return &access.Members{
		Store:       s.stores.Access,
		Peppers:     peppers,
		Limits:      &s.Config.Limits,
		Environment: s.Config.Environment,
		Audience:    audience,
		Delegated:   delegated,
		Now:         s.Config.Now,
	}, err
}

// Keeper keeps the API keys of workspaces; it needs the rings pepper and seal.
func (s *Services) Keeper() (*credential.Keeper, error) {
	peppers, err1 := s.peppers()
	box, err2 := seal.New(s.Config.Rings.Seal, "record")
	cursors, err3 := cursor.New(s.Config.Rings.Seal)
	return &credential.Keeper{
		Store:       s.stores.Keys,
		Peppers:     peppers,
		Box:         box,
		Cursors:     cursors,
		Environment: s.Config.Environment,
		Now:         s.Config.Now,
	}, errors.Join(err1, err2, err3)
}

// Steward keeps the settings of workspaces.
func (s *Services) Steward() *account.Settings {
	return &account.Settings{Store: s.stores.Workspaces, Now: s.Config.Now}
}

// Auditor shows what was done in workspaces; it needs the ring seal.
func (s *Services) Auditor() (*account.AuditLog, error) {
	cursors, err := cursor.New(s.Config.Rings.Seal)
	return &account.AuditLog{Store: s.stores.Events, Cursors: cursors, Now: s.Config.Now}, err
}
