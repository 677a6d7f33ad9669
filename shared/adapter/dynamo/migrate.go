package dynamo

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/entry/claim"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
)

// maxDeletions is how many credentials of a claimed workspace are deleted at a time.
const maxDeletions = 100

// Due implements claim.Migrations.
func (s Claims) Due(ctx context.Context, now time.Time, n int) (out []claim.DueMove, err error) {
	rows, err := s.dueRows(ctx, migrationDue, now, n)
	for _, i := range rows {
		out = append(out, claim.DueMove{Source: partitionID[id.Workspace](i.key()), Due: parseMillis(i.getStr("g2s"))})
	}
	return out, err
}

// Remaining implements claim.Migrations. The index only finds candidates; the artifacts themselves decide.
func (s Claims) Remaining(
	ctx context.Context, source id.Workspace, n int,
) (*workspace.Workspace, []artifact.Artifact, bool, error) {
	var keys []key
	for _, list := range []string{artifactsOf(source), deletedOf(source)} {
		if len(keys) >= n {
			break
		}
		found, err := s.listed(ctx, list, n-len(keys))
		if err != nil {
			return nil, nil, false, err
		}
		keys = append(keys, found...)
	}
	f, err := s.all(ctx, append(keys, workspaceKey(source)), true)
	if err != nil {
		return nil, nil, false, err
	}
	var left []artifact.Artifact
	for _, k := range keys {
		if a := readArtifact(f.at(k), partitionID[id.Artifact](k)); a != nil && a.Owner == source {
			left = append(left, *a)
		}
	}
	return readWorkspace(f.at(workspaceKey(source)), source), left, len(keys) == 0, nil
}

// listed reads the first keys of a partition of the list index.
func (s *db) listed(ctx context.Context, list string, n int) ([]key, error) {
	condition := "#g1p = :list"
	found, err := s.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 &s.tables.Core,
		IndexName:                 aws.String(listIndex),
		KeyConditionExpression:    &condition,
		ExpressionAttributeNames:  names(condition),
		ExpressionAttributeValues: values{"list": list}.attributes(),
		Limit:                     aws.Int32(int32(n)),
	})
	if err != nil {
		return nil, unavailable(err)
	}
	return keysIn(found.Items), nil
}

// MoveArtifact implements claim.Migrations. Of what the new index keys depend on, only status and draft can change
// between the claim and this write, so the update requires those.
func (s Claims) MoveArtifact(ctx context.Context, a artifact.Artifact) error {
	u := updateArtifact(a.ID)
	u.set("own", string(a.Owner))
	u.set("exp", a.ExpiresAt)
	if a.Status == artifact.Live {
		u.set("g1p", artifactsOf(a.Owner))
		u.schedule(a)
	} else {
		u.set("g1p", deletedOf(a.Owner))
	}
	u.requireValue("own", string(a.ClaimedFrom))
	u.requireValue("status", string(a.Status))
	u.requireDraft(a.Draft)
	return s.changeArtifact(ctx, u)
}

// MoveLinks implements claim.LinkMigrations.
func (s Claims) MoveLinks(
	ctx context.Context, source, destination id.Workspace, n int,
) (moved int, clear bool, err error) {
	return s.moveListed(ctx, linksOf(source), n, "SET #ws = :to, #g1p = :list", "#ws = :from",
		values{"to": string(destination), "list": linksOf(destination), "from": string(source)})
}

// moveListed changes up to n items of a partition of the list index. clear reports that the index lists none.
func (s Claims) moveListed(
	ctx context.Context, list string, n int, set, condition string, v values,
) (moved int, clear bool, err error) {
	found, err := s.listed(ctx, list, n)
	if err != nil {
		return 0, false, err
	}
	for _, k := range found {
		_, done, err := s.change(ctx, k, set, condition, v)
		if err != nil {
			return moved, false, err
		}
		if done { // otherwise the item was moved before, and the index is behind
			moved++
		}
	}
	return moved, len(found) == 0, nil
}

// Note implements claim.Migrations.
func (s Claims) Note(
	ctx context.Context, source id.Workspace, clear bool, now, next time.Time,
) (time.Time, bool, error) {
	set, condition := "SET #g2s = :next REMOVE #clear", "attribute_exists(#pk)"
	v := values{"next": millisKey(next)}
	if clear {
		set = "SET #g2s = :next, #clear = if_not_exists(#clear, :now)"
		v["now"] = now
	}
	out, err := s.client.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName:                 &s.tables.Core,
		Key:                       migrationKey(source).attributes(),
		UpdateExpression:          &set,
		ConditionExpression:       &condition,
		ExpressionAttributeNames:  names(set, condition),
		ExpressionAttributeValues: v.attributes(),
		ReturnValues:              types.ReturnValueAllNew,
	})
	if _, finished := conditionFailed(err); finished {
		return time.Time{}, false, nil
	}
	if err != nil {
		return time.Time{}, false, unavailable(err)
	}
	return item(out.Attributes).getTime("clear"), true, nil
}

// Finish implements claim.Migrations.
func (s Claims) Finish(ctx context.Context, source, destination id.Workspace, until time.Time) (bool, error) {
	for _, list := range []string{keysOf(source), revokedKeysOf(source)} {
		keys, err := s.listed(ctx, list, maxDeletions)
		if err != nil {
			return false, err
		}
		for _, k := range keys {
			gone := &dynamodb.DeleteItemInput{TableName: &s.tables.Core, Key: k.attributes()}
			if _, err := s.client.DeleteItem(ctx, gone); err != nil {
				return false, unavailable(err)
			}
		}
		if len(keys) == maxDeletions {
			return false, nil
		}
	}
	t := s.begin()
	t.remove(aliasKey(destination, source), "", nil, nil)
	t.remove(migrationKey(source), "", nil, nil)
	t.update(workspaceKey(source), "SET #ttl = :ttl", "#into = :into",
		values{"ttl": until.Unix(), "into": string(destination)}, claimGone)
	return true, s.commit(ctx, t)
}
