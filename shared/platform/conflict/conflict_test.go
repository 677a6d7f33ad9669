package conflict

import (
	"errors"
	"fmt"
	"testing"
)

func TestALostAttemptIsRepeatedAndEveryOtherResultIsFinal(t *testing.T) {
	lost, exhausted, broken := errors.New("lost"), errors.New("exhausted"), errors.New("broken")
	wrapped := fmt.Errorf("the row: %w", lost)
	policy := Policy{Lost: lost, Attempts: 3, Exhausted: func() error { return exhausted }}
	for name, c := range map[string]struct {
		results []error
		runs    int
		want    error
	}{
		"the first attempt wins":                {[]error{nil}, 1, nil},
		"a later attempt wins":                  {[]error{lost, wrapped, nil}, 3, nil},
		"a failure ends it":                     {[]error{lost, broken, nil}, 2, broken},
		"a failure at first ends it":            {[]error{broken, nil}, 1, broken},
		"as many as there may be lost":          {[]error{lost, lost, lost, nil}, 3, exhausted},
		"the last attempt fails for its reason": {[]error{lost, lost, broken}, 3, broken},
	} {
		t.Run(name, func(t *testing.T) {
			runs := 0
			got, err := Retry(policy, func() (int, error) {
				runs++
				return runs, c.results[runs-1]
			})
			if !errors.Is(err, c.want) || runs != c.runs {
				t.Errorf("%d attempts end with %v; want %d and %v", runs, err, c.runs, c.want)
			}
			want := runs
			if errors.Is(c.want, exhausted) {
				want = 0
			}
			if got != want {
				t.Errorf("the result is that of attempt %d after %d", got, runs)
			}
		})
	}
}
