package api

import (
	"vitrine/functions/api"
	"vitrine/shared/boot"
)

// members gives the host what the routes of members need.
func members(s *boot.Services, h *api.Host) (err error) {
	if err = s.ForMembers(h.Surface); err != nil {
		return err
	}
	if h.Keeper, err = s.Keeper(); err != nil {
		return err
	}
	h.Steward = s.Steward()
	h.Auditor, err = s.Auditor()
	return err
}
