package protocol

import (
	"encoding/json"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/manual"
)

// TestADeploymentExplainsItselfToWhoeverKnowsTheAddressOfItsAPI also holds that a restricted deployment does.
func TestADeploymentExplainsItselfToWhoeverKnowsTheAddressOfItsAPI(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.json")
	expect.OK(t, os.WriteFile(file, []byte(`{
		"anonymous": "off",
		"sign_in": {"domains": ["harbour.example"]},
		"members": {"files": 77},
		"brand": {"name": "Harbour files"}
	}`), 0o600))
	s := harness.NewEnv(t, func(o *stack.Options) { o.PolicyFile = file })
	read := map[string]wire.Answer{}
	for _, path := range manual.Paths() {
		led := s.Get(t, s.Origins.API+path)
		if to := led.Header.Get("Location"); led.Status != http.StatusFound || to != s.Origins.App+path {
			t.Fatalf("%s leads to %q with %d", path, to, led.Status)
		}
		a := s.Get(t, led.Header.Get("Location"))
		if a.Status != http.StatusOK {
			t.Fatalf("%s answers %d %s", path, a.Status, a.Body)
		}
		if read[path] = a; !strings.Contains(path, "/skills/") && !strings.HasSuffix(path, ".json") {
			expect.Has(t, path, string(a.Body), s.Origins.App, s.Origins.API, s.Origins.MCP, "Harbour files", "77 files")
			expect.Lacks(t, path, string(a.Body), "harbour.example", "--ephemeral")
		}
	}
	skill := string(read["/skill.md"].Body)
	for path, status := range map[string]int{
		"/.well-known/vitrine": 200, "/v1/whoami": 401, "/none": 404, "/skill.md": 302,
	} {
		a := s.Get(t, s.Origins.API+path)
		version := a.Header.Get(manual.VersionHeader)
		if a.Status != status || len(version) != 12 || !strings.Contains(skill, "\n  version: \""+version+"\"\n") {
			t.Errorf("%s answers %d with the version %q, and the skill is %.400s", path, a.Status, version, skill)
		}
	}
	var index struct {
		Skills []struct{ URL, Digest string }
	}
	expect.OK(t, json.Unmarshal(read["/.well-known/agent-skills/index.json"].Body, &index))
	for _, entry := range index.Skills {
		if got := manual.Digest(string(read[entry.URL].Body)); got != entry.Digest {
			t.Errorf("%s has the digest %s, want %s", entry.URL, got, entry.Digest)
		}
	}
	if len(index.Skills) != 1 {
		t.Errorf("%+v", index)
	}
}

// TestADoctorFindsNothingWrongWithADeployment has the skill of the deployment at first, and that of another one then.
func TestADoctorFindsNothingWrongWithADeployment(t *testing.T) {
	d, home := harness.NewBackendEnv(t), t.TempDir()
	skill := filepath.Join(home, ".agents", "skills", "vitrine", "SKILL.md")
	expect.OK(t, os.MkdirAll(filepath.Dir(skill), 0o700))
	for text, state := range map[string]string{
		string(d.Get(t, d.Origins.App+"/skill.md").Body): "ok",
		manual.New(manual.Anywhere()).Skill:              "warning",
	} {
		expect.OK(t, os.WriteFile(skill, []byte(text), 0o600))
		run := d.Command(t, home, "", "doctor", "--json")
		out := expect.Value(run.Output())(t)
		var said struct {
			Healthy  bool
			Findings []struct{ Check, State, Message string }
		}
		expect.OK(t, json.Unmarshal(out, &said))
		got := map[string]string{}
		for _, f := range said.Findings {
			got[f.Check] = f.State
		}
		want := map[string]string{
			"proxy": "ok", "server": "ok", "clock": "ok", "version": "ok", "sign-in": "ok", "mcp": "ok", "skill": state,
			"login": "warning", // nobody is signed in
		}
		if !said.Healthy || !maps.Equal(got, want) {
			t.Errorf("with the skill that is %s: %s", state, out)
		}
	}
}
