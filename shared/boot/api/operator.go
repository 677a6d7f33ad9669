package api

import (
	"vitrine/functions/api"
	"vitrine/shared/boot"
)

// operators gives the host what those ask for who look after the whole deployment.
func operators(s *boot.Services, h *api.Host) (err error) {
	if h.Warden, err = s.Warden(); err != nil {
		return err
	}
	h.Overseer, err = s.Overseer()
	return err
}
