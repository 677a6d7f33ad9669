package cloud

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// loss is a deployment on which things were published before an instant and lost after it.
type loss struct {
	*deployment
	agent         *wire.Agent
	workspace     id.Workspace
	at            time.Time
	kept, deleted contract.Published
	hidden        []string // keys of the files that a mistake deleted
}

// newLoss publishes two artifacts. After the instant one is deleted by its owner, whose bytes are collected, and the
// files of the other one are deleted by a mistake, twice.
func newLoss(t *testing.T) *loss {
	t.Helper()
	l := &loss{deployment: newDeployment(t)}
	l.agent = l.NewAgent(t)
	l.workspace = harness.TokenOf(t, l.agent).Workspace
	l.kept = harness.PublishPage(t, l.agent, "kept")
	l.hidden = l.objects(t, l.workspace)
	l.deleted = harness.PublishPage(t, l.agent, "deleted")
	l.Clock.Advance(10 * time.Minute)
	l.at = l.standIn.remember(l.Tables.Core, l.Tables.Events)
	l.Clock.Advance(time.Hour)
	harness.DeleteArtifact(t, l.agent, l.deleted.ArtifactID)
	harness.PublishPage(t, l.agent, "since")
	for _, key := range l.hidden {
		l.deleteObject(t, key, 2)
	}
	l.Clock.Advance(10 * time.Minute)
	return l
}

func TestARestoreBringsBackWhatAMistakeDeletedAndNothingElse(t *testing.T) {
	l := newLoss(t)
	expect.OK(t, l.restore(l.at).Plan(t.Context()))
	if len(l.standIn.writes)+len(l.account.calls) > 0 {
		t.Errorf("the plan did %v %v", l.standIn.writes, l.account.calls)
	}
	expect.Has(t, "the plan", l.out.String(), "RestoreTableToPointInTime "+l.Tables.Core, "artifact.deleted",
		"keep "+l.Tables.Hot, "put-function-concurrency --function-name "+l.name+"-Api-F", "-c table-events="+l.name)

	expect.OK(t, l.restore(l.at).Run(t.Context()), l.restore(time.Time{}).Check(t.Context()))
	if l.account.rules[l.name+"-Jobs-EveryMinute"] || len(l.account.reserved) != 1 {
		t.Errorf("the deployment has %s", l.account.running())
	}
	s := l.restored(t).Set
	l.Clock.Advance(time.Hour) // so that the switch has nothing left to do again
	expect.OK(t, l.restore(time.Time{}).Switch(t.Context()))
	if got := l.objects(t, l.workspace); !slices.Contains(got, l.hidden[0]) {
		t.Errorf("the bucket has %v, not %v", got, l.hidden)
	}
	for f, runs := range l.account.functions {
		if l.account.reserved[f] != 0 || runs["table-core"] != s.Core || runs["table-hot"] != l.Tables.Hot {
			t.Errorf("%s has %d and runs on %v", f, l.account.reserved[f], runs)
		}
	}
	expect.OK(t, l.restore(time.Time{}).Check(t.Context()), l.restore(time.Time{}).Open(t.Context(), false))
	expect.Has(t, "open", l.out.String(), "0 of 1 live artifacts")
	if l.account.rules[l.name+"-Jobs-EveryMinute"] || len(l.account.reserved) != 1 {
		t.Errorf("opened, the deployment has %s", l.account.running())
	}
	expect.OK(t, l.restore(time.Time{}).Open(t.Context(), true))
	if !l.account.rules[l.name+"-Jobs-EveryMinute"] || l.account.reserved[l.name+"-Content-F"] != 200 {
		t.Errorf("in the end the deployment has %s", l.account.running())
	}
	l.wantRestored(t, s)
}

// wantRestored checks that a set has what was not deleted, and only that.
func (l *loss) wantRestored(t *testing.T, s set) {
	t.Helper()
	w := &work{Restore: l.restore(l.at), journal: &journal{Instant: l.at}, limits: l.Options.Limits}
	for _, breach := range invariant.Check(t.Context(), w.deployment(s)) {
		if !errors.Is(breach, invariant.ErrStray) { // published since
			t.Error(breach)
		}
	}
	status := map[string]string{}
	for _, i := range l.standIn.items(s.Core) {
		if attribute(i["sk"]) == "META" {
			status[strings.TrimPrefix(attribute(i["pk"]), "A#")] = attribute(i["status"])
		}
	}
	if status[string(l.kept.ArtifactID)] != "active" || status[string(l.deleted.ArtifactID)] != "deleted" {
		t.Errorf("the restored set has %v", status)
	}
}

func attribute(v types.AttributeValue) string {
	s, _ := v.(*types.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}
