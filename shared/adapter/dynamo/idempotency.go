package dynamo

import (
	"time"

	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

const (
	inFlight = "flight"
	done     = "done"
)

func readRecord(i item) *idempotency.Record {
	if i == nil {
		return nil
	}
	r := &idempotency.Record{
		Done:    i.getStr("state") == done,
		Lease:   i.getTime("lease"),
		Result:  i.getBin("result"),
		Expires: i.getSeconds("ttl"),
	}
	copy(r.Fingerprint[:], i.getBin("print"))
	return r
}

func recordItem(c idempotency.Command, now time.Time) item {
	return item{}.str("pk", recordKey(c.Key)).bin("print", c.Fingerprint[:]).ttl(now.Add(limits.ReplayLife))
}

// finish makes a transaction the first and only effect of a command. It writes a finished record, on condition that
// there is none.
func (t *transaction) finish(c idempotency.Command, result []byte, now time.Time) {
	t.putHot(recordItem(c, now).str("state", done).bin("result", result), "attribute_not_exists(#pk) OR #ttl < :now",
		values{"now": now.Unix()}, taken)
}

func taken(old item) error {
	if old == nil {
		return errConflict
	}
	return &idempotency.AlreadyDone{Record: *readRecord(old)}
}

// finishHeld finishes a claimed command in its transaction. The command cannot commit after its lease is lost.
func (t *transaction) finishHeld(c idempotency.Command, owner string, result []byte) {
	t.updateHot(key{pk: recordKey(c.Key)}, "SET #state = :done, #result = :result REMOVE #lease",
		"#owner = :owner AND #state = :flight",
		values{"done": done, "result": result, "owner": owner, "flight": inFlight}, func(old item) error {
			if old == nil {
				return &idempotency.AlreadyDone{} // the record was released or expired meanwhile; the command did not finish
			}
			return taken(old)
		})
}
