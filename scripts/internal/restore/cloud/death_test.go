package cloud

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/chaos"
)

// attempt runs a command, lets it die at one of its calls, and runs it again until it has ended.
func (d *deployment) attempt(t *testing.T, n int, command func() error) (died bool) {
	t.Helper()
	rule := d.faults.On("").Nth(n)
	if n%2 == 0 {
		rule.Before(chaos.Crash)
	} else {
		rule.After(chaos.Crash)
	}
	err := command()
	died = rule.Fired() > 0
	d.faults.Clear()
	d.faults.Revive()
	if died && err == nil {
		t.Errorf("call %d died, and the command did not notice", n)
	}
	expect.OK(t, command())
	return died
}

// TestARunThatDiesAtEveryCallGoesOn lets a run die at each of its calls in turn, and the abandonment after it, too.
func TestARunThatDiesAtEveryCallGoesOn(t *testing.T) {
	l := newLoss(t)
	before, tables := l.account.running(), l.tableNames(t)
	n := 1
	for died := true; died; n++ {
		died = l.attempt(t, n, func() error { return l.restore(l.at).Run(t.Context()) })
		s := l.restored(t).Set
		for _, name := range []string{s.Core, s.Events} {
			got := *l.standIn.settings[name]
			if !got.History || !got.Protected || (got.Stream == "") == (name == s.Core) || got.Tags[nameTag] != l.name ||
				len(got.Most) == 0 {
				t.Errorf("killed at %d, %s has %+v", n, name, got)
			}
		}
		l.attempt(t, n, l.abandon(t))
		if after := l.account.running(); after != before {
			t.Errorf("killed at %d, the deployment has %s, not %s", n, after, before)
		}
		if left := l.tableNames(t); !slices.Equal(left, tables) {
			t.Errorf("killed at %d, the tables %v are left, of %v", n, left, tables)
		}
		l.Clock.Advance(time.Minute) // another restore has another name
	}
	t.Logf("a run makes %d calls", n-2)
	if n == 2 {
		t.Error("no run died")
	}
}

// TestASwitchThatDiesAtEveryCallGoesOn lets each step of a switch die at each of its calls in turn, and at those of the
// AWS command line.
func TestASwitchThatDiesAtEveryCallGoesOn(t *testing.T) {
	l := newLoss(t)
	expect.OK(t, l.restore(l.at).Run(t.Context()))
	s := l.restored(t).Set
	steps, attempts := 0, 0
	for n := 1; !l.restored(t).did(lastOfSwitch); n++ {
		if done := len(l.restored(t).Done); done > steps {
			n, steps = 1, done
		}
		attempts++
		l.account.left = n
		rule := l.faults.On("").Nth(n).Before(chaos.Crash)
		if n%2 == 0 {
			rule = l.faults.On("").Nth(n).After(chaos.Crash)
		}
		err := l.restore(time.Time{}).Switch(t.Context())
		if ended := l.restored(t).did(lastOfSwitch); ended != (err == nil) {
			t.Fatalf("ended: %t, with %v, after %d calls (%s)", ended, err, n, rule)
		}
		l.account.left = 0
		l.faults.Clear()
		l.faults.Revive()
	}
	t.Logf("the switch ended with the attempt %d", attempts)
	if l.account.reserved[l.name+"-Jobs-F"] != 0 || !slices.Contains(l.objects(t, l.workspace), l.hidden[0]) {
		t.Errorf("the deployment has %s and the files %v", l.account.running(), l.objects(t, l.workspace))
	}
	for range 2 { // opened twice, because somebody is not sure that it was
		expect.OK(t, l.restore(time.Time{}).Open(t.Context(), false))
	}
	expect.OK(t, l.restore(time.Time{}).Check(t.Context()), l.restore(time.Time{}).Open(t.Context(), true))
	if n := l.account.reserved[l.name+"-Content-F"]; n != 200 || len(l.account.reserved) != 1 {
		t.Errorf("the deployment has %s", l.account.running())
	}
	l.wantRestored(t, s)
}

// TestAbandoningDeletesAgainExactlyWhatCameBack lets the undeleting die, too, before the restore is abandoned.
func TestAbandoningDeletesAgainExactlyWhatCameBack(t *testing.T) {
	l := newLoss(t)
	expect.OK(t, l.restore(l.at).Run(t.Context()))
	before := l.objects(t, l.workspace)
	for n := 1; ; n++ {
		died := l.attempt(t, n, func() error { return l.restored(t).undelete(t.Context()) })
		if got := l.objects(t, l.workspace); len(got) != len(before)+len(l.hidden) || len(l.restored(t).Markers) != 2 {
			t.Errorf("killed at %d, %v are there, and the journal has %v", n, got, l.restored(t).Markers)
		}
		l.attempt(t, n, func() error { return l.restored(t).deleteAgain(t.Context()) })
		if got := l.objects(t, l.workspace); !slices.Equal(got, before) {
			t.Errorf("killed at %d, %v are there, not %v", n, got, before)
		}
		if !died {
			break
		}
		w := l.restored(t)
		w.Markers = nil // the next one has other markers
		expect.OK(t, w.save())
		l.deleteObject(t, l.hidden[0], 1)
	}
	expect.OK(t, l.abandon(t)())
	if got := l.objects(t, l.workspace); !slices.Equal(got, before) {
		t.Errorf("abandoned, %v are there, not %v", got, before)
	}
}

// abandon abandons the restore that is under way, if one is.
func (d *deployment) abandon(t *testing.T) func() error {
	return func() error {
		if w, err := d.restore(time.Time{}).open(); w == nil || err != nil {
			return err
		}
		return d.restore(time.Time{}).Abandon(t.Context())
	}
}

// tableNames returns the tables of the deployment and of its restores.
func (d *deployment) tableNames(t *testing.T) (names []string) {
	t.Helper()
	in := &dynamodb.ListTablesInput{}
	for pages := dynamodb.NewListTablesPaginator(d.DB, in); pages.HasMorePages(); {
		for _, name := range expect.Value(pages.NextPage(t.Context()))(t).TableNames {
			if strings.HasPrefix(name, d.name) || strings.HasPrefix(name, d.Options.Tables) {
				names = append(names, name)
			}
		}
	}
	return names
}
