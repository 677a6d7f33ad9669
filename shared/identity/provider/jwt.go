package provider

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/text"
)

const (
	maxToken   = 16 << 10 // bytes; a longer text is not parsed
	maxClaim   = 255      // bytes of a subject, client id, token id or key id
	maxLogged  = 64       // characters of a key id in the log
	maxInstant = 1 << 40  // seconds; later than all dates of four-digit years
)

// jwt is a token in compact form. Its header and claims must not be trusted before Verifier.verify.
type jwt struct {
	text   string
	header claims
	claims claims
	issuer string // the provider's, once it is known to be trusted
}

// claims are the members of a JSON object by exact name, because encoding/json would ignore letter case.
type claims map[string]json.RawMessage

// parse reads a token of a type. Its three parts must be in canonical spelling, and header and payload must be JSON
// objects that every parser reads alike.
func parse(token, typ string) (*jwt, error) {
	if len(token) > maxToken {
		return nil, fault.NewOAuth(fault.OAuthInvalidRequest, "the token is longer than %d bytes", maxToken)
	}
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, fault.NewOAuth(fault.OAuthInvalidRequest, "the token is no JWS in compact form")
	}
	header, err := decode(parts[0])
	body, err2 := decode(parts[1])
	_, err3 := decodePart(parts[2])
	if err != nil || err2 != nil || err3 != nil {
		return nil, fault.NewOAuth(fault.OAuthInvalidRequest,
			"the token is no JWS in compact form whose header and payload are JSON objects without a member twice")
	}
	t := &jwt{text: token, header: header, claims: body}
	if _, critical := header["crit"]; critical {
		return nil, t.refuse(fault.OAuthInvalidRequest, "the token has the header crit, which is not supported")
	}
	got := strings.ToLower(header.text("typ"))
	if got != typ && got != "application/"+typ {
		return nil, t.refuse(fault.OAuthInvalidRequest, "the token's header typ must be %s", typ)
	}
	return t, nil
}

// decodePart decodes base64url without padding in its canonical spelling. Decoders accept line ends and stray bits, but
// a token must have one spelling only.
func decodePart(part string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.DecodeString(part)
	if err == nil && base64.RawURLEncoding.EncodeToString(raw) != part {
		err = base64.CorruptInputError(0)
	}
	return raw, err
}

func decode(part string) (claims, error) {
	raw, err := decodePart(part)
	if err != nil {
		return nil, err
	}
	return object(raw)
}

// object reads a JSON object in UTF-8. It refuses duplicate members at every level.
func object(raw []byte) (claims, error) {
	value := jsontext.Value(raw)
	if value.Kind() != '{' || !value.IsValid() {
		return nil, fmt.Errorf("not a JSON object that has each member once")
	}
	var c claims
	return c, json.Unmarshal(raw, &c)
}

// refuse returns the refusal of the token. Its cause is logged and names the key id and, if it is trusted, the issuer.
func (j *jwt) refuse(code fault.OAuthCode, format string, args ...any) *fault.OAuthError {
	return j.logged(fault.NewOAuth(code, format, args...), nil)
}

func (j *jwt) logged(refusal *fault.OAuthError, cause error) *fault.OAuthError {
	kid := text.Cut(text.OneLine(j.header.text("kid")), maxLogged)
	if cause == nil {
		return refusal.WithCause(fmt.Errorf("issuer %q, key %q", j.issuer, kid))
	}
	return refusal.WithCause(fmt.Errorf("issuer %q, key %q: %w", j.issuer, kid, cause))
}

// has reports whether a member is present, even if it is null.
func (c claims) has(name string) bool {
	_, ok := c[name]
	return ok
}

// text returns a member that is a string; empty if there is none.
func (c claims) text(name string) string {
	var s string
	if json.Unmarshal(c[name], &s) != nil {
		return ""
	}
	return s
}

// identifier returns a member that is a string of 1 to maxClaim bytes, all printable and without spaces; empty if there
// is none.
func (c claims) identifier(name string) string {
	s := c.text(name)
	if len(s) > maxClaim || !text.Identifier(s) {
		return ""
	}
	return s
}

// instant returns a member that is a whole number of seconds; the zero time if there is none.
func (c claims) instant(name string) time.Time {
	n, err := strconv.ParseInt(string(c[name]), 10, 64)
	if err != nil || n <= 0 || n > maxInstant {
		return time.Time{}
	}
	return time.Unix(n, 0).UTC()
}

// list returns a member that is a string, or an array of strings; nil if there is none.
func (c claims) list(name string) []string {
	var one string
	if string(c[name]) != "null" && json.Unmarshal(c[name], &one) == nil {
		return []string{one}
	}
	var many []*string
	if json.Unmarshal(c[name], &many) != nil {
		return nil
	}
	out := make([]string, len(many))
	for i, s := range many {
		if s == nil {
			return nil
		}
		out[i] = *s
	}
	return out
}

// only reports whether a member is the string want, or an array of want alone.
func (c claims) only(name, want string) bool {
	got := c.list(name)
	return len(got) == 1 && got[0] == want
}
