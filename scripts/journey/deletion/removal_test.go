package deletion

import (
	"testing"

	"vitrine/scripts/journey/harness"
)

func TestAWorkspaceGoesForGood(t *testing.T) {
	t.Parallel()
	s := harness.NewPeopleEnv(t, harness.Unlimited)
	p := newPerson(t, s, "ada@example.org")
	harness.PublishPage(t, p.Agent, "one")
	t.Log(p.delete(t))
	runToTheEnd(t, s)
	for _, table := range []string{s.Tables.Core, s.Tables.Hot} {
		for _, i := range s.Scan(t, table) {
			t.Log(harness.Text(i["pk"]), harness.Text(i["sk"]), i["ttl"] != nil)
		}
	}
	t.Log(actions(t, s, p.workspace.ID))
}
