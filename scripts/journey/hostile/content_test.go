package hostile

import (
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// tokenOf is the signed part of a content or agent-view URL.
func tokenOf(url string) string {
	for _, mark := range []string{"/v/", "/agent-view/"} {
		if _, rest, ok := strings.Cut(url, mark); ok {
			t, _, _ := strings.Cut(rest, "/")
			return t
		}
	}
	return ""
}

func TestT01T02T55TokensOpenNothingElse(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	a := harness.PublishPage(t, p.NewAgent(t), "one")
	good, view := tokenOf(a.RevisionContentURL), tokenOf(a.AgentViewURL)
	answers := map[string]wire.Answer{
		"T01": p.SendRaw(t, "api", "GET /v1/public/agent-view/"+good, ""),
		"T02": p.SendRaw(t, "content", "GET /v/"+view+"/index.html", ""),
	}
	for _, text := range []string{good[:len(good)-1], "%20" + good, strings.Repeat("A", 8<<10)} {
		answers["content "+text] = p.SendRaw(t, "content", "GET /v/"+text+"/index.html", "")
		answers["view "+text] = p.SendRaw(t, "api", "GET /v1/public/agent-view/"+text, "")
	}
	bodies := map[string]string{}
	for name, a := range answers {
		harness.WantRefused(t, a, 404, fault.NotFound)
		bodies[strings.ReplaceAll(string(a.Body), a.Header.Get("X-Request-Id"), "")] = name
	}
	if len(bodies) != 1 {
		t.Errorf("the refusals differ: %v", bodies)
	}
	if n := p.CountItems(t, p.Tables.Hot, "r:artifact:"); n != 0 {
		t.Errorf("F57: forged tokens made %d counters", n)
	}
	p.WantContent(t, a.RevisionContentURL, harness.Page("one").Body)
}

func TestF84URLsStayShort(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g := p.NewAgent(t)
	part := strings.Repeat("%", 255)
	file := wire.File{Path: strings.Join([]string{part, part, part, part + "%"}, "/"), Body: []byte("x")}
	a := harness.Must(g.PublishFiles(ctx, "long", "", file))(t)
	through := harness.Must(g.Resolve(ctx, a.UnlistedURL))(t)
	if n := len(through.IframeSrc); n >= 8192 || len(file.Path) != limits.PathBytes {
		t.Errorf("the URL of a path of %d bytes has %d", len(file.Path), n)
	}
	p.WantContent(t, through.IframeSrc, file.Body)
}
