package dynamo

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

// Queue returns artifacts and upload sessions that are due.
type Queue struct {
	*db
	cleanup
}

var (
	_ sweep.Sessions = Queue{}
	_ sweep.Store    = Queue{}
)

// DueArtifacts implements sweep.Store.
func (s Queue) DueArtifacts(ctx context.Context, now time.Time, n int) (out []sweep.Artifact, err error) {
	found, err := s.dueItems(ctx, artifactDue, now, n)
	for _, d := range found {
		a := readArtifact(d.item, partitionID[id.Artifact](d.key))
		w, err := s.workspace(ctx, a.Owner)
		if err != nil {
			return nil, err
		}
		if w != nil && w.ClaimedInto != "" {
			a = a.AfterClaimOf(*w)
		}
		out = append(out, sweep.Artifact{Artifact: *a, QueueItem: d.queueItem(), Version: d.getNum("ver")})
	}
	return out, err
}

// RescheduleArtifact implements sweep.Store.
func (s Queue) RescheduleArtifact(ctx context.Context, a sweep.Artifact) error {
	u := updateLive(a.ID)
	u.keepVersion = true
	u.requireValue("ver", a.Version)
	u.schedule(a.Artifact)
	return s.changeArtifact(ctx, u)
}

// Discard implements sweep.Store.
func (s Queue) Discard(ctx context.Context, a sweep.Artifact, at time.Time, e event.Event) error {
	u := updateArtifact(a.ID)
	u.set("updated", at)
	u.remove("draft", "draft_at")
	u.requireValue("draft", string(a.Draft))
	u.requireValue("ver", a.Version)
	u.requirePresence("pin_at", !a.PinnedAt.IsZero())
	without := a.Artifact
	without.Draft = ""
	u.schedule(without)
	t := s.begin()
	t.updateArtifact(u, overtaken)
	t.update(revisionKey(a.ID, a.Draft), "SET #status = :retained, #g2p = :purge, #g2s = :now", "#status = :draft", values{
		"retained": string(artifact.Retained),
		"draft":    string(artifact.Draft),
		"purge":    queueOf(purgeDue, string(a.Draft)),
		"now":      millisKey(at),
	}, overtaken)
	t.record(e)
	return unlessOvertaken(s.commit(ctx, t))
}

// Expire implements sweep.Store.
func (s Queue) Expire(ctx context.Context, a sweep.Artifact, at time.Time, e event.Event) error {
	u := updateLive(a.ID)
	u.set("status", string(artifact.Expired))
	u.set("own", string(a.Owner))
	u.set("exp", a.ExpiresAt)
	u.set("updated", at)
	u.set("g1p", deletedOf(a.Owner))
	u.set("g2p", queueOf(purgeDue, string(a.ID)))
	u.set("g2s", millisKey(at))
	u.remove("draft", "draft_at")
	u.requireValue("own", string(cmp.Or(a.ClaimedFrom, a.Owner)))
	u.require("#exp <= :updated")
	u.requireAbsent("pin_at")
	t := s.begin()
	t.updateArtifact(u, overtaken)
	if a.ClaimedFrom == "" { // the fence is open unless a claim committed meanwhile, which gives the artifact more time
		t.check(fenceKey(a.Owner, rand.IntN(fences)), "attribute_not_exists(#into)", nil, overtaken)
	}
	t.record(e)
	return unlessOvertaken(s.commit(ctx, t))
}

// errOvertaken means that an item changed between the read and the write of a sweep.
var errOvertaken = errors.New("the item changed meanwhile")

func overtaken(item) error { return errOvertaken }

func unlessOvertaken(err error) error {
	if errors.Is(err, errOvertaken) {
		return nil
	}
	return err
}

// DueSessions implements sweep.Sessions.
func (s Queue) DueSessions(ctx context.Context, now time.Time, n int) ([]sweep.Session, error) {
	return s.dueSessions(ctx, sessionDue, now, n)
}

// EndSession implements sweep.Sessions. It treats a session that is already marked as one that it ended, because the
// objects may still exist.
func (s Queue) EndSession(ctx context.Context, u upload.Session, at time.Time) (bool, error) {
	t := s.begin()
	t.update(uploadKey(u.ID), "SET #status = :expired", "(#status = :pending AND #exp <= :now) OR #status = :expired",
		values{"expired": string(upload.Expired), "pending": string(upload.Pending), "now": at}, overtaken)
	err := s.commit(ctx, t)
	if errors.Is(err, errOvertaken) {
		return false, nil
	}
	return err == nil, err
}

// cleanup finishes the work on an upload session, and reschedules entries of a queue.
type cleanup struct{ references }

var (
	_ sweep.Queue          = cleanup{}
	_ sweep.SessionCleanup = cleanup{}
)

// ForgetSession implements sweep.SessionCleanup. It also removes references that the session made for a revision that
// was never created. The metadata of a finalized session stays, because it names the artifact of its objects. Entries
// in the same item stay until those objects are deleted. The rest stays as long as a repetition may need it.
func (s cleanup) ForgetSession(ctx context.Context, u upload.Session) error {
	set, v := "REMOVE #g2p, #g2s", values{"ttl": u.ExpiresAt.Add(limits.ReplayLife).Unix()}
	if u.Status == upload.Finalized {
		_, together, err := s.change(ctx, uploadKey(u.ID), set, "attribute_exists(#files)", nil)
		if err != nil || together {
			return err
		}
	}
	if _, _, err := s.change(ctx, entriesKey(u.ID), "SET #ttl = :ttl", "attribute_exists(#pk)", v); err != nil {
		return err
	}
	if u.Status == upload.Finalized {
		v = nil
	} else {
		set = "SET #ttl = :ttl " + set
		if err := s.unreferAll(ctx, u); err != nil {
			return err
		}
	}
	_, _, err := s.change(ctx, uploadKey(u.ID), set, "attribute_exists(#pk)", v)
	return err
}

func (s cleanup) unreferAll(ctx context.Context, u upload.Session) error {
	_, entries, err := s.session(ctx, u.ID)
	var files tree.Tree
	for _, e := range entries {
		files = append(files, tree.File{Object: e.Object, Borrowed: e.Borrowed, Referrer: e.Referrer})
	}
	objects := files.Borrowed()
	if err != nil || len(objects) == 0 {
		return err
	}
	return s.RemoveReference(ctx, u.Revision, objects)
}

// Reschedule implements sweep.Queue.
func (s cleanup) Reschedule(ctx context.Context, r sweep.QueueItem, until time.Time, failures int) error {
	_, _, err := s.change(ctx, parseRowKey(r.Key), "SET #g2s = :until, #tried = :until, #tries = :tries", "#g2s = :due",
		values{"until": millisKey(until), "tries": failures, "due": millisKey(r.Due)})
	return err
}
