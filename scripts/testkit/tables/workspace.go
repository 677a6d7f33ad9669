package tables

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/platform/id"
)

// SetWorkspace changes an attribute of a stored workspace, as an operator does; nil removes it.
func (s Tables) SetWorkspace(t testing.TB, w id.Workspace, attribute string, value types.AttributeValue) {
	t.Helper()
	expression, values := "REMOVE #a", map[string]types.AttributeValue(nil)
	if value != nil {
		expression, values = "SET #a = :v", map[string]types.AttributeValue{":v": value}
	}
	_, err := s.DB.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName:                 &s.Names.Core,
		UpdateExpression:          &expression,
		ExpressionAttributeNames:  map[string]string{"#a": attribute},
		ExpressionAttributeValues: values,
		Key: map[string]types.AttributeValue{
			"pk": &types.AttributeValueMemberS{Value: "W#" + string(w)},
			"sk": &types.AttributeValueMemberS{Value: "META"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
}
