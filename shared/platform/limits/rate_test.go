package limits

import (
	"reflect"
	"strings"
	"testing"
)

// TestCountersKeepTheirNames holds the names, because they are in the keys of items that are counted now.
func TestCountersKeepTheirNames(t *testing.T) {
	const want = "actor workspace live refused address provision   assertion vouched vouched event event failure guest " +
		"token revoke agentcode devicecode signin authorize client unserved clients document documents device devices " +
		"report reports cli feedback letter letters letterbox export"
	var names []string
	for _, field := range reflect.ValueOf(Default()).Fields() {
		if r, ok := field.Interface().(Rate); ok {
			names = append(names, r.Counter)
			if r.Limit == 0 || r.Window == 0 || (r.Counter == "") != (r.Events == "") {
				t.Errorf("%+v, want a limit, a window and both names or none", r)
			}
		}
	}
	if got := strings.Join(names, " "); got != want {
		t.Errorf("counters are %q", got)
	}
}
