package budget

import (
	"strings"
	"testing"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/shared/platform/limits"
)

// TestAHotReadIsOneStrongRead reads a file of a claimed artifact 1,000 times in one window, with the published limits.
func TestAHotReadIsOneStrongRead(t *testing.T) {
	s := harness.NewLinkEnv(t, func(o *stack.Options) { o.Limits = limits.Default() })
	const reads = 1000
	s.WantContent(t, s.Published.RevisionContentURL, harness.Page("shared").Body)
	cold := wantReads(t, s, 1)
	if cold.calls != 4 || cold.rru != 2.5 || cold.wru != 1 { // state, permit, list of files, bytes
		t.Errorf("the first read takes %s", cold)
	}
	for range reads {
		s.WantContent(t, s.Published.RevisionContentURL, harness.Page("shared").Body)
	}
	all := wantReads(t, s, reads+1)
	hot := budget{calls: all.calls - cold.calls, rru: all.rru - cold.rru, wru: all.wru - cold.wru}
	t.Logf("%d reads: %s", reads, hot)
	if hot.rru != 2*reads || hot.wru > reads/20 || hot.calls != reads+int(hot.wru) {
		t.Errorf("%d reads take %s", reads, hot)
	}
}

// wantReads waits until the log has so many reads of files, and returns what they cost together.
func wantReads(t *testing.T, s *harness.LinkEnv, reads int) (sum budget) {
	t.Helper()
	for _, r := range costs(t, s.Env, reads, func(r requestCost) bool { return strings.HasPrefix(r.Route, "/v/") }) {
		sum = sum.plus(r)
	}
	return sum
}
