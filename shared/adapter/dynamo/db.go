package dynamo

import (
	"context"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/platform/fault"
)

// db reads and writes items. Every store is based on it.
type db struct {
	client operations
	tables Tables
	judges bool // callers are judged by the sign-ins of members
}

// get reads one item of core strongly. It returns nil if there is none.
func (s *db) get(ctx context.Context, k key) (item, error) {
	return s.getIn(ctx, s.tables.Core, k, true)
}

// getIn reads one item of a table. It returns nil if there is none.
func (s *db) getIn(ctx context.Context, table string, k key, strong bool) (item, error) {
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      &table,
		Key:            k.attributes(),
		ConsistentRead: aws.Bool(strong),
	})
	if err != nil {
		return nil, unavailable(err)
	}
	return out.Item, nil
}

// change makes one conditional write of an item of core. If the condition is false, it returns the stored item. An
// empty condition always holds.
func (s *db) change(ctx context.Context, k key, set, condition string, v values) (old item, done bool, err error) {
	return s.changeIn(ctx, dynamodb.UpdateItemInput{TableName: &s.tables.Core, Key: k.attributes()}, set, condition, v)
}

// changeHot does the same for an item of hot. If the condition holds, it returns the new values of the changed
// attributes.
func (s *db) changeHot(
	ctx context.Context, pk, set, condition string, v values, options ...func(*dynamodb.Options),
) (i item, done bool, err error) {
	return s.changeIn(ctx, dynamodb.UpdateItemInput{
		TableName:    &s.tables.Hot,
		Key:          key{pk: pk}.attributes(),
		ReturnValues: types.ReturnValueUpdatedNew,
	}, set, condition, v, options...)
}

func (s *db) changeIn(
	ctx context.Context, in dynamodb.UpdateItemInput, set, condition string, v values,
	options ...func(*dynamodb.Options),
) (i item, done bool, err error) {
	in.UpdateExpression, in.ConditionExpression = &set, optional(condition)
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = names(set, condition), v.attributes()
	in.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	out, err := s.client.UpdateItem(ctx, &in, options...)
	if old, failed := conditionFailed(err); failed {
		return old, false, nil
	}
	if err != nil {
		return nil, false, unavailable(err)
	}
	return out.Attributes, true, nil
}

// attempts limits how often the SDK sends a request.
func attempts(most int) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.RetryMaxAttempts = most }
}

// putNew writes an item that must not exist. done is false if it exists.
func (s *db) putNew(ctx context.Context, table string, i item) (done bool, err error) {
	condition := "attribute_not_exists(#pk)"
	_, err = s.client.PutItem(ctx, &dynamodb.PutItemInput{
		TableName:                &table,
		Item:                     i,
		ConditionExpression:      &condition,
		ExpressionAttributeNames: names(condition),
	})
	return held(err)
}

// held reports whether the condition of a single write held.
func held(err error) (bool, error) {
	if _, failed := conditionFailed(err); failed {
		return false, nil
	}
	if err != nil {
		return false, unavailable(err)
	}
	return true, nil
}

// deleteIf deletes an item if condition holds, and reports whether it did.
func (s *db) deleteIf(ctx context.Context, table string, k key, condition string, v values) (done bool, err error) {
	_, err = s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 &table,
		Key:                       k.attributes(),
		ConditionExpression:       &condition,
		ExpressionAttributeNames:  names(condition),
		ExpressionAttributeValues: v.attributes(),
	})
	return held(err)
}

// unavailable wraps a failure of the tables as database_unavailable. A write that failed so may have taken effect or
// not. An end of the request by its client stays as it is.
func unavailable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fault.Wrap(fault.DatabaseUnavailable, err, "the database does not answer; repeat the request in a moment")
}

// conditionFailed reports whether a single write failed because of its condition, and returns the stored item.
func conditionFailed(err error) (item, bool) {
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		return nil, false
	}
	return failed.Item, true
}

// millis returns t with the precision of the tables, so that what was written equals what is read.
func millis(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
