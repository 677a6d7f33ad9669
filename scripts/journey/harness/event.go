package harness

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/testkit/wire"
)

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
