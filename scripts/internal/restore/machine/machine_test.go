package machine

import (
	"fmt"
	"net/http"
	"os"
	"testing"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/contract"
)

func fmtLock(base int) []byte { return fmt.Appendln(nil, os.Getpid(), base) }

func TestARestoreServesWhatTheCopyHasAndNotWhatEndedSince(t *testing.T) {
	e := newEnv(t)
	g := e.NewAgent(t)
	kept := harness.PublishPage(t, g, "kept")
	gone := harness.PublishPage(t, g, "gone")
	closed := harness.PublishPage(t, g, "closed")
	_, token, err := e.Anyone.Provision(t.Context())
	expect.OK(t, err)
	ada := e.signIn(t)
	pinned := harness.PublishPage(t, ada.key, "pinned")
	c := e.copy(t)
	later := harness.PublishPage(t, g, "later")
	harness.DeleteArtifact(t, g, gone.ArtifactID)
	for link := range harness.LinkRows(t, g, closed.ArtifactID) {
		harness.RevokeLink(t, g, link)
	}
	harness.Call[map[string]any](t, ada.cli, 200, "POST", harness.PinPath(pinned.ArtifactID), nil, harness.KeyHeader()...)
	e.RewriteItem(t, e.Tables.Hot, harness.Item{}, map[string]any{"pk": "n:used", "ttl": int(e.Clock.Now().Unix())})
	e.stop(t)
	r := e.restore(t, c)
	expect.OK(t, r.Plan(t.Context()), r.Run(t.Context()))
	e.serve(t, r)

	g = e.WithBearer(g.Key)
	e.WantContent(t, kept.RevisionContentURL, harness.Page("kept").Body)
	e.WantGone(t, gone.RevisionContentURL)
	if a := e.Resolve(t, closed.UnlistedURL); a.Status == http.StatusOK {
		t.Error("a link that was revoked opens")
	}
	if a := e.Resolve(t, kept.UnlistedURL); a.Status != http.StatusOK {
		t.Errorf("a link of before the copy answers %d", a.Status)
	}
	if _, err := g.AgentView(t.Context(), later.ArtifactID); err == nil {
		t.Error("what was published after the copy is there")
	}
	if e.GetItem(t, "A#"+string(pinned.ArtifactID), "META")["pin_at"] == nil {
		t.Error("what was pinned after the copy is not")
	}
	if e.CountItems(t, e.Tables.Hot, "n:used") != 1 {
		t.Error("a nonce that was used after the copy can be used again")
	}
	harness.PublishPage(t, g, "new")
	again := e.signIn(t)
	if a := harness.TryClaim(t, e.WithBearer(again.cli.Key), token.ClaimToken); a.Status != http.StatusOK {
		t.Errorf("a claim token of before the copy answers %d %s", a.Status, a.Body)
	}
	if again.workspace != ada.workspace {
		t.Errorf("the member of before the copy has workspace %v, and had %v", again.workspace, ada.workspace)
	}
	if status := e.StatusFor(t, ada.key.Key, "/v1/whoami"); status != http.StatusOK {
		t.Errorf("a key of before the copy answers %d", status)
	}
	a := harness.Do(t, e.WithBearer(ada.cli.Key), "POST", e.Origins.API+"/v1/web/keys", contract.CreateKey{Name: "x"},
		harness.KeyHeader()...)
	if a.Status != http.StatusUnauthorized {
		t.Errorf("the login of before the restore answers %d", a.Status)
	}
}
