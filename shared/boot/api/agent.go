package api

import (
	"vitrine/functions/api"
	"vitrine/shared/boot"
)

// agents gives the host what agents ask for, and what its documents say about agents and people.
func agents(s *boot.Services, h *api.Host) error {
	service, err := s.Agents(h.Surface.Limiter)
	if err != nil {
		return err
	}
	h.Agents = service
	h.AgentTokens = service
	h.Completer = service
	if service.Signer != nil {
		h.AssertionKeys = service.Signer.JWKS()
	}
	h.People = s.Config.OIDC.Issuer != ""
	return nil
}
