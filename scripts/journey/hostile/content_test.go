package hostile

import (
	"encoding/base64"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
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

func TestT53T54F83PathsThatAreNoFileOfTheRevision(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g := p.NewAgent(t)
	files := []wire.File{{Path: "dir/a.txt", Body: []byte("a")}, {Path: "%2e.txt", Body: []byte("%")}}
	first := harness.Must(g.PublishFiles(ctx, "first", "", append(files, wire.File{Path: "old.txt"})...))(t)
	second := harness.Must(g.PublishFiles(ctx, "second", first.ArtifactID, files...))(t)
	prefix := "GET /v/" + tokenOf(second.RevisionContentURL) + "/"
	answers := map[string]wire.Answer{}
	for _, path := range []string{
		"old.txt", "dir", "dir/", "dir/a.txt/", "dir//a.txt", "./dir/a.txt", "dir/x/../a.txt", "../x", "%2e%2e/x", "..%2fx",
		"%252e%252e/x", "dir%252fa.txt", "%2fdir/a.txt", `dir\a.txt`, "dir/a.txt%00", "dir/a.txt%0a", "DIR/a.txt", "%ff",
		strings.Repeat("x", 5<<10),
	} {
		answers[path] = p.SendRaw(t, "content", prefix+path, "")
	}
	harness.WantSameRefusal(t, answers, 404, fault.NotFound)
	for path, body := range map[string]string{"dir/a.txt": "a", "dir%2Fa.txt": "a", "%64ir/a.txt": "a", "%252e.txt": "%"} {
		if a := p.SendRaw(t, "content", prefix+path, ""); a.Status != http.StatusOK || string(a.Body) != body {
			t.Errorf("%s answers %d %q", path, a.Status, a.Body)
		}
	}
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
	harness.WantSameRefusal(t, answers, 404, fault.NotFound)
	if n := p.CountItems(t, p.Tables.Hot, "r:artifact:"); n != 0 {
		t.Errorf("F57: forged tokens made %d counters", n)
	}
	p.WantContent(t, a.RevisionContentURL, harness.Page("one").Body)
}

func TestT56T57F58AnEndedTokenIsNotFoundWhateverTheClientHas(t *testing.T) {
	t.Parallel()
	now := harness.NewClock()
	p := harness.NewBackendEnv(t, now.Use)
	g := p.NewAgent(t)
	expires, deleted := harness.PublishPage(t, g, "expires"), harness.PublishPage(t, g, "deleted")
	tag := func(url string) string { return p.Get(t, url).Header.Get("ETag") }
	expiresTag, deletedTag := tag(expires.RevisionContentURL), tag(deleted.RevisionContentURL)
	if a := p.Get(t, deleted.RevisionContentURL, "If-None-Match", deletedTag); a.Status != http.StatusNotModified {
		t.Fatal("a live token answers", a.Status)
	}
	harness.TryDelete(t, g, deleted.ArtifactID)
	for _, condition := range []string{deletedTag, "W/" + deletedTag, "*"} {
		harness.WantRefused(t, p.Get(t, deleted.RevisionContentURL, "If-None-Match", condition), 404, fault.NotFound)
	}
	harness.WantRefused(t, p.Get(t, deleted.RevisionContentURL, "Range", "bytes=0-0"), 404, fault.NotFound)
	p.WantGone(t, deleted.AgentViewURL)
	for _, later := range []time.Duration{limits.EphemeralArtifact, time.Hour} { // the token ends with the next full hour
		now.Advance(later)
		harness.WantRefused(t, p.Get(t, expires.RevisionContentURL, "If-None-Match", expiresTag), 404, fault.NotFound)
	}
	p.WantGone(t, expires.AgentViewURL)
}

func TestT60AccessLinksThatAreNone(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	a, other := harness.PublishPage(t, g, "linked"), harness.PublishPage(t, g, "other")
	public, blob, err := wire.SplitLink(a.UnlistedURL)
	harness.NoError(t, err)
	_, foreign, err := wire.SplitLink(other.UnlistedURL)
	harness.NoError(t, err)
	resolve := func(public id.Public, blob string) wire.Answer {
		return harness.Do(t, p.Anyone, "POST", p.Origins.API+"/v1/access-links/resolve", contract.ResolveRequest{
			PublicID: public,
			Blob:     blob,
		})
	}
	raw := harness.Must(base64.RawURLEncoding.DecodeString(blob))(t)
	raw[4] ^= 1
	harness.WantSameRefusal(t, map[string]wire.Answer{
		"another public id": resolve(harness.PublicID(t, other.UnlistedURL), blob),
		"another blob":      resolve(public, foreign),
		"an unknown link":   resolve(id.NewPublic(), blob),
		"another expiry":    resolve(public, base64.RawURLEncoding.EncodeToString(raw)),
		"cut":               resolve(public, blob[:74]),
		"a content token":   resolve(public, tokenOf(a.RevisionContentURL)),
		"8 KB":              resolve(public, strings.Repeat("A", 8<<10)),
		"NUL":               resolve(public, "\x00"),
	}, 404, fault.NotFound)
	harness.Must(g.Resolve(ctx, a.UnlistedURL))(t)
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
