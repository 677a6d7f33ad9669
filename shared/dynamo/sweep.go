package dynamo

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/artifact"
	"vitrine/shared/event"
	"vitrine/shared/id"
	"vitrine/shared/limits"
	"vitrine/shared/tree"
	"vitrine/shared/upload"
)

// The kinds of due rows beside migration.
const (
	artifactDue = "ARTIFACT"
	sessionDue  = "SESSION"
	purgeDue    = "PURGE"
)

// dueKeys lists the keys of up to n items of a kind that are due at an instant, the oldest of each part first. Each part
// has its share, so that none waits for what cannot be done in another. The index may be behind, so that whoever acts on
// them reads them again.
func (s *Store) dueKeys(ctx context.Context, kind string, now time.Time, n int) (out []key, err error) {
	condition := "#g2p = :kind AND #g2s <= :now"
	for part := range dueParts {
		found, err := s.client.Query(ctx, &dynamodb.QueryInput{
			TableName: &s.tables.Core, IndexName: aws.String(dueIndex), KeyConditionExpression: &condition, ExpressionAttributeNames: names(condition),
			ExpressionAttributeValues: values{"kind": duePart(kind, part), "now": sortable(now)}.attributes(), Limit: aws.Int32(int32((n + dueParts - 1) / dueParts)),
		})
		if err != nil {
			return nil, unavailable(err)
		}
		for _, i := range found.Items {
			out = append(out, key{item(i).getStr("pk"), item(i).getStr("sk")})
		}
	}
	return out, nil
}

// DueArtifacts implements sweep.Store.
func (s *Store) DueArtifacts(ctx context.Context, now time.Time, n int) ([]artifact.Artifact, error) {
	keys, err := s.dueKeys(ctx, artifactDue, now, n)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	b := batch{strong: true}
	for _, k := range keys {
		b.want(k)
	}
	f, err := s.read(ctx, b)
	if err != nil {
		return nil, err
	}
	var due []artifact.Artifact
	for _, k := range keys {
		named := id.Artifact(strings.TrimPrefix(k.pk, artifactKey("").pk))
		a := readArtifact(f.at(k), named)
		if a == nil {
			continue
		}
		w, err := s.Workspace(ctx, a.Owner)
		if err != nil {
			return nil, err
		}
		if w != nil && w.Into != "" {
			a = a.ClaimedFrom(*w)
		}
		due = append(due, *a)
	}
	return due, nil
}

// DueSessions implements sweep.Store.
func (s *Store) DueSessions(ctx context.Context, now time.Time, n int) ([]upload.Session, error) {
	return s.dueSessions(ctx, sessionDue, now, n)
}

// dueSessions reads the sessions of which something of a kind is due.
func (s *Store) dueSessions(ctx context.Context, kind string, now time.Time, n int) ([]upload.Session, error) {
	keys, err := s.dueKeys(ctx, kind, now, n)
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	b := batch{strong: true}
	for _, k := range keys {
		b.want(k)
	}
	f, err := s.read(ctx, b)
	if err != nil {
		return nil, err
	}
	var out []upload.Session
	for _, k := range keys {
		if i := f.at(k); strings.HasPrefix(i.getStr("g2p"), dueOf(kind)) {
			out = append(out, sessionOf(i, id.Session(strings.TrimPrefix(k.pk, sessionKey("").pk))))
		}
	}
	return out, nil
}

// errSettled says that somebody else changed what a sweep wanted to change.
var errSettled = errors.New("the item changed meanwhile")

func settled(item) error { return errSettled }

// Discard implements sweep.Store.
func (s *Store) Discard(ctx context.Context, a artifact.Artifact, at time.Time, e event.Event) error {
	without := a
	without.Draft = ""
	set, v := "SET #updated = :now, #g2s = :due", values{"now": at, "draft": string(a.Draft), "due": nextDue(without, limits.DraftLife), "one": 1}
	gone := " REMOVE #draft, #draft_at"
	condition := "#draft = :draft AND attribute_not_exists(#pin_at)"
	if !a.PinnedAt.IsZero() { // nothing falls due of it any more
		set, gone, condition = "SET #updated = :now", gone+", #g2p, #g2s", "#draft = :draft AND attribute_exists(#pin_at)"
		delete(v, "due")
	}
	var t transaction
	t.update(s.tables.Core, artifactKey(a.ID), set+gone+" ADD #ver :one", condition, v, settled)
	t.update(s.tables.Core, revisionKey(a.ID, a.Draft), "SET #status = :retained, #g2p = :purge, #g2s = :now", "#status = :draft",
		values{
			"retained": string(artifact.Retained), "draft": string(artifact.Draft), "purge": due(purgeDue, string(a.Draft)), "now": sortable(at),
		}, settled)
	t.create(s.tables.Events, eventItem(e))
	return unlessSettled(s.commit(ctx, &t))
}

// Expire implements sweep.Store.
func (s *Store) Expire(ctx context.Context, a artifact.Artifact, at time.Time, e event.Event) error {
	owner := a.Owner
	if a.From != "" {
		owner = a.From
	}
	var t transaction
	t.update(s.tables.Core, artifactKey(a.ID),
		"SET #status = :expired, #own = :own, #exp = :exp, #updated = :now, #g1p = :gone, #g2p = :purge, #g2s = :due REMOVE #draft, #draft_at ADD #ver :one",
		"#status = :live AND #own = :owner AND #exp <= :now AND attribute_not_exists(#pin_at)",
		values{
			"expired": string(artifact.Expired), "own": string(a.Owner), "exp": a.ExpiresAt, "now": at, "gone": goneOf(a.Owner),
			"purge": due(purgeDue, string(a.ID)), "due": sortable(at), "live": string(artifact.Live), "owner": string(owner), "one": 1,
		}, settled)
	if a.From == "" { // a claim that commits meanwhile gives its artifacts more time
		t.check(s.tables.Core, fenceKey(a.Owner, rand.IntN(fences)), "attribute_not_exists(#into)", nil, settled)
	}
	t.create(s.tables.Events, eventItem(e))
	return unlessSettled(s.commit(ctx, &t))
}

func unlessSettled(err error) error {
	if errors.Is(err, errSettled) {
		return nil
	}
	return err
}

// EndSession implements sweep.Store. A session that is marked already counts as ended: its objects may still be there.
func (s *Store) EndSession(ctx context.Context, u upload.Session, at time.Time) (bool, error) {
	var t transaction
	t.update(s.tables.Core, sessionKey(u.ID), "SET #status = :expired", "(#status = :pending AND #exp <= :now) OR #status = :expired",
		values{"expired": string(upload.Expired), "pending": string(upload.Pending), "now": at}, settled)
	err := s.commit(ctx, &t)
	if errors.Is(err, errSettled) {
		return false, nil
	}
	return err == nil, err
}

// ForgetSession implements sweep.Ends. A reference that it made for a revision that never came goes along; one of its
// base's goes with the object.
func (s *Store) ForgetSession(ctx context.Context, u upload.Session) error {
	if u.Status != upload.Finalized {
		if err := s.unreferAll(ctx, u); err != nil {
			return err
		}
	}
	_, _, err := s.change(ctx, sessionKey(u.ID), "REMOVE #g2p, #g2s", "attribute_exists(#pk)", nil)
	return err
}

func (s *Store) unreferAll(ctx context.Context, u upload.Session) error {
	_, entries, err := s.Session(ctx, u.ID)
	var objects []tree.Object
	for _, e := range entries {
		if e.Borrowed && !slices.Contains(objects, e.Object) {
			objects = append(objects, e.Object)
		}
	}
	if err != nil || len(objects) == 0 {
		return err
	}
	return s.Unrefer(ctx, u.Revision, objects)
}
