package main

import (
	"cmp"
	"fmt"
	"slices"
)

// figure is one measured property of a tree.
type figure struct {
	name  string // as -list takes it
	title string
	result
	offenders []offender
}

type result struct {
	value string
	goal  string
	met   bool
}

// offender is a place that counts against a figure.
type offender struct {
	place
	what string
}

type place struct {
	file string
	line int // 0 where a whole file or folder is meant
}

func (p place) String() string {
	if p.line == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d", p.file, p.line)
}

// figures measures the tree. They are printed in this order.
func figures(t tree) []figure {
	return []figure{
		packed(t),
		assignments(t),
		columns(t, false),
		columns(t, true),
		files(t),
		untested(t),
		functions(t),
	}
}

// atMost returns the result of a count that should not exceed goal.
func atMost(count, goal int) result {
	return result{
		value: fmt.Sprint(count),
		goal:  fmt.Sprintf("<= %d", goal),
		met:   count <= goal,
	}
}

// below returns the result of a share in percent that should stay below goal.
func below(part, whole int, goal float64) result {
	share := 100 * float64(part) / float64(max(1, whole))
	return result{
		value: fmt.Sprintf("%.1f %% (%d of %d)", share, part, whole),
		goal:  fmt.Sprintf("< %g %%", goal),
		met:   share < goal,
	}
}

// sized is a part of the tree with its size.
type sized struct {
	place
	name string
	size int
}

// bySize orders the larger first, equals by name.
func bySize(a, b sized) int {
	return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.name, b.name))
}

// larger lists the parts of a size above limit, the largest first.
func larger(all []sized, limit int, unit string) []offender {
	var found []offender
	for _, s := range slices.SortedFunc(slices.Values(all), bySize) {
		if s.size > limit {
			found = append(found, offender{place: s.place, what: fmt.Sprintf("%s: %d %s", s.name, s.size, unit)})
		}
	}
	return found
}

// percentile returns the part that the share p of the parts does not exceed, the zero value if there is none.
func percentile(all []sized, p float64) sized {
	if len(all) == 0 {
		return sized{}
	}
	ascending := slices.SortedFunc(slices.Values(all), func(a, b sized) int { return bySize(b, a) })
	return ascending[int(float64(len(ascending)-1)*p)]
}
