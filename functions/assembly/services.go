package assembly

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"vitrine/shared/adapter/blob"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/adapter/meter"
	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/access"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/deletion"
	"vitrine/shared/identity/pow"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/cache"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/content"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/live"
	"vitrine/shared/publishing/upload"
	"vitrine/shared/publishing/view"
)

// Services are what the hosts of a deployment are made of. The package of each host takes what that host needs, so that
// its function links nothing else and holds no other key.
type Services struct {
	Config Config

	stores dynamo.Stores
	blobs  *blob.Store
	cache  *cache.Cache
}

// Open makes the clients and stores. Its error names everything that is wrong with the configuration.
func Open(c Config) (*Services, error) {
	if c.Now == nil {
		c.Now = time.Now
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	objects, err := c.s3()
	if err != nil {
		return nil, err
	}
	edge := c.Origins.Upload
	if c.DirectPut {
		edge = ""
	}
	return &Services{
		Config: c,
		stores: dynamo.New(c.dynamodb(), c.Tables),
		blobs:  blob.New(objects, c.Bucket, edge),
		cache:  cache.New(c.Limits.Cache),
	}, nil
}

// CreateTables makes the tables and the quota of new workspaces where they are missing; a deployment has them already.
func (s *Services) CreateTables(ctx context.Context) error {
	if err := dynamo.CreateTables(ctx, s.Config.dynamodb(), s.Config.Tables); err != nil {
		return err
	}
	return s.stores.Workspaces.InitQuota(ctx, ephemeral.Quota{PerMinute: limits.ProvisionQuota}, s.Config.Now())
}

// Guarded is the surface of a host whose callers authenticate.
func (s *Services) Guarded(title, host, origin string, log *slog.Logger) (*web.Server, error) {
	peppers, err := s.peppers()
	a := &access.Authenticator{
		Store:       s.stores.Access,
		Peppers:     peppers,
		Limits:      &s.Config.Limits,
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

// Public is the surface of a host whose callers hold signed URLs.
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

func (s *Services) peppers() (keyring.Derived, error) {
	return s.Config.Rings.Pepper.Derive("credential")
}

// cursors seals the cursors of lists.
func (s *Services) cursors() (*cursor.Codec, error) { return cursor.New(s.Config.Rings.Seal) }

// URLs builds and checks signed URLs; it needs the rings content and links.
func (s *Services) URLs() (*address.URLBuilder, error) {
	c := s.Config
	b := &address.URLBuilder{Origins: c.Origins}
	var err1, err2, err3, err4, err5 error
	b.ContentToken, err1 = token.New(c.Rings.Content, token.Content, c.Origins.Content)
	b.BundleToken, err2 = token.New(c.Rings.Content, token.Bundle, c.Origins.Content)
	b.ViewToken, err3 = token.New(c.Rings.Content, token.AgentView, c.Origins.API)
	b.Links, err4 = token.NewLinkCodec(c.Rings.Links, c.Origins.App)
	b.ExportToken, err5 = token.New(c.Rings.Content, token.Export, c.Origins.Content)
	return b, errors.Join(err1, err2, err3, err4, err5)
}

// Limiter counts for one host.
func (s *Services) Limiter(host string) *rate.Limiter {
	return &rate.Limiter{
		Counters: s.stores.Counters,
		Limits:   &s.Config.Limits,
		Host:     host,
		Now:      s.Config.Now,
		Marks:    s.stores.Counters,
	}
}

// Provisioning makes ephemeral workspaces; it needs the ring pepper.
func (s *Services) Provisioning(limiter *rate.Limiter) (*ephemeral.Provisioner, error) {
	peppers, err1 := s.peppers()
	signing, err2 := s.Config.Rings.Pepper.Derive("pow")
	return &ephemeral.Provisioner{
		Store:       s.stores.Workspaces,
		Limiter:     limiter,
		Counters:    s.stores.Counters,
		Limits:      &s.Config.Limits,
		Peppers:     peppers,
		Environment: s.Config.Environment,
		Pow:         &pow.Service{Keys: signing, Store: s.stores.Counters, Now: s.Config.Now},
		Now:         s.Config.Now,
	}, errors.Join(err1, err2)
}

// Artifacts publishes, lists, changes and ends artifacts; it needs the rings seal, content and links.
func (s *Services) Artifacts() (*artifact.Service, error) {
	cursors, err1 := s.cursors()
	urls, err2 := s.URLs()
	return &artifact.Service{
		Store:   s.stores.Artifacts,
		URLs:    urls,
		Cursors: cursors,
		Limits:  &s.Config.Limits,
		Now:     s.Config.Now,
	}, errors.Join(err1, err2)
}

// Files makes a viewer read files back, which needs the bucket.
func (s *Services) Files(v *view.Service) *view.Service {
	v.Bytes = s.blobs
	return v
}

// Views answers agent views and opens access links.
func (s *Services) Views(addresses *address.URLBuilder, limiter *rate.Limiter) *view.Service {
	return &view.Service{
		Store:     s.stores.Artifacts,
		Addresses: addresses,
		Limits:    &s.Config.Limits,
		Limiter:   limiter,
		Cache:     s.cache,
		Now:       s.Config.Now,
	}
}

// Live answers the polls of open pages.
func (s *Services) Live(v *view.Service) *live.Service {
	return &live.Service{
		Store:     s.stores.Artifacts,
		Pointers:  v,
		Addresses: v.Addresses,
		Limiter:   v.Limiter,
		Now:       s.Config.Now,
	}
}

// Uploads opens upload sessions and turns them into drafts.
func (s *Services) Uploads() *upload.Service {
	return &upload.Service{
		Store:   s.stores.Uploads,
		Index:   s.stores.ContentIndex,
		Objects: s.blobs,
		Limits:  &s.Config.Limits,
		Now:     s.Config.Now,
	}
}

// Exports lets members take everything out of a workspace.
func (s *Services) Exports(urls *address.URLBuilder, limiter *rate.Limiter) *export.Service {
	return &export.Service{
		Store:   s.stores.Exports,
		Limiter: limiter,
		URLs:    urls,
		Limits:  &s.Config.Limits,
		Now:     s.Config.Now,
	}
}

// Content opens files by signed token; it needs the ring content.
func (s *Services) Content(limiter *rate.Limiter) (*content.Reader, error) {
	ring := s.Config.Rings.Content
	tokens, err := token.New(ring, token.Content, s.Config.Origins.Content)
	if err != nil {
		return nil, err
	}
	bundles, err1 := token.New(ring, token.Bundle, s.Config.Origins.Content)
	exports, err3 := token.New(ring, token.Export, s.Config.Origins.Content)
	addresses, err2 := ring.Derive("address")
	return &content.Reader{
		Tokens:       tokens,
		Bundles:      bundles,
		ExportTokens: exports,
		Exports:      s.stores.Exports,
		Store:        s.stores.Artifacts,
		Bytes:        s.blobs,
		Limiter:      limiter,
		Streams:      &rate.Streams{Store: s.stores.Counters, Limits: &s.Config.Limits, Now: s.Config.Now},
		Addresses:    addresses,
		Cache:        s.cache,
		Now:          s.Config.Now,
	}, errors.Join(err1, err2, err3)
}

// Deletions deletes workspaces, and keeps those that are being deleted.
func (s *Services) Deletions() *deletion.Service {
	return &deletion.Service{Store: s.stores.Deletions, Now: s.Config.Now}
}
