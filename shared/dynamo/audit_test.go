package dynamo

import (
	"fmt"
	"testing"
	"time"

	"vitrine/shared/account"
	"vitrine/shared/contract"
	"vitrine/shared/cursor"
	"vitrine/shared/event"
	"vitrine/shared/fault"
	"vitrine/shared/id"
	"vitrine/shared/idempotency"
	"vitrine/shared/keyring"
)

var (
	noPosition account.Position
	noPage     account.Page
)

func newSteward(d *desk) *account.Steward {
	return &account.Steward{Store: d.Store, Now: func() time.Time { return d.clock }}
}

func newAuditor(t *testing.T, d *desk) *account.Auditor {
	t.Helper()
	codec, err := cursor.New(keyring.New().Seal)
	if err != nil {
		t.Fatal(err)
	}
	return &account.Auditor{Store: d.Store, Cursors: cursor.Events{Codec: codec}, Now: func() time.Time { return d.clock }}
}

func asked(name string, days int) contract.UpdateSettings {
	return contract.UpdateSettings{WorkspaceName: name, AutoDeletionDays: days}
}

// happened writes events, one a millisecond or two in the same.
func (d *desk) happened(t testing.TB, w id.Workspace, by ...event.Actor) {
	t.Helper()
	var tx transaction
	for n, a := range by {
		tx.create(d.tables.Events, eventItem(event.Event{
			ID: id.NewEvent(), Workspace: w, At: d.clock.Add(time.Duration(n/2) * time.Millisecond), Action: event.ArtifactPublished, Actor: a,
			Target: event.Target{Type: "revision", ID: fmt.Sprint(n)}, Detail: "title", RequestID: "request-1",
		}))
	}
	if err := d.commit(ctx, &tx); err != nil {
		t.Fatal(err)
	}
}

func TestTheRecordIsShownNewestFirstWithoutWhatTheServiceDid(t *testing.T) {
	d := newDesk(t)
	p, other := d.person(t), d.person(t)
	auditor, by := newAuditor(t, d), d.actor(t, p)
	who := event.ByMember(p.member.ID)
	operator, admin := event.Actor{Type: "platform", ID: "op"}, event.Actor{Type: "admin", ID: "mem_x"}
	key := event.Actor{Type: "api_key", ID: "key_x"}
	d.happened(t, p.home.ID, who, event.BySystem(), key, operator, admin, event.BySystem(), event.BySystem(), event.BySystem(), who)
	d.happened(t, other.home.ID, event.ByMember(other.member.ID))
	seen := map[string]bool{}
	last, pages, next := time.Time{}, 0, ""
	for more := true; more; pages++ {
		list, err := auditor.List(ctx, by, account.Page{Limit: 2, Cursor: next})
		if err != nil || len(list.Items) > 2 || pages > 3 {
			t.Fatal(pages, len(list.Items), err)
		}
		for _, row := range list.Items {
			if !last.IsZero() && row.Time.After(last) || seen[row.Target] {
				t.Errorf("%+v comes late or twice", row)
			}
			seen[row.Target], last = true, row.Time.Time
			if row.ChangeSummary != "Published a revision: title" || row.RequestID != "request-1" || row.Action != "artifact.published" || row.ID == "" {
				t.Errorf("%+v", row)
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
	if _, err := auditor.List(ctx, d.actor(t, other), account.Page{Cursor: next}); fault.CodeOf(err) != fault.InvalidCursor {
		t.Error("a cursor of another workspace opens", err)
	}
	if _, err := auditor.List(ctx, by, account.Page{Limit: 101}); fault.CodeOf(err) != fault.InvalidRequest {
		t.Error(err)
	}
}

func TestSettingsAreReadBackAndTheirChangeIsRecorded(t *testing.T) {
	d := newDesk(t)
	p := d.person(t)
	steward, by := newSteward(d), d.actor(t, p)
	first, err := steward.Settings(by)
	if err != nil || first.WorkspaceName != "Home" || first.AutoDeletionDays != 3 || first.AutoDeletionBounds.MinDays != 1 || first.AutoDeletionBounds.MaxDays != 7 {
		t.Errorf("%+v %v", first, err)
	}
	c := wish(by, idempotency.UpdateSettings, "")
	changed, err := steward.Update(ctx, by, c, nil, asked("  Studio ", 7))
	if err != nil || changed.WorkspaceName != "Studio" || changed.AutoDeletionDays != 7 || changed.UsagePolicy.BytesPerDay != by.Policy.ArtifactSize {
		t.Errorf("%+v %v", changed, err)
	}
	now := d.actor(t, p)
	if got, err := steward.Settings(now); err != nil || got != changed || now.Workspace.Epoch != p.home.Epoch || now.Workspace.ClaimedAt.IsZero() {
		t.Errorf("%+v %+v %v", got, now.Workspace, err)
	}
	if again, err := steward.Update(ctx, now, c, nil, asked("Studio", 7)); err != nil || again != changed {
		t.Errorf("the repetition answers %+v %v", again, err)
	}
	for _, tt := range []contract.UpdateSettings{asked(" ", 3), asked("x", 0), asked("x", 8), asked("x", 90), asked("x", -1)} {
		if _, err := steward.Update(ctx, now, wish(by, idempotency.UpdateSettings, ""), nil, tt); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	list, err := newAuditor(t, d).List(ctx, now, noPage)
	if err != nil || len(list.Items) != 1 {
		t.Fatal(list, err)
	}
	const want = `Changed the settings: name is now "Studio"; artifacts live 7 days unless asked otherwise`
	if row := list.Items[0]; row.ChangeSummary != want || row.Actor != "member:"+string(p.member.ID) || row.Target != "workspace:"+string(p.home.ID) {
		t.Errorf("%+v", row)
	}
}
