package web_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"vitrine/scripts/testkit/unpack"
	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/pack"
)

// text is worth packing.
var text = strings.Repeat("<p>All the same.</p>\n", 200)

// answerOf returns what a handler answers to a request with these headers, which are pairs, behind Pack.
func answerOf(method string, handle http.HandlerFunc, headers ...string) *http.Response {
	r := httptest.NewRequest(method, "/", nil)
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "HTTP" {
			r.Proto, r.ProtoMajor, r.ProtoMinor = "HTTP/1.0", 1, 0
			continue
		}
		r.Header.Add(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	web.Pack(handle).ServeHTTP(w, r)
	return w.Result()
}

// tagged answers a body of a type.
func tagged(kind, body string, more ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("ETag", `"tag"`)
		w.Header().Set("Accept-Ranges", "bytes")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		for i := 0; i < len(more); i += 2 {
			w.Header().Set(more[i], more[i+1])
		}
		w.WriteHeader(http.StatusOK)
		io.WriteString(w, body)
	}
}

// wantForm checks that an answer has a text in a coding, with the headers that belong to it.
func wantForm(t *testing.T, got *http.Response, coding pack.Coding, body string) {
	t.Helper()
	raw, err := io.ReadAll(got.Body)
	if err != nil {
		t.Fatal(err)
	}
	want := http.Header{"Etag": {`"tag"`}, "Accept-Ranges": {"bytes"}, "Content-Length": {strconv.Itoa(len(body))}}
	if coding != "" {
		want = http.Header{"Etag": {`"tag-` + string(coding) + `"`}, "Content-Encoding": {string(coding)}}
		if len(raw) > len(body)/2 {
			t.Errorf("%d bytes are packed to %d", len(body), len(raw))
		}
	}
	for _, name := range []string{"Content-Encoding", "Etag", "Accept-Ranges", "Content-Length"} {
		if got.Header.Get(name) != want.Get(name) {
			t.Errorf("%s is %q, want %q", name, got.Header.Get(name), want.Get(name))
		}
	}
	if text := unpack.Text(t, got.Header, raw); text != body {
		t.Errorf("the text has %d bytes, want %d", len(text), len(body))
	}
}

func TestTheClientChoosesHowAnAnswerIsPacked(t *testing.T) {
	for name, c := range map[string]struct {
		accepted []string // lines of Accept-Encoding
		want     pack.Coding
	}{
		"nothing asked":               {nil, ""},
		"an empty line":               {[]string{""}, ""},
		"gzip":                        {[]string{"gzip"}, pack.Gzip},
		"zstd":                        {[]string{"zstd"}, pack.Zstd},
		"what Chromium asks for":      {[]string{"gzip, deflate, br, zstd"}, pack.Zstd},
		"what Safari asks for":        {[]string{"gzip, deflate, br"}, pack.Gzip},
		"two lines":                   {[]string{"br", "gzip"}, pack.Gzip},
		"another case and no spaces":  {[]string{"GZIP;Q=1,br"}, pack.Gzip},
		"gzip above zstd":             {[]string{"zstd;q=0.5, gzip;q=0.8"}, pack.Gzip},
		"zstd above gzip":             {[]string{"gzip;q=0.5, zstd;q=0.8"}, pack.Zstd},
		"both alike":                  {[]string{"gzip;q=0.3, zstd;q=0.3"}, pack.Zstd},
		"zstd refused":                {[]string{"zstd;q=0, gzip"}, pack.Gzip},
		"both refused":                {[]string{"zstd;q=0, gzip;q=0.000"}, ""},
		"unknown words":               {[]string{"br, deflate, compress, gzipped"}, ""},
		"a star":                      {[]string{"*"}, pack.Gzip},
		"a star that excludes gzip":   {[]string{"gzip;q=0, *"}, ""},
		"a refused star":              {[]string{"*;q=0"}, ""},
		"identity":                    {[]string{"identity"}, ""},
		"identity above gzip":         {[]string{"gzip;q=0.5, identity;q=0.9"}, ""},
		"identity and gzip alike":     {[]string{"identity, gzip"}, pack.Gzip},
		"identity refused":            {[]string{"identity;q=0, gzip;q=0.1"}, pack.Gzip},
		"identity alone and refused":  {[]string{"identity;q=0"}, ""}, // there is no other form
		"everything refused":          {[]string{"*;q=0, identity;q=0"}, ""},
		"a weight that is no number":  {[]string{"gzip;q=high"}, ""},
		"a weight above 1":            {[]string{"gzip;q=2"}, ""},
		"a weight that is not finite": {[]string{"gzip;q=NaN, zstd;q=Inf"}, ""},
		"a parameter that is none":    {[]string{"gzip;level=9"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var headers []string
			for _, line := range c.accepted {
				headers = append(headers, "Accept-Encoding", line)
			}
			got := answerOf("GET", tagged("text/html; charset=utf-8", text), headers...)
			wantForm(t, got, c.want, text)
			if vary := got.Header.Get("Vary"); vary != "Accept-Encoding" {
				t.Errorf("Vary is %q", vary)
			}
		})
	}
}

func TestRequestsThatAreAboutBytesGetTheBytes(t *testing.T) {
	for name, headers := range map[string][]string{
		"a range":              {"Range", "bytes=0-1"},
		"a conditional range":  {"Range", "bytes=0-1", "If-Range", `"tag"`},
		"a condition on a tag": {"If-Match", `"tag"`},
		"a client of HTTP/1.0": {"HTTP", "1.0"},
	} {
		t.Run(name, func(t *testing.T) {
			got := answerOf("GET", tagged("text/css", text), append(headers, "Accept-Encoding", "gzip, zstd")...)
			wantForm(t, got, "", text)
		})
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		vary   string
	}{
		"HEAD":                    {tagged("text/css", text), "Accept-Encoding"},
		"HEAD with other headers": {tagged("text/css", text, "Vary", "Origin"), "Origin, Accept-Encoding"},
		"HEAD of a picture":       {tagged("image/png", text), ""},
	} {
		got := answerOf("HEAD", c.answer, "Accept-Encoding", "gzip, zstd")
		if h := got.Header; h.Get("Content-Encoding") != "" || h.Get("Content-Length") != strconv.Itoa(len(text)) ||
			h.Get("ETag") != `"tag"` || h.Get("Vary") != c.vary {
			t.Errorf("%s: %v", name, h)
		}
	}
}

func TestWhatDoesNotBecomeSmallerIsNotPacked(t *testing.T) {
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		vary   string
	}{
		"below 1 KB":         {tagged("text/html", text[:pack.MinSize-1]), ""},
		"a picture":          {tagged("image/png", text), ""},
		"a video":            {tagged("video/mp4", text), ""},
		"an archive":         {tagged("application/zip", text), ""},
		"a packed font":      {tagged("font/woff2", text), ""},
		"bytes":              {tagged("application/octet-stream", text), ""},
		"no type":            {tagged("", text), ""},
		"a stream of events": {tagged("text/event-stream; charset=utf-8", text), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := answerOf("GET", c.answer, "Accept-Encoding", "gzip, zstd")
			raw, _ := io.ReadAll(got.Body)
			if h := got.Header; h.Get("Content-Encoding") != "" || h.Get("ETag") != `"tag"` || h.Get("Vary") != c.vary ||
				h.Get("Content-Length") != strconv.Itoa(len(raw)) {
				t.Errorf("%v", h)
			}
		})
	}
}

func TestTextsOfEachTypeArePacked(t *testing.T) {
	for _, kind := range []string{
		"text/html; charset=utf-8", "text/css", "text/csv", "text/markdown", "text/plain", "text/javascript",
		"application/javascript", "application/json; charset=utf-8", "application/manifest+json", "image/svg+xml",
		"application/xml", "application/wasm", "font/ttf", "font/otf",
	} {
		t.Run(kind, func(t *testing.T) {
			wantForm(t, answerOf("GET", tagged(kind, text), "Accept-Encoding", "zstd"), pack.Zstd, text)
		})
	}
	marked := tagged("application/octet-stream", text)
	got := answerOf("GET", func(w http.ResponseWriter, r *http.Request) {
		web.Packable(w)
		marked(w, r)
	}, "Accept-Encoding", "zstd")
	wantForm(t, got, pack.Zstd, text)
}

func TestAnAnswerOfUnknownLengthIsPackedByItsFirstWrite(t *testing.T) {
	answer := func(status int, pieces ...string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(status)
			for _, piece := range pieces {
				io.WriteString(w, piece)
			}
		}
	}
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		status int
		coding string
		body   string
	}{
		"one large write":          {answer(200, text), 200, "gzip", text},
		"what was created":         {answer(201, text), 201, "gzip", text},
		"more after a large one":   {answer(200, text, "end"), 200, "gzip", text + "end"},
		"a small write first":      {answer(200, "[", text), 200, "", "[" + text},
		"no write":                 {answer(200), 200, "", ""},
		"a failure":                {answer(500, text), 500, "", text},
		"an answer without a body": {answer(204), 204, "", ""},
		"a write without a status": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, text)
		}, 200, "gzip", text},
		"a flush first": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			if err := http.NewResponseController(w).Flush(); err != nil {
				t.Error(err)
			}
			io.WriteString(w, text)
		}, 200, "", text},
		"packed by the handler": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Content-Encoding", "none")
			io.WriteString(w, text)
		}, 200, "none", text},
		"nothing at all": {func(http.ResponseWriter, *http.Request) {}, 200, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := answerOf("POST", c.answer, "Accept-Encoding", "gzip")
			raw, _ := io.ReadAll(got.Body)
			if got.StatusCode != c.status || got.Header.Get("Content-Encoding") != c.coding {
				t.Errorf("%d %v", got.StatusCode, got.Header)
			}
			if body := unpack.Text(t, got.Header, raw); body != c.body {
				t.Errorf("%.40q, want %.40q", body, c.body)
			}
		})
	}
}

func TestAnAnswerThatBreaksOffHasNoEnd(t *testing.T) {
	for _, coding := range []string{"gzip", "zstd"} {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Encoding", coding)
		func() {
			defer func() { _ = recover() }()
			web.Pack(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				io.WriteString(w, text)
				if err := http.NewResponseController(w).Flush(); err != nil {
					t.Error(err)
				}
				panic(http.ErrAbortHandler)
			})).ServeHTTP(w, r)
		}()
		got, err := unpack.Read(w.Header(), w.Body)
		if got != text || err == nil {
			t.Errorf("%s: %d of %d bytes, %v; want an error after what was flushed", coding, len(got), len(text), err)
		}
	}
}

// gone is the writer of a client that has left.
type gone struct{ *httptest.ResponseRecorder }

func (gone) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestAnAnswerThatCannotBeEndedIsCutOff(t *testing.T) {
	for _, coding := range []string{"gzip", "zstd"} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("Accept-Encoding", coding)
		var said any
		func() {
			defer func() { said = recover() }()
			web.Pack(tagged("text/css", text)).ServeHTTP(gone{httptest.NewRecorder()}, r)
		}()
		if err, _ := said.(error); !errors.Is(err, http.ErrAbortHandler) {
			t.Errorf("%s: the handler ends with %v, want %v", coding, said, http.ErrAbortHandler)
		}
	}
}

func TestAnswersAreNotPackedWhileTooManyAre(t *testing.T) {
	var writers []*pack.Writer
	for w := pack.NewWriter(io.Discard, pack.Gzip); w != nil; w = pack.NewWriter(io.Discard, pack.Gzip) {
		writers = append(writers, w)
	}
	wantForm(t, answerOf("GET", tagged("text/css", text), "Accept-Encoding", "gzip"), "", text)
	for _, w := range writers {
		w.Release()
	}
	wantForm(t, answerOf("GET", tagged("text/css", text), "Accept-Encoding", "gzip"), pack.Gzip, text)
}

func TestTheClientsCopyIsCurrentInAnyForm(t *testing.T) {
	for sent, want := range map[string]string{
		`"tag"`:           `"tag"`,
		`"tag-zstd"`:      `"tag-zstd"`,
		`W/"tag-gzip"`:    `"tag-gzip"`,
		`"a", "tag-gzip"`: `"tag-gzip"`,
		`*`:               `"tag"`,
		`"tag-br"`:        "",
		`"tag-zstd-zstd"`: "",
		`"other-zstd"`:    "",
		`tag-zstd`:        "",
		`"tag-zstd`:       "",
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.Header.Set("If-None-Match", sent)
		if got := web.Unchanged(r, `"tag"`); got != want {
			t.Errorf("Unchanged of %s = %s, want %s", sent, got, want)
		}
	}
}
