package main

import (
	"math"
	"slices"
)

// slowerRatio is how many times as long a request may take before it counts as slower.
const slowerRatio = 1.05

// spreadDoubt is the highest probability that the median lies below a spread, and also that it lies above.
const spreadDoubt = 1.0 / 32

// round is what one row measured of one side in one round.
type round struct {
	rate float64 // requests a second
	p50  float64 // milliseconds
	p95  float64
	p99  float64

	hosts, engines float64 // milliseconds of CPU for one operation
	resident       float64 // MB of the hosts' process
	calls          float64 // of AWS, for one operation, as the request log tells
	rru, wru       float64
}

// figures compare this tree with its baseline: the medians of the rounds, and how many times as long a request takes.
type figures struct {
	medians   [2]round // of this tree, and of the baseline
	ratio     float64  // of the medians of the rates
	low, high float64  // spread of the ratios of the rounds
}

// compareRounds returns the figures of rounds that were measured in turn.
func compareRounds(this, base []round) figures {
	f := figures{medians: [2]round{medianRound(this), medianRound(base)}}
	f.ratio = f.medians[1].rate / f.medians[0].rate
	ratios := make([]float64, len(this))
	for n := range ratios {
		ratios[n] = base[n].rate / this[n].rate
	}
	f.low, f.high = spread(ratios)
	return f
}

// verdict says whether this tree is slower or faster than its baseline by more than a twentieth. It is unclear when the
// ratio of the medians says slower and the spread of the rounds does not.
func (f figures) verdict() string {
	switch {
	case f.ratio > slowerRatio && f.low > slowerRatio:
		return "slower"
	case f.ratio > slowerRatio:
		return "unclear"
	case f.ratio < 1/slowerRatio && f.high < 1/slowerRatio:
		return "faster"
	}
	return "not slower"
}

func medianRound(rounds []round) round {
	of := func(value func(r *round) *float64) float64 {
		values := make([]float64, len(rounds))
		for n := range rounds {
			values[n] = *value(&rounds[n])
		}
		return median(values)
	}
	var m round
	for _, value := range roundValues {
		*value(&m) = of(value)
	}
	return m
}

// roundValues are all values of a round.
var roundValues = []func(r *round) *float64{
	func(r *round) *float64 { return &r.rate },
	func(r *round) *float64 { return &r.p50 },
	func(r *round) *float64 { return &r.p95 },
	func(r *round) *float64 { return &r.p99 },
	func(r *round) *float64 { return &r.hosts },
	func(r *round) *float64 { return &r.engines },
	func(r *round) *float64 { return &r.resident },
	func(r *round) *float64 { return &r.calls },
	func(r *round) *float64 { return &r.rru },
	func(r *round) *float64 { return &r.wru },
}

// median returns the value in the middle, or the mean of the two there.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// spread returns the interval between order statistics that holds the median of the distribution of the values with a
// probability of at least 15 in 16, whatever the distribution is: of five values, the lowest and the highest.
func spread(values []float64) (low, high float64) {
	sorted := slices.Sorted(slices.Values(values))
	n := len(sorted)
	cut := 0                             // values at each end that are left out
	exactly := math.Pow(0.5, float64(n)) // the probability that so many values lie below the median
	for atMost := exactly; cut+1 < (n+1)/2; cut++ {
		exactly *= float64(n-cut) / float64(cut+1)
		if atMost += exactly; atMost > spreadDoubt {
			break
		}
	}
	return sorted[cut], sorted[n-1-cut]
}
