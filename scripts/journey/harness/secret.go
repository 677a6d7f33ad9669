package harness

import (
	"bytes"
	"compress/flate"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
)

// Inflated returns the text of an attribute; of bytes, as they are and decompressed.
func Inflated(v types.AttributeValue) string {
	b, ok := v.(*types.AttributeValueMemberB)
	if !ok {
		return Text(v)
	}
	unpacked, _ := io.ReadAll(flate.NewReader(bytes.NewReader(b.Value)))
	return string(b.Value) + string(unpacked)
}

// peppers returns the keys under which the deployment hashes credentials.
func (e *BackendEnv) peppers(t testing.TB) keyring.Derived {
	t.Helper()
	rings, err := keyring.Parse(Must(os.ReadFile(filepath.Join(e.Options.Data, "rings.json")))(t))
	NoError(t, err)
	return Must(rings.Pepper.Derive("credential"))(t)
}

// TokenOf parses the API key of an agent.
func TokenOf(t testing.TB, g *wire.Agent) credential.Token {
	t.Helper()
	return Must(credential.Parse(g.Key, credential.APIKey, credential.Preview))(t)
}

// NewKey gives the workspace of an agent another API key, with these scopes.
func (e *BackendEnv) NewKey(t testing.TB, g *wire.Agent, scopes ...credential.Scope) *wire.Agent {
	t.Helper()
	first := TokenOf(t, g)
	token := credential.Mint(credential.APIKey, credential.Preview, first.Workspace, "")
	for _, item := range e.Scan(t, e.Tables.Core) {
		if Text(item["pk"]) == "K#"+string(first.Public) {
			e.Put(t, item, map[string]any{
				"pk":      "K#" + string(token.Public),
				"id":      string(id.NewKey(token.Public)),
				"mac":     token.Hash(e.peppers(t)).MAC,
				"scopes":  scopeList(scopes),
				"used_at": nil,
			})
			return &wire.Agent{HTTP: g.HTTP, At: g.At, Key: token.Reveal()}
		}
	}
	t.Fatal("the key is not stored")
	return nil
}

func scopeList(scopes []credential.Scope) string {
	out := make([]string, len(scopes))
	for i, s := range scopes {
		out[i] = string(s)
	}
	return strings.Join(out, " ")
}

// secretForms are the secrets that no log line may hold: credentials, presigned URLs, signed tokens and link blobs.
var secretForms = map[string]*regexp.Regexp{
	"a credential": regexp.MustCompile(
		`ap_[a-z]{2}_(preview|production)_[0-9A-Z]{16}[^\s"]*_[A-Za-z0-9_-]{60,}`,
	),
	"a presigned URL":        regexp.MustCompile(`X-Amz-(Signature|Credential)`),
	"a signed token or blob": regexp.MustCompile(`[A-Za-z0-9_-]{75,}`),
	"an Authorization":       regexp.MustCompile(`(?i)bearer [A-Za-z0-9_-]{20,}`),
}

// loggedRequestID is left out of the scan, because callers may choose the id of a request.
var loggedRequestID = regexp.MustCompile(`"request_id":"[^"]*"`)

// WantNoSecrets scans the log of a deployment for secrets.
func WantNoSecrets(t testing.TB, text string) {
	t.Helper()
	text = loggedRequestID.ReplaceAllLiteralString(text, "")
	for name, form := range secretForms {
		if at := form.FindStringIndex(text); at != nil {
			t.Errorf("T76: the log holds %s, after %q", name, text[max(0, at[0]-120):at[0]])
		}
	}
}
