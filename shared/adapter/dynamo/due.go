package dynamo

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/platform/async"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
)

// dueRows returns up to n entries of a queue that are due at an instant, the oldest first. Each shard gets an equal
// share of n, so that failing entries in one shard do not hold up the others. The index may be behind, so callers must
// read the items again.
func (s *db) dueRows(ctx context.Context, kind string, now time.Time, n int) ([]item, error) {
	condition := "#g2p = :kind AND #g2s <= :now"
	parts, ctx := async.WithContext(ctx)
	found := make([][]map[string]types.AttributeValue, queueShards)
	for part := range queueShards {
		parts.Go(func() error {
			out, err := s.client.Query(ctx, &dynamodb.QueryInput{
				TableName:                 &s.tables.Core,
				IndexName:                 aws.String(dueIndex),
				KeyConditionExpression:    &condition,
				ExpressionAttributeNames:  names(condition),
				ExpressionAttributeValues: values{"kind": queueShard(kind, part), "now": millisKey(now)}.attributes(),
				Limit:                     aws.Int32(int32((n + queueShards - 1) / queueShards)),
			})
			if err != nil {
				return unavailable(err)
			}
			found[part] = out.Items
			return nil
		})
	}
	if err := parts.Wait(); err != nil {
		return nil, err
	}
	var rows []item
	for _, i := range slices.Concat(found...) {
		rows = append(rows, i)
	}
	slices.SortStableFunc(rows, func(a, b item) int { return cmp.Compare(a.getStr("g2s"), b.getStr("g2s")) })
	return rows, nil
}

// queued is an item that is due.
type queued struct {
	item
	key key
}

// dueItems returns up to n items of a kind that are due at an instant, the oldest first. It reads them strongly.
func (s *db) dueItems(ctx context.Context, kind string, now time.Time, n int) ([]queued, error) {
	rows, err := s.dueRows(ctx, kind, now, n)
	if err != nil {
		return nil, err
	}
	keys := keysIn(rows)
	f, err := s.all(ctx, keys, true)
	if err != nil {
		return nil, err
	}
	var out []queued
	for _, k := range keys {
		// The index may be behind: the item itself says whether it is still due.
		if i := f.at(k); strings.HasPrefix(i.getStr("g2p"), queuePrefix(kind)) && i.getStr("g2s") <= millisKey(now) {
			out = append(out, queued{i, k})
		}
	}
	return out, nil
}

// queueItem returns the item's place in its queue. Failures count since the last Reschedule. A later change of the due
// time resets them.
func (q queued) queueItem() sweep.QueueItem {
	r := sweep.QueueItem{Key: rowKey(q.key), Due: parseMillis(q.getStr("g2s"))}
	if q.getStr("tried") == q.getStr("g2s") {
		r.Failures = int(q.getNum("tries"))
	}
	return r
}

// rowKey encodes the key of a queued item for the callers of this package. parseRowKey decodes it.
func rowKey(k key) string { return k.pk + "\n" + k.sk }

func parseRowKey(s string) (k key) {
	k.pk, k.sk, _ = strings.Cut(s, "\n")
	return k
}

// dueSessions reads the upload sessions that are due in a queue.
func (s *db) dueSessions(ctx context.Context, kind string, now time.Time, n int) (out []sweep.Session, err error) {
	found, err := s.dueItems(ctx, kind, now, n)
	for _, d := range found {
		out = append(out, sweep.Session{Session: readUploadItem(d.item, partitionID[id.Session](d.key)), QueueItem: d.queueItem()})
	}
	return out, err
}

const queueShards = limits.QueueShards

// The kinds of work that falls due.
const (
	artifactDue  = "ARTIFACT" // a draft is discarded, or the artifact expires
	uploadDue    = "UPLOAD"   // a new upload session is indexed once it is finalized, or waits for its end
	sessionDue   = "SESSION"  // an upload session ends, with its objects
	indexDue     = "HINT"     // the files of a finalized session are added to the content index
	purgeDue     = "PURGE"    // an artifact or a revision loses its files
	deletionDue  = "DELETE"   // an object without a reference is deleted
	migrationDue = "MIGRATE"  // the artifacts of a claimed workspace are moved
	bundleDue    = "BUNDLE"   // the bundle of a revision is made
	removalDue   = "REMOVE"   // a workspace is removed
	// staleBundleDue: what attempts to make a bundle left behind is deleted
	staleBundleDue = "UNBUNDLE"
	exportDue      = "EXPORT"   // the next archive of an export is made
	staleExportDue = "UNEXPORT" // the archives of an export are deleted
	threadDue      = "THREAD"   // the messages of a deleted thread are removed
)

// queueOf names the partition of gsi2 where an item of a kind falls due. Items of a kind are spread over queueShards
// partitions.
func queueOf(kind, item string) string {
	return queueShard(kind, int(sha256.Sum256([]byte(item))[0])%queueShards)
}

func queueShard(kind string, n int) string { return queuePrefix(kind) + strconv.Itoa(n) }

// queuePrefix returns the prefix of the names of all partitions of a kind.
func queuePrefix(kind string) string { return "DUE#" + kind + "#" }

// nextDue returns when an artifact is due: when its draft is discarded or when it expires, whichever comes first. The
// result is meaningless for an artifact without a draft that does not expire, which is never due.
func nextDue(a artifact.Artifact, draftLife time.Duration) string {
	at := a.ExpiresAt
	if d := a.DraftAt.Add(draftLife); a.Draft != "" && (d.Before(at) || a.Lasts()) {
		at = d
	}
	return millisKey(at)
}
