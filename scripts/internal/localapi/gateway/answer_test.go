package gateway

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"vitrine/scripts/internal/localapi/template"
)

func TestAnswersOfAnHTTPAPI(t *testing.T) {
	for name, c := range map[string]struct {
		method, answer string
		status         int
		body           string
		header         http.Header
		absent         []string
	}{
		"headers and cookies": {
			"GET", `{"statusCode":201,"headers":{"content-type":"text/x","x-n":3,"x-b":true},"cookies":["a=1; Secure","b=2"],"body":"é"}`, 201, "é",
			http.Header{
				"Content-Type":   {"text/x"},
				"X-N":            {"3"},
				"X-B":            {"true"},
				"Set-Cookie":     {"a=1; Secure", "b=2"},
				"Content-Length": {"2"},
			}, nil,
		},
		"base64": {"GET", `{"statusCode":200,"body":"//4=","isBase64Encoded":true}`, 200, "\xff\xfe",
			http.Header{"Content-Length": {"2"}}, nil},
		"several values have no place": {
			"GET", `{"statusCode":200,"headers":{"a":"1"},"multiValueHeaders":{"a":["2","3"]}}`, 200, "",
			http.Header{"A": {"1"}}, nil,
		},
		"what API Gateway renames": {
			"GET", `{"statusCode":401,"headers":{"WWW-Authenticate":"Bearer","date":"d","Server":"s","connection":"close","te":"x","x-own":"y"}}`, 401, "",
			http.Header{
				"X-Amzn-Remapped-Www-Authenticate": {"Bearer"}, "X-Amzn-Remapped-Date": {"d"}, "X-Amzn-Remapped-Server": {"s"},
				"X-Amzn-Remapped-Connection": {"close"}, "X-Own": {"y"},
			},
			[]string{"Www-Authenticate", "Server", "Te", "Connection"},
		},
		"the length counts": {"GET", `{"statusCode":200,"headers":{"content-length":"9"},"body":"abc"}`, 200, "abc",
			http.Header{"Content-Length": {"3"}}, nil},
		"the length for HEAD": {"HEAD", `{"statusCode":200,"headers":{"content-length":"9"}}`, 200, "",
			http.Header{"Content-Length": {"9"}}, nil},
		"HEAD has no body": {"HEAD", `{"statusCode":200,"body":"abc"}`, 200, "", nil, nil},
		"304 keeps its headers": {"GET", `{"statusCode":304,"headers":{"etag":"\"a\"","content-length":"9"}}`, 304, "",
			http.Header{"Etag": {`"a"`}}, []string{"Content-Type"}},
		"204 has no length":       {"GET", `{"statusCode":204}`, 204, "", nil, []string{"Content-Length", "Content-Type"}},
		"an answer without shape": {"GET", `{"a":1}`, 200, `{"a":1}`, http.Header{"Content-Type": {"application/json"}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := serve(httpAPI(catchAll()), &fakeFunction{answer: c.answer}, httptest.NewRequest(c.method, "/", nil))
			if w.Code != c.status || w.Body.String() != c.body {
				t.Errorf("%d %q", w.Code, w.Body)
			}
			wantHeaders(t, w, c.header, c.absent)
		})
	}
}

func wantHeaders(t *testing.T, w *httptest.ResponseRecorder, header http.Header, absent []string) {
	t.Helper()
	got := http.Header{} // as a client reads them
	for name, values := range w.Header() {
		got[http.CanonicalHeaderKey(name)] = values
	}
	for name, values := range header {
		if !slices.Equal(got[name], values) {
			t.Errorf("%s is %q, want %q", name, got[name], values)
		}
	}
	for _, name := range absent {
		if len(got[name]) > 0 {
			t.Errorf("%s is %q, want none", name, got[name])
		}
	}
}

func TestMappingsBringHeadersBack(t *testing.T) {
	route := catchAll()
	route.Mappings = []template.Mapping{
		{
			Status: 401,
			Action: "overwrite",
			Header: "www-authenticate",
			From:   "x-challenge",
		},
		{Status: 401, Action: "remove", Header: "x-challenge"},
		{
			Status: 401,
			Action: "append",
			Header: "x-added",
			Text:   "ours",
		},
		{
			Status: 403,
			Action: "overwrite",
			Header: "www-authenticate",
			From:   "x-challenge",
		},
	}
	for name, c := range map[string]struct {
		answer string
		header http.Header
		absent []string
	}{
		"its status": {
			`{"statusCode":401,"headers":{"WWW-Authenticate":"b","X-Challenge":"a","X-Added":"theirs"}}`,
			http.Header{
				"Www-Authenticate":                 {"a"},
				"X-Amzn-Remapped-Www-Authenticate": {"b"},
				"X-Added":                          {"theirs", "ours"},
			}, []string{"X-Challenge"},
		},
		"another status": {`{"statusCode":200,"headers":{"X-Challenge":"a"}}`, http.Header{"X-Challenge": {"a"}},
			[]string{"Www-Authenticate", "X-Added"}},
		"no source": {`{"statusCode":403}`, nil, []string{"Www-Authenticate"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := serve(httpAPI(route), &fakeFunction{answer: c.answer}, httptest.NewRequest("GET", "/", nil))
			wantHeaders(t, w, c.header, c.absent)
		})
	}
}

func TestAnswersOfARESTAPI(t *testing.T) {
	const bytesAnswer = `{"statusCode":200,"body":"//4=","isBase64Encoded":true}`
	for name, c := range map[string]struct {
		accept, answer string
		binary         []string
		body           string
		header         http.Header
		absent         []string
	}{
		"several values win": {
			"", `{"statusCode":200,"headers":{"a":"1","b":"2"},"multiValueHeaders":{"A":["3","4"],"Set-Cookie":["c=1","d=2"]},"cookies":["e=3"]}`, nil, "",
			http.Header{"A": {"3", "4"}, "B": {"2"}, "Set-Cookie": {"c=1", "d=2"}, "Content-Type": {"application/json"}}, nil,
		},
		"base64 stays without binary types": {"image/png", bytesAnswer, nil, "//4=", nil, nil},
		"base64 is decoded for its type":    {"image/png,*/*", bytesAnswer, []string{"image/png"}, "\xff\xfe", nil, nil},
		"base64 is decoded for all":         {"", bytesAnswer, []string{"*/*"}, "\xff\xfe", nil, nil},
		"renamed": {"", `{"statusCode":200,"multiValueHeaders":{"www-authenticate":["x"]}}`, nil,
			"", http.Header{"X-Amzn-Remapped-Www-Authenticate": {"x"}}, []string{"Www-Authenticate"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := restAPI(catchAll())
			a.BinaryTypes = c.binary
			r := httptest.NewRequest("GET", "/", nil)
			r.Header.Set("Accept", c.accept)
			w := serve(a, &fakeFunction{answer: c.answer}, r)
			if w.Code != 200 || w.Body.String() != c.body {
				t.Errorf("%d %q", w.Code, w.Body)
			}
			wantHeaders(t, w, c.header, c.absent)
		})
	}
}
