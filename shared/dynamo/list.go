package dynamo

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/artifact"
	"vitrine/shared/id"
)

// Revisions implements artifact.History.
func (s *Store) Revisions(ctx context.Context, a id.Artifact) ([]artifact.Revision, error) {
	condition := "#pk = :artifact AND begins_with(#sk, :revisions)"
	in := &dynamodb.QueryInput{
		TableName: &s.tables.Core, KeyConditionExpression: &condition, ExpressionAttributeNames: names(condition), ConsistentRead: aws.Bool(true),
		ExpressionAttributeValues: values{"artifact": artifactKey(a).pk, "revisions": revisionKey(a, "").sk}.attributes(),
	}
	var out []artifact.Revision
	for {
		page, err := s.client.Query(ctx, in)
		if err != nil {
			return nil, unavailable(err)
		}
		for _, i := range page.Items {
			r := id.Revision(strings.TrimPrefix(item(i).getStr("sk"), revisionKey(a, "").sk))
			out = append(out, *readRevision(i, a, r))
		}
		if page.LastEvaluatedKey == nil {
			return out, nil
		}
		in.ExclusiveStartKey = page.LastEvaluatedKey
	}
}

// Artifacts implements artifact.Listing. Expired artifacts leave the index only when a job finds them, so the query
// filters them and goes on until the page is full.
func (s *Store) Artifacts(ctx context.Context, w id.Workspace, after artifact.Position, limit int, now time.Time) ([]artifact.Artifact, bool, error) {
	condition, filter := "#g1p = :list", "#exp > :now OR attribute_exists(#pin_at)"
	v := values{"list": artifactsOf(w), "now": now}
	if after.ID != "" {
		condition += " AND #g1s < :after"
		v["after"] = artifactSort(after.CreatedAt, after.ID)
	}
	in := &dynamodb.QueryInput{
		TableName: &s.tables.Core, IndexName: aws.String(listIndex), KeyConditionExpression: &condition, FilterExpression: &filter,
		ExpressionAttributeNames: names(condition, filter), ExpressionAttributeValues: v.attributes(),
		ScanIndexForward: aws.Bool(false), Limit: aws.Int32(int32(limit + 1)),
	}
	var rows []artifact.Artifact
	for {
		out, err := s.client.Query(ctx, in)
		if err != nil {
			return nil, false, unavailable(err)
		}
		for _, i := range out.Items {
			a := id.Artifact(strings.TrimPrefix(item(i).getStr("pk"), artifactKey("").pk))
			rows = append(rows, *readArtifact(i, a))
		}
		if len(rows) > limit {
			return rows[:limit], true, nil
		}
		if out.LastEvaluatedKey == nil {
			return rows, false, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}
