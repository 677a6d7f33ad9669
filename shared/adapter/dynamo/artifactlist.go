package dynamo

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

// Revisions implements artifact.History.
func (s Artifacts) Revisions(ctx context.Context, a id.Artifact) (out []artifact.Revision, err error) {
	err = s.below(ctx, revisionKey(a, ""), func(i item) error {
		out = append(out, *readRevision(i, a, sortID[id.Revision](i.key())))
		return nil
	})
	return out, err
}

// List implements artifact.Listing. It merges the partitions of the index that hold parts of the list, reading each
// after the same position. It reads them in the order in which artifacts move from one to another, so that it meets a
// moving artifact at least once. If it meets one twice, the later state counts.
//
// If no claim is under way, the workspace's own partitions are the whole list. They are read at the same time as the
// aliases, which say whether there is one. An answer without aliases does not speak for the time before it. But an
// alias stays for claim.Recheck after the last artifact was moved, so what was read within half of that is complete.
func (s Artifacts) List(ctx context.Context, q artifact.Query) ([]artifact.Artifact, bool, error) {
	own := partsOf(q, workspace.Workspace{ID: q.Workspace})
	var rows []artifact.Artifact
	var err error
	sources, again, unknown := s.sourcesBeside(ctx, q.Workspace, q.Claimed, func() {
		rows, err = s.readParts(ctx, q, own)
	})
	if unknown != nil {
		return nil, false, unknown
	}
	if again {
		var all []listPart
		for _, source := range sources {
			all = append(all, partsOf(q, source)...)
		}
		rows, err = s.readParts(ctx, q, append(all, own...))
	}
	return page(rows, q.Limit), len(rows) > q.Limit, err
}

// sourcesBeside calls read and, if there ever was a claim, looks up at the same time the workspaces whose claim into w
// is under way. again tells the caller to read again: there are such workspaces, or the lookup took so long that it
// does not speak for what was read.
func (s *db) sourcesBeside(
	ctx context.Context, w id.Workspace, claimed bool, read func(),
) (sources []workspace.Workspace, again bool, err error) {
	if !claimed {
		read()
		return nil, false, nil
	}
	start := time.Now()
	asked := async.Go(func() ([]workspace.Workspace, error) { return s.sources(ctx, w) })
	read()
	sources, err = asked.Wait()
	return sources, len(sources) > 0 || time.Since(start) > claim.Recheck/2, err
}

func page(rows []artifact.Artifact, limit int) []artifact.Artifact {
	return rows[:min(len(rows), limit)]
}

// listPart is one partition of a list.
type listPart struct {
	list string
	from workspace.Workspace // the claimed workspace that owns these artifacts; zero: the workspace of the list
	live bool                // leave expired artifacts out
}

func partsOf(q artifact.Query, w workspace.Workspace) []listPart {
	from := workspace.Workspace{}
	if w.ID != q.Workspace {
		from = w
	}
	out := []listPart{{artifactsOf(w.ID), from, !q.Gone}}
	if q.Gone {
		out = append(out, listPart{list: deletedOf(w.ID), from: from})
	}
	return out
}

// sources returns the workspaces that were claimed into w and still have artifacts to be moved.
func (s *db) sources(ctx context.Context, w id.Workspace) (out []workspace.Workspace, err error) {
	err = s.below(ctx, aliasKey(w, ""), func(i item) error {
		out = append(out, workspace.Workspace{
			ID:          sortID[id.Workspace](i.key()),
			ClaimedInto: w,
			ClaimedAt:   i.getTime("since"),
			MinExpiry:   i.getTime("floor"),
		})
		return nil
	})
	return out, err
}

// readParts reads partitions one after the other and merges them. It returns at most one row more than a page has,
// which tells that there are more.
func (s Artifacts) readParts(ctx context.Context, q artifact.Query, all []listPart) ([]artifact.Artifact, error) {
	rows := map[id.Artifact]artifact.Artifact{}
	for _, one := range all {
		found, err := s.readPart(ctx, q, one)
		if err != nil {
			return nil, err
		}
		for _, a := range found {
			if one.from.ID != "" && a.Owner == one.from.ID {
				a = *a.AfterClaimOf(one.from)
			}
			rows[a.ID] = a
		}
	}
	merged := make([]artifact.Artifact, 0, len(rows))
	for _, a := range rows {
		merged = append(merged, a)
	}
	slices.SortFunc(merged, func(x, y artifact.Artifact) int {
		return cmp.Or(y.CreatedAt.Compare(x.CreatedAt), strings.Compare(string(y.ID), string(x.ID)))
	})
	return page(merged, q.Limit+1), nil
}

// readPart reads up to one row more than a page from one partition. Expired artifacts leave the index only when a job
// finds them, so the query filters them out and continues until there are enough rows.
func (s Artifacts) readPart(ctx context.Context, q artifact.Query, one listPart) (rows []artifact.Artifact, err error) {
	condition := "#g1p = :list"
	v := values{"list": one.list}
	if q.After.ID != "" {
		condition += " AND #g1s < :after"
		v["after"] = timeKey(q.After.CreatedAt, q.After.ID)
	}
	in := &dynamodb.QueryInput{
		TableName:              &s.tables.Core,
		IndexName:              aws.String(listIndex),
		KeyConditionExpression: &condition,
		ScanIndexForward:       aws.Bool(false),
		Limit:                  aws.Int32(int32(q.Limit + 1)),
	}
	if filter := "#exp > :end OR attribute_exists(#pin_at)"; one.live {
		v["end"] = q.Now
		if q.Now.Before(one.from.MinExpiry) { // what was live when it was claimed stays live
			v["end"] = one.from.ClaimedAt
		}
		in.FilterExpression, in.ExpressionAttributeNames = &filter, names(condition, filter)
	} else {
		in.ExpressionAttributeNames = names(condition)
	}
	in.ExpressionAttributeValues = v.attributes()
	for {
		out, err := s.client.Query(ctx, in)
		if err != nil {
			return nil, unavailable(err)
		}
		for _, i := range out.Items {
			rows = append(rows, *readArtifact(i, partitionID[id.Artifact](item(i).key())))
		}
		if len(rows) > q.Limit || out.LastEvaluatedKey == nil {
			return rows, nil
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}
