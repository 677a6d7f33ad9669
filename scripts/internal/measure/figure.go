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
		words(t),
		undocumented(t),
		packed(t),
		assignments(t),
		columns(t, false),
		columns(t, true),
		files(t),
		untested(t),
		functions(t),
		methods(t),
		receivers(t),
		deadNames(t),
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

// below returns the result of a share that should stay below goal. A scale of 100 makes it a percentage.
func below(part, whole int, scale, goal float64, unit string) result {
	share := scale * float64(part) / float64(max(1, whole))
	return result{
		value: fmt.Sprintf("%.1f%s (%d of %d)", share, unit, part, whole),
		goal:  fmt.Sprintf("< %g%s", goal, unit),
		met:   share < goal,
	}
}

// sized is a part of the tree with its size.
type sized struct {
	place
	name string
	size int
}

// largest returns the part with the largest size, the zero value if there is none.
func largest(all []sized) sized {
	if len(all) == 0 {
		return sized{}
	}
	return slices.MinFunc(all, bySize)
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

// percentile returns the size that the share p of the parts does not exceed.
func percentile(all []sized, p float64) int {
	if len(all) == 0 {
		return 0
	}
	ascending := slices.SortedFunc(slices.Values(all), func(a, b sized) int { return cmp.Compare(a.size, b.size) })
	return ascending[int(float64(len(ascending)-1)*p)].size
}
