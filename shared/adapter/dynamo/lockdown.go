package dynamo

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/lockdown"
)

// Lockdowns stores the lockdowns of artifacts and workspaces.
type Lockdowns struct{ *db }

var _ lockdown.Store = Lockdowns{}

// lockdownItem returns a lockdown in effect or, under a key of its own, one that was lifted. Its attributes have names
// that older list indexes carry: own is the target, title the reason, name the member that set it, and entry the member
// that lifted it.
func lockdownItem(l lockdown.Lockdown) item {
	k, list := lockdownKey(l.Scope, l.Target), lockdowns
	if !l.LiftedAt.IsZero() {
		k, list = liftedKey(l), lifted
	}
	return encode(k, &l, lockdownFields).
		str("g1p", list).str("g1s", timeKey(l.SetAt, l.ID))
}

func lockdownFields(f fields, l *lockdown.Lockdown) {
	text(f, "id", &l.ID)
	text(f, "kind", &l.Scope)
	text(f, "own", &l.Target)
	text(f, "title", &l.Reason)
	f.time("created", &l.SetAt)
	text(f, "name", &l.SetBy)
	f.time("deleted", &l.LiftedAt)
	text(f, "entry", &l.LiftedBy)
}

func readLockdown(i item) *lockdown.Lockdown {
	return decode(i, &lockdown.Lockdown{}, lockdownFields)
}

// Active implements lockdown.Store.
func (s Lockdowns) Active(ctx context.Context, scope lockdown.Scope, target string) (*lockdown.Lockdown, error) {
	i, err := s.get(ctx, lockdownKey(scope, target))
	return readLockdown(i), err
}

// Target implements lockdown.Store.
func (s Lockdowns) Target(ctx context.Context, scope lockdown.Scope, target string) (*lockdown.Target, error) {
	named, owner := id.Workspace(target), id.Workspace("")
	var created time.Time
	if scope == lockdown.Artifact {
		a, err := s.artifact(ctx, id.Artifact(target))
		if err != nil || a == nil {
			return nil, err
		}
		named, owner = a.Owner, a.Owner
		created = a.CreatedAt
	}
	w, err := s.workspace(ctx, named)
	if err != nil || w == nil {
		return nil, err
	}
	t := &lockdown.Target{
		Workspace:   w.ID,
		Owner:       owner,
		ClaimedInto: w.ClaimedInto,
		CreatedAt:   created,
	}
	if owner != "" && w.ClaimedInto != "" {
		t.Workspace = w.ClaimedInto
	}
	return t, nil
}

// Lock implements lockdown.Store. It does not lock the sources of claims, because a reader of an artifact that is still
// in a source checks the destination too.
func (s Lockdowns) Lock(ctx context.Context, c lockdown.Change) error {
	l := c.Lockdown
	v := values{"id": string(l.ID), "at": c.At}
	t := s.begin()
	t.finish(c.Command, c.Result, c.At)
	if c.Noop {
		t.check(lockdownKey(l.Scope, l.Target), "#id = :id", values{"id": string(l.ID)}, lockdownMoved)
		return s.commit(ctx, t)
	}
	t.put(lockdownItem(l), "attribute_not_exists(#pk)", nil, lockdownMoved)
	if l.Scope == lockdown.Artifact {
		u := updateArtifact(id.Artifact(l.Target))
		u.set("lock", string(l.ID))
		u.set("lock_at", c.At)
		u.requireValue("own", string(c.Target.Owner))
		t.updateArtifact(u, lockdownMoved)
		if err := s.withdraw(ctx, t, c.Target.Workspace, c.Target.CreatedAt, c.At, lockdownMoved); err != nil {
			return err
		}
	} else {
		w := id.Workspace(l.Target)
		t.update(workspaceKey(w), "SET #lock = :id, #lock_at = :at",
			"attribute_exists(#pk) AND attribute_not_exists(#into)", v, lockdownMoved)
		for n := range fences {
			t.update(fenceKey(w, n), "SET #lock = :id", "attribute_not_exists(#into)", values{"id": string(l.ID)}, lockdownMoved)
		}
	}
	t.record(c.Event)
	return s.commit(ctx, t)
}

func lockdownMoved(item) error { return lockdown.ErrMoved }

// Lift implements lockdown.Store.
func (s Lockdowns) Lift(ctx context.Context, c lockdown.Change) error {
	l := c.Lockdown
	mine := values{"id": string(l.ID)}
	t := s.begin()
	t.finish(c.Command, c.Result, c.At)
	t.remove(lockdownKey(l.Scope, l.Target), "#id = :id", mine, lockdownMoved)
	t.create(lockdownItem(l))
	if l.Scope == lockdown.Artifact {
		u := updateArtifact(id.Artifact(l.Target))
		u.remove("lock", "lock_at")
		u.requireValue("lock", string(l.ID))
		t.updateArtifact(u, lockdownMoved)
	} else {
		w := id.Workspace(l.Target)
		t.update(workspaceKey(w), "REMOVE #lock, #lock_at", "#lock = :id", mine, lockdownMoved)
		for n := range fences {
			t.update(fenceKey(w, n), "REMOVE #lock", "#lock = :id", mine, lockdownMoved)
		}
	}
	t.record(c.Event)
	return s.commit(ctx, t)
}

// List implements lockdown.Store. It reads the lockdowns in effect first, so that it meets one that is lifted meanwhile
// at least once.
func (s Lockdowns) List(ctx context.Context, after lockdown.Position, limit int) ([]lockdown.Lockdown, bool, error) {
	found := map[id.Lockdown]lockdown.Lockdown{}
	for _, list := range []string{lockdowns, lifted} {
		condition, v := "#g1p = :list", values{"list": list}
		if after.ID != "" {
			condition += " AND #g1s < :after"
			v["after"] = timeKey(after.At, after.ID)
		}
		out, err := s.client.Query(ctx, &dynamodb.QueryInput{
			TableName:                 &s.tables.Core,
			IndexName:                 aws.String(listIndex),
			KeyConditionExpression:    &condition,
			ExpressionAttributeNames:  names(condition),
			ExpressionAttributeValues: v.attributes(),
			ScanIndexForward:          aws.Bool(false),
			Limit:                     aws.Int32(int32(limit + 1)),
		})
		if err != nil {
			return nil, false, unavailable(err)
		}
		for _, i := range out.Items {
			l := readLockdown(i)
			found[l.ID] = *l
		}
	}
	rows := make([]lockdown.Lockdown, 0, len(found))
	for _, l := range found {
		rows = append(rows, l)
	}
	slices.SortFunc(rows, func(x, y lockdown.Lockdown) int {
		return cmp.Or(y.SetAt.Compare(x.SetAt), strings.Compare(string(y.ID), string(x.ID)))
	})
	return rows[:min(len(rows), limit)], len(rows) > limit, nil
}
