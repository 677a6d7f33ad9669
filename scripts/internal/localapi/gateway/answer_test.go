package gateway

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"vitrine/scripts/internal/localapi/template"
)

func TestAnswersOfAnHTTPAPI(t *testing.T) {
	mapped := []template.Mapping{{Status: 401, Header: "www-authenticate", From: "x-challenge"}}
	for name, c := range map[string]struct {
		method, answer string
		status         int
		body           string
		header         http.Header // nil: the header is absent
	}{
		"headers and cookies": {
			"GET", `{"statusCode":201,"headers":{"content-type":"text/x"},"cookies":["a=1; Secure","b=2"],"body":"é"}`,
			201, "é",
			http.Header{
				"Content-Type":   {"text/x"},
				"Set-Cookie":     {"a=1; Secure", "b=2"},
				"Content-Length": {"2"},
			},
		},
		"base64": {"GET", `{"statusCode":200,"body":"//4=","isBase64Encoded":true}`, 200, "\xff\xfe",
			http.Header{"Content-Length": {"2"}}},
		"several values have no place": {
			"GET", `{"statusCode":200,"headers":{"a":"1"},"multiValueHeaders":{"a":["2","3"]}}`, 200, "",
			http.Header{"A": {"1"}},
		},
		"what API Gateway renames": {
			"GET", `{"statusCode":400,"headers":{"WWW-Authenticate":"Bearer","connection":"close","te":"x","x-own":"y"}}`,
			400, "",
			http.Header{
				"X-Amzn-Remapped-Www-Authenticate": {"Bearer"},
				"X-Amzn-Remapped-Connection":       {"close"},
				"X-Own":                            {"y"},
				"Www-Authenticate":                 nil,
				"Te":                               nil,
				"Connection":                       nil,
			},
		},
		"what is mapped back": {
			"GET", `{"statusCode":401,"headers":{"WWW-Authenticate":"b","X-Challenge":"a"}}`, 401, "",
			http.Header{"Www-Authenticate": {"a"}, "X-Amzn-Remapped-Www-Authenticate": {"b"}},
		},
		"a mapping of another status": {"GET", `{"statusCode":403,"headers":{"X-Challenge":"a"}}`, 403, "",
			http.Header{"Www-Authenticate": nil}},
		"a mapping without source": {"GET", `{"statusCode":401}`, 401, "", http.Header{"Www-Authenticate": nil}},
		"the length counts": {"GET", `{"statusCode":200,"headers":{"content-length":"9"},"body":"abc"}`, 200, "abc",
			http.Header{"Content-Length": {"3"}}},
		"the length for HEAD": {"HEAD", `{"statusCode":200,"headers":{"content-length":"9"}}`, 200, "",
			http.Header{"Content-Length": {"9"}}},
		"HEAD has no body": {"HEAD", `{"statusCode":200,"body":"abc"}`, 200, "", nil},
		"304 keeps its headers": {"GET", `{"statusCode":304,"headers":{"etag":"\"a\"","content-length":"9"}}`, 304, "",
			http.Header{"Etag": {`"a"`}, "Content-Type": nil}},
		"204 has no length": {"GET", `{"statusCode":204}`, 204, "", http.Header{"Content-Length": nil, "Content-Type": nil}},
	} {
		t.Run(name, func(t *testing.T) {
			a := httpAPI()
			a.Routes[0].Mappings = mapped
			w := serve(a, &fakeFunction{answer: c.answer}, httptest.NewRequest(c.method, "/", nil))
			if w.Code != c.status || w.Body.String() != c.body {
				t.Errorf("%d %q", w.Code, w.Body)
			}
			got := http.Header{} // as a client reads them
			for name, values := range w.Header() {
				got[http.CanonicalHeaderKey(name)] = values
			}
			for name, values := range c.header {
				if !slices.Equal(got[name], values) {
					t.Errorf("%s is %q, want %q", name, got[name], values)
				}
			}
		})
	}
}
