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

// db reads and writes items; every store is made of it.
type db struct {
	client *dynamodb.Client
	tables Tables
}

// get reads one item of core strongly, nil if there is none.
func (s *db) get(ctx context.Context, k key) (item, error) {
	return s.getIn(ctx, s.tables.Core, k, true)
}

// getIn reads one item of a table, nil if there is none.
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

// change is one conditional write of an item of core; where the condition is false it returns the item as it is. An
// empty condition always holds.
func (s *db) change(ctx context.Context, k key, set, condition string, v values) (old item, done bool, err error) {
	return s.changeIn(ctx, dynamodb.UpdateItemInput{TableName: &s.tables.Core, Key: k.attributes()}, set, condition, v)
}

// changeHot is change for an item of hot, and returns the new values of what it changed.
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

// attempts is the option that a request is sent so often at the most.
func attempts(most int) func(*dynamodb.Options) {
	return func(o *dynamodb.Options) { o.RetryMaxAttempts = most }
}

// putNew writes an item that must not exist, and tells whether it did.
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

// held tells whether the condition of a single write held.
func held(err error) (bool, error) {
	if _, failed := conditionFailed(err); failed {
		return false, nil
	}
	if err != nil {
		return false, unavailable(err)
	}
	return true, nil
}

// deleteIf deletes an item if condition holds, and tells whether it did.
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

// unavailable says that the tables did not answer; what was asked may or may not have happened.
func unavailable(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	return fault.Wrap(fault.DatabaseUnavailable, err, "the database does not answer; repeat the request in a moment")
}

// conditionFailed tells whether a single write found its condition false, and returns the item as it was.
func conditionFailed(err error) (item, bool) {
	var failed *types.ConditionalCheckFailedException
	if !errors.As(err, &failed) {
		return nil, false
	}
	return failed.Item, true
}

// millis is an instant as the tables hold it, so that what was written equals what is read.
func millis(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }
