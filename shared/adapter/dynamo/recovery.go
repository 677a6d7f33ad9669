package dynamo

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"time"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/lockdown"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

// Recoveries brings an artifact that ended back to what other tables have of it, while others write. Hold comes first.
// Until Finish the artifact counts as live for the purger and the garbage collector, and as expired for all readers and
// writers.
type Recoveries struct {
	*db
	cleanup
}

// Saved is what tables have of one artifact.
type Saved struct {
	Artifact  *artifact.Artifact // nil: none
	Revisions map[id.Revision]artifact.Revision
	Trees     map[id.Revision]tree.Tree // of the revisions that are published and have their files

	rows found // of the partition of the artifact
	of   found // the sessions that uploaded its objects
}

// Held returns the instant to which a recovery under way brings the artifact; zero: none is under way.
func (s Saved) Held() time.Time {
	if s.Artifact == nil || s.Artifact.Status != artifact.Live || s.meta()["was"] == nil {
		return time.Time{}
	}
	return s.meta().getTime("back")
}

// Returned returns the instant to which a finished recovery brought the artifact, which is live since; zero: none did.
func (s Saved) Returned() time.Time {
	if s.Artifact == nil || s.Artifact.Status != artifact.Live || s.meta()["was"] != nil {
		return time.Time{}
	}
	return s.meta().getTime("back")
}

// Expired reports whether the artifact ended by its time, and not because a recovery of a deleted one was given up.
func (s Saved) Expired() bool {
	if s.Artifact == nil || s.Artifact.Status != artifact.Expired {
		return false
	}
	was := s.meta().getStr("was")
	return was == "" || was == string(artifact.Expired)
}

func (s Saved) meta() item { return s.rows.at(artifactKey(s.Artifact.ID)) }

// Read reads strongly everything that the tables have of an artifact, besides its links and feedback.
func (s Recoveries) Read(ctx context.Context, a id.Artifact) (Saved, error) {
	out := Saved{
		Revisions: map[id.Revision]artifact.Revision{},
		Trees:     map[id.Revision]tree.Tree{},
		rows:      found{},
	}
	err := s.partition(ctx, artifactKey(a).pk, func(i item) error {
		out.rows[i.key()] = i
		return nil
	})
	if err != nil {
		return out, err
	}
	out.Artifact = readArtifact(out.rows.at(artifactKey(a)), a)
	for k, i := range out.rows {
		name := sortID[id.Revision](k)
		if k != revisionKey(a, name) {
			continue
		}
		r := *readRevision(i, a, name)
		out.Revisions[name] = r
		packed := out.rows.packedTree(a, name)
		if r.Status != artifact.Published || packed == nil {
			continue
		}
		if out.Trees[name], err = unpackTree(packed); err != nil {
			return out, err
		}
	}
	out.of, err = s.all(ctx, out.sessions(), true)
	return out, err
}

// sessions returns the keys of the sessions that uploaded published revisions and their objects.
func (s Saved) sessions() (keys []key) {
	for name, files := range s.Trees {
		if u := s.Revisions[name].Session; u != "" {
			keys = append(keys, uploadKey(u))
		}
		for _, f := range files {
			if f.Size > 0 && !f.Borrowed {
				keys = append(keys, uploadKey(f.Object.Session))
			}
		}
	}
	return keys
}

// Artifacts lists the artifacts of a workspace that have not ended, as far as the index knows.
func (s Recoveries) Artifacts(ctx context.Context, w id.Workspace) (out []id.Artifact, err error) {
	in := s.listQuery(artifactsOf(w))
	err = s.query(ctx, in, func(page []item) (bool, error) {
		for _, k := range keysIn(page) {
			out = append(out, partitionID[id.Artifact](k))
		}
		return true, nil
	})
	return out, err
}

// Recovery is one artifact and the state to which it is brought back.
type Recovery struct {
	Saved
	Instant time.Time    // of the saved rows
	Owner   id.Workspace // who owns the artifact now
	Until   time.Time    // when the artifact ends again unless the recovery is finished
}

// ErrRecoveryOvertaken means that the artifact changed since it was read.
var ErrRecoveryOvertaken = errors.New("the artifact changed meanwhile; run the same command again")

func recoveryOvertaken(item) error { return ErrRecoveryOvertaken }

// heldEnd is when a held artifact expires. It is long past, so that no request reads or changes the artifact, and no
// claim extends it.
var heldEnd = time.UnixMilli(1)

// wasLost is the former status of an artifact that had no metadata.
const wasLost = "lost"

// Hold takes an ended artifact out of the queue of purges. Attribute back is the instant to which it is brought, and was
// is how it had ended, until Finish or Undo. It is due at r.Until, when it expires like any other.
// living is what it was read as; it fails if that changed or the owner is closed.
func (s Recoveries) Hold(ctx context.Context, r Recovery, living Saved) error {
	a := r.Artifact.ID
	t := s.begin()
	if living.Artifact == nil {
		i, err := s.lostArtifact(ctx, r)
		if err != nil {
			return err
		}
		t.put(i, "attribute_not_exists(#pk)", nil, recoveryOvertaken)
	} else {
		u := updateArtifact(a)
		u.set("status", string(artifact.Live))
		u.set("was", string(living.Artifact.Status))
		u.set("back", r.Instant)
		u.set("exp", heldEnd)
		u.set("g2p", queueOf(artifactDue, string(a)))
		u.set("g2s", millisKey(r.Until))
		u.set("tried", millisKey(r.Until))
		u.remove("pin_at", "draft", "draft_at", "share", "share_exp", "tries")
		u.require("#status <> :status")
		u.requireValue("own", string(living.Artifact.Owner))
		u.requireValue("ver", living.meta().getNum("ver"))
		t.updateArtifact(u, recoveryOvertaken)
	}
	t.checkKept(r.Owner)
	return s.commit(ctx, t)
}

// lostArtifact returns the metadata of a held artifact that has none. A lock in effect is the one of today.
func (s Recoveries) lostArtifact(ctx context.Context, r Recovery) (item, error) {
	a := *r.Artifact
	lock, err := s.get(ctx, lockdownKey(lockdown.Artifact, string(a.ID)))
	if err != nil {
		return nil, err
	}
	a.Owner = r.Owner
	a.Status = artifact.Live
	a.ExpiresAt = heldEnd
	a.PinnedAt, a.DraftAt = time.Time{}, time.Time{}
	a.Draft, a.ShareLink = "", ""
	a.Lock, a.LockedAt = id.Lockdown(lock.getStr("id")), lock.getTime("created")
	return artifactItem(a).str("g1p", deletedOf(r.Owner)).str("g2s", millisKey(r.Until)).
		str("tried", millisKey(r.Until)).str("was", wasLost).time("back", r.Instant), nil
}

// checkKept requires that a workspace was neither claimed nor is being deleted. It may be locked.
func (t *transaction) checkKept(w id.Workspace) {
	t.check(fenceKey(w, rand.IntN(fences)), "attribute_not_exists(#into) AND attribute_not_exists(#deletes)", nil,
		recoveryOvertaken)
}

// checkHeld requires that the recovery of an artifact is under way.
func (t *transaction) checkHeld(r Recovery) {
	t.check(artifactKey(r.Artifact.ID), recovering, recoveringValues(r), recoveryOvertaken)
}

const recovering = "#status = :live AND #back = :back AND attribute_exists(#was)"

func recoveringValues(r Recovery) values {
	return values{"live": string(artifact.Live), "back": r.Instant}
}

// Closing is what finishing a recovery needs besides the recovery.
type Closing struct {
	At      time.Time
	Expires time.Time // the earliest end of the artifact
	MaxPins int       // artifacts that the owner may pin
	Event   event.Event
}

// Finish makes a held artifact readable in its saved state and records the event. Its links and public views stay
// closed, and locks that were set since stay. It is pinned again if that is within the cap, which it reports.
func (s Recoveries) Finish(ctx context.Context, r Recovery, c Closing) (pinned bool, err error) {
	i, err := s.get(ctx, artifactKey(r.Artifact.ID))
	living := readArtifact(i, r.Artifact.ID)
	if err != nil || living == nil {
		return false, errors.Join(err, recoveryOvertaken(nil))
	}
	after := r.returned(*living, c)
	lost := i.getStr("was") == wasLost
	if !after.PinnedAt.IsZero() {
		err := s.finish(ctx, r, c, after, i.getNum("ver"), !lost)
		if fault.CodeOf(err) != fault.PinnedArtifactCap {
			return err == nil, err
		}
		after.PinnedAt = time.Time{}
	}
	return false, s.finish(ctx, r, c, after, i.getNum("ver"), false)
}

// returned returns the saved artifact as it is from now on.
func (r Recovery) returned(living artifact.Artifact, c Closing) artifact.Artifact {
	a := *r.Artifact
	a.Owner = r.Owner
	a.Draft, a.DraftAt = "", time.Time{}
	a.ShareLink, a.ShareLinkUntil = "", time.Time{}
	a.NewestLinkAt = later(a.NewestLinkAt, living.NewestLinkAt)
	a.LinksRevokedBefore = later(millis(c.At), later(a.NewestLinkAt, living.LinksRevokedBefore))
	a.ViewsRevokedBefore = a.Number
	a.Lock, a.LockedAt = living.Lock, living.LockedAt
	if !living.LinksLockedAt.IsZero() {
		a.LinksLockedAt = living.LinksLockedAt
	}
	a.ExpiresAt = later(a.ExpiresAt, c.Expires)
	a.UpdatedAt = c.At
	return a
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// finish commits Finish on condition that the artifact still has this version.
func (s Recoveries) finish(
	ctx context.Context, r Recovery, c Closing, after artifact.Artifact, version int64, count bool,
) error {
	i := artifactItem(after).num("ver", version+1).time("back", r.Instant)
	if after.Lasts() {
		delete(i, "g2p")
		delete(i, "g2s")
	}
	v := recoveringValues(r)
	v["ver"] = version
	t := s.begin()
	t.put(i, recovering+" AND #ver = :ver", v, recoveryOvertaken)
	if count {
		t.update(pinsKey(r.Owner), "ADD #n :one", "attribute_not_exists(#n) OR #n < :most",
			values{"one": 1, "most": c.MaxPins}, func(item) error { return fault.NewCode(fault.PinnedArtifactCap) })
	}
	t.checkKept(r.Owner)
	t.record(c.Event)
	return s.commit(ctx, t)
}

// Undo ends a held artifact as it had ended before, so that its files are purged again. An artifact that had been lost
// counts as deleted from now on, which the event records.
func (s Recoveries) Undo(ctx context.Context, r Recovery, e event.Event) error {
	i, err := s.get(ctx, artifactKey(r.Artifact.ID))
	if err != nil {
		return err
	}
	was := i.getStr("was")
	u := updateArtifact(r.Artifact.ID)
	t := s.begin()
	if was == wasLost {
		was = string(artifact.Deleted)
		u.set("deleted", e.At)
		t.record(e)
	}
	u.set("status", was)
	u.set("updated", e.At)
	u.set("g2p", queueOf(purgeDue, string(r.Artifact.ID)))
	u.set("g2s", millisKey(e.At))
	u.remove("was", "tried", "tries")
	u.require(recovering)
	maps.Copy(u.values, recoveringValues(r))
	t.updateArtifact(u, recoveryOvertaken)
	return s.commit(ctx, t)
}

// Unfinalized is a session that restored tables have as finalized, without its revision.
type Unfinalized struct {
	Session  id.Session
	Artifact id.Artifact
	Revision id.Revision
	New      bool      // the session made the artifact
	Named    bool      // the artifact is there and names the revision as its draft
	Ends     time.Time // when the artifact ends; zero: it does not
}

// Unfinalize lets such a session be finalized again, or end. The artifact loses its draft, and goes if the session made
// it.
func (s Recoveries) Unfinalize(ctx context.Context, u Unfinalized, now time.Time) error {
	t := s.begin()
	t.update(uploadKey(u.Session), "SET #status = :pending, #g2p = :queue, #g2s = :due", "#status = :finalized", values{
		"pending":   string(upload.Pending),
		"finalized": string(upload.Finalized),
		"queue":     queueOf(sessionDue, string(u.Session)),
		"due":       millisKey(now),
	}, recoveryOvertaken)
	switch {
	case u.New:
		t.remove(artifactKey(u.Artifact), "", nil, nil)
	case u.Named:
		c := updateLive(u.Artifact)
		c.requireValue("draft", string(u.Revision))
		c.remove("draft", "draft_at")
		if u.Ends.IsZero() {
			c.unschedule()
		} else {
			c.set("g2s", millisKey(u.Ends))
		}
		t.updateArtifact(c, recoveryOvertaken)
	}
	return s.commit(ctx, t)
}
