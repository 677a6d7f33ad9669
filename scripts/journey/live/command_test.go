package live

import (
	"os"
	"os/exec"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/disk"
	"vitrine/shared/platform/contract"
)

func TestAPageShowsWhatTheCommandPublishes(t *testing.T) {
	e := newEnv(t)
	first := e.publish(t, contract.Published{}, "Tides", "the first")
	p, _ := e.share(t, first, harness.ShareLink)
	shownIn(p, "the first")
	scroll(p)

	page, dir, home := tall("by the command"), t.TempDir(), t.TempDir()
	disk.Write(t, dir, map[string]string{page.Path: string(page.Body)})
	program := harness.Must(harness.BuildProgram("vitrine", "./cmd/vitrine", "cmd", "shared"))(t)
	c := exec.CommandContext(t.Context(), program, "publish", dir, "--artifact-id", string(first.ArtifactID))
	c.Env = append(os.Environ(), "VITRINE_URL="+e.Origins.API, "VITRINE_API_KEY="+e.agent.Key, "XDG_CONFIG_HOME="+home,
		"HOME="+home, "DBUS_SESSION_BUS_ADDRESS=unix:path=/nowhere")
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.Wait(`document.querySelector("[data-field=announcement]").textContent === "Updated to revision 2"`)
	shownIn(p, "by the command")
	wantPlace(t, p)
}
