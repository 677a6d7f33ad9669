package meter_test

import (
	"context"
	"crypto/rand"
	"io"
	"net/http"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/meter"
)

// table has a new name each time, because the engine may be a shared one.
var table = "metered-" + rand.Text()

type item = map[string]types.AttributeValue

func TestTheEngineTellsTheCapacityOfEveryOperation(t *testing.T) {
	client := newTable(t)
	keys := types.KeysAndAttributes{Keys: []item{key("a"), key("b")}, ConsistentRead: aws.Bool(true)}
	query := &dynamodb.QueryInput{
		TableName: aws.String(table), KeyConditionExpression: aws.String("PK = :pk"),
		ExpressionAttributeValues: item{":pk": &types.AttributeValueMemberS{Value: "a"}},
	}
	both := []types.WriteRequest{{PutRequest: &types.PutRequest{Item: key("a")}},
		{PutRequest: &types.PutRequest{Item: key("b")}}}
	reads := []types.TransactGetItem{{Get: &types.Get{TableName: aws.String(table), Key: key("a")}}}
	for _, c := range []struct {
		name     string
		rru, wru float64
		call     func(ctx context.Context) error
	}{
		{"PutItem", 0, 1, op(client.PutItem, &dynamodb.PutItemInput{TableName: aws.String(table), Item: key("a")})},
		{"UpdateItem", 0, 1, op(client.UpdateItem, &dynamodb.UpdateItemInput{TableName: aws.String(table), Key: key("a")})},
		{"DeleteItem", 0, 1, op(client.DeleteItem, &dynamodb.DeleteItemInput{TableName: aws.String(table), Key: key("a")})},
		{"BatchWriteItem", 0, 2, op(client.BatchWriteItem,
			&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{table: both}})},
		{"TransactWriteItems", 0, 4, op(client.TransactWriteItems, transaction("a", "b"))},
		{"GetItem", 0.5, 0, op(client.GetItem, getInput())},
		{"BatchGetItem", 2, 0, op(client.BatchGetItem,
			&dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: keys}})},
		{"Query", 0.5, 0, op(client.Query, query)},
		{"Scan", 0.5, 0, op(client.Scan, &dynamodb.ScanInput{TableName: aws.String(table)})},
		{"TransactGetItems", 2, 0, op(client.TransactGetItems, &dynamodb.TransactGetItemsInput{TransactItems: reads})},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx, counts := meter.With(t.Context())
			expect.OK(t, c.call(ctx))
			wantUnits(t, counts, c.rru, c.wru)
		})
	}
}

// op is a call of a client's method.
func op[I, O any](
	method func(context.Context, I, ...func(*dynamodb.Options)) (O, error),
	in I,
) func(context.Context) error {
	return func(ctx context.Context) error { _, err := method(ctx, in); return err }
}

func newTable(t *testing.T) *dynamodb.Client {
	t.Helper()
	e := engine.Shared(t)
	client := dynamodb.NewFromConfig(e.AWS(), func(o *dynamodb.Options) {
		o.BaseEndpoint = &e.DynamoDB
		o.APIOptions = append(o.APIOptions, meter.Add)
	})
	expect.OK(t, engine.CreateTable(t.Context(), client, table))
	return client
}

func key(pk string) item { return item{"PK": &types.AttributeValueMemberS{Value: pk}} }

func getInput() *dynamodb.GetItemInput {
	return &dynamodb.GetItemInput{TableName: aws.String(table), Key: key("a")}
}

func transaction(keys ...string) *dynamodb.TransactWriteItemsInput {
	in := new(dynamodb.TransactWriteItemsInput)
	for _, k := range keys {
		in.TransactItems = append(in.TransactItems,
			types.TransactWriteItem{Put: &types.Put{TableName: aws.String(table), Item: key(k)}})
	}
	return in
}

func read(r *http.Request) string {
	b, _ := io.ReadAll(r.Body)
	return string(b)
}
