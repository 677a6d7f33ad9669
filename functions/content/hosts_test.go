package content_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/id"
)

func TestT102LabelsThatExistAnswerAsOthers(t *testing.T) {
	e := newOwnEnv(t, "index.html", "x")
	good := e.Token()
	e.Claims.Artifact = id.NewArtifact()
	cookies := map[string]string{"none": "", "malformed": "__Host-v=x", "another's": "__Host-v=" + e.Token()}
	e.Claims.Artifact = e.State.Artifact.ID
	answer := func(of id.Artifact, path string, headers []string) string {
		w := e.Ask("GET", e.host.Origins.Of(of)+path, headers...)
		given := w.Header().Get("X-Request-Id")
		w.Header().Del("X-Request-Id")
		return fmt.Sprint(w.Code, w.Header(), strings.ReplaceAll(w.Body.String(), given, ""))
	}
	for name, cookie := range cookies {
		for _, path := range []string{"/", "/index.html", "/none", "/.vitrine/", "/.vitrine/ready/",
			"/.vitrine/t/x/index.html", "/.vitrine/open/x/index.html",
			"/.vitrine/r/index.html", "/.vitrine/open/" + good[:40] + "/"} {
			for _, more := range [][]string{nil, frame, {"Service-Worker", "script"}, {"If-None-Match", "*"}} {
				headers := append([]string{"Cookie", cookie}, more...)
				exists := answer(e.Claims.Artifact, path, headers)
				if other := answer(id.NewArtifact(), path, headers); exists != other {
					t.Errorf("%s, %s: %s\n%s", name, path, exists, other)
				}
			}
		}
	}
}

// TestT102TheHostOfARequestDecides sends requests that name two hosts, or none of ours, with a good cookie.
func TestT102TheHostOfARequestDecides(t *testing.T) {
	e := newOwnEnv(t, "index.html", "x")
	e.host.Strict = true
	e.Handler = e.host.Handler()
	server := httptest.NewServer(e.Handler)
	t.Cleanup(server.Close)
	own := strings.TrimPrefix(e.host.Origins.Of(e.Claims.Artifact), "http://")
	other := strings.TrimPrefix(e.host.Origins.Of(id.NewArtifact()), "http://")
	for request, want := range map[string]int{
		"GET / HTTP/1.1\r\nHost: " + own:                                     http.StatusOK,
		"GET / HTTP/1.1\r\nX-Forwarded-Host: " + other + "\r\nHost: " + own:  http.StatusOK,
		"GET / HTTP/1.1\r\nX-Forwarded-Host: " + own + "\r\nHost: " + other:  http.StatusNotFound,
		"GET / HTTP/1.1\r\nForwarded: host=" + own + "\r\nHost: " + other:    http.StatusNotFound,
		"GET / HTTP/1.1\r\nX-Forwarded-Host: " + own + "\r\nHost: evil.test": http.StatusMisdirectedRequest,
		"GET http://" + other + "/ HTTP/1.1\r\nHost: " + own:                 http.StatusNotFound,
		"GET http://evil.test/ HTTP/1.1\r\nHost: " + own:                     http.StatusMisdirectedRequest,
		"GET / HTTP/1.1\r\nHost: " + own + "\r\nHost: " + other:              http.StatusBadRequest,
		"GET / HTTP/1.1\r\nHost: " + other + "\r\nHost: " + own:              http.StatusBadRequest,
		"GET / HTTP/1.1\r\nHost: " + other + ", " + own:                      http.StatusBadRequest,
		"GET / HTTP/1.1\r\nHost: " + other + "@" + own:                       http.StatusBadRequest,
		"GET / HTTP/1.1\r\nHost: " + own + ".evil.test":                      http.StatusMisdirectedRequest,
		"GET / HTTP/1.1\r\nHost: " + own + ".":                               http.StatusMisdirectedRequest,
		"GET / HTTP/1.1\r\nHost: evil-" + own:                                http.StatusNotFound,
		"GET / HTTP/1.1\r\nHost: evil." + own:                                http.StatusNotFound,
		"GET / HTTP/1.1\r\nHost: 127.0.0.1":                                  http.StatusMisdirectedRequest,
		"GET / HTTP/1.1\r\nHost: evil.test":                                  http.StatusMisdirectedRequest,
		"GET / HTTP/1.1\r\nHost: ":                                           http.StatusMisdirectedRequest,
		"GET / HTTP/1.0\r\nX-Host: " + own:                                   http.StatusMisdirectedRequest,
		"GET // HTTP/1.1\r\nHost: " + own:                                    http.StatusNotFound,
		"GET //" + own + "/ HTTP/1.1\r\nHost: " + other:                      http.StatusNotFound,
	} {
		c := expect.Value(net.Dial("tcp", server.Listener.Addr().String()))(t)
		fmt.Fprintf(c, "%s\r\nCookie: __Host-v=%s\r\nConnection: close\r\n\r\n", request, e.Token())
		w := expect.Value(http.ReadResponse(bufio.NewReader(c), nil))(t)
		if w.StatusCode != want {
			t.Errorf("%q: %d, want %d", request, w.StatusCode, want)
		}
		w.Body.Close()
		c.Close()
	}
}
