//go:build drill

package main

import "testing"

func TestTwentyRoundsLoseNothing(t *testing.T) {
	o, err := parse(nil, t.Output())
	if err == nil {
		err = drill(t.Context(), o, t.Output())
	}
	if err != nil {
		t.Fatal(err)
	}
}
