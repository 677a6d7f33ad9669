package cloud

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/shared/adapter/blob"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/publishing/tree"
)

// homes are the files that a set needs, by the workspace below which they lie and by key.
type homes map[string]map[string]tree.Content

// needed returns the files of published revisions and drafts of live artifacts in the restored set.
func (w *work) needed(ctx context.Context) (homes, error) {
	out := homes{}
	return out, dynamo.StoredObjects(ctx, w.DynamoDB, w.Set.Tables, func(o dynamo.StoredObject) error {
		if !o.Needed {
			return nil
		}
		key, err := blob.Key(o.Home, o.Object)
		if err != nil {
			return err
		}
		home := string(o.Home)
		if out[home] == nil {
			out[home] = map[string]tree.Content{}
		}
		out[home][key] = o.Content
		return nil
	})
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
	pages := s3.NewListObjectVersionsPaginator(w.objects(), &s3.ListObjectVersionsInput{
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
