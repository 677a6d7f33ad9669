package chaos_test

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"

	"vitrine/shared/adapter/chaos"
)

func TestPredicatesFindTableAndKeyInEveryInput(t *testing.T) {
	core, k := aws.String("core"), key("A#1")
	for name, in := range map[string]any{
		"GetItem":    &dynamodb.GetItemInput{TableName: core, Key: k},
		"PutItem":    &dynamodb.PutItemInput{TableName: core, Item: k},
		"UpdateItem": &dynamodb.UpdateItemInput{TableName: core, Key: k},
		"DeleteItem": &dynamodb.DeleteItemInput{TableName: core, Key: k},
		"Query":      &dynamodb.QueryInput{TableName: core, ExpressionAttributeValues: item{":p": k["PK"]}},
		"BatchGetItem": &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			"hot": {Keys: []item{key("x")}}, "core": {Keys: []item{key("y"), k}},
		}},
		"BatchWriteItem": &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
			"core": {{PutRequest: &types.PutRequest{Item: key("x")}}, {DeleteRequest: &types.DeleteRequest{Key: k}}},
		}},
		"TransactWriteItems": &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: aws.String("hot"), Item: key("x")}},
			{ConditionCheck: &types.ConditionCheck{TableName: core, Key: k}},
		}},
		"TransactGetItems": &dynamodb.TransactGetItemsInput{
			TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: core, Key: k}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want(t, "table core", chaos.Table("core")(in), true)
			want(t, "table events", chaos.Table("events")(in), false)
			want(t, "key A#", chaos.Key("PK", "A#")(in), true)
			want(t, "key W#", chaos.Key("PK", "W#")(in), false)
			if name != "Query" {
				want(t, "key A# in SK", chaos.Key("SK", "A#")(in), false)
			}
		})
	}
}

func TestObjectFindsKeysOfEveryInput(t *testing.T) {
	name := aws.String("o/home/upl/000")
	for operation, in := range map[string]any{
		"GetObject":     &s3.GetObjectInput{Key: name},
		"PutObject":     &s3.PutObjectInput{Key: name, Body: strings.NewReader("body")},
		"ListObjectsV2": &s3.ListObjectsV2Input{Prefix: name},
		"DeleteObjects": &s3.DeleteObjectsInput{Delete: &s3types.Delete{Objects: []s3types.ObjectIdentifier{{Key: name}}}},
	} {
		want(t, operation, chaos.Object("o/home/")(in), true)
		want(t, operation, chaos.Object("d/")(in), false)
	}
	want(t, "nothing", chaos.Object("")(nil), false)
}

func want(t *testing.T, what string, got, want bool) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
