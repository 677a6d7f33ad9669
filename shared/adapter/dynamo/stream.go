package dynamo

import (
	"context"
	"strconv"
	"time"

	"vitrine/shared/platform/rate"
)

// The streams of a subject are one item. Its attributes s0, s1 and so on are slots. A slot holds the time until which
// it is taken, in nanoseconds. That value also identifies the holder.

// slotName returns the name of a slot's attribute.
func slotName(n int) string { return "s" + strconv.Itoa(n) }

// AcquireStream implements rate.StreamStore with one write. The condition makes it exact. If it fails, the returned
// item tells which slots are free.
func (s Counters) AcquireStream(ctx context.Context, st rate.Stream, most int, now time.Time) ([]int, bool, error) {
	own := "#" + slotName(st.Slot)
	take, vacant := "SET "+own+" = :until, #ttl = :ttl", "attribute_not_exists("+own+") OR "+own+" <= :now"
	v := values{
		"until": st.Until.UnixNano(), "ttl": st.Until.Add(counterLife).Unix(), "now": now.UnixNano(),
	}
	old, taken, err := s.changeHot(ctx, streamKey(st), take, vacant, v, attempts(maxCountAttempts))
	if err != nil || taken {
		return nil, taken, err
	}
	if old.getNum(slotName(st.Slot)) == st.Until.UnixNano() {
		return nil, true, nil // an attempt whose answer was lost took the slot
	}
	return freeSlots(old, most, now), false, nil
}

// freeSlots returns the slots that are free at an instant.
func freeSlots(i item, most int, now time.Time) (free []int) {
	for n := range most {
		if i.getNum(slotName(n)) <= now.UnixNano() {
			free = append(free, n)
		}
	}
	return free
}

// ReleaseStream implements rate.StreamStore.
func (s Counters) ReleaseStream(ctx context.Context, st rate.Stream) error {
	own := "#" + slotName(st.Slot)
	free, held := "REMOVE "+own, own+" = :until"
	_, _, err := s.changeHot(ctx, streamKey(st), free, held, values{"until": st.Until.UnixNano()})
	return err
}
