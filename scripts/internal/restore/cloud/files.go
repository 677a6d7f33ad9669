package cloud

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamodbtypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/tree"
)

// homes are the files that a set needs, by the workspace below which they lie and by key.
type homes map[string]map[string]tree.File

// needed returns the files of published revisions and drafts of live artifacts in the restored set.
func (w *work) needed(ctx context.Context) (homes, error) {
	home, revisions, err := w.liveArtifacts(ctx)
	if err != nil {
		return nil, err
	}
	store, out := dynamo.New(w.DynamoDB, w.Set.Tables).Artifacts, homes{}
	for a, h := range home {
		for _, r := range revisions[a] {
			files, err := store.Tree(ctx, a, r)
			if err != nil {
				return nil, fmt.Errorf("the files of revision %s: %w", r, err)
			}
			for _, f := range files {
				if f.Size == 0 {
					continue // it has no object
				}
				if out[h] == nil {
					out[h] = map[string]tree.File{}
				}
				out[h][fmt.Sprintf("%s%s/%s/%03d", filePrefix, h, f.Object.Session, f.Object.Entry)] = f
			}
		}
	}
	return out, nil
}

// liveArtifacts returns the workspace below which the files of each live artifact lie, and its revisions with files.
func (w *work) liveArtifacts(ctx context.Context) (map[id.Artifact]string, map[id.Artifact][]id.Revision, error) {
	home, revisions := map[id.Artifact]string{}, map[id.Artifact][]id.Revision{}
	pages := dynamodb.NewScanPaginator(w.DynamoDB, &dynamodb.ScanInput{
		TableName:                 &w.Set.Core,
		ConsistentRead:            aws.Bool(true),
		FilterExpression:          aws.String("begins_with(pk, :a)"),
		ProjectionExpression:      aws.String("pk, sk, #status, home"),
		ExpressionAttributeNames:  map[string]string{"#status": "status"},
		ExpressionAttributeValues: map[string]dynamodbtypes.AttributeValue{":a": &dynamodbtypes.AttributeValueMemberS{Value: "A#"}},
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, nil, err
		}
		for _, i := range page.Items {
			a := id.Artifact(strings.TrimPrefix(text(i["pk"]), "A#"))
			r, isRevision := strings.CutPrefix(text(i["sk"]), "R#")
			switch status := text(i["status"]); {
			case text(i["sk"]) == "META" && status == "active":
				home[a] = text(i["home"])
			case isRevision && status != "retained":
				revisions[a] = append(revisions[a], id.Revision(r))
			}
		}
	}
	return home, revisions, nil
}

func text(v dynamodbtypes.AttributeValue) string {
	s, _ := v.(*dynamodbtypes.AttributeValueMemberS)
	if s == nil {
		return ""
	}
	return s.Value
}

// history is what a bucket has of a key.
type history struct {
	marker string // version of the delete marker that hides it; empty: it can be read
	size   int64  // of the newest version; -1: there is none
}

// histories returns what the bucket has of the files below a workspace.
func (w *work) histories(ctx context.Context, home string) (map[string]history, error) {
	out := map[string]history{}
	of := func(key string) history {
		if h, known := out[key]; known {
			return h
		}
		return history{size: -1}
	}
	pages := s3.NewListObjectVersionsPaginator(w.S3, &s3.ListObjectVersionsInput{
		Bucket: &w.Set.Bucket, Prefix: aws.String(filePrefix + home + "/"),
	})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, m := range page.DeleteMarkers {
			if h := of(*m.Key); aws.ToBool(m.IsLatest) {
				h.marker = *m.VersionId
				out[*m.Key] = h
			}
		}
		for _, v := range page.Versions { // the newest comes first
			if h := of(*v.Key); h.size < 0 {
				h.size = aws.ToInt64(v.Size)
				out[*v.Key] = h
			}
		}
	}
	return out, nil
}
