package account

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
)

// fakeStore keeps what a test gives it, and remembers what it was asked.
type fakeStore struct {
	used    int
	err     error
	updates []SettingsUpdate
	events  []event.Event // of a page
	more    bool
	asked   Filter
	after   Position
	limit   int
}

func (f *fakeStore) ArtifactsToday(context.Context, id.Workspace, time.Time) (int, error) {
	return f.used, f.err
}

func (f *fakeStore) UpdateSettings(_ context.Context, u SettingsUpdate) error {
	f.updates = append(f.updates, u)
	return f.err
}

func (f *fakeStore) List(
	_ context.Context, asked Filter, _ time.Time, after Position, limit int,
) ([]event.Event, Position, bool, error) {
	f.asked, f.after, f.limit = asked, after, limit
	return f.events, Position{At: time.UnixMilli(1000).UTC(), ID: "evt_1"}, f.more, f.err
}

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

func newService(t *testing.T) (*Service, *fakeStore) {
	t.Helper()
	cursors, err := cursor.New(keyring.New().Seal)
	if err != nil {
		t.Fatal(err)
	}
	store, numbers := &fakeStore{}, limits.Default()
	return &Service{
		Allowance:  store,
		Workspaces: store,
		Events:     store,
		Cursors:    cursors,
		Limits:     &numbers,
		Now:        func() time.Time { return noon },
	}, store
}

// administrator is a member of a workspace who may do everything but operate.
func administrator() credential.Actor {
	return credential.Actor{
		Member:    id.NewMember(),
		Scopes:    []credential.Scope{credential.Read, credential.Admin},
		Policy:    limits.Default().Tiers[limits.Free],
		Workspace: workspace.Workspace{ID: id.NewWorkspace(), Name: "Seals", ClaimedAt: noon, AutoDays: 3},
	}
}

func TestSettingsAreChangedWithinTheirBounds(t *testing.T) {
	policy := administrator().Policy
	least, most := days(policy.MinLife), days(policy.MaxLife)
	for name, c := range map[string]struct {
		name string
		days int
		code fault.Code
	}{
		"the shortest life":       {"Tides", least, ""},
		"the longest life":        {"Tides", most, ""},
		"a name with spaces":      {"  Tides  ", most, ""},
		"too short a life":        {"Tides", least - 1, fault.InvalidRequest},
		"too long a life":         {"Tides", most + 1, fault.InvalidRequest},
		"no name":                 {" ", most, fault.InvalidRequest},
		"a name that is too long": {strings.Repeat("n", limits.WorkspaceNameRunes+1), most, fault.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			s, store := newService(t)
			asked := contract.UpdateSettings{WorkspaceName: c.name, AutoDeletionDays: c.days}
			got, err := s.UpdateSettings(t.Context(), administrator(), idempotency.Command{}, nil, asked)
			expect.Code(t, err, c.code)
			if (len(store.updates) == 1) != (c.code == "") {
				t.Fatalf("%d updates", len(store.updates))
			}
			if c.code != "" {
				return
			}
			u := store.updates[0]
			if got.WorkspaceName != "Tides" || got.AutoDeletionDays != c.days || u.Name != "Tides" || u.AutoDays != c.days {
				t.Errorf("%+v by %+v: want Tides and the days", got, u)
			}
			var stored contract.Settings
			if err := json.Unmarshal(u.Result, &stored); err != nil || stored != got {
				t.Errorf("a repetition would answer %+v, %v", stored, err)
			}
		})
	}
}

func TestARepeatedChangeOfSettingsAnswersItsFirstResult(t *testing.T) {
	s, store := newService(t)
	r := &idempotency.Record{
		Done:    true,
		Result:  []byte(`{"workspace_name":"First"}`),
		Expires: noon.Add(time.Hour),
	}
	got, err := s.UpdateSettings(t.Context(), administrator(), idempotency.Command{}, r, contract.UpdateSettings{})
	if err != nil || got.WorkspaceName != "First" || len(store.updates) != 0 {
		t.Errorf("%+v after %d updates, %v, want the recorded result", got, len(store.updates), err)
	}
}

func TestTheRecordSaysWhatIsDifferent(t *testing.T) {
	for name, c := range map[string]struct {
		name string
		days int
		want string
	}{
		"nothing": {"Seals", 3, "nothing is different"},
		"a name":  {"Tides", 3, `name is now "Tides"`},
		"a life":  {"Seals", 5, "artifacts live 5 days unless asked otherwise"},
		"both":    {"Tides", 5, `name is now "Tides"; artifacts live 5 days unless asked otherwise`},
	} {
		t.Run(name, func(t *testing.T) {
			s, store := newService(t)
			asked := contract.UpdateSettings{WorkspaceName: c.name, AutoDeletionDays: c.days}
			if _, err := s.UpdateSettings(t.Context(), administrator(), idempotency.Command{}, nil, asked); err != nil {
				t.Fatal(err)
			}
			if got := store.updates[0].Event.Detail; got != c.want {
				t.Errorf("it says %q, want %q", got, c.want)
			}
		})
	}
}

func TestALifeWithoutAnEndIsASetting(t *testing.T) {
	by := administrator()
	by.Policy.MaxLife = limits.Forever
	for days, want := range map[int]fault.Code{
		limits.ForeverDays: "", 3650: "", limits.ForeverDays + 1: fault.InvalidRequest, 0: fault.InvalidRequest,
	} {
		s, store := newService(t)
		asked := contract.UpdateSettings{WorkspaceName: "Seals", AutoDeletionDays: days}
		got, err := s.UpdateSettings(t.Context(), by, idempotency.Command{}, nil, asked)
		expect.Code(t, err, want)
		if want == "" && (got.AutoDeletionDays != days || got.AutoDeletionBounds.MaxDays != limits.ForeverDays) {
			t.Errorf("UpdateSettings to %d days = %+v", days, got)
		}
		if days == limits.ForeverDays && store.updates[0].Event.Detail != "artifacts do not expire unless asked otherwise" {
			t.Errorf("the record says %q", store.updates[0].Event.Detail)
		}
	}
}

func TestOnlyAdministratorsSeeAndChangeWhatIsTheirs(t *testing.T) {
	s, _ := newService(t)
	reader := administrator()
	reader.Scopes = []credential.Scope{credential.Read}
	_, err := s.Settings(reader)
	expect.Code(t, err, fault.Forbidden)
	_, err = s.UpdateSettings(t.Context(), reader, idempotency.Command{}, nil, contract.UpdateSettings{WorkspaceName: "N"})
	expect.Code(t, err, fault.Forbidden)
	_, err = s.AuditLog(t.Context(), reader, Page{})
	expect.Code(t, err, fault.Forbidden)
}

func TestWhatIsLeftOfTheDayIsLeftOutWhenItCannotBeRead(t *testing.T) {
	s, store := newService(t)
	store.used = 4
	by := administrator()
	read := s.Policy(t.Context(), by)
	store.err = errors.New("away")
	unread := s.Policy(t.Context(), by)
	used := 4
	if diff := cmp.Diff(workspace.UsagePolicy(s.Limits, limits.Free, &used), read); diff != "" {
		t.Errorf("the policy (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(workspace.UsagePolicy(s.Limits, limits.Free, nil), unread); diff != "" {
		t.Errorf("the policy without the count (-want +got):\n%s", diff)
	}
}

func TestTheAuditLogShowsOneWorkspacePageByPage(t *testing.T) {
	s, store := newService(t)
	store.events = []event.Event{{ID: "evt_2", At: noon, Action: event.KeyCreated, Detail: "laptop"}}
	store.more = true
	by := administrator()
	first, err := s.AuditLog(t.Context(), by, Page{})
	if err != nil || len(first.Items) != 1 || first.Items[0].ChangeSummary != "Made an API key: laptop" {
		t.Fatal(first, err)
	}
	want := Filter{Workspace: by.Workspace.ID, Actors: []string{event.Member, event.Key, event.Admin}}
	if !cmp.Equal(store.asked, want) || store.limit != limits.DefaultPage || store.after != (Position{}) {
		t.Errorf("asked for %d of %+v after %+v", store.limit, store.asked, store.after)
	}
	next := Page{Cursor: *first.PageInfo.NextCursor, Limit: 7}
	if _, err := s.AuditLog(t.Context(), by, next); err != nil || store.after.ID != "evt_1" || store.limit != 7 {
		t.Errorf("the next page begins after %+v, %v", store.after, err)
	}
	_, err = s.AuditLog(t.Context(), administrator(), next)
	expect.Code(t, err, fault.InvalidCursor)
}

func TestOnlyOperatorsSeeTheOperatorLog(t *testing.T) {
	s, _ := newService(t)
	_, err := s.OperatorLog(t.Context(), administrator(), Query{}, Page{Limit: 50})
	expect.Code(t, err, fault.NotFound)
}

func TestFiltersOfTheOperatorLog(t *testing.T) {
	of := id.NewWorkspace()
	for name, c := range map[string]struct {
		asked Query
		want  Filter
		code  fault.Code
	}{
		"none":                        {Query{}, Filter{}, ""},
		"a workspace":                 {Query{Workspace: new(string(of))}, Filter{Workspace: of}, ""},
		"a workspace of another form": {Query{Workspace: new("x")}, Filter{}, fault.InvalidRequest},
		"an empty workspace":          {Query{Workspace: new("")}, Filter{}, fault.InvalidRequest},
		"an empty type of actor":      {Query{ActorType: new("")}, Filter{}, fault.InvalidRequest},
		"an empty action":             {Query{Action: new("")}, Filter{}, fault.InvalidRequest},
		"an empty type of target":     {Query{TargetType: new("")}, Filter{}, fault.InvalidRequest},
		"an empty request":            {Query{RequestID: new("")}, Filter{}, fault.InvalidRequest},
		"an empty focus":              {Query{Focus: new("")}, Filter{}, fault.InvalidRequest},
		"a type of actor":             {Query{ActorType: new(event.Member)}, Filter{ActorType: event.Member}, ""},
		"an unknown type of actor":    {Query{ActorType: new("robot")}, Filter{}, fault.InvalidRequest},
		"an action":                   {Query{Action: new("artifact.deleted")}, Filter{Actions: []event.Action{event.ArtifactDeleted}}, ""},
		"an unknown action":           {Query{Action: new("artifact.framed")}, Filter{}, fault.InvalidRequest},
		"a type of target":            {Query{TargetType: new(event.OnKey)}, Filter{TargetType: event.OnKey}, ""},
		"an unknown type of target":   {Query{TargetType: new("x")}, Filter{}, fault.InvalidRequest},
		"a request":                   {Query{RequestID: new("req")}, Filter{RequestID: "req"}, ""},
		"a short request":             {Query{RequestID: new("r")}, Filter{RequestID: "r"}, ""},
		"a long request":              {Query{RequestID: new(strings.Repeat("r", 129))}, Filter{}, fault.InvalidRequest},
		"everything":                  {Query{Focus: new("all")}, Filter{}, ""},
		"security":                    {Query{Focus: new("security")}, Filter{Actions: security}, ""},
		"the lives of things":         {Query{Focus: new("lifecycle")}, Filter{Others: security}, ""},
		"an unknown focus":            {Query{Focus: new("sales")}, Filter{}, fault.InvalidRequest},
		"an action of the focus": {
			Query{Focus: new("security"), Action: new("artifact.deleted")},
			Filter{Actions: []event.Action{event.ArtifactDeleted}}, "",
		},
		"an action outside the focus": {
			Query{Focus: new("security"), Action: new("artifact.created")},
			Filter{
				Actions: []event.Action{event.ArtifactCreated},
				Others:  []event.Action{event.ArtifactCreated},
			}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, store := newService(t)
			by := administrator()
			by.Operator = noon
			_, err := s.OperatorLog(t.Context(), by, c.asked, Page{Limit: 50})
			expect.Code(t, err, c.code)
			if diff := cmp.Diff(c.want, store.asked); diff != "" {
				t.Errorf("asked for (-want +got):\n%s", diff)
			}
		})
	}
}

func TestMembersAreNotToldOfReports(t *testing.T) {
	for _, hidden := range []event.Action{event.ArtifactReported, event.LockdownSet, event.LockdownLifted} {
		if slices.Contains(told, hidden) {
			t.Errorf("%s is told", hidden)
		}
	}
}

func TestAnActionOfANewerVersionIsNamed(t *testing.T) {
	if got := AuditRow(event.Event{Action: "artifact.framed", Detail: "gold"}).ChangeSummary; got != "artifact.framed: gold" {
		t.Errorf("%q", got)
	}
}
