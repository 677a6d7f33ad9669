package main

import (
	"math"
	"testing"
)

func TestTheMedianIsInTheMiddle(t *testing.T) {
	for want, values := range map[float64][]float64{3: {9, 1, 3}, 2.5: {4, 1, 2, 3}, 7: {7}} {
		if got := median(values); got != want {
			t.Errorf("%v has median %g, want %g", values, got, want)
		}
	}
}

// TestTheSpreadLeavesOutWhatChanceAllows compares with the binomial distribution: of 5 values none is left out at
// either end, because all of them lie above the median with a probability of 1 in 32 already.
func TestTheSpreadLeavesOutWhatChanceAllows(t *testing.T) {
	for n, cut := range map[int]int{1: 0, 2: 0, 5: 0, 8: 0, 9: 1, 11: 1, 12: 2, 20: 5, 100: 40} {
		values := make([]float64, n)
		for i := range values {
			values[i] = float64((i*37 + 11) % n) // in no order
		}
		low, high := spread(values)
		if low != float64(cut) || high != float64(n-1-cut) {
			t.Errorf("of 0 to %d the spread is %g to %g, want %d to %d", n-1, low, high, cut, n-1-cut)
		}
	}
}

func TestSlowerMeansSlowerInEveryOfFiveRounds(t *testing.T) {
	same := []float64{1000, 1010, 990, 1020, 980}
	times := func(factor ...float64) []float64 {
		out := make([]float64, len(same))
		for n, rate := range same {
			out[n] = rate / factor[n%len(factor)]
		}
		return out
	}
	for name, c := range map[string]struct {
		rates   []float64
		ratio   float64
		verdict string
	}{
		"equal":                          {same, 1, "not slower"},
		"half as fast":                   {times(2), 2, "slower"},
		"a twentieth":                    {times(1.049), 1.049, "not slower"},
		"a little more than a twentieth": {times(1.051), 1.051, "slower"},
		"slower but in one round":        {times(1.2, 1.2, 1.2, 1.2, 1.0), 1.19, "unclear"},
		"slower in one round":            {times(3, 1, 1, 1, 1), 1.01, "not slower"},
		"twice as fast":                  {times(.5), .5, "faster"},
		"faster but in one round":        {times(.5, .5, .5, 1.2, .5), .505, "not slower"},
	} {
		t.Run(name, func(t *testing.T) {
			f := compare(c.rates, same)
			if got := f.String(); got != c.verdict || math.Abs(f.ratio-c.ratio) > 0.005 {
				t.Errorf("%s with ratio %.3f in %.3f–%.3f, want %s with %.3f", got, f.ratio, f.low, f.high, c.verdict, c.ratio)
			}
		})
	}
}
