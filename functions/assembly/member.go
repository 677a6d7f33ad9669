package assembly

import (
	"errors"

	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/access"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/seal"
)

// ForMembers lets members in at a surface, on the routes that want them; it needs the ring pepper.
func (s *Services) ForMembers(surface *web.Server) error {
	here, err := s.MemberAccess(s.Config.Origins.API, false)
	if err != nil {
		return err
	}
	there, err := s.MemberAccess(s.Config.Origins.Delegated(), true)
	surface.AuthenticateMember, surface.AuthenticateMCP = here.Authenticate, there.Authenticate
	return err
}

// MemberAccess checks the access tokens of one audience; it needs the ring pepper.
func (s *Services) MemberAccess(audience string, delegated bool) (*access.Members, error) {
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

// Keys makes, lists and ends the API keys of workspaces; it needs the rings pepper and seal.
func (s *Services) Keys() (*credential.Service, error) {
	peppers, err1 := s.peppers()
	box, err2 := seal.New(s.Config.Rings.Seal, "record")
	cursors, err3 := s.cursors()
	return &credential.Service{
		Store:       s.stores.Keys,
		Peppers:     peppers,
		Box:         box,
		Cursors:     cursors,
		Environment: s.Config.Environment,
		Now:         s.Config.Now,
	}, errors.Join(err1, err2, err3)
}

// Account tells callers about themselves and their workspace, and operators what was done; it needs the ring seal.
func (s *Services) Account() (*account.Service, error) {
	cursors, err := s.cursors()
	return &account.Service{
		Allowance:  s.stores.Counters,
		Workspaces: s.stores.Workspaces,
		Events:     s.stores.Events,
		Cursors:    cursors,
		Limits:     &s.Config.Limits,
		Now:        s.Config.Now,
	}, err
}
