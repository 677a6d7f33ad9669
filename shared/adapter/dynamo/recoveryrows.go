package dynamo

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
	"vitrine/shared/publishing/tree"
)

// listQuery returns the query for a partition of the list index.
func (s *db) listQuery(list string) *dynamodb.QueryInput {
	condition := "#g1p = :list"
	return &dynamodb.QueryInput{
		TableName:                 &s.tables.Core,
		IndexName:                 aws.String(listIndex),
		KeyConditionExpression:    &condition,
		ExpressionAttributeNames:  names(condition),
		ExpressionAttributeValues: values{"list": list}.attributes(),
	}
}

// PutBack writes what is missing or other of the published revisions of a held artifact: their items, lists of files,
// references and sessions. It reports whether it wrote anything. Purges and deletions that began before Hold may still
// undo some of it, so the caller repeats it, five minutes apart, until it has no more to write.
func (s Recoveries) PutBack(ctx context.Context, r Recovery) (wrote bool, err error) {
	living, err := s.Read(ctx, r.Artifact.ID)
	if err != nil {
		return false, err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Revisions)) {
		if r.hasSame(living, name) {
			continue
		}
		wrote = true
		if err := s.putRevision(ctx, r, name); err != nil {
			return wrote, err
		}
	}
	referred, err := s.refer(ctx, r)
	if err != nil {
		return wrote, err
	}
	for k, i := range r.of {
		if living.of.at(k) != nil {
			continue
		}
		if _, err := s.putNew(ctx, s.tables.Core, i); err != nil {
			return wrote, err
		}
	}
	return wrote || referred, nil
}

// hasSame reports whether a revision needs no write. Of one that was not published, its item is enough.
func (r Recovery) hasSame(living Saved, name id.Revision) bool {
	saved, is := r.Revisions[name], living.Revisions[name]
	if saved.Status != artifact.Published {
		return is.ID != ""
	}
	a := r.Artifact.ID
	return is.Status == artifact.Published && is.Number == saved.Number &&
		bytes.Equal(living.rows.packedTree(a, name), r.rows.packedTree(a, name))
}

// putRevision writes the items of a saved revision. The bundle of a published one is made anew.
func (s Recoveries) putRevision(ctx context.Context, r Recovery, name id.Revision) error {
	i := maps.Clone(r.rows.at(revisionKey(r.Artifact.ID, name)))
	if r.Revisions[name].Status == artifact.Published {
		switch artifact.BundleStatus(i.getStr("bstat")) {
		case artifact.BundlePending, artifact.BundleReady:
			dropBundle(i)
			i.str("bstat", string(artifact.BundlePending)).
				str("g2p", queueOf(bundleDue, string(name))).str("g2s", millisKey(r.Until))
		}
	}
	t := s.begin()
	t.put(i, "", nil, nil)
	if list := r.rows.at(treeKey(r.Artifact.ID, name)); list != nil {
		t.put(list, "", nil, nil)
	}
	t.checkHeld(r)
	return s.commit(ctx, t)
}

func dropBundle(i item) {
	for _, name := range []string{"bsize", "bsha", "bat", "buntil", "btries", "tried", "tries"} {
		delete(i, name)
	}
}

// refer writes the references that the published revisions had and that are missing.
func (s Recoveries) refer(ctx context.Context, r Recovery) (wrote bool, err error) {
	for name, files := range r.Trees {
		var keys []key
		objects := files.Borrowed()
		for _, o := range objects {
			keys = append(keys, referenceKey(o, name))
		}
		there, err := s.existing(ctx, keys)
		if err != nil {
			return wrote, err
		}
		if len(there) == len(keys) {
			continue
		}
		wrote = true
		if err := s.AddReference(ctx, r.Artifact.ID, name, objects); err != nil {
			return wrote, err
		}
	}
	return wrote, nil
}

// Later returns the revisions that living has and that the saved artifact had not published, as far as they still count
// as drafts or as published.
func (r Recovery) Later(living Saved) (out []artifact.Revision) {
	for name, is := range living.Revisions {
		saved, known := r.Revisions[name]
		if known && saved.Status == artifact.Published || is.Status == artifact.Retained && is.Number == 0 {
			continue
		}
		out = append(out, is)
	}
	return out
}

// Drop discards one of the later revisions of a held artifact, whose number another one may get. It makes what may be
// left of its bundle due for deletion at an instant. Its files are for the purger.
func (s Recoveries) Drop(ctx context.Context, r Recovery, later artifact.Revision, at time.Time) error {
	set, remove := "SET #status = :retained", " REMOVE #no, #pub_at, #btries, #buntil, #tried, #tries"
	v := values{"retained": string(artifact.Retained)}
	if later.Bundle.Status != artifact.NoBundle && later.Bundle.Status != artifact.BundleDisabled {
		set += ", #bstat = :failed, #g2p = :queue, #g2s = :at, #home = :home"
		v["failed"] = string(artifact.BundleFailed)
		v["queue"] = queueOf(staleBundleDue, string(later.ID))
		v["at"] = millisKey(at)
		v["home"] = string(r.Artifact.StorageWorkspace)
	} else {
		remove += ", #bstat, #g2p, #g2s"
	}
	t := s.begin()
	t.update(revisionKey(later.Artifact, later.ID), set+remove, "attribute_exists(#pk)", v, recoveryOvertaken)
	t.checkHeld(r)
	return s.commit(ctx, t)
}

// MakeBundle makes the bundle of a published revision due at an instant.
func (s Recoveries) MakeBundle(ctx context.Context, a id.Artifact, r id.Revision, at time.Time) error {
	_, _, err := s.change(ctx, revisionKey(a, r), "SET #bstat = :pending, #g2p = :queue, #g2s = :at "+
		"REMOVE #bsize, #bsha, #bat, "+bundleAttempts, "#status = :published", values{
		"published": string(artifact.Published),
		"pending":   string(artifact.BundlePending),
		"queue":     queueOf(bundleDue, string(r)),
		"at":        millisKey(at),
	})
	return err
}

// Unpurged returns purges of the discarded revisions that still have their files.
func (r Recovery) Unpurged(living Saved) (out []sweep.Purge) {
	for name, is := range living.Revisions {
		if is.Status == artifact.Retained && living.rows.packedTree(r.Artifact.ID, name) != nil {
			out = append(out, sweep.Purge{Artifact: r.Artifact.ID, Revision: name})
		}
	}
	return out
}

// Discussion is the feedback that tables have about one artifact.
type Discussion struct{ rows []item }

// Discussion reads the feedback about an artifact.
func (s Recoveries) Discussion(ctx context.Context, a id.Artifact) (d Discussion, err error) {
	err = s.partition(ctx, feedbackOf(a), func(i item) error {
		d.rows = append(d.rows, i)
		return nil
	})
	return d, err
}

// PutDiscussion writes the feedback about a held artifact, unless the tables have any. The counts go last and are what
// it looks for, so that a write that died is repeated in full. It reports whether it wrote anything.
func (s Recoveries) PutDiscussion(ctx context.Context, r Recovery, d Discussion) (wrote bool, err error) {
	counts := countsKey(r.Artifact.ID)
	there, err := s.get(ctx, counts)
	if err != nil || there != nil || len(d.rows) == 0 {
		return false, err
	}
	err = s.pages(ctx, listing{prefix: key{pk: counts.pk}, only: keysOnly}, func(page []item) error {
		return s.deleteAll(ctx, keysIn(page))
	})
	if err != nil {
		return false, err
	}
	var writes []types.WriteRequest
	for _, i := range d.rows {
		if i.key() != counts {
			writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: i}})
			continue
		}
		if there = maps.Clone(i); there["g1p"] != nil {
			there.str("g1p", openThreadsOf(r.Owner))
		}
	}
	if err := s.writeAll(ctx, writes); err != nil || there == nil {
		return true, err
	}
	_, err = s.putNew(ctx, s.tables.Core, there)
	return true, err
}

// Objects lists the objects of the published revisions, each once, with their sizes and digests.
func (s Saved) Objects() (out []tree.File) {
	seen := map[tree.Object]bool{}
	for _, name := range slices.Sorted(maps.Keys(s.Trees)) {
		for _, f := range s.Trees[name] {
			if f.Size > 0 && !seen[f.Object] {
				seen[f.Object] = true
				out = append(out, f)
			}
		}
	}
	return out
}
