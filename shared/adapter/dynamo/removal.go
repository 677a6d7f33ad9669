package dynamo

import (
	"context"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/identity/member"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/lockdown"
	"vitrine/shared/publishing/sweep"
)

// Removals removes everything that a deleted workspace has.
type Removals struct {
	*db
	cleanup
}

var (
	_ sweep.Removals        = Removals{}
	_ sweep.PeopleRemovals  = Removals{}
	_ sweep.ContentRemovals = Removals{}
)

// removalStep is how many items of an index one step of a removal takes.
const removalStep = 25

// DueRemovals implements sweep.Removals.
func (s Removals) DueRemovals(ctx context.Context, now time.Time, n int) (out []sweep.Removal, err error) {
	found, err := s.dueItems(ctx, removalDue, now, n)
	for _, d := range found {
		r := sweep.Removal{
			Workspace: partitionID[id.Workspace](d.key),
			Clear:     d.getTime("clear"),
			QueueItem: d.queueItem(),
		}
		r.Homes = append(homesIn(d.item), r.Workspace)
		out = append(out, r)
	}
	return out, err
}

func homesIn(i item) (homes []id.Workspace) {
	for _, home := range i.getSet("homes") {
		homes = append(homes, id.Workspace(home))
	}
	return homes
}

// Begin implements sweep.Removals.
func (s Removals) Begin(ctx context.Context, w id.Workspace, now time.Time) (time.Time, bool, error) {
	_, begun, err := s.change(ctx, workspaceKey(w), "SET #removed = :now",
		"#deletes <= :now AND attribute_not_exists(#removed)", values{"now": now})
	if err != nil {
		return time.Time{}, false, err
	}
	if begun {
		return millis(now), true, nil
	}
	of, err := s.workspace(ctx, w)
	if err != nil || of == nil {
		return time.Time{}, err == nil, err
	}
	return of.RemovedAt, !of.RemovedAt.IsZero(), nil
}

// Note implements sweep.Removals.
func (s Removals) Note(ctx context.Context, w id.Workspace, clear time.Time) error {
	set, v := "SET #clear = :clear", values{"clear": clear}
	if clear.IsZero() {
		set, v = "REMOVE #clear", nil
	}
	_, _, err := s.change(ctx, removalKey(w), set, "attribute_exists(#pk)", v)
	return err
}

// Finish implements sweep.Removals. Once the metadata is gone, the workspace gets no new item, not even a lockdown. So
// what is swept afterwards is the rest.
func (s Removals) Finish(ctx context.Context, w id.Workspace, e event.Event) error {
	if _, err := s.deleteIf(ctx, s.tables.Core, workspaceKey(w), "attribute_exists(#removed)", nil); err != nil {
		return err
	}
	for _, pk := range []string{workspaceKey(w).pk, lockdownKey(lockdown.Workspace, string(w)).pk} {
		if _, err := s.removePartition(ctx, pk); err != nil {
			return err
		}
	}
	t := s.begin()
	t.remove(removalKey(w), "attribute_exists(#pk)", nil, overtaken)
	t.record(e)
	return unlessOvertaken(s.commit(ctx, t))
}

// RemoveRest implements sweep.ContentRemovals. It removes the workspaces that were claimed into this one completely,
// because what they point to is gone.
func (s Removals) RemoveRest(ctx context.Context, r sweep.Removal) (sweep.Left, error) {
	for _, home := range r.Homes {
		removed, err := s.removePartition(ctx, workspaceKey(home).pk, workspaceKey(r.Workspace))
		if err != nil || removed {
			return leftAfter(removed), err
		}
	}
	return sweep.Nothing, nil
}

func leftAfter(removed bool) sweep.Left {
	if removed {
		return sweep.More
	}
	return sweep.Nothing
}

// removePartition deletes the items of a small partition except kept, and reports whether there were any.
func (s Removals) removePartition(ctx context.Context, pk string, kept ...key) (removed bool, err error) {
	var keys []key
	err = s.each(ctx, listing{prefix: key{pk: pk}, only: keysOnly}, func(i item) error {
		if !slices.Contains(kept, i.key()) {
			keys = append(keys, i.key())
		}
		return nil
	})
	if err != nil {
		return false, err
	}
	return len(keys) > 0, s.deleteAll(ctx, keys)
}

// deleteAll deletes items of core by their keys.
func (s *db) deleteAll(ctx context.Context, keys []key) error {
	var writes []types.WriteRequest
	for _, k := range keys {
		writes = append(writes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: k.attributes()}})
	}
	return s.writeAll(ctx, writes)
}

// removeListed deletes the items that a partition of the list index names, and what also returns for each. An item that
// the index still shows after its deletion is checked again later.
func (s Removals) removeListed(ctx context.Context, list string, also func(item) []key) (sweep.Left, error) {
	listed, err := s.listed(ctx, list, removalStep)
	if err != nil || len(listed) == 0 {
		return sweep.Nothing, err
	}
	f, err := s.all(ctx, listed, true)
	if err != nil {
		return sweep.Nothing, err
	}
	var keys, further []key
	for k, i := range f {
		if keys = append(keys, k); also != nil {
			further = append(further, also(i)...)
		}
	}
	if len(keys) == 0 {
		return sweep.Later, nil
	}
	if err := s.deleteAll(ctx, further); err != nil { // further items first, because they are found through keys
		return sweep.Nothing, err
	}
	return sweep.More, s.deleteAll(ctx, keys)
}

// RemoveAccount implements sweep.PeopleRemovals. It marks the account first, so that the job that compares accounts
// with the payment provider cancels the subscription.
func (s Removals) RemoveAccount(ctx context.Context, r sweep.Removal, now time.Time) (sweep.Left, error) {
	a, err := Billing{s.db}.Account(ctx, r.Workspace)
	if err != nil || a.Version == 0 {
		return sweep.Nothing, err
	}
	if a.ClosedAt.IsZero() {
		_, _, err := s.change(ctx, billingKey(r.Workspace), "SET #closed = :now ADD #version :one",
			"attribute_exists(#pk) AND attribute_not_exists(#closed)", values{"now": now, "one": 1})
		return sweep.More, err
	}
	if a.Status.Payable() && now.Sub(a.ClosedAt) < limits.BillingPatience {
		return sweep.Later, nil
	}
	if a.Customer != "" {
		_, err := s.deleteIf(ctx, s.tables.Core, customerKey(a.Customer), "#ws = :ws", values{"ws": string(r.Workspace)})
		if err != nil {
			return sweep.Nothing, err
		}
	}
	_, err = s.deleteIf(ctx, s.tables.Core, billingKey(r.Workspace), "#version = :was", values{"was": a.Version})
	return sweep.More, err
}

// RemoveMembers implements sweep.PeopleRemovals.
func (s Removals) RemoveMembers(ctx context.Context, r sweep.Removal) (sweep.Left, error) {
	left, err := s.removeListed(ctx, grantsOf(r.Workspace), nil)
	if err != nil || left != sweep.Nothing {
		return left, err
	}
	members, err := s.beginning(ctx, memberKey(r.Workspace, ""))
	for _, i := range members {
		m := readMember(i, r.Workspace, sortID[id.Member](i.key()))
		left, err = s.removeListed(ctx, sessionsOf(r.Workspace, m.ID), nil)
		if err != nil || left != sweep.Nothing {
			return left, err
		}
		if err := s.removeMember(ctx, *m); err != nil {
			return sweep.Nothing, err
		}
	}
	return leftAfter(len(members) > 0), err
}

// beginning reads the first items of a partition whose sort keys begin with that of k. It reads strongly.
func (s Removals) beginning(ctx context.Context, k key) ([]item, error) {
	condition := "#pk = :pk AND begins_with(#sk, :sk)"
	out, err := s.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 &s.tables.Core,
		KeyConditionExpression:    &condition,
		ExpressionAttributeNames:  names(condition),
		ExpressionAttributeValues: values{"pk": k.pk, "sk": k.sk}.attributes(),
		ConsistentRead:            aws.Bool(true),
		Limit:                     aws.Int32(removalStep),
	})
	if err != nil {
		return nil, unavailable(err)
	}
	items := make([]item, len(out.Items))
	for n, i := range out.Items {
		items[n] = i
	}
	return items, nil
}

// removeMember deletes a member after everything that is found only through the member. The identity goes first, so
// that the person can sign up again.
func (s Removals) removeMember(ctx context.Context, m member.Member) error {
	mine := values{"mem": string(m.ID)}
	if _, err := s.deleteIf(ctx, s.tables.Core, identityKey(m.Issuer, m.Subject), "#mem = :mem", mine); err != nil {
		return err
	}
	if m.Listed != "" {
		me := values{"me": addressees(member.Addressee{Workspace: m.Workspace, Member: m.ID})}
		if _, _, err := s.change(ctx, addressKey(m.Listed), "DELETE #members :me", "attribute_exists(#pk)", me); err != nil {
			return err
		}
		_, err := s.deleteIf(ctx, s.tables.Core, addressKey(m.Listed), "attribute_not_exists(#members)", nil)
		if err != nil {
			return err
		}
	}
	return s.deleteAll(ctx, []key{memberKey(m.Workspace, m.ID)})
}

// RemoveCredentials implements sweep.PeopleRemovals.
func (s Removals) RemoveCredentials(ctx context.Context, r sweep.Removal) (sweep.Left, error) {
	for _, list := range []struct {
		name string
		also func(item) []key
	}{
		{name: keysOf(r.Workspace)},
		{name: revokedKeysOf(r.Workspace)},
		{name: registrationsOf(r.Workspace), also: claimTokenOf},
		{name: delegationsOf(r.Workspace)},
		{name: linksOf(r.Workspace)},
	} {
		left, err := s.removeListed(ctx, list.name, list.also)
		if err != nil || left != sweep.Nothing {
			return left, err
		}
	}
	return sweep.Nothing, nil
}

// claimTokenOf names the claim token of a registration.
func claimTokenOf(registration item) []key {
	if claim := id.Public(registration.getStr("claim")); claim != "" {
		return []key{claimTokenKey(claim)}
	}
	return nil
}
