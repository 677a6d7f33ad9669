package boot

import (
	"log/slog"
	"net/http"

	"vitrine/functions/content"
	"vitrine/shared/credential"
	"vitrine/shared/web"
)

func (s *services) content(log *slog.Logger) http.Handler {
	h := &content.Host{
		Surface: &web.Surface{Title: "Vitrine content", Origin: s.config.Origins.Content, Log: log, Observe: observe, Now: s.config.Now},
		Reader:  s.reader(s.limiter("content")), Origins: s.config.Origins, Strict: s.config.Environment == credential.Production,
	}
	return h.Handler()
}
