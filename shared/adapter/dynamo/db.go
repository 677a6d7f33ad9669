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

// change is one conditional write of an item; where the condition is false it returns the item as it is.
func (s *db) change(ctx context.Context, k key, set, condition string, v values) (old item, done bool, err error) {
	_, err = s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                           &s.tables.Core,
		Key:                                 k.attributes(),
		UpdateExpression:                    &set,
		ConditionExpression:                 &condition,
		ExpressionAttributeNames:            names(set, condition),
		ExpressionAttributeValues:           v.attributes(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})
	if old, failed := conditionFailed(err); failed {
		return old, false, nil
	}
	if err != nil {
		return nil, false, unavailable(err)
	}
	return nil, true, nil
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
	if _, failed := conditionFailed(err); failed {
		return false, nil
	}
	if err != nil {
		return false, unavailable(err)
	}
	return true, nil
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
