package assembly

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/policy"
)

func TestThePolicySaysWhatTheAuthorizationServerOffers(t *testing.T) {
	for _, tt := range []struct {
		policy, documents string // documents: what the environment says
		want              oauth.Features
	}{
		{`{}`, "", oauth.Features{Agents: true, Documents: true}},
		{`{"client_documents": "off"}`, "", oauth.Features{Agents: true}},
		{`{"client_documents": "on"}`, "off", oauth.Features{Agents: true, Documents: true}},
		{`{}`, "off", oauth.Features{Agents: true}},
		{`{"agents": "off"}`, "", oauth.Features{Agents: true, Documents: true, NoAnonymous: true}},
		{`{"anonymous": "off"}`, "", oauth.Features{Agents: true, Documents: true, NoAnonymous: true, AccountsOnly: true}},
	} {
		variables, _ := environment(t)
		variables[env.PolicyFile] = filepath.Join(t.TempDir(), "policy.json")
		if err := os.WriteFile(variables[env.PolicyFile], []byte(tt.policy), 0o600); err != nil {
			t.Fatal(err)
		}
		variables[env.ClientDocuments] = tt.documents
		c, err := FromEnvironment(t.Context(), func(name string) string { return variables[name] })
		if err != nil {
			t.Fatal(err)
		}
		s := &Services{Config: c}
		tt.want.Brand.Name = policy.DefaultName
		if got := s.Features(); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %+v, want %+v", tt.policy, got, tt.want)
		}
		provisioning, err := s.Provisioning(nil)
		if err != nil || provisioning.AccountsOnly != tt.want.AccountsOnly || provisioning.App != c.Origins.App {
			t.Errorf("%s: workspaces without an account are refused: %t, %v", tt.policy, provisioning.AccountsOnly, err)
		}
		if loads := s.Uploads().Loads; !slices.Contains(loads.Scripts, "unpkg.com") {
			t.Errorf("%s: pages load scripts from %q", tt.policy, loads.Scripts)
		}
	}
}
