// Package rows reads and writes items of tables by their keys, for what no request may do, so that no store does it.
package rows

import (
	"context"
	"errors"
	"iter"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/adapter/dynamo"
)

// Item is a stored item, or a part of one.
type Item map[string]types.AttributeValue

// Text returns a text of the item, empty if it has none of that name.
func (i Item) Text(name string) string {
	v, _ := i[name].(*types.AttributeValueMemberS)
	if v == nil {
		return ""
	}
	return v.Value
}

// Number returns a number of the item, 0 if it has none of that name.
func (i Item) Number(name string) int64 {
	v, _ := i[name].(*types.AttributeValueMemberN)
	if v == nil {
		return 0
	}
	n, _ := strconv.ParseInt(v.Value, 10, 64)
	return n
}

// Bytes returns bytes of the item, nil if it has none of that name.
func (i Item) Bytes(name string) []byte {
	v, _ := i[name].(*types.AttributeValueMemberB)
	if v == nil {
		return nil
	}
	return v.Value
}

// Texts returns a set of texts of the item, nil if it has none of that name.
func (i Item) Texts(name string) []string {
	v, _ := i[name].(*types.AttributeValueMemberSS)
	if v == nil {
		return nil
	}
	return v.Value
}

// Has reports whether the item has an attribute.
func (i Item) Has(name string) bool { return i[name] != nil }

// Key returns the key of the item, which is of core or events.
func (i Item) Key() Item { return Item{"pk": i["pk"], "sk": i["sk"]} }

// Text returns a text as it is stored.
func Text(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }

// Number returns a number as it is stored.
func Number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// Millis returns an instant as it is stored.
func Millis(t time.Time) types.AttributeValue { return Number(t.UnixMilli()) }

// Key returns the key of an item of core or events.
func Key(pk, sk string) Item { return Item{"pk": Text(pk), "sk": Text(sk)} }

// Set is the tables of a deployment.
type Set struct {
	Client *dynamodb.Client
	Tables dynamo.Tables
}

// Get reads an item of core strongly; nil: there is none.
func (s Set) Get(ctx context.Context, key Item) (Item, error) {
	out, err := s.Client.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      &s.Tables.Core,
		Key:            key,
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return nil, err
	}
	return out.Item, nil
}

// Remove deletes an item, if it is there.
func (s Set) Remove(ctx context.Context, table string, key Item) error {
	_, err := s.Client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: key})
	return err
}

// Scan reads each item of a table strongly. It ends with the first error.
func (s Set) Scan(ctx context.Context, table string) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		in := &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)}
		for pages := dynamodb.NewScanPaginator(s.Client, in); pages.HasMorePages(); {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, i := range page.Items {
				if !yield(i, nil) {
					return
				}
			}
		}
	}
}

// Update is a change of an item of core.
type Update struct {
	Key    Item
	Set    string // expression
	Only   string // condition; empty: none
	Values Item   // by placeholder
	Names  map[string]string
}

// Change makes a change, and reports whether its condition held.
func (s Set) Change(ctx context.Context, u Update) (bool, error) {
	in := &dynamodb.UpdateItemInput{
		TableName:                 &s.Tables.Core,
		Key:                       u.Key,
		UpdateExpression:          &u.Set,
		ExpressionAttributeValues: u.Values,
		ExpressionAttributeNames:  u.Names,
	}
	if u.Only != "" {
		in.ConditionExpression = &u.Only
	}
	_, err := s.Client.UpdateItem(ctx, in)
	if _, failed := errors.AsType[*types.ConditionalCheckFailedException](err); failed {
		return false, nil
	}
	return err == nil, err
}
