package harness

import (
	"bytes"
	"compress/flate"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
)

// ParseClaimToken parses a claim token of this environment.
func ParseClaimToken(text string) (credential.Token, error) {
	return credential.Parse(text, credential.ClaimToken, credential.Preview)
}

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
func (p *BackendEnv) peppers(t testing.TB) keyring.Derived {
	t.Helper()
	rings, err := keyring.Parse(Must(os.ReadFile(filepath.Join(p.Options.Data, "rings.json")))(t))
	NoError(t, err)
	return Must(rings.Pepper.Derive("credential"))(t)
}

// TokenOf parses the API key of an agent.
func TokenOf(t testing.TB, g *wire.Agent) credential.Token {
	t.Helper()
	return Must(credential.Parse(g.Key, credential.APIKey, credential.Preview))(t)
}

// NewKey gives the workspace of an agent another API key, with these scopes.
func (p *BackendEnv) NewKey(t testing.TB, g *wire.Agent, scopes ...credential.Scope) *wire.Agent {
	t.Helper()
	first := TokenOf(t, g)
	token := credential.Mint(credential.APIKey, credential.Preview, first.Workspace, "")
	for _, item := range p.Scan(t, p.Tables.Core) {
		if Text(item["pk"]) == "K#"+string(first.Public) {
			p.Put(t, item, map[string]any{
				"pk":      "K#" + string(token.Public),
				"id":      string(id.NewKey(token.Public)),
				"mac":     token.Hash(p.peppers(t)).MAC,
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
