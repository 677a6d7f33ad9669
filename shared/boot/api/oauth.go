package api

import (
	"vitrine/functions/api"
	"vitrine/shared/boot"
)

// authorization gives the host what OAuth clients ask for.
func authorization(s *boot.Services, h *api.Host) (err error) {
	h.Authorization, err = s.Authorization(h.Surface.Limiter)
	return err
}
