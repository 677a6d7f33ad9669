package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

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

// finish makes a transaction the first and only effect of a command: the record is written done, unless it is there.
func (s *Store) finish(t *transaction, c idempotency.Command, result []byte, now time.Time) {
	t.put(s.tables.Hot, recordItem(c, now).str("state", done).bin("result", result), "attribute_not_exists(#pk) OR #ttl < :now",
		values{"now": now.Unix()}, taken)
}

func taken(old item) error {
	if old == nil {
		return errConflict
	}
	return &idempotency.AlreadyDone{Record: *readRecord(old)}
}

// Claim implements upload.Finalizations.
func (s *Store) Claim(ctx context.Context, c idempotency.Command, owner string, now, lease time.Time) error {
	condition := "attribute_not_exists(#pk) OR #ttl < :seconds OR (#state = :flight AND #lease < :now)"
	_, err := s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                           &s.tables.Hot,
		Item:                                recordItem(c, now).str("state", inFlight).str("owner", owner).time("lease", lease),
		ConditionExpression:                 &condition,
		ExpressionAttributeNames:            names(condition),
		ExpressionAttributeValues:           values{"seconds": now.Unix(), "flight": inFlight, "now": now}.attributes(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if old, failed := conditionFailed(err); failed {
		return s.mine(old, owner)
	}
	if err != nil {
		return unavailable(err)
	}
	return nil
}

// mine lets a claim pass that an SDK-level repetition made twice.
func (s *Store) mine(old item, owner string) error {
	if old.getStr("owner") == owner && old.getStr("state") == inFlight {
		return nil
	}
	return taken(old)
}

// Release implements upload.Finalizations.
func (s *Store) Release(ctx context.Context, c idempotency.Command, owner string) error {
	_, err := s.deleteIf(ctx, s.tables.Hot, key{pk: recordKey(c.Key)}, "#owner = :owner AND #state = :flight", values{"owner": owner, "flight": inFlight})
	return err
}

// finishHeld finishes a claimed command inside its transaction; who lost the lease cannot commit.
func (s *Store) finishHeld(t *transaction, c idempotency.Command, owner string, result []byte) {
	t.update(s.tables.Hot, key{pk: recordKey(c.Key)}, "SET #state = :done, #result = :result REMOVE #lease", "#owner = :owner AND #state = :flight",
		values{"done": done, "result": result, "owner": owner, "flight": inFlight}, func(old item) error {
			if old == nil {
				return &idempotency.AlreadyDone{} // released or expired under us: nobody finished it
			}
			return taken(old)
		})
}
