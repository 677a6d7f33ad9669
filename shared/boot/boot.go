package boot

import (
	"context"
	"log/slog"
	"net/http"

	"vitrine/functions/api"
	"vitrine/functions/app"
	"vitrine/functions/upload"
	"vitrine/shared/meter"
	"vitrine/shared/web"
)

// Hosts are the handlers of a deployment.
type Hosts struct {
	API, Upload, Content, App http.Handler
}

// Open assembles all hosts. Its error names everything that is wrong with the configuration.
func Open(ctx context.Context, c Config, log *slog.Logger) (*Hosts, error) {
	s, err := assemble(ctx, c)
	if err != nil {
		return nil, err
	}
	controlPlane, err := s.api(log.With("host", "api"))
	if err != nil {
		return nil, err
	}
	return &Hosts{
		API: controlPlane, Upload: s.upload(log.With("host", "upload")), Content: s.content(log.With("host", "content")),
		App: s.app(log.With("host", "app")),
	}, nil
}

func (s *services) api(log *slog.Logger) (http.Handler, error) {
	surface := s.guarded("Vitrine API", "api", s.config.Origins.API, log)
	lister, err := s.lister()
	if err != nil {
		return nil, err
	}
	h := &api.Host{
		Surface: surface, Accounts: s.account(), Keys: s.revoker(), Provisioner: s.provisioner(surface.Limiter), Publisher: s.publisher(),
		Deleter: s.deleter(), Lister: lister, Viewer: s.viewer(surface.Limiter), Addresses: s.addresses,
	}
	return h.Handler(), nil
}

func (s *services) upload(log *slog.Logger) http.Handler {
	h := &upload.Host{
		Surface: s.guarded("Vitrine upload", "upload", s.config.Origins.Upload, log), Creator: s.creator(), Finalizer: s.finalizer(),
	}
	return h.Handler()
}

func (s *services) app(log *slog.Logger) http.Handler {
	o := s.config.Origins
	h := &app.Host{Links: s.viewer(s.limiter("app")), ContentURL: o.Content, AppURL: o.App, APIURL: o.API, Log: log}
	return h.Handler()
}

// guarded is the surface of a host whose callers authenticate.
func (s *services) guarded(title, host, origin string, log *slog.Logger) *web.Surface {
	a := s.authenticator()
	return &web.Surface{
		Title: title, Origin: origin, Metadata: s.config.Origins.API + "/.well-known/oauth-protected-resource", Log: log, Observe: observe,
		Authenticate: a.Open, Touch: a.Touch, Limiter: s.limiter(host), Now: s.config.Now,
	}
}

// observe counts the AWS calls of a request for its log line.
func observe(ctx context.Context) (context.Context, func() []slog.Attr) {
	ctx, counts := meter.With(ctx)
	return ctx, counts.Attrs
}
