package dynamo

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/rate"
)

// streamAt is a stream of a subject in a slot.
func streamAt(subject string, slot int, until time.Time) rate.Stream {
	return rate.Stream{
		Kind:    "address",
		Subject: subject,
		Slot:    slot,
		Until:   until,
	}
}

// rivals are two streams of a subject that want the same slot, and the time at which they do.
func rivals(slot int) (first, second rate.Stream, at time.Time) {
	at = now()
	until := at.Add(240 * time.Second)
	first = streamAt(string(id.NewPublic()), slot, until)
	return first, streamAt(first.Subject, slot, until.Add(time.Nanosecond)), at
}

// acquired takes a slot, or reports which are free.
func acquired(t *testing.T, s Stores, st rate.Stream, most int, at time.Time) (bool, []int) {
	t.Helper()
	free, ok, err := s.Counters.AcquireStream(ctx, st, most, at)
	noError(t, err)
	return ok, free
}

func TestASlotHasOneStream(t *testing.T) {
	s := newStore(t)
	first, second, at := rivals(2)
	subject, until := first.Subject, first.Until
	if ok, _ := acquired(t, s, first, 4, at); !ok {
		t.Fatal("a free slot is refused")
	}
	if ok, free := acquired(t, s, second, 4, at); ok || !slices.Equal(free, []int{0, 1, 3}) {
		t.Errorf("a slot is given twice (%t), free are %v", ok, free)
	}
	if ok, _ := acquired(t, s, first, 4, at); !ok {
		t.Error("a repeated call is refused the slot that it holds")
	}
	if ok, _ := acquired(t, s, streamAt(subject+"x", 2, until), 4, at); !ok {
		t.Error("two subjects share a slot")
	}
	for n := range 4 {
		acquired(t, s, streamAt(subject, n, until.Add(time.Duration(n)+2)), 4, at)
	}
	if ok, free := acquired(t, s, second, 4, at); ok || len(free) != 0 {
		t.Errorf("of four slots in use %v are free", free)
	}
}

func TestAReleasedSlotIsFreeAndAnotherHoldersIsNot(t *testing.T) {
	s := newStore(t)
	first, second, at := rivals(0)
	acquired(t, s, first, 1, at)
	for range 2 { // a release is repeated
		noError(t, s.Counters.ReleaseStream(ctx, first))
	}
	if ok, _ := acquired(t, s, second, 1, at); !ok {
		t.Fatal("a slot that was given back is not free")
	}
	noError(t, s.Counters.ReleaseStream(ctx, first)) // it comes late
	if ok, _ := acquired(t, s, first, 1, at); ok {
		t.Error("a late release freed the slot of another stream")
	}
}

func TestAStreamThatNobodyReleasesEnds(t *testing.T) {
	s := newStore(t)
	subject := string(id.NewPublic())
	at := now()
	until := at.Add(240 * time.Second)
	acquired(t, s, streamAt(subject, 0, until), 1, at)
	next := streamAt(subject, 0, until.Add(240*time.Second))
	if ok, _ := acquired(t, s, next, 1, until.Add(-time.Nanosecond)); ok {
		t.Error("a slot is free before its stream ends")
	}
	if ok, _ := acquired(t, s, next, 1, until); !ok {
		t.Error("a stream of a function that died holds its slot for longer than it says")
	}
	i, err := s.getIn(ctx, s.tables.Hot, key{pk: streamKey(next)}, true)
	if left := i.getSeconds("ttl").Sub(next.Until); err != nil || left <= 0 {
		t.Errorf("the item goes %v after its last stream ends (%v)", left, err)
	}
}

// TestSlotsAreExact lets many streams race for each of a few slots.
func TestSlotsAreExact(t *testing.T) {
	s := newStore(t)
	subject := string(id.NewPublic())
	at := now()
	const most, racers = 4, 24
	won := make([]bool, racers)
	parallel.Calls(racers, func(n int) error { // a loser may meet too many others
		st := streamAt(subject, n%most, at.Add(time.Minute+time.Duration(n)))
		_, ok, err := s.Counters.AcquireStream(ctx, st, most, at)
		won[n] = err == nil && ok
		return err
	})
	var slots []int
	for n := range won {
		if won[n] {
			slots = append(slots, n%most)
		}
	}
	if slices.Sort(slots); !slices.Equal(slots, []int{0, 1, 2, 3}) {
		t.Errorf("slots %v were given, want each once", slots)
	}
}

// TestAFullItemOfStreamsIsOneWriteUnit holds what a full item weighs: one of 1,024 bytes takes one unit, a larger one
// two.
func TestAFullItemOfStreamsIsOneWriteUnit(t *testing.T) {
	s, at := newStore(t), now()
	st := rate.Stream{Kind: "artifact", Subject: string(id.NewArtifact()), Until: at.Add(240*time.Second - 1)}
	for st.Slot = range 64 {
		acquired(t, s, st, 64, at)
	}
	i, err := s.getIn(ctx, s.tables.Hot, key{pk: streamKey(st)}, true)
	if err != nil || len(i) != 66 {
		t.Fatalf("%d attributes (%v)", len(i), err)
	}
	const numberBytes = 11 // of 19 digits: two a byte, and one for the exponent
	weight := len("pk") + len(streamKey(st)) + len("ttl") + 6
	for n := range 64 {
		weight += len("s"+strconv.Itoa(n)) + numberBytes
	}
	if weight > 1024 {
		t.Errorf("a full item has %d bytes", weight)
	}
}
