package dynamo

import (
	"fmt"
	"testing"
	"time"

	"vitrine/scripts/testkit/parallel"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/upload"
)

// declaredBytes is what a workspace's counters of a UTC day hold together.
func declaredBytes(t *testing.T, s Stores, w id.Workspace, day time.Time) (sum int64) {
	t.Helper()
	for shard := range limits.AllowanceShards {
		counter := key{pk: fmt.Sprintf("b:%s:%s:%d", w, day.UTC().Format("20060102"), shard)}
		i := must(s.getIn(ctx, s.tables.Hot, counter, true))(t)
		if i != nil && i.getNum("ttl") < day.Add(limits.Day).Unix() {
			t.Errorf("a counter ends at %d, within its day", i.getNum("ttl"))
		}
		sum += i.getNum("c")
	}
	return sum
}

func TestDeclaredBytesStayWithinTheDayWhoeverIsFirst(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	const bound, each, tries = 1000, 50, 30
	made := make([]upload.Creation, tries)
	for i := range made {
		made[i] = creation(w, k, "")
		made[i].Bytes, made[i].BytesADay = each, bound
	}
	won := 0
	for i, err := range parallel.Calls(tries, func(i int) error { return s.Uploads.Create(ctx, made[i]) }) {
		switch {
		case err == nil:
			won++
		case fault.CodeOf(err) != fault.WriteAllowanceExceeded && fault.CodeOf(err) != fault.DatabaseUnavailable:
			t.Error(err)
		default:
			if u, _, _ := s.Uploads.Session(ctx, made[i].Session.ID); u != nil {
				t.Error("a refused session is there")
			}
		}
	}
	for range tries { // those that met others too often
		c := creation(w, k, "")
		c.Bytes, c.BytesADay = each, bound
		if s.Uploads.Create(ctx, c) == nil {
			won++
		}
	}
	if sum := declaredBytes(t, s, w.ID, now()); won != bound/each || sum != bound {
		t.Errorf("%d sessions of %d bytes were opened, %d counted of %d", won, each, sum, bound)
	}
	tomorrow, nothing := creation(w, k, ""), creation(w, k, "") // without uploads
	tomorrow.Bytes, tomorrow.BytesADay, nothing.BytesADay = each, bound, bound
	tomorrow.Session.CreatedAt = now().Add(limits.Day)
	noError(t, s.Uploads.Create(ctx, tomorrow))
	noError(t, s.Uploads.Create(ctx, nothing))
}

func TestASmallerSessionTakesWhatALargerOneDoesNotFit(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	open := func(bytes int64) error {
		c := creation(w, k, "")
		c.Bytes, c.BytesADay = bytes, 400
		return s.Uploads.Create(ctx, c)
	}
	for n := range limits.AllowanceShards {
		if err := open(60); err != nil {
			t.Fatalf("session %d of 60 bytes: %v", n, err)
		}
	}
	if err := open(60); fault.CodeOf(err) != fault.WriteAllowanceExceeded {
		t.Errorf("no counter has 60 bytes left, and it is %v", err)
	}
	for n := range limits.AllowanceShards {
		if err := open(40); err != nil {
			t.Errorf("session %d of 40 bytes: %v", n, err)
		}
	}
	if sum := declaredBytes(t, s, w.ID, now()); sum != 400 {
		t.Errorf("%d of 400 bytes are used", sum)
	}
}

func TestOneCommandCountsItsBytesOnce(t *testing.T) {
	s := newStore(t)
	w, k := tenant(t, s)
	c := creation(w, k, "")
	c.Bytes, c.BytesADay = 250, 1000
	won := winners(t, parallel.Calls(8, func(int) error { return s.Uploads.Create(ctx, c) }), isDone)
	if sum := declaredBytes(t, s, w.ID, now()); won != 1 || sum != 250 {
		t.Errorf("%d won, %d bytes counted", won, sum)
	}
}
