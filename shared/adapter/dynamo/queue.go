package dynamo

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/sweep"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/upload"
)

// Queue hands out artifacts and upload sessions of which something is due.
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
		a := readArtifact(d.item, named[id.Artifact](d.key))
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
	set, v := "SET #g2s = :due", values{"live": string(artifact.Live), "version": a.Version}
	if !a.PinnedAt.IsZero() && a.Draft == "" {
		set = "REMOVE #g2p, #g2s"
	} else {
		v["due"] = nextDue(a.Artifact, limits.DraftLife)
	}
	_, _, err := s.change(ctx, artifactKey(a.ID), set, "#status = :live AND #ver = :version", v)
	return err
}

// Discard implements sweep.Store.
func (s Queue) Discard(ctx context.Context, a sweep.Artifact, at time.Time, e event.Event) error {
	without := a.Artifact
	without.Draft = ""
	set, v := "SET #updated = :now, #g2s = :due", values{
		"now": at, "draft": string(a.Draft), "due": nextDue(without, limits.DraftLife), "version": a.Version, "one": 1,
	}
	gone := " REMOVE #draft, #draft_at"
	condition := "#draft = :draft AND #ver = :version AND attribute_not_exists(#pin_at)"
	if !a.PinnedAt.IsZero() { // nothing falls due of it any more
		set = "SET #updated = :now"
		gone = gone + ", #g2p, #g2s"
		condition = "#draft = :draft AND #ver = :version AND attribute_exists(#pin_at)"
		delete(v, "due")
	}
	var t transaction
	t.update(s.tables.Core, artifactKey(a.ID), set+gone+" ADD #ver :one", condition, v, overtaken)
	t.update(s.tables.Core, revisionKey(a.ID, a.Draft), "SET #status = :retained, #g2p = :purge, #g2s = :now", "#status = :draft",
		values{
			"retained": string(artifact.Retained), "draft": string(artifact.Draft), "purge": queueOf(purgeDue, string(a.Draft)), "now": millisKey(at),
		}, overtaken)
	t.create(s.tables.Events, eventItem(e))
	return unlessOvertaken(s.commit(ctx, &t))
}

// Expire implements sweep.Store.
func (s Queue) Expire(ctx context.Context, a sweep.Artifact, at time.Time, e event.Event) error {
	owner := a.Owner
	if a.ClaimedFrom != "" {
		owner = a.ClaimedFrom
	}
	var t transaction
	t.update(s.tables.Core, artifactKey(a.ID),
		"SET #status = :expired, #own = :own, #exp = :exp, #updated = :now, #g1p = :gone, #g2p = :purge, #g2s = :due REMOVE #draft, #draft_at ADD #ver :one",
		"#status = :live AND #own = :owner AND #exp <= :now AND attribute_not_exists(#pin_at)",
		values{
			"expired": string(artifact.Expired), "own": string(a.Owner), "exp": a.ExpiresAt, "now": at, "gone": deletedOf(a.Owner),
			"purge": queueOf(purgeDue, string(a.ID)), "due": millisKey(at), "live": string(artifact.Live), "owner": string(owner), "one": 1,
		}, overtaken)
	if a.ClaimedFrom == "" { // a claim that commits meanwhile gives its artifacts more time
		t.check(s.tables.Core, fenceKey(a.Owner, rand.IntN(fences)), "attribute_not_exists(#into)", nil, overtaken)
	}
	t.create(s.tables.Events, eventItem(e))
	return unlessOvertaken(s.commit(ctx, &t))
}

// errOvertaken says that somebody else changed what a sweep wanted to change.
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

// EndSession implements sweep.Sessions. A session that is marked already counts as ended: its objects may still be there.
func (s Queue) EndSession(ctx context.Context, u upload.Session, at time.Time) (bool, error) {
	var t transaction
	t.update(s.tables.Core, uploadKey(u.ID), "SET #status = :expired", "(#status = :pending AND #exp <= :now) OR #status = :expired",
		values{"expired": string(upload.Expired), "pending": string(upload.Pending), "now": at}, overtaken)
	err := s.commit(ctx, &t)
	if errors.Is(err, errOvertaken) {
		return false, nil
	}
	return err == nil, err
}

// cleanup ends what is due of an upload session, and puts off what cannot be done.
type cleanup struct{ references }

var (
	_ sweep.Queue          = cleanup{}
	_ sweep.SessionCleanup = cleanup{}
)

// ForgetSession implements sweep.Ends. A reference that it made for a revision that never came goes along; one of its
// base's goes with the object. Of a finalized session the gate stays: it tells for which artifact its objects came. The rest
// stays as long as a repetition may ask for it.
func (s cleanup) ForgetSession(ctx context.Context, u upload.Session) error {
	set, v := "REMOVE #g2p, #g2s", values{"ttl": u.ExpiresAt.Add(limits.ReplayLife).Unix()}
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
	var objects []tree.Object
	for _, e := range entries {
		if e.Borrowed && !slices.Contains(objects, e.Object) {
			objects = append(objects, e.Object)
		}
	}
	if err != nil || len(objects) == 0 {
		return err
	}
	return s.RemoveReference(ctx, u.Revision, objects)
}

// Reschedule implements sweep.Rows.
func (s cleanup) Reschedule(ctx context.Context, r sweep.QueueItem, until time.Time, failures int) error {
	var k key
	k.pk, k.sk, _ = strings.Cut(r.Key, "\n")
	_, _, err := s.change(ctx, k, "SET #g2s = :until, #tried = :until, #tries = :tries", "#g2s = :due",
		values{"until": millisKey(until), "tries": failures, "due": millisKey(r.Due)})
	return err
}
