package document

import (
	"strings"
	"testing"
)

var small = Object{"url", "U"}

// TestAnEntryIsWrittenAsTheFileIs has a comment, an indentation and line ends of each file.
func TestAnEntryIsWrittenAsTheFileIs(t *testing.T) {
	for name, test := range map[string]struct{ before, after string }{
		"blank":       {"", "{\n  \"m\": {\n    \"v\": {\n      \"url\": \"U\"\n    }\n  }\n}\n"},
		"no members":  {"{}", "{\n  \"m\": {\n    \"v\": {\n      \"url\": \"U\"\n    }\n  }\n}"},
		"no servers":  {"{\n\t\"m\": {}\n}", "{\n\t\"m\": {\n\t\t\"v\": {\n\t\t\t\"url\": \"U\"\n\t\t}\n\t}\n}"},
		"one line":    {`{"a":1,"m":{"x":2}}`, `{"a":1,"m":{"v":{"url":"U"},"x":2}}`},
		"in one line": {`{"a":1, "m":{}}`, `{"a":1, "m":{"v":{"url":"U"}}}`},
		"a comment on the brace": {"{\n  \"m\": { // ours\r\n    // theirs\r\n    \"x\": 1\r\n  }\r\n}",
			"{\n  \"m\": { // ours\n    \"v\": {\n      \"url\": \"U\"\n    },\r\n    // theirs\r\n    \"x\": 1\r\n  }\r\n}"},
		"CRLF": {"{\r\n  \"a\": 1\r\n}",
			"{\r\n  \"m\": {\r\n    \"v\": {\r\n      \"url\": \"U\"\r\n    }\r\n  },\r\n  \"a\": 1\r\n}"},
		"a comment at the end": {"{} // end", "{\n  \"m\": {\n    \"v\": {\n      \"url\": \"U\"\n    }\n  }\n} // end"},
		"a byte order mark":    {"\xef\xbb\xbf{\"m\":{\"x\":1}}", "\xef\xbb\xbf{\"m\":{\"v\":{\"url\":\"U\"},\"x\":1}}"},
		"a comment in the braces": {"{\n  // none\n}",
			"{\n  \"m\": {\n    \"v\": {\n      \"url\": \"U\"\n    }\n  }\n  // none\n}"},
	} {
		got, piece, err := JSON{}.Add([]byte(test.before), []string{"m", "v"}, small)
		if string(got) != test.after || err != nil || !strings.Contains(string(got), piece) {
			t.Errorf("%s: %v\n%q, want\n%q", name, err, got, test.after)
		}
	}
	got, _, err := TOML{}.Add([]byte("a = 1\r\n[b]\r\nc = 2"), []string{"m", "v"}, small)
	if want := "a = 1\r\n[b]\r\nc = 2\r\n\r\n[m.v]\r\nurl = \"U\"\r\n"; string(got) != want || err != nil {
		t.Errorf("%v\n%q, want\n%q", err, got, want)
	}
}

// TestOthersStayWhenAFileWasChangedSince removes an entry whose surroundings are not those that were written.
func TestOthersStayWhenAFileWasChangedSince(t *testing.T) {
	made := []string{`"m": {` + "\n" + `"v": {}}`}
	for name, test := range map[string]struct {
		pieces        []string
		before, after string
	}{
		"laid out anew":            {made, "{\n \"m\": {\n  \"v\": {\"url\": \"U\"}\n }\n}\n", "{\n}\n"},
		"servers of others before": {nil, "{\"m\": {\"v\": {}}}", "{\"m\": {}}"},
		"another after":            {made, "{\"m\": {\n  \"v\": {},\n  \"x\": 1\n}}", "{\"m\": {\n  \"x\": 1\n}}"},
		"another before":           {made, "{\"m\": {\n  \"x\": 1,\n  \"v\": {}\n}}", "{\"m\": {\n  \"x\": 1\n}}"},
		"a trailing comma":         {made, "{\"m\": {\n  \"x\": 1,\n  \"v\": {},\n}}", "{\"m\": {\n  \"x\": 1,\n}}"},
		"comments around": {made, "{\"m\": { // a\n  \"v\": {} /* b */, // c\n}}",
			"{\"m\": { // a\n /* b */ // c\n}}"},
		"a comment alone": {made, "{\"m\": {\n  // a\n  \"v\": {}\n}}", "{\"m\": {\n  // a\n}}"},
		"in one line":     {made, "{\"m\": {\"x\": 1, \"v\": {}, \"y\": 2}}", "{\"m\": {\"x\": 1, \"y\": 2}}"},
		"no entry":        {made, "{\"m\": {}}", "{\"m\": {}}"},
	} {
		got, err := JSON{}.Remove([]byte(test.before), []string{"m", "v"}, test.pieces)
		if string(got) != test.after || err != nil {
			t.Errorf("%s: %v\n%q, want\n%q", name, err, got, test.after)
		}
	}
	for name, test := range map[string]struct{ before, after string }{
		"a key more":       {"[m.v]\nurl = \"U\"\nenabled = false\n", ""},
		"a table of it":    {"[m.v]\nurl = \"U\"\n[m.v.env]\nA = \"[m.v]\"\n# next\n[x]\n", "# next\n[x]\n"},
		"a table far away": {"[m.v]\nurl = \"U\"\n[x]\na = 1\n[m.v.env]\nA = \"b\"\n", "[x]\na = 1\n"},
		"in the middle":    {"a = 1\n\n[ m . \"v\" ] # t\nurl = [\n1 ]\n\n# of x\n[x]\n", "a = 1\n\n\n# of x\n[x]\n"},
	} {
		got, err := TOML{}.Remove([]byte(test.before), []string{"m", "v"}, []string{"[m.v]\nurl = \"U\"\n"})
		if string(got) != test.after || err != nil {
			t.Errorf("%s: %v\n%q, want\n%q", name, err, got, test.after)
		}
	}
	if got, err := (TOML{}).Remove([]byte("[m]\nv = {url = \"U\"}\n"), []string{"m", "v"}, nil); err == nil {
		t.Errorf("an inline table was taken out: %q", got)
	}
}
