package hostile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
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

func TestT06T07T08F82CredentialsThatAreNone(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g, other := p.NewAgent(t), p.NewAgent(t)
	_, provisioned, err := p.Anyone.Provision(ctx)
	harness.NoError(t, err)
	own := harness.TokenOf(t, g)
	foreign := own
	foreign.Workspace = harness.TokenOf(t, other).Workspace
	stranger := credential.Mint(credential.APIKey, credential.Preview, own.Workspace, "")
	guessed := stranger
	guessed.Public = own.Public
	missing := harness.TokenOf(t, g)
	missing.Workspace = id.NewWorkspace()
	const who = "GET /v1/whoami"
	var attacks []attack
	for name, key := range map[string]string{
		"T06 a claim token":                     provisioned.ClaimToken,
		"T06 the key, called a claim token":     harness.Relabel(t, g.Key, "ap_pk_", "ap_ct_"),
		"T07 a key of another environment":      harness.Relabel(t, g.Key, "_preview_", "_production_"),
		"T07 a wrong checksum":                  g.Key[:len(g.Key)-1] + otherCharacter(g.Key[len(g.Key)-1:]),
		"T07 a key that is cut":                 g.Key[:len(g.Key)-10],
		"T07 ten kilobytes":                     g.Key + strings.Repeat("A", 10<<10),
		"T07 a tab inside":                      g.Key[:20] + "\t" + g.Key[20:],
		"T07 a space after it":                  g.Key + " x",
		"T07 bytes that are no ASCII":           "ap_pk_preview_\xff\xfe",
		"F82 a foreign workspace":               foreign.Reveal(),
		"F82 a workspace that does not exist":   missing.Reveal(),
		"T75 an unknown public id":              stranger.Reveal(),
		"T75 a known public id, another secret": guessed.Reveal(),
		"T03 the key, called an access token":   harness.Relabel(t, g.Key, "ap_pk_", "ap_at_"),
	} {
		attacks = append(attacks, attack{name, "api", who, "", []string{bearer(key)}, 401, fault.NotAuthenticated})
	}
	for name, header := range map[string]string{
		"no credential":  "Accept: */*",
		"another scheme": "Authorization: Basic " + g.Key,
		"no scheme":      "Authorization: " + g.Key,
		"an empty one":   "Authorization: Bearer ",
	} {
		attacks = append(attacks, attack{name, "api", who, "", []string{header}, 401, fault.NotAuthenticated})
	}
	attacks = append(attacks,
		attack{"T08 two headers", "api", who, "", []string{bearer(g.Key), bearer(other.Key)}, 400, fault.InvalidAuth},
		attack{
			"T08 two in one header", "api", who, "", []string{bearer(g.Key) + ", Bearer " + other.Key}, 400, fault.InvalidAuth,
		},
		attack{"T08 a key in the query", "api", who + "?api_key=" + g.Key, "", nil, 400, fault.InvalidAuth},
		attack{
			"T08 a token in the query", "upload", "POST /v1/upload-sessions?access_token=" + g.Key, "{}",
			[]string{bearer(g.Key)}, 400, fault.InvalidAuth,
		},
	)
	wantRefusals(t, p, g, attacks)
	for _, header := range []string{"authorization: bearer " + g.Key, "AUTHORIZATION: BEARER\t" + g.Key} {
		if a := p.SendRaw(t, "api", who, "", header); a.Status != http.StatusOK {
			t.Errorf("the good key answers %d %s", a.Status, a.Code())
		}
	}
}

// otherCharacter is another character of the alphabet.
func otherCharacter(c string) string {
	if c == "A" {
		return "B"
	}
	return "A"
}

func TestT07MalformedKeysCostNoRead(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g := p.NewAgent(t)
	reads := p.Faults.On("BatchGetItem").Always()
	for _, key := range []string{
		"x", g.Key[:len(g.Key)-1], g.Key + "A", harness.Relabel(t, g.Key, "_preview_", "_production_"),
		harness.Relabel(t, g.Key, "ap_pk_", "ap_at_"),
	} {
		harness.WantRefused(t, p.SendRaw(t, "api", "GET /v1/whoami", "", bearer(key)), 401, fault.NotAuthenticated)
	}
	if n := reads.Fired(); n != 0 {
		t.Errorf("malformed keys cost %d reads", n)
	}
	harness.Do(t, g, "GET", p.Origins.API+"/v1/whoami", nil)
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, s)
	w.Close()
	return b.String()
}

func TestT65BodiesThatAreNoRequest(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g := p.NewAgent(t)
	const good = `{"title":"T","entrypoint":"a","files":[{"path":"a","size_bytes":1}]}`
	file := func(members string) string {
		return `{"title":"T","entrypoint":"a","files":[{"path":"a",` + members + `}]}`
	}
	path := func(quoted string) string {
		return `{"title":"T","entrypoint":"a","files":[{"path":` + quoted + `,"size_bytes":1},{"path":"a","size_bytes":1}]}`
	}
	var attacks []attack
	for name, body := range map[string]string{
		"nothing":               "",
		"a brace":               "{",
		"a list":                "[]",
		"null":                  "null",
		"a text":                `"x"`,
		"a number":              "1",
		"two values":            good + good,
		"a tail":                good + "x",
		"a comma too many":      strings.Replace(good, `}]}`, `}],}`, 1),
		"a comment":             "/* */" + good,
		"bytes that are no UTF": strings.Replace(good, "T", "\xff", 1),
		"a lone surrogate":      strings.Replace(good, "T", `\ud800`, 1),
		"UTF-16":                "\xff\xfe{\x00}\x00",
		"a key twice":           `{"title":"T",` + good[1:],
		"a key twice inside":    file(`"size_bytes":1,"size_bytes":2`),
		"a key in two cases":    `{"TITLE":"U",` + good[1:],
		"10,000 levels":         `{"x":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + "," + good[1:],
		"10,000 open levels":    strings.Repeat(`{"x":`, 10_000),
		"gzip":                  gzipped(good),
		"more than a megabyte":  `{"x":"` + strings.Repeat("x", limits.JSONBody) + `",` + good[1:],
		"a size below zero":     file(`"size_bytes":-1`),
		"a size with fraction":  file(`"size_bytes":1.5`),
		"a size as text":        file(`"size_bytes":"1"`),
		"a size beyond 64 bits": file(`"size_bytes":18446744073709551617`),
		"a size beyond doubles": file(`"size_bytes":1e400`),
		"a size over 25 MiB":    file(`"size_bytes":26214401`),
		"an upper-case digest":  file(`"size_bytes":1,"sha256":"` + strings.Repeat("A", 64) + `"`),
		"a digest of nothing":   file(`"size_bytes":0,"sha256":"` + strings.Repeat("a", 64) + `"`),
		"no title":              strings.Replace(good, `"T"`, `"  "`, 1),
		"a title of 161":        strings.Replace(good, `"T"`, `"`+strings.Repeat("é", 161)+`"`, 1),
		"no files":              `{"title":"T","entrypoint":"a","files":[]}`,
		"101 files": `{"title":"T","entrypoint":"a","files":[` + strings.Repeat(
			`{"path":"a","size_bytes":1},`, 100,
		) + `{"path":"b","size_bytes":1}]}`,
		"a path twice":         path(`"a"`),
		"F83 dots":             path(`"../x"`),
		"F83 a dot":            path(`"./x"`),
		"F83 a leading slash":  path(`"/x"`),
		"F83 a trailing slash": path(`"x/"`),
		"F83 an empty part":    path(`"x//y"`),
		"F83 a backslash":      path(`"x\\y"`),
		"F83 NUL":              path(`"x\u0000"`),
		"F83 a line break":     path(`"x\r\ny"`),
		"F83 1025 bytes":       path(`"` + strings.Repeat("x", 1025) + `"`),
		"F83 513 accents":      path(`"` + strings.Repeat("é", 513) + `"`),
		"F83 65 parts":         path(`"` + strings.Repeat("x/", 64) + `x"`),
	} {
		attacks = append(attacks, attack{
			name, "upload", "POST /v1/upload-sessions", body, []string{bearer(g.Key), "Idempotency-Key: " + wire.NewKey()},
			400, fault.InvalidRequest,
		})
	}
	encoded := attack{
		"gzip that says so", "upload", "POST /v1/upload-sessions", gzipped(good), nil, 400, fault.InvalidRequest,
	}
	encoded.headers = []string{
		bearer(g.Key), "Idempotency-Key: " + wire.NewKey(), "Content-Encoding: gzip", "Content-Type: application/json",
	}
	wantRefusals(t, p, g, append(attacks, encoded))
}

func TestBodiesOfTheApiHostThatAreNoRequest(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g := p.NewAgent(t)
	d := harness.DraftPage(t, g, "draft")
	publish := "POST /v1/artifacts/" + string(d.ArtifactID) + "/revisions/" + string(d.RevisionID) + "/publish"
	var attacks []attack
	add := func(line, body string, headers ...string) {
		name := strings.NewReplacer(
			string(d.ArtifactID), "", string(d.RevisionID), "",
		).Replace(line) + " " + body[:min(len(body), 20)]
		attacks = append(attacks, attack{name, "api", line, body, headers, 400, fault.InvalidRequest})
	}
	for _, body := range []string{
		"{", "[]", `"x"`, `{"x":1}`, `{"x":1,"x":1}`, strings.Repeat("[", 10_000),
		strings.Repeat(" ", limits.JSONBody) + "{}",
	} {
		add(publish, body, bearer(g.Key), "Idempotency-Key: "+wire.NewKey())
		add("POST /v1/ephemeral/provision", body)
		add("POST /v1/access-links/resolve", body)
	}
	for _, query := range []string{
		"limit=", "limit=0", "limit=101", "limit=-1", "limit=1.5", "limit=x", "limit=99999999999999999999",
	} {
		add("GET /v1/artifacts?"+query, "", bearer(g.Key))
	}
	for _, query := range []string{
		"cursor=", "cursor=x", "cursor=v1.", "cursor=" + strings.Repeat("x", 501), "cursor=%00", "cursor=%ff",
	} {
		attacks = append(attacks, attack{
			query[:min(len(query), 20)], "api", "GET /v1/artifacts?" + query, "", []string{bearer(g.Key)}, 400,
			fault.InvalidCursor,
		})
	}
	for _, key := range []string{"short", strings.Repeat("x", 201), "with space", "umläut-key", "comma,comma"} {
		attacks = append(attacks, attack{
			"T50 " + key[:5], "api", publish, "", []string{bearer(g.Key), "Idempotency-Key: " + key}, 400,
			fault.InvalidIdempotencyKey,
		})
	}
	twice := []string{bearer(g.Key), "Idempotency-Key: " + wire.NewKey(), "Idempotency-Key: " + wire.NewKey()}
	wantRefusals(t, p, g, append(attacks, attack{
		"T50 two keys", "api", publish, "", twice, 400, fault.InvalidIdempotencyKey,
	}))
}

// endless is a body without end.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	e.read += len(b)
	return len(b), nil
}

func TestT65BodiesWithoutEndAreCutOff(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g := p.NewAgent(t)
	before := p.Snapshot(t)
	for name, length := range map[string]int64{"chunked, endless": -1, "50 MB": 50 << 20} {
		for _, target := range []string{p.Origins.Upload + "/v1/upload-sessions", p.Origins.API + "/v1/ephemeral/provision"} {
			body := &endless{}
			r := harness.Must(http.NewRequestWithContext(ctx, "POST", target, io.LimitReader(body, 1<<40)))(t)
			r.ContentLength = length
			r.Header.Set("Authorization", "Bearer "+g.Key)
			r.Header.Set("Idempotency-Key", wire.NewKey())
			answer := harness.Must(g.HTTP.Do(r))(t)
			text := harness.Must(io.ReadAll(answer.Body))(t)
			answer.Body.Close()
			t.Run(name, func(t *testing.T) {
				harness.WantRefused(t, wire.Answer{
					Status: answer.StatusCode,
					Header: answer.Header,
					Body:   text,
				}, 400, fault.InvalidRequest)
			})
		}
	}
	p.WantUnchanged(t, before)
	harness.PublishPage(t, g, "after")
}

// TestT63NoNameLeadsOutOfAFolder shows that all files of a revision can be saved below one folder, each name once.
func TestT63NoNameLeadsOutOfAFolder(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g := p.NewAgent(t)
	before := p.Snapshot(t)
	for _, name := range []string{
		"../up.html", "a/../../up.html", "/etc/passwd", "//host/share", `..\up.html`, `C:\up.html`, "C:/up.html", "c:",
		"a//b", "a/", "./a", ".", "a\x00b",
	} {
		file := wire.File{Path: name, Body: []byte("x")}
		harness.WantRefused(
			t, harness.TryCreate(t, g, wire.NewKey(), wire.Declare("T", harness.Page("index"), file)), 400, fault.InvalidRequest,
		)
		r := wire.Declare("T", harness.Page("index"))
		r.BaseRevisionID, r.DeletedPaths = id.NewRevision(), []string{name}
		harness.WantRefused(t, harness.TryCreate(t, g, wire.NewKey(), r), 400, fault.InvalidRequest)
	}
	relative := wire.File{Path: "C:up.html", Body: []byte("x")} // where a disk stands just now
	harness.WantRefused(
		t,
		harness.TryCreate(t, g, wire.NewKey(), wire.Declare("T", harness.Page("index"), relative)),
		400,
		fault.InvalidRequest,
	)
	harness.WantRefused(
		t,
		harness.TryCreate(t, g, wire.NewKey(), wire.Declare("T", harness.Page("index"), harness.Page("index"))),
		400,
		fault.InvalidRequest,
	)
	many := make([]wire.File, 101)
	for n := range many {
		many[n] = wire.File{Path: fmt.Sprint(n), Body: []byte("x")}
	}
	harness.WantRefused(
		t,
		harness.TryCreate(t, g, wire.NewKey(), wire.Declare("T", append(many, harness.Page("index"))...)),
		400,
		fault.InvalidRequest,
	)
	p.WantUnchanged(t, before)
}

func TestT69ClaimCodesAreAttributionOnly(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	for name, code := range map[string]string{
		"SQL":        `"'; DROP TABLE users; --"`,
		"emoji":      `"🦄"`,
		"10 KB":      `"` + strings.Repeat("x", 10<<10) + `"`,
		"a number":   "1",
		"an object":  `{"a":{"b":1}}`,
		"null":       "null",
		"a list":     "[[[]]]",
		"lower case": `"clm_0000000000000000000000000a"`,
		"a good one": `" clm_00000000000000000000000000 "`,
	} {
		a := harness.Do(t, p.Anyone, "POST", p.Origins.API+"/v1/ephemeral/provision", `{"claim_code":`+code+`}`)
		if a.Status != http.StatusCreated || strings.Contains(string(a.Body), ".clm_") != (name == "a good one") {
			t.Errorf("%s: %d %s", name, a.Status, a.Code())
		}
	}
	harness.WantRefused(
		t,
		harness.Do(t, p.Anyone, "POST", p.Origins.API+"/v1/ephemeral/provision", `{"claim_code":"\ud800"}`),
		400,
		fault.InvalidRequest,
	)
}

func TestT67WhatAHeaderClaimsIsNoAddress(t *testing.T) {
	t.Parallel()
	now := &harness.Clock{Now: time.Now()}
	p := harness.NewBackendEnv(t, now.Use, func(o *stack.Options) { o.Limits.Pow = limits.PowOff })
	most := p.Options.Limits.ProvisionAddress.Limit
	var last wire.Answer
	for n := range most + 1 {
		ip := fmt.Sprintf("203.0.113.%d", n)
		last = p.SendRaw(t, "api", "POST /v1/ephemeral/provision", "{}", "X-Forwarded-For: "+
			ip, "Forwarded: for="+ip, "X-Real-IP: "+ip,
			"True-Client-IP: "+ip, "CF-Connecting-IP: "+ip, "CloudFront-Viewer-Address: "+ip+":443", "X-Client-IP: "+ip)
		if n < most && last.Status != http.StatusCreated {
			t.Fatalf("provision %d answers %d %s", n+1, last.Status, last.Code())
		}
	}
	harness.WantRefused(t, last, 429, fault.ProvisionRateLimited)
	if n := p.CountItems(t, p.Tables.Hot, "r:address:"); n > 2 {
		t.Errorf("one address has %d buckets", n)
	}
}
