package meter

import (
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// askCapacity returns a copy of the input that requests the total consumed capacity. It copies, because an input
// belongs to its caller.
func askCapacity(input any) any {
	const total = types.ReturnConsumedCapacityTotal
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		return with(in, func(c *dynamodb.GetItemInput) { c.ReturnConsumedCapacity = total })
	case *dynamodb.BatchGetItemInput:
		return with(in, func(c *dynamodb.BatchGetItemInput) { c.ReturnConsumedCapacity = total })
	case *dynamodb.QueryInput:
		return with(in, func(c *dynamodb.QueryInput) { c.ReturnConsumedCapacity = total })
	case *dynamodb.ScanInput:
		return with(in, func(c *dynamodb.ScanInput) { c.ReturnConsumedCapacity = total })
	case *dynamodb.TransactGetItemsInput:
		return with(in, func(c *dynamodb.TransactGetItemsInput) { c.ReturnConsumedCapacity = total })
	case *dynamodb.PutItemInput:
		return with(in, func(c *dynamodb.PutItemInput) { c.ReturnConsumedCapacity = total })
	case *dynamodb.UpdateItemInput:
		return with(in, func(c *dynamodb.UpdateItemInput) { c.ReturnConsumedCapacity = total })
	case *dynamodb.DeleteItemInput:
		return with(in, func(c *dynamodb.DeleteItemInput) { c.ReturnConsumedCapacity = total })
	case *dynamodb.BatchWriteItemInput:
		return with(in, func(c *dynamodb.BatchWriteItemInput) { c.ReturnConsumedCapacity = total })
	case *dynamodb.TransactWriteItemsInput:
		return with(in, func(c *dynamodb.TransactWriteItemsInput) { c.ReturnConsumedCapacity = total })
	}
	return input
}

func with[T any](in *T, change func(*T)) *T {
	c := *in
	change(&c)
	return &c
}

// capacity returns the read and write units in an output.
func capacity(output any) (rru, wru float64) {
	switch out := output.(type) {
	case *dynamodb.GetItemOutput:
		return reads(out.ConsumedCapacity)
	case *dynamodb.QueryOutput:
		return reads(out.ConsumedCapacity)
	case *dynamodb.ScanOutput:
		return reads(out.ConsumedCapacity)
	case *dynamodb.BatchGetItemOutput:
		return sum(out.ConsumedCapacity, reads)
	case *dynamodb.TransactGetItemsOutput:
		return sum(out.ConsumedCapacity, reads)
	case *dynamodb.PutItemOutput:
		return writes(out.ConsumedCapacity)
	case *dynamodb.UpdateItemOutput:
		return writes(out.ConsumedCapacity)
	case *dynamodb.DeleteItemOutput:
		return writes(out.ConsumedCapacity)
	case *dynamodb.BatchWriteItemOutput:
		return sum(out.ConsumedCapacity, writes)
	case *dynamodb.TransactWriteItemsOutput:
		return sum(out.ConsumedCapacity, writes)
	}
	return 0, 0
}

// reads counts units of unspecified kind as read units.
func reads(c *types.ConsumedCapacity) (rru, wru float64) {
	rru, wru, undivided := split(c)
	return rru + undivided, wru
}

// writes counts units of unspecified kind as write units. A repetition of a transaction that took effect reports read
// units only.
func writes(c *types.ConsumedCapacity) (rru, wru float64) {
	rru, wru, undivided := split(c)
	return rru, wru + undivided
}

func split(c *types.ConsumedCapacity) (rru, wru, undivided float64) {
	if c == nil {
		return 0, 0, 0
	}
	rru, wru = value(c.ReadCapacityUnits), value(c.WriteCapacityUnits)
	if rru == 0 && wru == 0 {
		undivided = value(c.CapacityUnits)
	}
	return rru, wru, undivided
}

func value(f *float64) float64 {
	if f == nil {
		return 0
	}
	return *f
}

func sum(all []types.ConsumedCapacity, one func(*types.ConsumedCapacity) (rru, wru float64)) (rru, wru float64) {
	for i := range all {
		r, w := one(&all[i])
		rru, wru = rru+r, wru+w
	}
	return rru, wru
}
