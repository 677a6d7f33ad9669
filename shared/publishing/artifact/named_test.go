package artifact

import (
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/platform/fault"
)

func TestADraftIsPublishedByItsNames(t *testing.T) {
	e := newEnv(t)
	e.draft()
	named := e.target()
	p, err := e.PublishNamed(t.Context(), e.by, named.Command, named.RequestedID, named.Revision.ID)
	expect.Code(t, err, "")
	if p.Artifact != named.RequestedID || p.Revision != named.Revision.ID || len(e.store.commits) != 1 {
		t.Errorf("published %+v with %d commits", p, len(e.store.commits))
	}
	e.store.artifact = nil
	_, err = e.PublishNamed(t.Context(), e.by, named.Command, named.RequestedID, named.Revision.ID)
	expect.Code(t, err, fault.ArtifactNotFound)
}
