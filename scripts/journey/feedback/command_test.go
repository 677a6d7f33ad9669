package feedback

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// TestAnAgentWaitsRevisesAndAddresses has the command wait for a person's words, publish, and address more threads than a
// publication takes.
func TestAnAgentWaitsRevisesAndAddresses(t *testing.T) {
	t.Parallel()
	d := newDiscussed(t)
	home := t.TempDir()
	command := func(args ...string) *exec.Cmd {
		c := d.Command(t, home, d.agent.Key, args...)
		c.Stderr = os.Stderr
		return c
	}
	waits := command("feedback", string(d.ArtifactID), "--since", "0", "--wait", "2m", "--json")
	out := harness.Must(waits.StdoutPipe())(t)
	harness.NoError(t, waits.Start())
	const threads = 21 // one more than a publication addresses
	for range threads {
		d.write(t, contract.CreateThread{Body: "A remark"})
	}
	var heard contract.ThreadList
	harness.NoError(t, json.NewDecoder(out).Decode(&heard))
	harness.NoError(t, waits.Wait())
	if len(heard.Threads) == 0 {
		t.Errorf("it heard %+v", heard)
	}
	harness.Must(command("feedback", string(d.ArtifactID), "--json").Output())(t)
	page := harness.Page("mended")
	harness.NoError(t, os.WriteFile(filepath.Join(home, page.Path), page.Body, 0o600))
	made := harness.Must(command("publish", page.Path, "--artifact-id", string(d.ArtifactID), "--addresses", "all",
		"--note", "Mended", "--json").Output())(t)
	var p contract.Published
	harness.NoError(t, json.Unmarshal(made, &p))
	list := harness.Threads(t, d.agent, d.ArtifactID, "?state=addressed")
	if len(p.Addressed) != threads || len(p.Skipped) > 0 || len(list.Threads) != threads || list.Open != 0 {
		t.Errorf("it addressed %d and skipped %v; the list has %d", len(p.Addressed), p.Skipped, len(list.Threads))
	}
	for _, thread := range list.Threads {
		if by := thread.Addressed; by.RevisionID != p.RevisionID || by.Note.Text != "Mended" {
			t.Errorf("%+v", by)
		}
	}
}

// TestAPublicationLandsBesideFiftyWriters publishes, with and without a thread to address, while others write.
func TestAPublicationLandsBesideFiftyWriters(t *testing.T) {
	t.Parallel()
	d := newDiscussed(t)
	thread := address(d.write(t, contract.CreateThread{Body: "A remark"}), "")
	for name, body := range map[string]any{
		"alone":         nil,
		"with a thread": contract.PublishRevision{Addresses: []contract.AddressThread{thread}},
	} {
		publish := d.agent.PublishURL(d.ArtifactID, d.draft(t))
		answers := d.Concurrently(t, 51, func(i int) (wire.Answer, error) {
			if i == 0 {
				return d.agent.Do(t.Context(), "POST", publish, body, harness.KeyHeader()...)
			}
			return d.agent.Do(t.Context(), "POST", d.agent.At.APIURL+harness.FeedbackPath(d.ArtifactID),
				contract.CreateThread{Body: "More"}, harness.KeyHeader()...)
		})
		if a := answers[0]; a.Status != http.StatusOK {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
	d.CheckInvariants(t)
}
