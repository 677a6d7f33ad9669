package feedback

import (
	"context"
	"testing"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

// stored are counts and threads of an artifact.
type stored struct {
	Counts
	threads map[id.Thread]*Thread
}

func (s stored) Threads(_ context.Context, _ id.Artifact, all []id.Thread) (Counts, []*Thread, error) {
	out := make([]*Thread, len(all))
	for n, t := range all {
		out[n] = s.threads[t]
	}
	return s.Counts, out, nil
}

func TestAPublicationCountsWhatItLeavesOpen(t *testing.T) {
	one, two := id.NewThread(), id.NewThread()
	s := stored{
		Counts: Counts{
			Seq:     7,
			Open:    3,
			Threads: 4,
		},
		threads: map[id.Thread]*Thread{
			one: {ID: one, State: Open, Seq: 3},
			two: {ID: two, State: Addressed, Seq: 4},
		},
	}
	for name, c := range map[string]struct {
		addresses []artifact.Address
		open      int
	}{
		"an open one":          {[]artifact.Address{{Thread: one, Seq: 3}}, 2},
		"one that was not":     {[]artifact.Address{{Thread: two, Seq: 4}}, 3},
		"both":                 {[]artifact.Address{{Thread: one, Seq: 3}, {Thread: two, Seq: 4}}, 2},
		"one with newer words": {[]artifact.Address{{Thread: one, Seq: 2}}, 3},
		"one that is gone":     {[]artifact.Address{{Thread: id.NewThread(), Seq: 1}}, 3},
	} {
		p := artifact.Publication{Revision: artifact.Revision{ID: id.NewRevision()}, Number: 2}
		got, err := Closer{Store: s}.Close(t.Context(), credential.Actor{}, p, c.addresses)
		expect.OK(t, err)
		if got.Open != c.open {
			t.Errorf("%s: %d are open, want %d", name, got.Open, c.open)
		}
	}
}
