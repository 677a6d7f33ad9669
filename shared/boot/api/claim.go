package api

import (
	"vitrine/functions/api"
	"vitrine/shared/boot"
)

// claims gives the host what members claim workspaces with.
func claims(s *boot.Services, h *api.Host) (err error) {
	h.Claimer, err = s.Claimer()
	return err
}
