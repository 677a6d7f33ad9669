package dynamo

import (
	"context"
	"errors"
	"time"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
	"vitrine/shared/publishing/tree"
)

// Bundles returns bundles that are due, and records their results.
type Bundles struct {
	*db
	cleanup
	metadata
	files
}

var (
	_ sweep.Bundles       = Bundles{}
	_ sweep.BundleSources = Bundles{}
	_ sweep.StaleBundles  = Bundles{}
)

// bundleFields names the attributes of a bundle, which are in the item of the revision.
func bundleFields(f fields, b *artifact.Bundle) {
	text(f, "bstat", &b.Status)
	integer(f, "bsize", &b.Size)
	f.digest("bsha", &b.SHA256)
	f.time("bat", &b.MadeAt)
	f.time("buntil", &b.Leased)
}

// digest copies a SHA-256 digest. A zero digest is absent.
func (f fields) digest(name string, v *tree.Digest) {
	switch {
	case f.named(name):
	case f.write && *v != tree.Digest{}:
		f.item.bin(name, v[:])
	case !f.write:
		copy(v[:], f.item.getBin(name))
	}
}

// DueBundles implements sweep.Bundles.
func (s Bundles) DueBundles(ctx context.Context, now time.Time, n int) (out []sweep.Bundle, err error) {
	found, err := s.dueItems(ctx, bundleDue, now, n)
	for _, d := range found {
		if d.getTime("buntil").After(now) {
			continue
		}
		a, r := partitionID[id.Artifact](d.key), sortID[id.Revision](d.key)
		out = append(out, sweep.Bundle{
			Revision:  *readRevision(d.item, a, r),
			Attempts:  int(d.getNum("btries")),
			QueueItem: d.queueItem(),
		})
	}
	return out, err
}

// Take implements sweep.Bundles. If the answer of an attempt was lost, the bundle can be taken again when the time of
// that attempt is over.
func (s Bundles) Take(ctx context.Context, b sweep.Bundle, until time.Time) (sweep.Bundle, bool, error) {
	condition, v := attemptsOf(b)
	b.Attempts++
	v["next"] = b.Attempts
	v["until"] = until
	v["published"] = string(artifact.Published)
	_, ok, err := s.change(ctx, bundleKey(b), "SET #btries = :next, #buntil = :until", "#status = :published AND "+condition, v)
	return b, ok, err
}

// Release implements sweep.Bundles.
func (s Bundles) Release(ctx context.Context, b sweep.Bundle) error {
	condition, v := attemptsOf(b)
	_, _, err := s.change(ctx, bundleKey(b), "REMOVE #buntil", condition, v)
	return err
}

// bundleAttempts are the attributes that a bundle has while it is being made.
const bundleAttempts = "#btries, #buntil, #tried, #tries"

// Finish implements sweep.Bundles.
func (s Bundles) Finish(ctx context.Context, b sweep.Bundle, made artifact.Bundle) (bool, error) {
	condition, v := attemptsOf(b)
	v["published"] = string(artifact.Published)
	v["ready"] = string(made.Status)
	v["size"] = made.Size
	v["sha"] = made.SHA256[:]
	v["at"] = made.MadeAt
	t := s.begin()
	t.update(bundleKey(b), "SET #bstat = :ready, #bsize = :size, #bsha = :sha, #bat = :at "+
		"REMOVE #g2p, #g2s, "+bundleAttempts, "#status = :published AND "+condition, v, overtaken)
	t.check(artifactKey(b.Revision.Artifact), "#status = :live", values{"live": string(artifact.Live)}, overtaken)
	err := s.commit(ctx, t)
	if errors.Is(err, errOvertaken) {
		return false, nil
	}
	return err == nil, err
}

// GiveUp implements sweep.Bundles.
func (s Bundles) GiveUp(ctx context.Context, b sweep.Bundle, home id.Workspace, at time.Time) error {
	condition, v := attemptsOf(b)
	v["failed"] = string(artifact.BundleFailed)
	v["queue"] = queueOf(staleBundleDue, string(b.Revision.ID))
	v["at"] = millisKey(at)
	v["home"] = string(home)
	_, _, err := s.change(ctx, bundleKey(b), "SET #bstat = :failed, #g2p = :queue, #g2s = :at, #home = :home "+
		"REMOVE "+bundleAttempts, condition, v)
	return err
}

// attemptsOf returns the condition that a bundle is pending and had as many attempts as b.
func attemptsOf(b sweep.Bundle) (condition string, v values) {
	v = values{"is": string(artifact.BundlePending)}
	if b.Attempts == 0 {
		return "#bstat = :is AND attribute_not_exists(#btries)", v
	}
	v["tries"] = b.Attempts
	return "#bstat = :is AND #btries = :tries", v
}

func bundleKey(b sweep.Bundle) key { return revisionKey(b.Revision.Artifact, b.Revision.ID) }

// DueStaleBundles implements sweep.StaleBundles.
func (s Bundles) DueStaleBundles(ctx context.Context, now time.Time, n int) (out []sweep.StaleBundle, err error) {
	found, err := s.dueItems(ctx, staleBundleDue, now, n)
	for _, d := range found {
		out = append(out, sweep.StaleBundle{
			Object: artifact.BundleObject{
				Home:     id.Workspace(d.getStr("home")),
				Artifact: partitionID[id.Artifact](d.key),
				Revision: sortID[id.Revision](d.key),
			},
			QueueItem: d.queueItem(),
		})
	}
	return out, err
}

// Forget implements sweep.StaleBundles.
func (s Bundles) Forget(ctx context.Context, b sweep.StaleBundle) error {
	_, _, err := s.change(ctx, parseRowKey(b.Key), "REMOVE #g2p, #g2s, #home, #tried, #tries",
		"#g2s = :due AND #bstat = :failed", values{"due": millisKey(b.Due), "failed": string(artifact.BundleFailed)})
	return err
}
