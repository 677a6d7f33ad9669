package dynamo

import (
	"errors"
	"math/rand/v2"
	"time"

	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// errShardFull means that one counter of an allowance has no room for the request. Another counter may have.
var errShardFull = errors.New("this counter of the allowance is full")

// allowance is how much of a resource a workspace may use on a UTC day, and how much a commit takes of it.
type allowance struct {
	key  func(w id.Workspace, day time.Time, shard int) string // returns the key of one of its counters
	of   id.Workspace
	at   time.Time
	take int64 // 0: not counted
	most int64
}

// spending adds to a transaction what it takes of an allowance. As a part of the transaction, a command counts once
// however often it is sent.
type spending func(*transaction)

// spend commits against an allowance. The allowance is split into counters, so that parallel commits rarely conflict.
// If one counter is full, the commit is tried with the next. The allowance is never exceeded: spend returns
// write_allowance_exceeded if no counter has room.
// allowanceLife is how long daily counters outlive their day.
const allowanceLife = 3 * limits.Day

func (s *db) spend(a allowance, commit func(spending) error) error {
	if a.take == 0 {
		return commit(func(*transaction) {})
	}
	for _, shard := range rand.Perm(limits.AllowanceShards) {
		most := shardCap(a.most, shard)
		if a.take > most {
			continue // such a commit never fits, but the condition below holds for a counter that does not exist yet
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

// shardCap returns the capacity of one counter. The capacities add up to exactly the allowance.
func shardCap(allowance int64, shard int) int64 {
	most := allowance / limits.AllowanceShards
	if int64(shard) < allowance%limits.AllowanceShards {
		most++
	}
	return most
}
