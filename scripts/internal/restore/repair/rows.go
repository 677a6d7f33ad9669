package repair

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/platform/limits"
)

type values = map[string]types.AttributeValue

func text(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }

// millis formats an instant as queues order it.
func millis(t time.Time) string { return fmt.Sprintf("%013d", t.UnixMilli()) }

// queueOf names the partition of a queue in which a thing falls due.
func queueOf(kind, name string) string {
	return fmt.Sprintf("DUE#%s#%d", kind, int(sha256.Sum256([]byte(name))[0])%limits.QueueShards)
}

// change is an update of an item of table core. The requests of the service never make such a change, so no store does.
type change struct {
	key    invariant.Key
	set    string
	only   string // condition; empty: none
	values values
}

func itemKey(k invariant.Key) values { return values{"pk": text(k.PK), "sk": text(k.SK)} }

// change makes a change, and reports whether its condition held.
func (s Set) change(ctx context.Context, c change) (bool, error) {
	in := &dynamodb.UpdateItemInput{
		TableName:                 &s.Tables.Core,
		Key:                       itemKey(c.key),
		UpdateExpression:          &c.set,
		ExpressionAttributeValues: c.values,
	}
	if c.only != "" {
		in.ConditionExpression = &c.only
		in.ExpressionAttributeNames = map[string]string{"#status": "status"}
	}
	_, err := s.DynamoDB.UpdateItem(ctx, in)
	if _, failed := errors.AsType[*types.ConditionalCheckFailedException](err); failed {
		return false, nil
	}
	return err == nil, err
}

func (s Set) remove(ctx context.Context, table string, k invariant.Key) error {
	_, err := s.DynamoDB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: itemKey(k)})
	return err
}
