package part

import (
	"testing"

	"vitrine/scripts/journey/harness"
)

func TestADeletedArtifactComesBackHoweverFarItsDeletionWent(t *testing.T) {
	t.Parallel()
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			p := e.publish(t, "words")
			link := harness.CreateLink(t, e.owner.Agent, p.ArtifactID, harness.ShareLink)
			url := harness.MintLink(t, e.owner.Agent, link.ID)
			e.take(t)
			e.remove(t, p)
			end(t, e)
			harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
			e.wantBack(t, p, "words")
			if a := e.Resolve(t, url); a.Status != 404 {
				t.Errorf("a link that it had answers %d", a.Status)
			}
			before := e.Snapshot(t)
			harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
			e.WantUnchanged(t, before)
		})
	}
}
