// Package download hands out the files of releases of the CLI, to everybody.
package download

import (
	"context"
	"net/netip"
	"time"

	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/release"
)

// Objects stores the files of releases.
type Objects interface {
	// ReleaseURL returns where a valid file is to be had until an instant; not_found if it is not stored.
	ReleaseURL(ctx context.Context, f release.File, expires time.Time) (string, error)
}

// Service hands out files.
type Service struct {
	Objects Objects
	Limiter *rate.Limiter
	Limits  *limits.Limits
	Peppers keyring.Derived
	Now     func() time.Time
}

// Locate returns a URL of a file, which works for limits.DownloadURLLife. It fails with not_found for a file that no
// release has, with rate_limited_actor for an address that asks for too many archives, and with database_unavailable or
// storage_unavailable. Checksums are not counted, because they are small and come with every archive.
func (s *Service) Locate(ctx context.Context, f release.File, from netip.Addr) (string, error) {
	if !f.Valid() {
		return "", fault.NewCode(fault.NotFound)
	}
	if f.Name != release.Checksums {
		if err := s.Limiter.Take(ctx, s.Limits.Download, address.Subject(from, s.Peppers)); err != nil {
			return "", err
		}
	}
	return s.Objects.ReleaseURL(ctx, f, s.Now().Add(limits.DownloadURLLife))
}
