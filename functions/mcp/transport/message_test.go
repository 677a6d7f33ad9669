package transport_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"vitrine/functions/mcp/transport"
)

func TestWhatIsNoMessageIsRefused(t *testing.T) {
	const (
		noJSON     = "invalid_json"
		noVersion  = "invalid_json_rpc_version"
		noID       = "json_rpc_request_id_required"
		noMessage  = "invalid_request"
		noArgument = "invalid_params"
	)
	for body, reason := range map[string]string{
		``:                                noJSON,
		`{`:                               noJSON,
		`null`:                            noJSON,
		`"ping"`:                          noJSON,
		"{\"method\":\"\xff\"}":           noJSON,
		ping + ping:                       noJSON,
		strings.Repeat(`{"a":`, 1000):     noJSON,
		`{"id":1,"method":"ping"}`:        noVersion,
		with(`"jsonrpc":"1.0"`):           noVersion,
		with(`"jsonrpc":2.0`):             noVersion,
		with(`"id":null`):                 noID,
		with(`"id":1.5`):                  noID,
		with(`"id":1e3`):                  noID,
		with(`"id":-0`):                   noID,
		with(`"id":true`):                 noID,
		with(`"id":{}`):                   noID,
		with(`"id":9007199254740992`):     noID,
		with(`"id":-99999999999999999`):   noID,
		with(`"id":1e400`):                noJSON,
		with(`"method":null`):             noMessage,
		with(`"method":""`):               noMessage,
		with(`"method":1`):                noMessage,
		with(`"other":1`):                 noMessage,
		with(`"result":{}`):               noMessage,
		`{"jsonrpc":"2.0"}`:               noMessage,
		`{"jsonrpc":"2.0","result":{}}`:   noMessage,
		`{"jsonrpc":"2.0","id":1}`:        noMessage,
		with(`"params":[]`):               noArgument,
		with(`"params":null`):             noArgument,
		with(`"params":"a"`):              noArgument,
		with(`"method":"a","Method":"b"`): noJSON,
	} {
		t.Run(body, func(t *testing.T) {
			wantRefused(t, post(t, newHandler(), body), http.StatusBadRequest, transport.CodeInvalidParams, reason)
		})
	}
}

// with is a request that has members in place of its own ones.
func with(members ...string) string {
	for _, each := range []string{`"jsonrpc":"2.0"`, `"id":1`, `"method":"ping"`} {
		name, _, _ := strings.Cut(each, ":")
		if !slices.ContainsFunc(members, func(member string) bool { return strings.HasPrefix(member, name+":") }) {
			members = append(members, each)
		}
	}
	return "{" + strings.Join(members, ",") + "}"
}

func TestKeysThatStandTwiceAreRefused(t *testing.T) {
	for _, body := range []string{
		with(`"id":1,"id":2`),
		with(`"params":{"name":"echo","name":"other"}`),
		with(`"params":{"name":"echo","arguments":{"text":"a","Text":"b"}}`),
	} {
		a := post(t, newHandler(), body)
		wantRefused(t, a, http.StatusBadRequest, transport.CodeInvalidParams, "invalid_json")
		if !strings.Contains(a.Error.Message, "twice") {
			t.Errorf("%s is answered %q", body, a.Error.Message)
		}
	}
}

func TestIDsComeBackAsTheyWere(t *testing.T) {
	for _, id := range []string{
		"0", "-1", "9007199254740991", "-9007199254740991", `""`, `"1"`, `"a b"`, `"` + strings.Repeat("x", 5000) + `"`,
	} {
		wantResult(t, post(t, newHandler(), with(`"id":`+id)), id)
		wantRefusedID(t, post(t, newHandler(), with(`"id":`+id, `"method":"other"`)), id)
		wantRefusedID(t, post(t, newHandler(), with(`"id":`+id, `"params":[]`)), id)
		wantRefusedID(t, post(t, newHandler(), with(`"id":`+id, `"jsonrpc":"1.0"`)), id)
	}
}

func wantRefusedID(t *testing.T, a answer, id string) {
	t.Helper()
	if a.Error.Code == 0 || string(a.ID) != id {
		t.Errorf("answered %d %s; want an error with the id %s", a.Code, a.Body, id)
	}
}

// FuzzMessage holds every answer to what the transport promises: no failure of ours, and JSON or nothing.
func FuzzMessage(f *testing.F) {
	h := newHandler()
	for _, seed := range []string{
		ping, call, discover, "[" + ping + "]", with(`"id":null`), with(`"id":1e400`), with(`"params":{"_meta":1}`),
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":[]}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":{},"arguments":{"text":"` + "\\ud83d\\ude00" + `"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"AAAA"}}`,
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1,"capabilities":[]}}`,
		`{"jsonrpc":"2.0","id":"\u0000","method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":{}}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, ``, `null`, "\xff", strings.Repeat("[", 200),
	} {
		for _, revision := range []string{"", "2025-06-18", "2026-07-28", "x"} {
			f.Add([]byte(seed), revision)
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, revision string) {
		r := httptest.NewRequest("POST", "/", strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Mcp-Protocol-Version", revision)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code >= http.StatusInternalServerError || w.Body.Len() > 0 && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%q is answered %d %s", body, w.Code, w.Body)
		}
	})
}
