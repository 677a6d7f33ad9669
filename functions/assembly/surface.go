package assembly

import (
	"context"
	"log/slog"

	"vitrine/shared/adapter/meter"
	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/access"
	"vitrine/shared/platform/rate"
)

// Public returns the server of a host whose callers hold signed URLs.
func (s *Services) Public(title, origin string, log *slog.Logger) *web.Server {
	return &web.Server{
		Title:   title,
		Origin:  origin,
		HSTS:    s.Config.HSTS,
		Log:     log,
		Observe: observe,
		Now:     s.Config.Now,
	}
}

// observe counts the AWS calls of a request for its log line.
func observe(ctx context.Context) (context.Context, func() []slog.Attr) {
	ctx, counts := meter.With(ctx)
	return ctx, counts.Attrs
}

// Guarded returns the server of a host whose callers authenticate. It needs the ring pepper.
func (s *Services) Guarded(title, host, origin string, log *slog.Logger) (*web.Server, error) {
	peppers, err := s.Peppers()
	a := &access.Authenticator{
		Store:       s.Stores.Access,
		Peppers:     peppers,
		Limits:      &s.Config.Limits,
		Allowlist:   s.Config.Allowlist(),
		Environment: s.Config.Environment,
		Now:         s.Config.Now,
	}
	surface := s.Public(title, origin, log)
	surface.Metadata = s.Config.Origins.API + "/.well-known/oauth-protected-resource"
	surface.Authenticate = a.Authenticate
	surface.Touch = a.Touch
	surface.Limiter = s.Limiter(host)
	return surface, err
}

// MemberAccess returns what checks access tokens for one audience. It needs the ring pepper.
func (s *Services) MemberAccess(audience string, delegated bool) (*access.Members, error) {
	peppers, err := s.Peppers()
	return &access.Members{
		Store:       s.Stores.Access,
		Peppers:     peppers,
		Limits:      &s.Config.Limits,
		Allowlist:   s.Config.Allowlist(),
		Environment: s.Config.Environment,
		Audience:    audience,
		Delegated:   delegated,
		Now:         s.Config.Now,
	}, err
}

// Limiter returns the limiter of one host.
func (s *Services) Limiter(host string) *rate.Limiter {
	return &rate.Limiter{
		Counters: s.Stores.Counters,
		Limits:   &s.Config.Limits,
		Host:     host,
		Now:      s.Config.Now,
		Marks:    s.Stores.Counters,
	}
}
