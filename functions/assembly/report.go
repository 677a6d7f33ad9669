package assembly

import (
	"errors"

	"vitrine/shared/identity/pow"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/abuse"
)

// pasted reads the ids and addresses that people paste.
func (s *Services) pasted(urls *address.URLBuilder) abuse.Reader {
	return abuse.Reader{
		Origins: s.Config.Origins,
		Tokens:  []*token.Codec{urls.ContentToken, urls.BundleToken, urls.ViewToken},
	}
}

// Reports takes reports of abuse; it needs the ring pepper.
func (s *Services) Reports(urls *address.URLBuilder, limiter *rate.Limiter) (*abuse.Service, error) {
	addresses, err1 := s.peppers()
	signing, err2 := s.Config.Rings.Pepper.Derive("pow-report")
	return &abuse.Service{
		Store:     s.stores.Reports,
		Reader:    s.pasted(urls),
		Limiter:   limiter,
		Counters:  s.stores.Counters,
		Limits:    &s.Config.Limits,
		Pow:       &pow.Service{Keys: signing, Store: s.stores.Counters, Now: s.Config.Now},
		Addresses: addresses,
		Now:       s.Config.Now,
	}, errors.Join(err1, err2)
}
