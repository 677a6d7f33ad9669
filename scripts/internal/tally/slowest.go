package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxSlowest is how many of the slowest tests are printed.
const maxSlowest = 10

// timing is how long a test ran, without its waits for other tests.
type timing struct {
	test
	seconds float64
}

// isCached reports whether the verdict of a package comes from the test cache. The times of its tests are of an earlier
// run then.
func (t *tally) isCached(pkg test) bool {
	return slices.ContainsFunc(t.held[pkg], func(line string) bool {
		return strings.HasPrefix(line, "ok ") && strings.Contains(line, "\t(cached)")
	})
}

// forget drops the times of a package.
func (t *tally) forget(pkg string) {
	t.times = slices.DeleteFunc(t.times, func(s timing) bool { return s.pkg == pkg })
}

func (t *tally) printSlowest() {
	slices.SortStableFunc(t.times, func(a, b timing) int { return cmp.Compare(b.seconds, a.seconds) })
	if len(t.times) == 0 {
		return
	}
	fmt.Fprintln(t.out, "slowest tests:")
	for _, s := range t.times[:min(len(t.times), maxSlowest)] {
		fmt.Fprintf(t.out, "%6.1fs %s %s\n", s.seconds, s.pkg, s.name)
	}
}
