package harness

import (
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
)

// RewriteItem stores an item with changes; a nil set removes it.
func (e *BackendEnv) RewriteItem(t testing.TB, table string, item Item, set map[string]any) {
	t.Helper()
	if set == nil {
		key := Item{"pk": item["pk"]}
		if item["sk"] != nil {
			key["sk"] = item["sk"]
		}
		Must(e.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: key}))(t)
		return
	}
	changed := maps.Clone(item)
	SetAttributes(changed, set)
	Must(e.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: changed}))(t)
}

// Put stores an item with changes in the core table.
func (e *BackendEnv) Put(t testing.TB, item Item, set map[string]any) {
	t.Helper()
	if set == nil {
		set = map[string]any{}
	}
	e.RewriteItem(t, e.Tables.Core, item, set)
}

// Update changes an item of the core table, which has to be there: a nil value removes an attribute. A nil set removes
// the item, if there is one.
func (e *BackendEnv) Update(t testing.TB, pk, sk string, set map[string]any) {
	t.Helper()
	if set == nil {
		e.RewriteItem(t, e.Tables.Core, itemKey(pk, sk), nil)
		return
	}
	found := e.GetItem(t, pk, sk)
	if found == nil {
		t.Fatalf("there is no item %s %s to change", pk, sk)
	}
	e.RewriteItem(t, e.Tables.Core, found, set)
}

// SessionStatus returns the stored status of an upload session.
func (f *FaultEnv) SessionStatus(t testing.TB, u id.Session) string {
	t.Helper()
	return Text(f.GetItem(t, "U#"+string(u), "META")["status"])
}

func itemKey(pk, sk string) Item {
	return Item{"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk}}
}

// GetItem reads an item of the core table; it is nil if there is none.
func (e *BackendEnv) GetItem(t testing.TB, pk, sk string) Item {
	t.Helper()
	return Must(e.DB.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      &e.Tables.Core,
		Key:            itemKey(pk, sk),
		ConsistentRead: aws.Bool(true),
	}))(t).Item
}

// Item is a stored item.
type Item = map[string]types.AttributeValue

// Scan returns all items of a table.
func (e *BackendEnv) Scan(t testing.TB, table string) (items []Item) {
	t.Helper()
	in := &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)}
	for {
		out := Must(e.DB.Scan(ctx, in))(t)
		if items = append(items, out.Items...); out.LastEvaluatedKey == nil {
			return items
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// Text returns an attribute as text. Only equal values have equal texts.
func Text(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return base64.StdEncoding.EncodeToString(v.Value)
	case *types.AttributeValueMemberBOOL:
		return strconv.FormatBool(v.Value)
	}
	return fmt.Sprintf("%#v", v)
}

// Snapshot returns all items as text by key. It leaves out rate counters and the time at which a key was last used,
// because refusals change them.
func (e *BackendEnv) Snapshot(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, table := range []string{e.Tables.Core, e.Tables.Events, e.Tables.Hot} {
		for _, item := range e.Scan(t, table) {
			name := Text(item["pk"])
			if table == e.Tables.Hot && strings.HasPrefix(name, "r:") {
				continue
			}
			if item["sk"] != nil {
				name += " " + Text(item["sk"])
			}
			delete(item, "used_at")
			var line strings.Builder
			for _, attribute := range slices.Sorted(maps.Keys(item)) {
				fmt.Fprintf(&line, "%s=%s ", attribute, Text(item[attribute]))
			}
			out[name] = line.String()
		}
	}
	return out
}

// WantUnchanged checks that nothing was stored since a snapshot.
func (e *BackendEnv) WantUnchanged(t testing.TB, before map[string]string) {
	t.Helper()
	if diff := cmp.Diff(before, e.Snapshot(t)); diff != "" {
		t.Errorf("something was stored (-before +after):\n%s", diff)
	}
}

// CountItems counts the items of a table whose key has a prefix.
func (e *BackendEnv) CountItems(t testing.TB, table, prefix string) (n int) {
	t.Helper()
	for _, item := range e.Scan(t, table) {
		if strings.HasPrefix(Text(item["pk"]), prefix) {
			n++
		}
	}
	return n
}

// SetAttributes sets attributes of an item; a nil value removes one.
func SetAttributes(item Item, set map[string]any) {
	for name, value := range set {
		switch v := value.(type) {
		case nil:
			delete(item, name)
		case string:
			item[name] = &types.AttributeValueMemberS{Value: v}
		case []byte:
			item[name] = &types.AttributeValueMemberB{Value: v}
		case bool:
			item[name] = &types.AttributeValueMemberBOOL{Value: v}
		case int:
			item[name] = &types.AttributeValueMemberN{Value: strconv.Itoa(v)}
		case time.Time:
			item[name] = &types.AttributeValueMemberN{Value: strconv.FormatInt(v.UnixMilli(), 10)}
		}
	}
}

// Actions of events.
const (
	WorkspaceMade     = "ephemeral.workspace.provisioned"
	SessionMade       = "upload_session.created"
	DraftMade         = "revision.draft_created"
	ArtifactMade      = "artifact.created"
	ArtifactPublished = "artifact.published"
	ArtifactDeleted   = "artifact.deleted"
	KeyRevoked        = "api_key.revoked"
)

// Events counts the events of an agent's workspace by action.
func (f *FaultEnv) Events(t testing.TB, g *wire.Agent) map[string]int {
	t.Helper()
	out := Must(f.DB.Query(ctx, &dynamodb.QueryInput{
		TableName:                 &f.Tables.Events,
		KeyConditionExpression:    aws.String("pk = :w"),
		ConsistentRead:            aws.Bool(true),
		ExpressionAttributeValues: Item{":w": &types.AttributeValueMemberS{Value: "W#" + string(TokenOf(t, g).Workspace)}},
	}))(t)
	done := map[string]int{}
	for _, e := range out.Items {
		done[Text(e["action"])]++
	}
	return done
}
