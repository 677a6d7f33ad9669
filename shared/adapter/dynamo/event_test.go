package dynamo

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/shared/identity/account"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
)

var (
	noPosition account.Position
	noPage     account.Page
)

func newSteward(d *desk) *account.Service {
	return &account.Service{Workspaces: d.Workspaces, Now: func() time.Time { return d.clock }}
}

func newAuditor(t *testing.T, d *desk) *account.Service {
	t.Helper()
	codec := must(cursor.New(keyring.New().Seal))(t)
	return &account.Service{Events: d.Events, Cursors: codec, Now: func() time.Time { return d.clock }}
}

func asked(name string, days int) contract.UpdateSettings {
	return contract.UpdateSettings{WorkspaceName: name, AutoDeletionDays: days}
}

// happened writes events, one a millisecond or two in the same.
func (d *desk) happened(t testing.TB, w id.Workspace, by ...event.Actor) {
	t.Helper()
	tx := d.begin()
	for n, a := range by {
		tx.record(event.Event{
			ID:        id.NewEvent(),
			Workspace: w,
			At:        d.clock.Add(time.Duration(n/2) * time.Millisecond),
			Action:    event.ArtifactPublished,
			Actor:     a,
			Target:    event.Target{Type: "revision", ID: fmt.Sprint(n)},
			Detail:    "title",
			RequestID: "request-1",
		})
	}
	noError(t, d.commit(ctx, tx))
}

func TestTheRecordIsShownNewestFirstWithoutWhatTheServiceDid(t *testing.T) {
	d := newDesk(t)
	p, other := d.person(t), d.person(t)
	auditor, by := newAuditor(t, d), d.actor(t, p)
	who := event.ByMember(p.member.ID)
	operator, admin := event.Actor{Type: "platform", ID: "op"}, event.Actor{Type: "admin", ID: "mem_x"}
	key := event.Actor{Type: "api_key", ID: "key_x"}
	d.happened(t, p.home.ID, who, event.BySystem(), key, operator, admin, event.BySystem(), event.BySystem(),
		event.BySystem(), who)
	d.happened(t, other.home.ID, event.ByMember(other.member.ID))
	seen := map[string]bool{}
	last := time.Time{}
	pages := 0
	next := ""
	for more := true; more; pages++ {
		list, err := auditor.AuditLog(ctx, by, account.Page{Limit: 2, Cursor: next})
		if err != nil || len(list.Items) > 2 || pages > 3 {
			t.Fatal(pages, len(list.Items), err)
		}
		for _, row := range list.Items {
			if !last.IsZero() && row.Time.After(last) || seen[row.Target] {
				t.Errorf("%+v comes late or twice", row)
			}
			seen[row.Target], last = true, row.Time.Time
			if row.ChangeSummary != "Published a revision: title" || row.RequestID != "request-1" ||
				row.Action != "artifact.published" || row.ID == "" {
				t.Errorf("%+v, want the publication as it was recorded", row)
			}
		}
		if more = list.PageInfo.HasMore; more {
			next = *list.PageInfo.NextCursor
		} else if list.PageInfo.NextCursor != nil {
			t.Error("the last page has a cursor")
		}
	}
	if fmt.Sprint(seen) != "map[revision:0:true revision:2:true revision:4:true revision:8:true]" {
		t.Errorf("%v", seen)
	}
	_, err := auditor.AuditLog(ctx, d.actor(t, other), account.Page{Cursor: next})
	if fault.CodeOf(err) != fault.InvalidCursor {
		t.Error("a cursor of another workspace opens", err)
	}
	if _, err := auditor.AuditLog(ctx, by, account.Page{Limit: 101}); fault.CodeOf(err) != fault.InvalidRequest {
		t.Error(err)
	}
}

// TestARecordThatTheServiceFilledIsReadInBoundedPages hides two deeds of a member behind more than one request may
// look at.
func TestARecordThatTheServiceFilledIsReadInBoundedPages(t *testing.T) {
	d := newDesk(t)
	p := d.person(t)
	auditor, by := newAuditor(t, d), d.actor(t, p)
	who := event.ByMember(p.member.ID)
	d.happened(t, p.home.ID, who, who)
	for range 24 { // three of them are what the store looks at in one query
		d.clock = d.clock.Add(time.Second)
		i := eventItem(event.Event{
			ID:        id.NewEvent(),
			Workspace: p.home.ID,
			At:        d.clock,
			Action:    event.ArtifactExpired,
			Actor:     event.BySystem(),
			Detail:    strings.Repeat("x", 340<<10),
		})
		must(d.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &d.tables.Events, Item: i}))(t)
	}
	queries := 0
	found, next := 0, ""
	for more := true; more; queries++ {
		list, err := auditor.AuditLog(ctx, by, account.Page{Limit: 1, Cursor: next})
		if err != nil || queries > 20 {
			t.Fatal(queries, err)
		}
		if queries == 0 && (len(list.Items) != 0 || !list.PageInfo.HasMore) {
			t.Errorf("the first page has %d rows and more: %t", len(list.Items), list.PageInfo.HasMore)
		}
		found += len(list.Items)
		if more = list.PageInfo.HasMore; more {
			next = *list.PageInfo.NextCursor
		}
	}
	if found != 2 {
		t.Errorf("%d of 2 deeds were found in %d pages", found, queries)
	}
}

func TestEventsEndForReadersAndForTheTable(t *testing.T) {
	d := newDesk(t)
	p := d.person(t)
	auditor, by := newAuditor(t, d), d.actor(t, p)
	who := event.ByMember(p.member.ID)
	d.happened(t, p.home.ID, who)
	begun := d.clock
	until := eventItem(event.Event{At: begun}).getSeconds("ttl")
	if !until.Equal(begun.Add(limits.EventLife).Truncate(time.Second)) {
		t.Errorf("the table keeps it to %s", until)
	}
	d.clock = begun.Add(limits.EventLife)
	d.happened(t, p.home.ID, who)
	events := func(f account.Filter) (seen []event.Event) {
		for after, more := noPosition, true; more; { // a page ends early where the machine is slow
			var rows []event.Event
			var err error
			rows, after, more, err = d.Events.List(ctx, f, d.clock, after, 10)
			noError(t, err)
			seen = append(seen, rows...)
		}
		return seen
	}
	for late, want := range map[time.Duration]int{0: 2, time.Millisecond: 1} {
		d.clock = begun.Add(limits.EventLife + late)
		if list, err := auditor.AuditLog(ctx, by, noPage); err != nil || len(list.Items) != want || list.PageInfo.HasMore {
			t.Errorf("%s later: %+v %v", late, list, err)
		}
		if seen := events(account.Filter{TargetType: "revision"}); len(seen) != want {
			t.Errorf("%s later operators see %+v", late, seen)
		}
	}
	d.clock = begun.Add(limits.EventLife)
	for since, want := range map[time.Duration]int{0: 2, time.Millisecond: 1} {
		if seen := events(account.Filter{Since: begun.Add(since)}); len(seen) != want {
			t.Errorf("since %s after the first there are %+v", since, seen)
		}
	}
}

func TestSettingsAreReadBackAndTheirChangeIsRecorded(t *testing.T) {
	d := newDesk(t)
	p := d.person(t)
	steward, by := newSteward(d), d.actor(t, p)
	first, err := steward.Settings(by)
	if err != nil || first.WorkspaceName != "Home" || first.AutoDeletionDays != 3 ||
		first.AutoDeletionBounds.MinDays != 1 || first.AutoDeletionBounds.MaxDays != 7 {
		t.Errorf("%+v %v, want the workspace's defaults", first, err)
	}
	c := wish(by, idempotency.UpdateSettings, "")
	changed, err := steward.UpdateSettings(ctx, by, c, nil, asked("  Studio ", 7))
	if err != nil || changed.WorkspaceName != "Studio" || changed.AutoDeletionDays != 7 ||
		changed.UsagePolicy.BytesPerDay != by.Policy.ArtifactSize {
		t.Errorf("%+v %v, want the name trimmed and 7 days", changed, err)
	}
	now := d.actor(t, p)
	if got, err := steward.Settings(now); err != nil || got != changed || now.Workspace.Epoch != p.home.Epoch ||
		now.Workspace.ClaimedAt.IsZero() {
		t.Errorf("%+v %+v %v, want what the change answered", got, now.Workspace, err)
	}
	if again, err := steward.UpdateSettings(ctx, now, c, nil, asked("Studio", 7)); err != nil || again != changed {
		t.Errorf("the repetition answers %+v %v", again, err)
	}
	for _, bad := range []contract.UpdateSettings{asked(" ", 3), asked("x", 0), asked("x", 8), asked("x", -1)} {
		_, err := steward.UpdateSettings(ctx, now, wish(by, idempotency.UpdateSettings, ""), nil, bad)
		if fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%+v: %v", bad, err)
		}
	}
	list, err := newAuditor(t, d).AuditLog(ctx, now, noPage)
	if err != nil || len(list.Items) != 1 {
		t.Fatal(list, err)
	}
	const want = `Changed the settings: name is now "Studio"; artifacts live 7 days unless asked otherwise`
	if row := list.Items[0]; row.ChangeSummary != want || row.Actor != "member:"+string(p.member.ID) ||
		row.Target != "workspace:"+string(p.home.ID) {
		t.Errorf("%+v, want the change, by the member", row)
	}
}
