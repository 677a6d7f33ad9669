package cloud

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/internal/restore/part"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/platform/id"
)

// putBack brings an artifact back to the instant of the loss, while the deployment serves.
func (l *loss) putBack(t *testing.T, a id.Artifact, at time.Time, keep bool) error {
	t.Helper()
	r := l.restore(at)
	return r.Beside(t.Context(), keep, func(then, living invariant.Deployment) error {
		return part.Restore{
			From:    then,
			To:      living,
			Instant: at,
			Now:     l.Clock.Now,
			Out:     l.out,
			Wait:    r.Clock.Wait,
		}.Artifact(t.Context(), a)
	})
}

// besides are the tables that exist beside the living ones.
func (l *loss) besides(t *testing.T) (names []string) {
	t.Helper()
	for _, name := range l.tableNames(t) {
		if strings.HasPrefix(name, l.name+"-restore-") {
			names = append(names, name)
		}
	}
	return names
}

func TestOneArtifactComesBackWhileTheDeploymentServes(t *testing.T) {
	l := newLoss(t)
	expect.Error(t, l.putBack(t, id.NewArtifact(), l.at, false), "no such artifact then", "stays for the next command")
	table := l.besides(t)
	if len(table) != 1 {
		t.Fatalf("the tables beside are %v, want one for the next command", table)
	}
	for name, keep := range map[string]bool{"kept": true, "not kept": false} {
		expect.OK(t, l.putBack(t, l.deleted.ArtifactID, l.at, keep))
		if left := l.besides(t); keep != (len(left) == 1) {
			t.Errorf("%s: the tables beside are %v", name, left)
		}
	}
	a := expect.Value(l.agent.Do(t.Context(), "GET", l.deleted.RevisionContentURL, nil))(t)
	if a.Status != http.StatusOK || !strings.Contains(string(a.Body), "deleted") {
		t.Errorf("the artifact answers %d %s", a.Status, a.Body)
	}
	if len(l.account.calls) > 0 {
		t.Errorf("the deployment was changed by %v", l.account.calls)
	}
}

func TestNothingComesBackWhereItWouldBeLostOrCannotBeFound(t *testing.T) {
	l := newLoss(t)
	a := l.deleted.ArtifactID
	expect.Error(t, l.putBack(t, a, time.Time{}, false), "say the instant")
	expect.Error(t, l.putBack(t, a, l.Clock.Now().Add(time.Hour), false), "say the instant")
	expect.Error(t, l.putBack(t, a, l.at.Add(-40*24*time.Hour), false), "its history begins")
	l.bucket.days = 0
	expect.Error(t, l.putBack(t, a, l.at, false), "bucket")
	l.bucket.days = 14
	expect.OK(t, l.restore(l.at).Run(t.Context()))
	expect.Error(t, l.putBack(t, a, l.at, false), "a restore of "+l.name+" is under way")
	expect.OK(t, l.abandon(t)())
	l.standIn.lose(l.Tables.Core)
	expect.Error(t, l.putBack(t, a, l.at, false), "is gone: restore the deployment")
	if left := l.besides(t); len(left) > 0 {
		t.Errorf("the tables beside are %v", left)
	}
}
