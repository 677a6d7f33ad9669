package hostile

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// attack is a request that has to be refused, sent byte by byte.
type attack struct {
	name    string
	host    string
	line    string
	body    string
	headers []string
	status  int
	code    fault.Code
}

// wantRefusals sends attacks: each is refused clearly, nothing is stored, and the next correct request works.
func wantRefusals(t *testing.T, p *harness.BackendEnv, g *wire.Agent, attacks []attack) {
	t.Helper()
	before := p.Snapshot(t)
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			harness.WantRefused(t, p.SendRaw(t, a.host, a.line, a.body, a.headers...), a.status, a.code)
		})
	}
	p.WantUnchanged(t, before)
	p.WantContent(
		t, harness.PublishPage(t, g, "after the attacks").RevisionContentURL, harness.Page("after the attacks").Body,
	)
}

func bearer(key string) string { return "Authorization: Bearer " + key }

// idempotent is the header of a repeatable command, with a new key.
func idempotent() string { return "Idempotency-Key: " + wire.NewKey() }

func TestT06T07T08F82CredentialsThatAreNone(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g, other := p.NewAgent(t), p.NewAgent(t)
	_, provisioned, err := p.Anyone.Provision(ctx)
	harness.NoError(t, err)
	foreign := harness.TokenOf(t, g)
	foreign.Workspace = harness.TokenOf(t, other).Workspace
	renamed := harness.TokenOf(t, g)
	renamed.Kind = credential.AccessToken
	guessed := credential.Mint(credential.APIKey, credential.Preview, harness.TokenOf(t, g).Workspace, "")
	guessed.Public = harness.TokenOf(t, g).Public
	const who = "GET /v1/whoami"
	var attacks []attack
	for name, header := range map[string]string{
		"T06 a claim token":                     bearer(provisioned.ClaimToken),
		"T07 a key that is cut":                 bearer(g.Key[:len(g.Key)-10]),
		"T07 ten kilobytes":                     bearer(g.Key + strings.Repeat("A", 10<<10)),
		"T07 a tab inside":                      bearer(g.Key[:20] + "\t" + g.Key[20:]),
		"T07 bytes that are no ASCII":           bearer("ap_pk_preview_\xff\xfe"),
		"F82 a foreign workspace":               bearer(foreign.Reveal()),
		"T75 a known public id, another secret": bearer(guessed.Reveal()),
		"T03 the key, called an access token":   bearer(renamed.Reveal()),
		"another scheme":                        "Authorization: Basic " + g.Key,
		"no credential":                         "Accept: */*",
	} {
		attacks = append(attacks, attack{name, "api", who, "", []string{header}, 401, fault.NotAuthenticated})
	}
	for name, a := range map[string]struct {
		host, line string
		headers    []string
	}{
		"T08 two headers":          {"api", who, []string{bearer(g.Key), bearer(other.Key)}},
		"T08 two in one header":    {"api", who, []string{bearer(g.Key) + ", Bearer " + other.Key}},
		"T08 a key in the query":   {"api", who + "?api_key=" + g.Key, nil},
		"T08 a token in the query": {"upload", "POST /v1/upload-sessions?access_token=" + g.Key, []string{bearer(g.Key)}},
	} {
		attacks = append(attacks, attack{name, a.host, a.line, "{}", a.headers, 400, fault.InvalidAuth})
	}
	wantRefusals(t, p, g, attacks)
	for _, header := range []string{"authorization: bearer " + g.Key, "AUTHORIZATION: BEARER\t" + g.Key} {
		if a := p.SendRaw(t, "api", who, "", header); a.Status != http.StatusOK {
			t.Errorf("the good key answers %d %s", a.Status, a.Code())
		}
	}
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, s)
	w.Close()
	return b.String()
}

func TestT50T63T65F83RequestsThatAreNone(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g := p.NewAgent(t)
	d := harness.DraftPage(t, g, "draft")
	const good = `{"title":"T","entrypoint":"a","files":[{"path":"a","size_bytes":1}]}`
	above := `{"base_revision_id":"` + string(d.RevisionID) + `","deleted_paths":["../x"],`
	publish := "POST /v1/artifacts/" + string(d.ArtifactID) + "/revisions/" + string(d.RevisionID) + "/publish"
	var attacks []attack
	add := func(name, host, line, body string, code fault.Code, headers ...string) {
		attacks = append(attacks, attack{name, host, line, body, append(headers, bearer(g.Key)), 400, code})
	}
	for name, body := range map[string]string{
		"a list":                      "[]",
		"two values":                  good + good,
		"bytes that are no UTF":       strings.Replace(good, "T", "\xff", 1),
		"a key twice":                 `{"title":"T",` + good[1:],
		"10,000 open levels":          strings.Repeat(`{"x":`, 10_000),
		"gzip":                        gzipped(good),
		"more than a megabyte":        `{"x":"` + strings.Repeat("x", limits.JSONBody) + `",` + good[1:],
		"a size over 180 MiB":         strings.Replace(good, `:1}`, `:188743681}`, 1),
		"a digest of upper case":      strings.Replace(good, `:1}`, `:1,"sha256":"`+strings.Repeat("A", 64)+`"}`, 1),
		"no title":                    strings.Replace(good, `"T"`, `"  "`, 1),
		"F83 an empty part":           strings.ReplaceAll(good, `"a"`, `"x//y"`),
		"F83 a line break":            strings.ReplaceAll(good, `"a"`, `"x\r\ny"`),
		"F83 1025 bytes":              strings.ReplaceAll(good, `"a"`, `"`+strings.Repeat("x", 1025)+`"`),
		"T63 a path above":            strings.ReplaceAll(good, `"a"`, `"../x"`),
		"T63 a path on a disk":        strings.ReplaceAll(good, `"a"`, `"C:x"`),
		"T63 a path to delete, above": above + good[1:],
	} {
		add(name, "upload", "POST /v1/upload-sessions", body, fault.InvalidRequest, idempotent())
	}
	add("gzip that says so", "upload", "POST /v1/upload-sessions", gzipped(good), fault.InvalidRequest, idempotent(),
		"Content-Encoding: gzip", "Content-Type: application/json")
	for _, body := range []string{"{", `{"x":1,"x":1}`, strings.Repeat(" ", limits.JSONBody) + "{}"} {
		add("publish "+body[:1], "api", publish, body, fault.InvalidRequest, idempotent())
		for _, line := range []string{"POST /v1/ephemeral/provision", "POST /v1/access-links/resolve"} {
			attacks = append(attacks, attack{line + " " + body[:1], "api", line, body, nil, 400, fault.InvalidRequest})
		}
	}
	for _, query := range []string{"limit=", "limit=101", "limit=1.5", "limit=99999999999999999999"} {
		add(query, "api", "GET /v1/artifacts?"+query, "", fault.InvalidRequest)
	}
	for _, query := range []string{"cursor=x", "cursor=" + strings.Repeat("x", 501), "cursor=%00"} {
		add(query[:8], "api", "GET /v1/artifacts?"+query, "", fault.InvalidCursor)
	}
	for _, key := range []string{"short", strings.Repeat("x", 201), "umläut-key", "comma,comma"} {
		add("T50 "+key[:5], "api", publish, "", fault.InvalidIdempotencyKey, "Idempotency-Key: "+key)
	}
	add("T50 two keys", "api", publish, "", fault.InvalidIdempotencyKey, idempotent(), idempotent())
	wantRefusals(t, p, g, attacks)
}
