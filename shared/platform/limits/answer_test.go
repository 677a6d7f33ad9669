package limits

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestABodyTakesWhatEncodingJSONMakesOfIt tries every character below U+3000 and some of those above, each among enough
// plain ones to make base64 longer.
func TestABodyTakesWhatEncodingJSONMakesOfIt(t *testing.T) {
	plain := strings.Repeat("x", 20)
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if r > 0x3000 {
			r += 250 // JSON escapes none of these
		}
		if !utf8.ValidRune(r) {
			continue
		}
		body := plain + string(r)
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(body); err != nil {
			t.Fatal(err)
		}
		quoted := strings.TrimSuffix(b.String(), "\n")
		if size, inBase64 := FunctionBody([]byte(body)); size != len(quoted)-2 || inBase64 {
			t.Fatalf("%q: %d bytes, base64 %t; encoding/json makes %s", r, size, inBase64, quoted)
		}
	}
}

func TestABodyTakesBase64WhereThatIsShorterOrNeeded(t *testing.T) {
	for body, inBase64 := range map[string]bool{
		"":                                    false,
		"plain":                               false,
		`""""""`:                              true,
		"\x01\x02":                            true,
		"\xff":                                true,
		"plain text and half a character\xc3": true,
		"\ufffd is a character, too":          false,
	} {
		size, got := FunctionBody([]byte(body))
		if got != inBase64 || got && size != len(base64.StdEncoding.EncodeToString([]byte(body))) {
			t.Errorf("%q: %d bytes, base64 %t", body, size, got)
		}
	}
}
