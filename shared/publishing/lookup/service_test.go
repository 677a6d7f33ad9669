package lookup

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/abuse"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/lockdown"
)

var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// fakeStore has one artifact with a link, in a workspace with a key.
type fakeStore struct {
	link     link.Link
	artifact artifact.Artifact
	owners   map[id.Workspace]*workspace.Workspace
	key      credential.Key
	locks    map[string]lockdown.Lockdown // by target
	events   []event.Event
	members  map[member.Address][]member.Addressee
	err      error // of the next record
	readErr  error // of links and artifacts
	lockErr  error // of locks of artifacts
	reads    int
	minted   []token.Claims
	copied   time.Time // when the data was copied
}

func (f *fakeStore) Link(_ context.Context, p id.Public) (*link.Link, error) {
	f.reads++
	if p != f.link.Public {
		return nil, f.readErr
	}
	return &f.link, f.readErr
}

func (f *fakeStore) Artifact(_ context.Context, a id.Artifact) (*artifact.Artifact, error) {
	f.reads++
	if a != f.artifact.ID || f.readErr != nil {
		return nil, f.readErr
	}
	return &f.artifact, nil
}

func (f *fakeStore) Workspace(_ context.Context, w id.Workspace) (*workspace.Workspace, error) {
	f.reads++
	return f.owners[w], nil
}

func (f *fakeStore) Key(_ context.Context, p id.Public) (*credential.Key, error) {
	f.reads++
	if p != f.key.Public {
		return nil, nil
	}
	return &f.key, nil
}

func (f *fakeStore) ByAddress(_ context.Context, a member.Address) ([]member.Addressee, error) {
	f.reads++
	return f.members[a], nil
}

func (f *fakeStore) Record(_ context.Context, all ...event.Event) error {
	if f.err == nil {
		f.events = append(f.events, all...)
	}
	return f.err
}

func (f *fakeStore) Active(_ context.Context, scope lockdown.Scope, target string) (*lockdown.Lockdown, error) {
	if l, locked := f.locks[target]; locked {
		return &l, nil
	}
	if scope == lockdown.Artifact {
		return nil, f.lockErr
	}
	return nil, nil
}

func (f *fakeStore) Hot(_ context.Context, since, now time.Time) ([]rate.Hot, error) {
	f.reads++
	return []rate.Hot{{Artifact: f.artifact.ID, At: since}, {Artifact: f.artifact.ID, At: now}}, nil
}

func (f *fakeStore) Newest(context.Context) (time.Time, error) {
	f.reads++
	return f.copied, nil
}

func (f *fakeStore) Content(claims token.Claims) (string, error) {
	f.minted = append(f.minted, claims)
	return "https://content.test/v/token/", nil
}

func newEnv() (*Service, *fakeStore, credential.Actor) {
	owner, shown, public := id.NewWorkspace(), id.NewArtifact(), id.NewPublic()
	f := &fakeStore{
		link: link.Link{Public: id.NewPublic(), Artifact: shown},
		artifact: artifact.Artifact{
			ID:         shown,
			Owner:      owner,
			Status:     artifact.Live,
			Current:    id.NewRevision(),
			Entrypoint: "a b.html",
			ExpiresAt:  noon.Add(time.Hour),
		},
		owners: map[id.Workspace]*workspace.Workspace{owner: {ID: owner}},
		key:    credential.Key{ID: id.NewKey(public), Public: public, Workspace: owner},
		locks:  map[string]lockdown.Lockdown{},
	}
	s := &Service{
		Store:   f,
		Locks:   f,
		Reader:  abuse.Reader{Origins: address.Origins{App: "https://app.test", Content: "https://content.test"}},
		URLs:    f,
		Marks:   f,
		Members: f,
		Copies:  f,
		Now:     func() time.Time { return noon },
	}
	return s, f, credential.Actor{Member: "mem", Operator: noon.Add(-time.Minute), RequestID: "req"}
}

func TestALookUpTellsWhatIsPastedAndRecordsItsId(t *testing.T) {
	s, f, by := newEnv()
	shown, owner := string(f.artifact.ID), f.artifact.Owner
	public, key := string(f.link.Public), string(f.key.ID)
	secret := "ap_pk_preview_" + string(f.key.Public) + "_the-secret-of-it"
	for pasted, want := range map[string]struct {
		kind, id string
		found    bool
	}{
		shown:                                    {event.OnArtifact, shown, true},
		" https://app.test/v/" + shown + "?x#y ": {event.OnArtifact, shown, true},
		public:                                   {event.OnLink, public, true},
		"https://app.test/al/" + public + "#the-secret-of-it": {event.OnLink, public, true},
		string(owner):                   {event.OnWorkspace, string(owner), true},
		key:                             {event.OnKey, key, true},
		secret:                          {event.OnKey, key, true},
		string(f.key.Public):            {event.OnKey, key, true},
		string(f.artifact.Current):      {event.OnRevision, string(f.artifact.Current), false},
		string(id.NewArtifact()):        {event.OnArtifact, "", false},
		string(id.NewPublic()):          {event.OnLink, "", false},
		string(id.NewWorkspace()):       {event.OnWorkspace, "", false},
		string(id.NewMember()):          {event.OnMember, "", false},
		string(id.NewReport()):          {event.OnReport, "", false},
		string(id.NewExport()):          {event.OnExport, "", false},
		string(id.NewLockdown()) + "\n": {event.OnLockdown, "", false},
	} {
		f.events = nil
		got, err := s.Find(t.Context(), by, pasted)
		if err != nil || got.Kind != want.kind || want.id != "" && got.ID != want.id || got.Found() != want.found ||
			want.found && got.Workspace.ID != owner {
			t.Errorf("%q: %+v, %v", pasted, got, err)
			continue
		}
		e := f.events[0]
		if len(f.events) != 1 || e.Action != event.LookedUp || e.Actor != event.ByOperator("mem") ||
			e.Target != (event.Target{Type: got.Kind, ID: got.ID}) || strings.Contains(e.Target.ID+e.Detail, "secret") ||
			(e.Workspace == owner) != want.found || e.RequestID != "req" {
			t.Errorf("%q is recorded as %+v", pasted, f.events)
		}
	}
}

func TestAnEmailAddressLeadsToItsMembersAndIsKeptNowhere(t *testing.T) {
	s, f, by := newEnv()
	two := []member.Addressee{
		{Workspace: id.NewWorkspace(), Member: id.NewMember()}, {Workspace: id.NewWorkspace(), Member: id.NewMember()},
	}
	f.members = map[member.Address][]member.Addressee{"ada@example.org": two}
	got, err := s.Find(t.Context(), by, "  Ada@Example.org\n")
	if err != nil || !got.Found() || !slices.Equal(got.Members, two) || got.Workspace != nil || got.ID != "" {
		t.Errorf("%+v, %v, want both members alone", got, err)
	}
	none, err := s.Find(t.Context(), by, "eve@example.org")
	if err != nil || none.Found() || none.Kind != event.OnMember {
		t.Errorf("%+v, %v, want nobody", none, err)
	}
	want := []struct {
		w      id.Workspace
		target string
		detail string
	}{
		{two[0].Workspace, string(two[0].Member), "found"}, {two[1].Workspace, string(two[1].Member), "found"},
		{id.NoWorkspace, noMember, "not found"},
	}
	if len(f.events) != len(want) {
		t.Fatalf("recorded %+v", f.events)
	}
	for n, e := range f.events {
		if e.Workspace != want[n].w || e.Target != (event.Target{Type: event.OnMember, ID: want[n].target}) ||
			e.Detail != want[n].detail || e.Action != event.LookedUp || n > 0 && e.ID == f.events[n-1].ID {
			t.Errorf("recorded %+v", e)
		}
	}
	f.err = errors.New("the tables are away")
	if _, err := s.Find(t.Context(), by, "ada@example.org"); !errors.Is(err, f.err) {
		t.Error(err)
	}
}

func TestWhatIsNoIdIsNotRecorded(t *testing.T) {
	s, f, by := newEnv()
	for _, pasted := range []string{
		"", "hello", "https://evil.test/al/" + string(f.link.Public), "ap_pk_x", "rev_1", "a@b@c", "Ada <ada@example.org>", "xyz_" + strings.Repeat("0", 26),
	} {
		if _, err := s.Find(t.Context(), by, pasted); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%q: %v", pasted, err)
		}
	}
	if len(f.events)+f.reads > 0 {
		t.Errorf("%d reads, %v", f.reads, f.events)
	}
}

func TestALookUpThatIsNotRecordedTellsNothing(t *testing.T) {
	s, f, by := newEnv()
	f.err = errors.New("the tables are away")
	if _, err := s.Find(t.Context(), by, string(f.artifact.ID)); !errors.Is(err, f.err) {
		t.Error(err)
	}
	o, err := s.Open(t.Context(), by, f.artifact.ID, "other")
	if !errors.Is(err, f.err) || o.URL != "" || f.minted != nil {
		t.Errorf("%+v, %v, want no URL without a record", o, err)
	}
}

func TestWhatCannotBeReadIsNotMissing(t *testing.T) {
	s, f, by := newEnv()
	f.readErr = fault.NewCode(fault.DatabaseUnavailable)
	for _, pasted := range []string{string(f.link.Public), string(id.NewPublic()), string(f.artifact.ID)} {
		if got, err := s.Find(t.Context(), by, pasted); !errors.Is(err, f.readErr) {
			t.Errorf("Find(%q) = %+v, %v, want %v", pasted, got, err, f.readErr)
		}
	}
	if got, err := s.Open(t.Context(), by, f.artifact.ID, "other"); !errors.Is(err, f.readErr) {
		t.Errorf("Open = %+v, %v, want %v", got, err, f.readErr)
	}
}

func TestContentWhoseLocksCannotBeReadIsNotOpened(t *testing.T) {
	s, f, by := newEnv()
	f.lockErr = fault.NewCode(fault.DatabaseUnavailable)
	if got, err := s.Open(t.Context(), by, f.artifact.ID, "other"); !errors.Is(err, f.lockErr) || f.minted != nil {
		t.Errorf("Open = %+v, %v, want %v", got, err, f.lockErr)
	}
}

func TestLocksAndOwnersAreThoseOfNow(t *testing.T) {
	s, f, by := newEnv()
	source := f.owners[f.artifact.Owner]
	source.ClaimedInto = id.NewWorkspace()
	f.owners[source.ClaimedInto] = &workspace.Workspace{ID: source.ClaimedInto}
	for _, target := range []string{string(f.artifact.ID), string(source.ClaimedInto)} {
		f.locks[target] = lockdown.Lockdown{Target: target}
	}
	got, err := s.Find(t.Context(), by, string(f.artifact.ID))
	if err != nil || got.Workspace.ID != source.ClaimedInto || len(got.Locks) != 2 {
		t.Errorf("%+v, %v, want the destination and both lockdowns", got, err)
	}
}

func TestContentOpensWithAReasonThatIsRecorded(t *testing.T) {
	s, f, by := newEnv()
	got, err := s.Open(t.Context(), by, f.artifact.ID, " phishing_report ")
	until := noon.Add(limits.OperatorFresh)
	if err != nil || got.URL != "https://content.test/v/token/a%20b.html" || !got.Until.Equal(until) {
		t.Fatalf("%+v, %v, want a URL for a short time", got, err)
	}
	want := token.Claims{
		Workspace: f.artifact.Owner,
		Artifact:  f.artifact.ID,
		Revision:  f.artifact.Current,
		NoIndex:   true,
		Expires:   until,
	}
	if len(f.minted) != 1 || f.minted[0] != want {
		t.Errorf("minted %+v", f.minted)
	}
	if e := f.events[0]; len(f.events) != 1 || e.Action != event.ContentOpened || e.Detail != "phishing_report" ||
		e.Revision != f.artifact.Current || e.Workspace != f.artifact.Owner {
		t.Errorf("recorded %+v", f.events)
	}
}

func TestContentThatCannotBeOpenedIsNotRecorded(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*fakeStore)
		reason string
		want   fault.Code
	}{
		"no reason": {func(*fakeStore) {}, " ", fault.InvalidRequest},
		"a lock": {func(f *fakeStore) {
			f.locks[string(f.artifact.ID)] = lockdown.Lockdown{Reason: "other"}
		}, "other", fault.InvalidRequest},
		"a lock of the workspace": {func(f *fakeStore) {
			f.locks[string(f.artifact.Owner)] = lockdown.Lockdown{Reason: "other"}
		}, "other", fault.InvalidRequest},
		"a deletion":     {func(f *fakeStore) { f.artifact.Status = artifact.Deleted }, "other", fault.NotFound},
		"an end":         {func(f *fakeStore) { f.artifact.ExpiresAt = noon }, "other", fault.NotFound},
		"only a draft":   {func(f *fakeStore) { f.artifact.Current = "" }, "other", fault.NotFound},
		"a lost owner":   {func(f *fakeStore) { clear(f.owners) }, "other", fault.NotFound},
		"a malformed id": {func(f *fakeStore) { f.artifact.ID = "art_x" }, "other", fault.NotFound},
	} {
		s, f, by := newEnv()
		c.change(f)
		if _, err := s.Open(t.Context(), by, f.artifact.ID, c.reason); fault.CodeOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
		if len(f.events) > 0 || f.minted != nil {
			t.Errorf("%s: %+v, %+v", name, f.events, f.minted)
		}
	}
}

func TestWhatIsHotIsThatOfTheLastHour(t *testing.T) {
	s, _, by := newEnv()
	if hot, err := s.Hot(t.Context(), by); err != nil || len(hot) != 2 || !hot[0].At.Equal(noon.Add(-time.Hour)) ||
		!hot[1].At.Equal(noon) {
		t.Errorf("%+v, %v, want this hour and the one before", hot, err)
	}
}

func TestOnlyOperatorsLookUp(t *testing.T) {
	s, f, by := newEnv()
	by.Operator = time.Time{}
	_, err1 := s.Find(t.Context(), by, string(f.artifact.ID))
	_, err2 := s.Open(t.Context(), by, f.artifact.ID, "other")
	_, err3 := s.Hot(t.Context(), by)
	_, err4 := s.OldCopy(t.Context(), by)
	for _, err := range []error{err1, err2, err3, err4} {
		expect.Code(t, err, fault.NotFound)
	}
	if f.reads+len(f.events) > 0 {
		t.Errorf("%d reads, %d events", f.reads, len(f.events))
	}
}

func TestOnlyACopyThatIsOldIsTold(t *testing.T) {
	s, f, by := newEnv()
	for age, told := range map[time.Duration]bool{limits.CopyAge: false, limits.CopyAge + time.Second: true} {
		f.copied = noon.Add(-age)
		if at, err := s.OldCopy(t.Context(), by); err != nil || at.IsZero() == told {
			t.Errorf("a copy that is %s old: %v, %v", age, at, err)
		}
	}
	f.copied = time.Time{}
	if at, err := s.OldCopy(t.Context(), by); err != nil || !at.IsZero() {
		t.Errorf("without a copy: %v, %v", at, err)
	}
}
