package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/fault"
)

func TestT65Bodies(t *testing.T) {
	s := newEnv(t)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	z.Write([]byte(`{"title":"x"}`))
	z.Close()
	for name, body := range map[string]string{
		"empty":                     "",
		"blank":                     " \n ",
		"gzip":                      zipped.String(),
		"garbage after the value":   `{"title":"x"} x`,
		"two values":                `{"title":"x"}{"title":"y"}`,
		"a key twice":               `{"title":"x","title":"y"}`,
		"a key twice below":         `{"title":"x","parts":[{"path":"a","path":"b"}]}`,
		"an unknown key twice":      `{"title":"x","a":1,"a":1}`,
		"a key twice, escaped":      `{"title":"x","titl\u0065":"y"}`,
		"invalid UTF-8":             "{\"title\":\"\xff\"}",
		"half a surrogate":          `{"title":"\ud800"}`,
		"a byte order mark":         "\ufeff" + `{"title":"x"}`,
		"a comment":                 `{"title":"x"/**/}`,
		"deep arrays":               `{"title":"x","a":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}`,
		"deep objects":              strings.Repeat(`{"title":`, 200_000),
		"another type":              `[]`,
		"null":                      `null`,
		"a required key is missing": `{}`,
		"a key in two cases":        `{"title":"x","Title":""}`,
		"a key in two alphabets":    `{"size_bytes":1,"ſize_bytes":-1,"title":"x"}`,
		"1 MiB and a byte":          `{"title":"x","a":"` + strings.Repeat("a", 1<<20) + `"}`,
		"a fraction":                `{"title":"x","size_bytes":1.5}`,
		"an exponent":               `{"title":"x","size_bytes":1e400}`,
		"too large a number":        `{"title":"x","size_bytes":26214401}`,
		"no member of the enum":     `{"title":"x","kind":"pdf"}`,
	} {
		t.Run(name, func(t *testing.T) { wantRefusal(t, s.create1(t, body), http.StatusBadRequest, fault.InvalidRequest) })
	}
	for name, body := range map[string]string{
		"unknown keys":        `{"title":"x","more":{"a":[1,null]}}`,
		"the same key apart":  `{"title":"x","parts":[{"path":"a"},{"path":"b"}],"more":{"title":["title","title"]}}`,
		"blanks around":       " \r\n\t" + `{"title":"x"}` + " \n",
		"null for nothing":    `{"title":"x","kind":null}`,
		"brackets in strings": `{"title":"x","a":"` + strings.Repeat("[{", 1000) + `\""}`,
		"1 MiB":               `{"title":"x","a":"` + strings.Repeat("a", 1<<20-21) + `"}`,
	} {
		t.Run(name, func(t *testing.T) { answered(t, s.create1(t, body), 201) })
	}
}

func TestContentTypeIsIgnored(t *testing.T) {
	s := newEnv(t)
	for _, ct := range []string{"text/plain", "application/cbor", "application/json+x;;", "multipart/form-data", ""} {
		w := s.do(t, "POST", "/v1/things", `{"title":"x"}`,
			append([]string{"Content-Type", ct, "Accept", "text/html"}, authorized...)...)
		answered(t, w, 201)
		if got := w.Header().Get("Content-Type"); got != "application/json; charset=utf-8" {
			t.Errorf("answered with %q", got)
		}
	}
}

func TestStrictShapesRefuseUnknownKeys(t *testing.T) {
	s := newEnv(t)
	for _, body := range []string{"", " ", "{}"} {
		answered(t, s.do(t, "POST", "/v1/artifacts/art_1/publish", body, authorized...), 200)
	}
	for _, body := range []string{`{"a":1}`, `[]`, `"x"`, `{`} {
		wantRefusal(t, s.do(t, "POST", "/v1/artifacts/art_1/publish", body, authorized...), 400, fault.InvalidRequest)
	}
}

func TestMessagesNameTheFieldAndNeverTheValue(t *testing.T) {
	s := newEnv(t)
	const secret = "s3cr3t"
	for body, want := range map[string]string{
		`{"title":"` + strings.Repeat(secret, 9) + `"}`: "body.title: expected length <= 20",
		`{"title":"x","size_bytes":"` + secret + `"}`:   "body.size_bytes: expected integer",
		`{"title":"x","size_bytes":99999999}`:           "body.size_bytes: expected number <= 26214400",
		`{"title":"x","size_bytes":5e0}`: "body: the value of size_bytes does not fit; integers " +
			"have no fraction and no exponent",
		`{"title":"x","size_bytes":1e999}`:            "body: the number at /size_bytes is too large",
		`{"title":"x","parts":[{"path":"a"},-1e999]}`: "body: the number at /parts/1 is too large",
		`[1,{"a":1e999}]`:                             "body: the number at /1/a is too large",
		`1e999`:                                       "body: the whole body is a number that is too large",
		`{"title":"x","kind":"` + secret + `"}`:       `body.kind: expected value to be one of "html, text"`,
		`{"title":"x","parts":[{"path":"a"},{"x":"s3cr3t"}]}`: "body.parts[1]: expected required property path to be " +
			"present",
		`{"size_bytes":-1,"kind":"s3cr3t"}`:                     `body.kind: expected value to be one of "html, text"; body.size_bytes: expected number >= 0; body: expected required property title to be present`,
		`{"title":"` + secret:                                   "body: not JSON in UTF-8, at byte 16",
		`{"title":"x","title":"` + secret + `"}`:                "body: the key /title stands twice in its object",
		`{"title":"x","parts":[{},{},{},{},{},{},{}]}`:          "and 2 more",
		`{"title":"x", "a":` + strings.Repeat("[", 65) + secret: "body: more than 64 levels of objects and arrays",
	} {
		e := wantRefusal(t, s.create1(t, body), 400, fault.InvalidRequest)
		if !strings.Contains(e.Error.Message, want) {
			t.Errorf("%.60s: %q, want %q", body, e.Error.Message, want)
		}
		if strings.Contains(e.Error.Message, secret) || strings.Contains(e.Error.Message, "99999999") {
			t.Errorf("%.60s: %q quotes the value", body, e.Error.Message)
		}
	}
	e := wantRefusal(t, s.do(t, "GET", "/v1/things?limit=s3cr3t", "", authorized...), 400, fault.InvalidRequest)
	if e.Error.Message != "query.limit: invalid integer" {
		t.Errorf("%q", e.Error.Message)
	}
	long := `{"` + strings.Repeat("k", 5000) + `":1}`
	e = wantRefusal(t, s.do(t, "POST", "/v1/artifacts/art_1/publish", long, authorized...), 400, fault.InvalidRequest)
	if len(e.Error.Message) > 300 || !strings.Contains(e.Error.Message, "leave it out") {
		t.Errorf("%d bytes: %.200q", len(e.Error.Message), e.Error.Message)
	}
}

// endlessBody is a body that never ends.
type endlessBody struct{ read int64 }

func (e *endlessBody) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	e.read += int64(len(b))
	return len(b), nil
}

func TestT65EndlessBodyIsCutOff(t *testing.T) {
	s := newEnv(t)
	body := new(endlessBody)
	r := httptest.NewRequest("POST", "/v1/things", io.NopCloser(body))
	r.ContentLength = -1
	r.Header.Set("Authorization", "Bearer "+goodKey)
	r.Header.Set("Idempotency-Key", "12345678")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	w := httptest.NewRecorder()
	s.host.ServeHTTP(w, r)
	runtime.ReadMemStats(&after)
	wantRefusal(t, w, 400, fault.InvalidRequest)
	if body.read > 2<<20 || after.TotalAlloc-before.TotalAlloc > 16<<20 {
		t.Errorf("read %d bytes, allocated %d", body.read, after.TotalAlloc-before.TotalAlloc)
	}
}

func TestBodyThatBreaksOff(t *testing.T) {
	s := newEnv(t)
	r := httptest.NewRequest("POST", "/v1/open", io.MultiReader(strings.NewReader(`{"title":`), brokenBody{}))
	w := httptest.NewRecorder()
	s.host.ServeHTTP(w, r)
	wantRefusal(t, w, 400, fault.InvalidRequest)
}

type brokenBody struct{}

func (brokenBody) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

func TestWhoeverWaitsAsToldHasWaitedEnough(t *testing.T) {
	for wait, want := range map[time.Duration]string{
		-time.Second:    "",
		0:               "",
		1:               "1",
		time.Second:     "1",
		time.Second + 1: "2",
		time.Minute:     "60",
	} {
		h := http.Header{}
		if web.RetryAfter(h, wait); h.Get("Retry-After") != want || len(h) > len(want) {
			t.Errorf("%s: %v", wait, h)
		}
	}
}
