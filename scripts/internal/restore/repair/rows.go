package repair

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"vitrine/scripts/internal/restore/rows"
	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/platform/limits"
)

// millis formats an instant as queues order it.
func millis(t time.Time) string { return fmt.Sprintf("%013d", t.UnixMilli()) }

// queueOf names the partition of a queue in which a thing falls due.
func queueOf(kind, name string) string {
	return fmt.Sprintf("DUE#%s#%d", kind, int(sha256.Sum256([]byte(name))[0])%limits.QueueShards)
}

func (s Set) rows() rows.Set { return rows.Of(s.Deployment) }

func keyOf(k invariant.Key) rows.Item { return rows.Key(k.PK, k.SK) }

func (s Set) remove(ctx context.Context, table string, k invariant.Key) error {
	return s.rows().Remove(ctx, table, keyOf(k))
}
