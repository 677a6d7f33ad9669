// Package render assembles the function that makes the pages of files.
package render

import (
	"log/slog"
	"net/http"

	"vitrine/functions/assembly"
	host "vitrine/functions/render"
	"vitrine/shared/adapter/lambdahttp"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/render"
)

// Rings are the settings of the key rings that the host needs.
var Rings = []string{env.ContentRing}

// handler is the render host. Its views may outlive their requests, so it implements lambdahttp.Settler.
type handler struct {
	http.Handler
	*render.Renderer
}

var _ lambdahttp.Settler = handler{}

// Handler returns the render host of a deployment.
func Handler(s *assembly.Services, log *slog.Logger) (http.Handler, error) {
	reader, err := s.Content(s.Limiter("render"))
	if err != nil {
		return nil, err
	}
	surface := s.Public("Vitrine pages", s.Config.Origins.Content, log)
	surface.Pace = s.Config.Limits.Pace
	renderer := render.New()
	renderer.Panicked = func(view media.View, text string) {
		log.Error("view", "view", string(view), "error", "panic: "+web.Redact(text))
	}
	h := &host.Host{
		Surface:  surface,
		Reader:   reader,
		Renderer: renderer,
		Origins:  s.Config.Origins,
		Strict:   s.Config.Environment == credential.Production,
	}
	return handler{h.Handler(), renderer}, nil
}
