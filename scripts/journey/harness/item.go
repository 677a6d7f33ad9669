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
func (p *BackendEnv) RewriteItem(t testing.TB, table string, item Item, set map[string]any) {
	t.Helper()
	if set == nil {
		key := Item{"pk": item["pk"]}
		if item["sk"] != nil {
			key["sk"] = item["sk"]
		}
		Must(p.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: key}))(t)
		return
	}
	changed := maps.Clone(item)
	SetAttributes(changed, set)
	Must(p.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: changed}))(t)
}

// Put stores an item with changes in the core table.
func (p *BackendEnv) Put(t testing.TB, item Item, set map[string]any) {
	t.Helper()
	if set == nil {
		set = map[string]any{}
	}
	p.RewriteItem(t, p.Tables.Core, item, set)
}

// Update changes an item of the core table, which has to be there: a nil value removes an attribute. A nil set removes
// the item, if there is one.
func (p *BackendEnv) Update(t testing.TB, pk, sk string, set map[string]any) {
	t.Helper()
	if set == nil {
		p.RewriteItem(t, p.Tables.Core, itemKey(pk, sk), nil)
		return
	}
	found := p.GetItem(t, pk, sk)
	if found == nil {
		t.Fatalf("there is no item %s %s to change", pk, sk)
	}
	p.RewriteItem(t, p.Tables.Core, found, set)
}

// SessionStatus returns the stored status of an upload session.
func (s *FaultEnv) SessionStatus(t testing.TB, u id.Session) string {
	t.Helper()
	return Text(s.GetItem(t, "U#"+string(u), "META")["status"])
}

func itemKey(pk, sk string) Item {
	return Item{"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk}}
}

// GetItem reads an item of the core table; it is nil if there is none.
func (p *BackendEnv) GetItem(t testing.TB, pk, sk string) Item {
	t.Helper()
	return Must(p.DB.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      &p.Tables.Core,
		Key:            itemKey(pk, sk),
		ConsistentRead: aws.Bool(true),
	}))(t).Item
}

// Item is a stored item.
type Item = map[string]types.AttributeValue

// Scan returns all items of a table.
func (p *BackendEnv) Scan(t testing.TB, table string) (items []Item) {
	t.Helper()
	in := &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)}
	for {
		out := Must(p.DB.Scan(ctx, in))(t)
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
func (p *BackendEnv) Snapshot(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, table := range []string{p.Tables.Core, p.Tables.Events, p.Tables.Hot} {
		for _, item := range p.Scan(t, table) {
			name := Text(item["pk"])
			if table == p.Tables.Hot && strings.HasPrefix(name, "r:") {
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
func (p *BackendEnv) WantUnchanged(t testing.TB, before map[string]string) {
	t.Helper()
	if diff := cmp.Diff(before, p.Snapshot(t)); diff != "" {
		t.Errorf("something was stored (-before +after):\n%s", diff)
	}
}

// CountItems counts the items of a table whose key has a prefix.
func (p *BackendEnv) CountItems(t testing.TB, table, prefix string) (n int) {
	t.Helper()
	for _, item := range p.Scan(t, table) {
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
func (s *FaultEnv) Events(t testing.TB, g *wire.Agent) map[string]int {
	t.Helper()
	out := Must(s.DB.Query(ctx, &dynamodb.QueryInput{
		TableName:                 &s.Tables.Events,
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
