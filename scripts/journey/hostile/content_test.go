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
	composed, decomposed := "caf\u00e9.txt", "cafe\u0301.txt"
	files := []wire.File{
		{Path: "dir/a.txt", Body: []byte("a")},
		{Path: composed, Body: []byte("é")},
		{Path: "%2e.txt", Body: []byte("%")},
	}
	first := harness.Must(g.PublishFiles(ctx, "first", "", append(files, wire.File{
		Path: "old.txt",
		Body: []byte("old"),
	})...))(t)
	second := harness.Must(g.PublishFiles(ctx, "second", first.ArtifactID, files...))(t)
	prefix := "GET /v/" + tokenOf(second.RevisionContentURL) + "/"
	answers := map[string]wire.Answer{}
	for _, path := range []string{
		"old.txt", "dir", "dir/", "dir/a.txt/", "dir//a.txt", "./dir/a.txt", "dir/./a.txt", "dir/x/../a.txt", "../x",
		"%2e%2e/x", "..%2fx", "%2e%2e%2fx",
		"dir/%2e%2e/dir/a.txt", "%252e%252e/x", "dir%252fa.txt", "%2fdir/a.txt", "dir%5ca.txt", `dir\a.txt`, "dir/a.txt%00",
		"%00", "dir/a.txt%0a", "DIR/a.txt",
		"dir/A.TXT", "dir/a.txt%20", "dir/a.txt.", "dir/a.txt;x", decomposed, "caf%c3%28.txt", "%ff", "..txt",
		strings.Repeat("x", 1025), strings.Repeat("x", 5<<10),
		strings.Repeat("x/", 64) + "x",
	} {
		answers[path] = p.SendRaw(t, "content", prefix+path, "")
	}
	harness.WantSameRefusal(t, answers, 404, fault.NotFound)
	p.WantContent(
		t, first.RevisionContentURL[:strings.LastIndex(first.RevisionContentURL, "/dir/")]+"/old.txt", []byte("old"),
	)
	for path, body := range map[string]string{
		"dir/a.txt":     "a",
		"dir%2Fa.txt":   "a",
		"%64ir/a.txt":   "a",
		"caf%C3%A9.txt": "é",
		"%252e.txt":     "%",
	} {
		if a := p.SendRaw(t, "content", prefix+path, ""); a.Status != http.StatusOK || string(a.Body) != body {
			t.Errorf("%s answers %d %q", path, a.Status, a.Body)
		}
	}
}

func TestT01T02T55TokensThatAreNone(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g := p.NewAgent(t)
	a, other := harness.PublishPage(t, g, "one"), harness.PublishPage(t, g, "two")
	good, view := tokenOf(a.RevisionContentURL), tokenOf(a.AgentViewURL)
	raw := harness.Must(base64.RawURLEncoding.DecodeString(good))(t)
	var mixed []byte // the claims of one token with the signature of another
	mixed = append(
		append(mixed, raw[:len(raw)-16]...),
		harness.Must(base64.RawURLEncoding.DecodeString(tokenOf(other.RevisionContentURL)))(t)[len(raw)-16:]...,
	)
	bad := map[string]string{
		"T02 a view's":      view,
		"cut":               good[:len(good)-1],
		"longer":            good + "A",
		"padded":            good + "=",
		"dots":              good[:40] + ".." + good[42:],
		"empty":             "%20",
		"8 KB":              strings.Repeat("A", 8<<10),
		"not canonical":     good[:len(good)-1] + string(good[len(good)-1]+1),
		"zeros":             strings.Repeat("A", len(good)),
		"standard alphabet": strings.Replace(good, good[5:6], "+", 1),
		"a space":           good[:10] + "%20" + good[11:],
		"mixed":             base64.RawURLEncoding.EncodeToString(mixed),
		"a link's":          strings.Repeat("A", 108),
		"an artifact id":    string(a.ArtifactID),
		"NUL":               good[:10] + "%00" + good[11:],
	}
	answers := map[string]wire.Answer{}
	for name, text := range bad {
		answers[name] = p.SendRaw(t, "content", "GET /v/"+text+"/index.html", "")
		if name != "T02 a view's" {
			answers["view "+name] = p.SendRaw(t, "api", "GET /v1/public/agent-view/"+text, "")
		}
	}
	answers["T01"] = p.SendRaw(t, "api", "GET /v1/public/agent-view/"+good, "")
	harness.WantSameRefusal(t, answers, 404, fault.NotFound)
	if n := p.CountItems(t, p.Tables.Hot, "r:artifact:"); n != 0 {
		t.Errorf("F57: forged tokens made %d counters", n)
	}
	p.WantContent(t, a.RevisionContentURL, harness.Page("one").Body)
}

func TestT58EveryFlippedBitOfATokenIsNoticed(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	a := harness.PublishPage(t, p.NewAgent(t), "one")
	good := tokenOf(a.RevisionContentURL)
	raw := harness.Must(base64.RawURLEncoding.DecodeString(good))(t)
	for bit := range len(raw) * 8 {
		raw[bit/8] ^= 1 << (bit % 8)
		p.WantGone(t, strings.Replace(a.RevisionContentURL, good, base64.RawURLEncoding.EncodeToString(raw), 1))
		raw[bit/8] ^= 1 << (bit % 8)
	}
	p.WantContent(t, a.RevisionContentURL, harness.Page("one").Body)
}

func TestT56T57F58AnEndedTokenIsNotFoundWhateverTheClientHas(t *testing.T) {
	t.Parallel()
	now := &harness.Clock{Now: time.Now()}
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
	harness.WantRefused(t, p.Get(t, deleted.AgentViewURL), 404, fault.NotFound)
	now.Advance(limits.EphemeralArtifact)
	harness.WantRefused(t, p.Get(t, expires.RevisionContentURL, "If-None-Match", expiresTag), 404, fault.NotFound)
	now.Advance(time.Hour) // the token itself ends with the next full hour
	harness.WantRefused(t, p.Get(t, expires.RevisionContentURL, "If-None-Match", expiresTag), 404, fault.NotFound)
	harness.WantRefused(t, p.Get(t, expires.AgentViewURL), 404, fault.NotFound)
}

func TestT57AWorkspaceThatIsLockedIsGoneAtOnce(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	a := harness.PublishPage(t, g, "locked")
	p.WantContent(t, a.RevisionContentURL, harness.Page("locked").Body)
	p.Update(
		t, "W#"+string(harness.TokenOf(t, g).Workspace), "META", map[string]any{"lock": "lkd_00000000000000000000000000"},
	)
	p.WantGone(t, a.RevisionContentURL)
	p.WantGone(t, a.AgentViewURL)
	harness.WantRefused(t, harness.Do(t, g, "GET", p.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated)
	p.Update(t, "W#"+string(harness.TokenOf(t, g).Workspace), "META", map[string]any{"lock": nil, "epoch": 1})
	p.WantContent(t, a.RevisionContentURL, harness.Page("locked").Body)
	harness.WantRefused(t, harness.Do(t, g, "GET", p.Origins.API+"/v1/whoami", nil), 401, fault.NotAuthenticated) // T83
}

func TestT60AccessLinksThatAreNone(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	a, other := harness.PublishPage(t, g, "linked"), harness.PublishPage(t, g, "other")
	public, blob, err := wire.SplitLink(a.UnlistedURL)
	harness.NoError(t, err)
	stranger, foreign, err := wire.SplitLink(other.UnlistedURL)
	harness.NoError(t, err)
	resolve := func(public id.Public, blob string) wire.Answer {
		return harness.Do(t, p.Anyone, "POST", p.Origins.API+"/v1/access-links/resolve", contract.ResolveRequest{
			PublicID: public,
			Blob:     blob,
		})
	}
	raw := harness.Must(base64.RawURLEncoding.DecodeString(blob))(t)
	flipped := func(at int) string {
		changed := append([]byte(nil), raw...)
		changed[at] ^= 1
		return base64.RawURLEncoding.EncodeToString(changed)
	}
	answers := map[string]wire.Answer{
		"another public id": resolve(stranger, blob),
		"another blob":      resolve(public, foreign),
		"an unknown link":   resolve(id.NewPublic(), blob),
		"expiry":            resolve(public, flipped(4)),
		"scopes":            resolve(public, flipped(7)),
		"workspace":         resolve(public, flipped(9)),
		"artifact":          resolve(public, flipped(25)),
		"43 bytes":          resolve(public, blob[:57]),
		"cut":               resolve(public, blob[:74]),
		"x":                 resolve(public, "x"),
		"a content token":   resolve(public, tokenOf(a.RevisionContentURL)),
		"8 KB":              resolve(public, strings.Repeat("A", 8<<10)),
		"NUL":               resolve(public, "\x00"),
	}
	harness.WantSameRefusal(t, answers, 404, fault.NotFound)
	for _, body := range []string{
		`{"public_id":"x","blob":"x"}`, `{"public_id":"` + string(public) + `","blob":""}`, `{"blob":"x"}`,
		`{"public_id":1,"blob":2}`,
	} {
		harness.WantRefused(
			t, harness.Do(t, p.Anyone, "POST", p.Origins.API+"/v1/access-links/resolve", body), 400, fault.InvalidRequest,
		)
	}
	harness.Must(g.Resolve(ctx, a.UnlistedURL))(t)
	p.Update(t, "AL#"+string(public), "L", map[string]any{"rev_at": time.Now()})
	harness.WantRefused(t, resolve(public, blob), 404, fault.NotFound)
}

func TestT57ContentReadThroughALinkEndsWithTheLink(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	g := p.NewAgent(t)
	a := harness.PublishPage(t, g, "linked")
	resolved := harness.Must(g.Resolve(ctx, a.UnlistedURL))(t)
	p.WantContent(t, resolved.IframeSrc, harness.Page("linked").Body)
	public, _, err := wire.SplitLink(a.UnlistedURL)
	harness.NoError(t, err)
	p.Update(t, "AL#"+string(public), "L", map[string]any{"rev_at": time.Now()})
	p.WantGone(t, resolved.IframeSrc)
	p.WantGone(t, resolved.AgentView.Files[0].URL)
	p.WantContent(t, a.RevisionContentURL, harness.Page("linked").Body) // no link is named there
}

func TestF84URLsStayShort(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g := p.NewAgent(t)
	part := strings.Repeat("%", 255)
	files := []wire.File{{Path: strings.Join([]string{part, part, part, part + "%"}, "/"), Body: []byte("x")}}
	for n := range 99 {
		files = append(files, wire.File{Path: "f" + string(rune('0'+n/10)) + string(rune('0'+n%10))})
	}
	a := harness.Must(g.PublishFiles(ctx, "long", "", files...))(t)
	through := harness.Must(g.Resolve(ctx, a.UnlistedURL))(t)
	if n := len(through.IframeSrc); n >= 8192 || len(files[0].Path) != limits.PathBytes {
		t.Errorf("the URL of a path of %d bytes has %d", len(files[0].Path), n)
	}
	p.WantContent(t, through.IframeSrc, []byte("x"))
}

func TestT78OnlyAnOpaqueOriginMayReadContent(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	a := harness.PublishPage(t, p.NewAgent(t), "shared")
	for origin, allowed := range map[string]string{
		"null":                 "null",
		"https://evil.example": "",
		"NULL":                 "",
		"null, null":           "",
	} {
		got := p.Get(t, a.RevisionContentURL, "Origin", origin)
		if got.Header.Get("Access-Control-Allow-Origin") != allowed ||
			got.Header.Get("Access-Control-Allow-Credentials") != "" {
			t.Errorf("Origin %q is allowed as %q", origin, got.Header.Get("Access-Control-Allow-Origin"))
		}
	}
	var e contract.Envelope
	preflight := harness.Do(
		t, p.Anyone, "OPTIONS", a.RevisionContentURL, nil, "Origin", "null", "Access-Control-Request-Method", "GET",
	)
	if harness.Decode(t, preflight, &e); preflight.Status != http.StatusNotFound {
		t.Errorf("a preflight answers %d", preflight.Status)
	}
}
