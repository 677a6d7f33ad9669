package chaos_test

import (
	"context"
	"crypto/rand"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/chaos"
)

type item = map[string]types.AttributeValue

// database is a client of the engine that an injector may disturb, with a table named for the test.
type database struct {
	*dynamodb.Client
	table string
}

func newDatabase(t *testing.T, inj *chaos.Injector) database {
	t.Helper()
	e := engine.Shared(t)
	c := dynamodb.NewFromConfig(e.AWS(), func(o *dynamodb.Options) {
		o.BaseEndpoint = &e.DynamoDB
		o.APIOptions = append(o.APIOptions, inj.Add)
		o.Retryer = noRetries()
	})
	d := database{c, "chaos-" + rand.Text()}
	d.create(t, d.table)
	return d
}

func noRetries() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) { o.MaxBackoff = 1 })
}

func (d database) create(t *testing.T, table string) {
	t.Helper()
	expect.OK(t, engine.CreateTable(t.Context(), d.Client, table))
}

func key(pk string) item { return item{"PK": &types.AttributeValueMemberS{Value: pk}} }

func (d database) put(ctx context.Context, pk string) error {
	_, err := d.PutItem(ctx, &dynamodb.PutItemInput{TableName: &d.table, Item: key(pk)})
	return err
}

// add raises the counter of an item in a transaction.
func (d database) add(ctx context.Context, pk string) error {
	_, err := d.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
		{Update: &types.Update{
			TableName:                 &d.table,
			Key:                       key(pk),
			UpdateExpression:          aws.String("ADD hits :one"),
			ExpressionAttributeValues: item{":one": &types.AttributeValueMemberN{Value: "1"}},
		}},
		{Put: &types.Put{TableName: &d.table, Item: key(pk + "-mark")}},
	}})
	return err
}

// wantHits reads through a client of its own, which no rule disturbs.
func (d database) wantHits(t *testing.T, pk, want string) {
	t.Helper()
	hits := "none"
	if n, ok := d.read(t, pk)["hits"].(*types.AttributeValueMemberN); ok {
		hits = n.Value
	}
	if hits != want {
		t.Errorf("%s hits in %s, want %s", hits, pk, want)
	}
}

func (d database) wantItem(t *testing.T, pk string, want bool) {
	t.Helper()
	if got := d.read(t, pk) != nil; got != want {
		t.Errorf("item %s exists: %v, want %v", pk, got, want)
	}
}

func (d database) read(t *testing.T, pk string) item {
	t.Helper()
	e := engine.Shared(t)
	quiet := dynamodb.NewFromConfig(e.AWS(), func(o *dynamodb.Options) { o.BaseEndpoint = &e.DynamoDB })
	out := expect.Value(quiet.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: &d.table, Key: key(pk)}))(t)
	return out.Item
}

func newObjects(t *testing.T, inj *chaos.Injector) (client *s3.Client, bucket string) {
	t.Helper()
	e := engine.Shared(t)
	return s3.NewFromConfig(e.AWS(), func(o *s3.Options) {
		o.BaseEndpoint, o.UsePathStyle = &e.S3, true
		o.APIOptions = append(o.APIOptions, inj.Add)
		o.Retryer = noRetries()
	}), e.Bucket
}
