package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/identity/signin"
)

// SignIns stores sign-ins that are under way.
type SignIns struct{ *db }

var _ signin.Store = SignIns{}

// Add implements signin.Store.
func (s SignIns) Add(ctx context.Context, a signin.Attempt) error {
	t := s.begin()
	t.create(newItem(signInKey(a.State)).
		bin("browser", a.Browser[:]).str("to", a.ReturnTo).time("exp", a.ExpiresAt).ttl(a.ExpiresAt.Add(time.Minute)))
	return s.commit(ctx, t)
}

// Take implements signin.Store.
func (s SignIns) Take(ctx context.Context, state string, browser signin.Hash, now time.Time) (*signin.Attempt, error) {
	condition := "attribute_exists(#pk) AND #browser = :browser AND #exp > :now"
	out, err := s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName:                 &s.tables.Core,
		Key:                       signInKey(state).attributes(),
		ConditionExpression:       &condition,
		ReturnValues:              types.ReturnValueAllOld,
		ExpressionAttributeNames:  names(condition),
		ExpressionAttributeValues: values{"browser": browser[:], "now": now}.attributes(),
	})
	if _, failed := conditionFailed(err); failed {
		return nil, nil
	}
	if err != nil {
		return nil, unavailable(err)
	}
	old := item(out.Attributes)
	return &signin.Attempt{
		State:     state,
		Browser:   browser,
		ReturnTo:  old.getStr("to"),
		ExpiresAt: old.getTime("exp"),
	}, nil
}
