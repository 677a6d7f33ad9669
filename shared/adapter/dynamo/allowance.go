package dynamo

import (
	"errors"
	"math/rand/v2"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// errShardFull says that a counter of an allowance has no room for what is asked; another may have.
var errShardFull = errors.New("this counter of the allowance is full")

// allowance is how much of a resource a workspace may use on a UTC day, and what a commit takes of it.
type allowance struct {
	key  func(w id.Workspace, day time.Time, shard int) string // of its counters
	of   id.Workspace
	at   time.Time
	take int64 // 0: not counted
	most int64
}

// spending adds to a transaction what it takes of an allowance, so that a command counts once however often it is sent.
type spending func(*transaction)

// allowanceLife is how long daily counters outlive their day.
const allowanceLife = 3 * limits.Day

// spend commits against an allowance. It is split into counters, and one that is full sends the commit to the next:
// it is never exceeded, and parallel commits rarely meet. Refused with write_allowance_exceeded when no counter has
// room.
func (s *db) spend(a allowance, commit func(spending) error) error {
	if a.take == 0 {
		return commit(func(*transaction) {})
	}
	for _, shard := range rand.Perm(limits.AllowanceShards) {
		most := shardCap(a.most, shard)
		if a.take > most {
			continue // the condition holds for a counter that does not exist yet
		}
		err := commit(func(t *transaction) {
			t.updateHot(key{pk: a.key(a.of, a.at, shard)}, countUp, "attribute_not_exists(#c) OR #c <= :room",
				values{"add": a.take, "room": most - a.take, "ttl": a.at.Add(allowanceLife).Unix()},
				func(item) error { return errShardFull })
		})
		if !errors.Is(err, errShardFull) {
			return err
		}
	}
	return fault.NewCode(fault.WriteAllowanceExceeded)
}

// shardCap is what one of an allowance's counters may hold; together they hold exactly the allowance.
func shardCap(allowance int64, shard int) int64 {
	most := allowance / limits.AllowanceShards
	if int64(shard) < allowance%limits.AllowanceShards {
		most++
	}
	return most
}
