package live

import (
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/disk"
	"vitrine/shared/platform/contract"
)

func TestAPageShowsWhatTheCommandPublishes(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	first := e.publish(t, contract.Published{}, "Tides", "the first")
	p, _ := e.share(t, first, harness.ShareLink)
	shownIn(p, "the first")
	scroll(p)

	page, dir := tall("by the command"), t.TempDir()
	disk.Write(t, dir, map[string]string{page.Path: string(page.Body)})
	run := e.Command(t, t.TempDir(), e.agent.Key, "publish", dir, "--artifact-id", string(first.ArtifactID))
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p.Wait(`document.querySelector("[data-field=announcement]").textContent === "Updated to revision 2"`)
	shownIn(p, "by the command")
	wantPlace(t, p)
}
