// Package tables gives a test the stores of the core on tables of its own.
package tables

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/middleware"

	"vitrine/scripts/testkit/engine"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
)

// Tables are empty tables, and the stores on them.
type Tables struct {
	DB     *dynamodb.Client
	Names  dynamo.Tables
	Stores dynamo.Stores
}

// New creates tables in the engines of the test binary. The client passes its requests through options.
func New(t testing.TB, options ...func(*middleware.Stack) error) Tables {
	t.Helper()
	e := engine.Shared(t)
	out := Tables{
		DB:    e.DynamoDBClient(options...),
		Names: dynamo.Named("test-" + string(id.NewPublic())),
	}
	if err := dynamo.CreateTables(t.Context(), out.DB, out.Names); err != nil {
		t.Fatal(err)
	}
	out.Stores = dynamo.New(out.DB, out.Names)
	return out
}

// Items reads a whole table.
func (tables Tables) Items(t testing.TB, table string) (all []map[string]types.AttributeValue) {
	t.Helper()
	pages := dynamodb.NewScanPaginator(tables.DB, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, page.Items...)
	}
	return all
}

// WantEvents checks how often an action is on record.
func (tables Tables) WantEvents(t testing.TB, action event.Action, want int) {
	t.Helper()
	if n := tables.CountEvents(t, action); n != want {
		t.Errorf("%d events %s on record, want %d", n, action, want)
	}
}

// CountEvents counts the recorded events of an action.
func (tables Tables) CountEvents(t testing.TB, action event.Action) (n int) {
	t.Helper()
	for _, i := range tables.Items(t, tables.Names.Events) {
		if v, ok := i["action"].(*types.AttributeValueMemberS); ok && v.Value == string(action) {
			n++
		}
	}
	return n
}

// Join creates a member with a workspace. The member has all scopes unless some are given.
func (tables Tables) Join(t testing.TB, at time.Time, scopes ...credential.Scope) credential.Actor {
	t.Helper()
	if len(scopes) == 0 {
		scopes = []credential.Scope{credential.Publish, credential.Read, credential.Admin}
	}
	w := workspace.Workspace{
		ID:        id.NewWorkspace(),
		Name:      "W",
		Plan:      workspace.FreePlan,
		CreatedAt: at,
		ClaimedAt: at,
	}
	m := member.Member{
		ID:        id.NewMember(),
		Workspace: w.ID,
		Issuer:    "https://idp.example.com",
		Subject:   string(id.NewPublic()),
		Email:     "p@example.com",
		Scopes:    scopes,
		CreatedAt: at,
		SeenAt:    at,
	}
	e := event.Event{
		ID:        id.NewEvent(),
		Workspace: w.ID,
		At:        at,
		Action:    event.WorkspaceCreated,
		Actor:     event.BySystem(),
	}
	if err := tables.Stores.Members.Add(t.Context(), member.NewMember{Member: m, Workspace: w, Event: e}); err != nil {
		t.Fatal(err)
	}
	return credential.Actor{Member: m.ID, Scopes: scopes, Workspace: w}
}

// SetWorkspace changes an attribute of a stored workspace, as an operator does; nil removes it.
func (tables Tables) SetWorkspace(t testing.TB, w id.Workspace, attribute string, value types.AttributeValue) {
	t.Helper()
	expression, values := "REMOVE #a", map[string]types.AttributeValue(nil)
	if value != nil {
		expression, values = "SET #a = :v", map[string]types.AttributeValue{":v": value}
	}
	_, err := tables.DB.UpdateItem(t.Context(), &dynamodb.UpdateItemInput{
		TableName:                 &tables.Names.Core,
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
