package repair

import (
	"context"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/internal/restore/rows"
	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/id"
)

// Archives settles what archives the tables promise, because copies do not hold them: a bundle whose archive is not
// there is made again when the jobs run, and an export is forgotten, so that its owner asks for another.
func (s Set) Archives(ctx context.Context) error {
	there := map[string]bool{}
	for _, prefix := range []string{"b/", "x/"} {
		if err := s.list(ctx, prefix, there); err != nil {
			return err
		}
	}
	homes := map[string]string{}
	var revisions []invariant.Key
	var exports []export
	for i, err := range s.rows().Scan(ctx, s.Tables.Core) {
		if err != nil {
			return err
		}
		k := invariant.Key{PK: i.Text("pk"), SK: i.Text("sk")}
		switch {
		case strings.HasPrefix(k.PK, "A#") && k.SK == "META" && i.Text("status") == "active":
			homes[k.PK] = i.Text("home")
		case strings.HasPrefix(k.SK, "R#") && i.Text("bstat") == "ready" && i.Text("status") == "published":
			revisions = append(revisions, k)
		case k.SK == "EXPORT":
			exports = append(exports, export{k, i.Text("id"), volumes(i)})
		}
	}
	bundles := dynamo.New(s.DynamoDB, s.Tables).Recoveries
	for _, k := range revisions {
		if home := homes[k.PK]; home != "" && !there["b/"+home+"/"+k.PK[2:]+"/"+k.SK[2:]+".zip"] {
			err := bundles.MakeBundle(ctx, id.Artifact(k.PK[2:]), id.Revision(k.SK[2:]), s.Now)
			if err != nil {
				return err
			}
		}
	}
	return s.forget(ctx, exports, there)
}

// export is the newest export of a workspace.
type export struct {
	invariant.Key
	id       string
	recorded int // archives
}

// forget removes exports whose archives are not all there.
func (s Set) forget(ctx context.Context, exports []export, there map[string]bool) error {
	for _, e := range exports {
		for v := range e.recorded {
			if there[fmt.Sprintf("x/%s/%s/%04d.zip", e.PK[2:], e.id, v+1)] {
				continue
			}
			if err := s.remove(ctx, s.Tables.Core, e.Key); err != nil {
				return err
			}
			s.say("the export %s of workspace %s is not in the copy: forgotten", e.id, e.PK[2:])
			break
		}
	}
	return nil
}

// volumes returns how many archives an export's item records, each with its size and digest.
func volumes(i rows.Item) int {
	v, _ := i["vols"].(*types.AttributeValueMemberB)
	if v == nil {
		return 0
	}
	return len(v.Value) / (binary.Size(uint64(0)) + 32)
}

func (s Set) list(ctx context.Context, prefix string, to map[string]bool) error {
	in := &s3.ListObjectsV2Input{Bucket: &s.Bucket, Prefix: &prefix}
	for pages := s3.NewListObjectsV2Paginator(s.S3, in); pages.HasMorePages(); {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return err
		}
		for _, o := range page.Contents {
			to[aws.ToString(o.Key)] = true
		}
	}
	return nil
}
