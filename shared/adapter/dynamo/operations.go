package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
)

// operations are the calls of DynamoDB that stores make. They are functions, because a program that renders templates links
// every method of each type that reflection can reach, and the fields of stores are such types: a *dynamodb.Client there would
// link all operations of the service.
type operations struct {
	BatchGetItem       operation[dynamodb.BatchGetItemInput, dynamodb.BatchGetItemOutput]
	BatchWriteItem     operation[dynamodb.BatchWriteItemInput, dynamodb.BatchWriteItemOutput]
	DeleteItem         operation[dynamodb.DeleteItemInput, dynamodb.DeleteItemOutput]
	GetItem            operation[dynamodb.GetItemInput, dynamodb.GetItemOutput]
	PutItem            operation[dynamodb.PutItemInput, dynamodb.PutItemOutput]
	Query              operation[dynamodb.QueryInput, dynamodb.QueryOutput]
	TransactWriteItems operation[dynamodb.TransactWriteItemsInput, dynamodb.TransactWriteItemsOutput]
	UpdateItem         operation[dynamodb.UpdateItemInput, dynamodb.UpdateItemOutput]
}

type operation[In, Out any] func(context.Context, *In, ...func(*dynamodb.Options)) (*Out, error)

func operationsOf(client *dynamodb.Client) operations {
	return operations{
		BatchGetItem:       client.BatchGetItem,
		BatchWriteItem:     client.BatchWriteItem,
		DeleteItem:         client.DeleteItem,
		GetItem:            client.GetItem,
		PutItem:            client.PutItem,
		Query:              client.Query,
		TransactWriteItems: client.TransactWriteItems,
		UpdateItem:         client.UpdateItem,
	}
}
