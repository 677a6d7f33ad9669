//go:build conformance

package conformance

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vitrine/scripts/journey/harness"
)

const (
	skills    = "node_modules/skills/bin/cli.mjs"
	skillsRef = "node_modules/skills-ref/dist/cli.js"
)

// TestTheSkillIsInstalled does so by the program of agents, from each host that has an index of skills.
func TestTheSkillIsInstalled(t *testing.T) {
	p := harness.NewBackendEnv(t, harness.Unlimited)
	want := p.Get(t, p.Origins.App+"/skill.md").Body
	for _, origin := range []string{p.Origins.App, p.Origins.API} {
		home := t.TempDir()
		add := node(t, skills, "add", origin, "-g", "-y", "-a", "claude-code", "codex")
		add.Env = append(add.Env, "HOME="+home, "DISABLE_TELEMETRY=1")
		succeed(t, add)
		for _, agent := range []string{".agents", ".claude"} { // the second is that of Claude Code
			folder := filepath.Join(home, agent, "skills", "vitrine")
			if got := harness.Must(os.ReadFile(filepath.Join(folder, "SKILL.md")))(t); string(got) != string(want) {
				t.Errorf("from %s, %s has\n%.300s", origin, agent, got)
			}
			succeed(t, node(t, skillsRef, "validate", folder))
		}
	}
}

func TestTheSkillOfTheRepositoryIsValid(t *testing.T) {
	const folder = "../../../skills/vitrine"
	succeed(t, node(t, skillsRef, "validate", folder))
	changed := filepath.Join(t.TempDir(), "vitrine")
	harness.NoError(t, os.CopyFS(changed, os.DirFS(folder)))
	file := filepath.Join(changed, "SKILL.md")
	text := strings.Replace(string(harness.Must(os.ReadFile(file))(t)), "metadata:", "author: Ada\nmetadata:", 1)
	harness.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	if out, err := node(t, skillsRef, "validate", changed).CombinedOutput(); err == nil {
		t.Errorf("an unknown member passes: %s", out)
	}
}

func succeed(t *testing.T, c *exec.Cmd) {
	t.Helper()
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%s: %v\n%s", c, err, out)
	}
}
