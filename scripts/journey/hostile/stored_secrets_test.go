package hostile

import (
	"encoding/base64"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
)

func TestT52NoSecretIsStored(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t, harness.Unlimited)
	g, provisioned, err := p.Anyone.Provision(ctx)
	harness.NoError(t, err)
	done := harness.NewReplays(t, g)
	done.Repeat(t, g)
	resolved := harness.Must(g.Resolve(ctx, done.Published.UnlistedURL))(t)
	secrets := append(
		secretsOf(provisioned),
		secretsIn(t, done.Session, done.Published, resolved, harness.Must(g.AgentView(ctx, done.Published.ArtifactID))(t))...,
	)
	for _, s := range secrets {
		if raw, err := base64.RawURLEncoding.DecodeString(s); err == nil && len(raw) >= 16 {
			secrets = append(secrets, string(raw))
		}
	}
	var all strings.Builder
	for _, table := range []string{p.Tables.Core, p.Tables.Events, p.Tables.Hot} {
		for _, item := range p.Scan(t, table) {
			for name, v := range item {
				all.WriteString(name + " " + harness.Inflated(v) + "\n")
			}
		}
	}
	if !strings.Contains(all.String(), "index.html") ||
		!strings.Contains(all.String(), string(done.Published.ArtifactID)) {
		t.Fatal("the scan sees nothing")
	}
	for n, s := range secrets {
		if strings.Contains(all.String(), s) {
			t.Errorf("secret %d of %d bytes is stored", n, len(s))
		}
	}
}
