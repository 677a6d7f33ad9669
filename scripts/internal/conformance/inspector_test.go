//go:build conformance

package conformance

import (
	"slices"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/contract"
)

// inspect calls a method by the command line of the inspector and unpacks the result.
func inspect(t *testing.T, at, method string, out any, args ...string) {
	t.Helper()
	ask(t, out, inspector, append([]string{"--cli", at, "--transport", "http", "--method", method}, args...)...)
}

// called is the result of a tool.
type called[T any] struct {
	Value   T    `json:"structuredContent"`
	IsError bool `json:"isError"`
}

func TestTheInspectorListsAndCallsTools(t *testing.T) {
	p := harness.NewBackendEnv(t, harness.Unlimited)
	who := p.NewMember(t)
	at := proxied(t, p, who)
	var tools struct{ Tools []struct{ Name string } }
	inspect(t, at, "tools/list", &tools, "--strict") // fails where a schema is not portable
	for _, name := range []string{"publish_artifact", "whoami", "list_artifacts", "publish_upload"} {
		if !slices.ContainsFunc(tools.Tools, func(each struct{ Name string }) bool { return each.Name == name }) {
			t.Errorf("%s is not among %v", name, tools.Tools)
		}
	}
	var me called[contract.MCPWhoami]
	inspect(t, at, "tools/call", &me, "--tool-name", "whoami")
	if me.IsError || me.Value.WorkspaceMember.ID != who.ID {
		t.Errorf("whoami answers %+v", me)
	}
	var made called[contract.MCPPublished]
	inspect(t, at, "tools/call", &made, "--tool-name", "publish_artifact", "--tool-arg", "title=Tides",
		"--tool-arg", "body=High water at six", "--tool-arg", "render_mode=text")
	var found called[struct {
		Data []struct {
			ID string `json:"id"`
		}
	}]
	inspect(t, at, "tools/call", &found, "--tool-name", "list_artifacts")
	if len(found.Value.Data) != 1 || found.Value.Data[0].ID != string(made.Value.ArtifactID) {
		t.Errorf("after %+v, list_artifacts answers %+v", made, found)
	}
}

func TestTheInspectorVerifiesTheSkill(t *testing.T) {
	p := harness.NewBackendEnv(t, harness.Unlimited)
	var skill struct {
		Files []struct{ URI, Status string }
	}
	inspect(t, proxied(t, p, p.NewMember(t)), "skills/list", &skill, "--verify", "--require-digests")
	if len(skill.Files) != 1 || skill.Files[0].URI != "skill://vitrine/SKILL.md" || skill.Files[0].Status != "verified" {
		t.Errorf("the skill is %+v", skill)
	}
}
