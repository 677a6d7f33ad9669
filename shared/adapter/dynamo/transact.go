package dynamo

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/cenkalti/backoff/v5"

	"vitrine/shared/platform/conflict"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
)

// How often and how long a transaction that conflicts with another one is tried.
const (
	maxAttempts = 6
	minBackoff  = 10 * time.Millisecond
	maxBackoff  = 200 * time.Millisecond
	maxElapsed  = 2 * time.Second
)

// refusal converts the item that made a condition false to the error of the caller. old is nil if there was no item.
type refusal func(old item) error

// transaction collects actions. If it is cancelled, the first action whose condition was false decides the error. So
// the order of adding is the order of refusals.
type transaction struct {
	tables   Tables
	actions  []types.TransactWriteItem
	refusals []refusal
}

// begin returns an empty transaction.
func (s *db) begin() *transaction { return &transaction{tables: s.tables} }

func (t *transaction) add(a types.TransactWriteItem, r refusal) {
	t.actions, t.refusals = append(t.actions, a), append(t.refusals, r)
}

// put writes an item of core if condition holds. An empty condition always holds.
func (t *transaction) put(i item, condition string, v values, r refusal) {
	t.putIn(t.tables.Core, i, condition, v, r)
}

// putHot writes an item of hot if condition holds.
func (t *transaction) putHot(i item, condition string, v values, r refusal) {
	t.putIn(t.tables.Hot, i, condition, v, r)
}

func (t *transaction) putIn(table string, i item, condition string, v values, r refusal) {
	t.add(types.TransactWriteItem{Put: &types.Put{
		TableName:                           &table,
		Item:                                i,
		ConditionExpression:                 optional(condition),
		ExpressionAttributeNames:            names(condition),
		ExpressionAttributeValues:           v.attributes(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}, r)
}

// create writes an item of core that must not exist.
func (t *transaction) create(i item) { t.put(i, "attribute_not_exists(#pk)", nil, idTaken) }

// record writes an event.
func (t *transaction) record(e event.Event) {
	t.putIn(t.tables.Events, eventItem(e), "attribute_not_exists(#pk)", nil, idTaken)
}

// idTaken refuses a new item whose key exists. IDs are random, so this is a bug.
func idTaken(item) error { return errors.New("a fresh id was taken") }

// update changes an item of core if condition holds.
func (t *transaction) update(k key, expression, condition string, v values, r refusal) {
	t.updateIn(t.tables.Core, k, expression, condition, v, r)
}

// updateHot changes an item of hot if condition holds.
func (t *transaction) updateHot(k key, expression, condition string, v values, r refusal) {
	t.updateIn(t.tables.Hot, k, expression, condition, v, r)
}

func (t *transaction) updateIn(table string, k key, expression, condition string, v values, r refusal) {
	t.add(types.TransactWriteItem{Update: &types.Update{
		TableName:                           &table,
		Key:                                 k.attributes(),
		UpdateExpression:                    &expression,
		ConditionExpression:                 optional(condition),
		ExpressionAttributeNames:            names(expression, condition),
		ExpressionAttributeValues:           v.attributes(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}, r)
}

// check adds a condition on an item of core that the transaction does not change.
func (t *transaction) check(k key, condition string, v values, r refusal) {
	t.add(types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName:                           &t.tables.Core,
		Key:                                 k.attributes(),
		ConditionExpression:                 &condition,
		ExpressionAttributeNames:            names(condition),
		ExpressionAttributeValues:           v.attributes(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}, r)
}

// remove deletes an item if condition holds. An empty condition always holds, whether the item exists or not.
func (t *transaction) remove(k key, condition string, v values, r refusal) {
	t.add(types.TransactWriteItem{Delete: &types.Delete{
		TableName:                           &t.tables.Core,
		Key:                                 k.attributes(),
		ConditionExpression:                 optional(condition),
		ExpressionAttributeNames:            names(condition),
		ExpressionAttributeValues:           v.attributes(),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}, r)
}

func optional(expression string) *string {
	if expression == "" {
		return nil
	}
	return &expression
}

// commit executes a transaction. If the SDK repeats a request, both have the same token and take effect once. A
// transaction that conflicts with another one is tried again with jitter, and then fails with database_unavailable.
func (s *db) commit(ctx context.Context, t *transaction) error {
	wait := backoff.NewExponentialBackOff()
	wait.InitialInterval = minBackoff
	wait.MaxInterval = maxBackoff
	wait.RandomizationFactor = 0.9
	_, err := backoff.Retry(ctx, func() (struct{}, error) {
		err := s.attempt(ctx, t)
		if err != nil && !errors.Is(err, errConflict) {
			err = backoff.Permanent(err)
		}
		return struct{}{}, err
	}, backoff.WithBackOff(wait), backoff.WithMaxTries(maxAttempts), backoff.WithMaxElapsedTime(maxElapsed))
	if errors.Is(err, errConflict) {
		return fault.Wrap(fault.DatabaseUnavailable, err,
			"too many requests change the same thing; repeat the request in a moment")
	}
	return err
}

var errConflict = conflict.ErrHeld

func (s *db) attempt(ctx context.Context, t *transaction) error {
	_, err := s.client.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{
		TransactItems: t.actions, ClientRequestToken: aws.String(rand.Text()),
	})
	var cancelled *types.TransactionCanceledException
	if !errors.As(err, &cancelled) {
		if err != nil {
			return unavailable(err)
		}
		return nil
	}
	return t.verdict(cancelled)
}

// verdict returns why a transaction was cancelled. False conditions come first, in the order of adding, because trying
// again would not help.
func (t *transaction) verdict(cancelled *types.TransactionCanceledException) error {
	held := false
	for n, reason := range cancelled.CancellationReasons {
		switch aws.ToString(reason.Code) {
		case "ConditionalCheckFailed":
			if n < len(t.refusals) {
				return t.refusals[n](reason.Item)
			}
		case "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
			held = true
		}
	}
	if held {
		return errConflict
	}
	return unavailable(cancelled)
}
