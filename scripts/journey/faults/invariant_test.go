package faults

import (
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// breach is damage that the invariants have to report. It is done to the first item whose key has the prefixes.
type breach struct {
	name, invariant string
	table           func(*harness.FaultEnv) string
	pk, sk          string
	set             map[string]any // nil removes the item
}

func coreTable(s *harness.FaultEnv) string { return s.Tables.Core }

func eventsTable(s *harness.FaultEnv) string { return s.Tables.Events }

func hotTable(s *harness.FaultEnv) string { return s.Tables.Hot }

var breaches = []breach{
	{"an artifact that never ends", "I2", coreTable, "A#", "META", map[string]any{"g2p": nil}},
	{"an artifact that falls due late", "I2", coreTable, "A#", "META", map[string]any{"g2s": "9999999999999"}},
	{"a number that is missing", "I4", coreTable, "A#", "R#", map[string]any{"no": 7}},
	{"a revision without files", "I4", coreTable, "A#", "R#", map[string]any{"files": nil}},
	{"a revision that ends early", "I4", coreTable, "A#", "R#", map[string]any{"status": "retained"}},
	{"another current revision", "I4", coreTable, "A#", "META", map[string]any{"cur": string(id.NewRevision())}},
	{"a draft that is none", "I4", coreTable, "A#", "META", map[string]any{"draft": string(id.NewRevision())}},
	{"a link to what is deleted", "I4", coreTable, "A#", "META", map[string]any{"status": "deleted"}},
	{"a stranger's link", "I4", coreTable, "AL#", "L", map[string]any{"art": string(id.NewArtifact())}},
	{"a counter above its cap", "I5", hotTable, "r:actor", "", map[string]any{"c": 126}},
	{"an allowance used twice", "I5", hotTable, "d:", "", map[string]any{"c": 2}},
	{"an allowance not used", "I5", hotTable, "d:", "", nil},
	{"more bytes than a day has", "I5", hotTable, "b:", "", map[string]any{"c": 4*20*25<<20/4 + 1}},
	{"a ttl in milliseconds", "I5", hotTable, "r:", "", map[string]any{"ttl": 1_700_000_000_000}},
	{"an action without event", "I6", eventsTable, "W#", "", nil},
	{"an event without action", "I6", coreTable, "U#", "META", nil},
	{"an event of something else", "I6", eventsTable, "W#", "", map[string]any{"on_id": "else"}},
	{"a workspace without claim token", "I6", coreTable, "CT#", "C", nil},
	{"a key without workspace", "I6", coreTable, "K#", "K", map[string]any{"ws": string(id.NewWorkspace())}},
	{"a draft without its session's end", "I6", coreTable, "U#", "META", map[string]any{"status": "pending"}},
	{"a claimed workspace that is open", "I7", coreTable, "W#", "META", map[string]any{"into": string(id.NewWorkspace())}},
	{"a change that is not counted", "I9", coreTable, "FB#", "F", map[string]any{"seq": 9}},
	{"a place of another state", "I9", coreTable, "FB#", "S#", map[string]any{"state": "resolved"}},
	{"a thread without its message", "I9", coreTable, "FB#", "N#", nil},
	{"open threads that no inbox has", "I9", coreTable, "FB#", "F", map[string]any{"g1p": nil}},
	{"a deletion that leaves the words", "I9", coreTable, "FB#", "T#", map[string]any{"state": "deleted"}},
	{"a thread that is lost", "I9", coreTable, "FB#", "T#", nil},
	{"a result that is lost", "I8", hotTable, "i:", "", map[string]any{"result": nil}},
	{"a state that is none", "I8", hotTable, "i:", "", map[string]any{"state": "failed"}},
	{"a lease without owner", "I8", hotTable, "i:", "", map[string]any{"state": "flight"}},
	{"a secret", "I8", eventsTable, "W#", "", map[string]any{"detail": "by ap_pk_preview_0000000000000000"}},
	{"a signed URL in a result", "I8", hotTable, "i:", "", map[string]any{"result": []byte(`{"u":"https://x"}`)}},
}

func TestTheInvariantsSeeEveryBreach(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	g := s.NewAgent(t)
	u := s.Upload(t, g, "", "sound")
	d := harness.Must(g.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
	harness.Must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	harness.WriteAbout(t, g, d.ArtifactID, contract.CreateThread{Body: "A remark"})
	s.CheckInvariants(t)
	for _, b := range breaches {
		t.Run(b.name, func(t *testing.T) {
			repair := s.Damage(t, b.table(s), b.pk, b.sk, b.set)
			s.WantBreach(t, b.invariant)
			repair()
		})
	}
	s.CheckInvariants(t)
	pending := "U#" + string(s.Upload(t, g, "", "pending").UploadSessionID)
	due := harness.Text(s.GetItem(t, pending, "META")["g2p"])
	s.Update(t, pending, "META", map[string]any{"g2p": nil})
	s.WantBreach(t, "I2")
	s.Update(t, pending, "META", map[string]any{"g2p": due})
	gapHidesLostActionsAndNotLostEvents(t, s, pending)
	s.PutObject(t, g, u.UploadSessionID, "077", "stranger")
	s.WantBreach(t, "I2")
	deleteSessionObject(t, s, g, u.UploadSessionID, "077")
	deleteSessionObject(t, s, g, u.UploadSessionID, "000")
	s.WantBreach(t, "I1")
	s.PutObject(t, g, u.UploadSessionID, "000", "shorter")
	s.WantBreach(t, "I1")
	s.PutObject(t, g, u.UploadSessionID, "000", string(harness.Page("sound").Body))
}

func TestTheInvariantsHoldWherePeopleComeIn(t *testing.T) {
	t.Parallel()
	s := harness.NewFaultEnv(t)
	s.SignedIn(t, "someone@example.org").CLIToken(t)
	s.RegisterAgent(t)
	s.CheckInvariants(t)
	removed := 0
	for _, e := range s.Scan(t, s.Tables.Events) {
		if harness.Text(e["action"]) == "workspace.created" {
			s.RewriteItem(t, s.Tables.Events, e, nil)
			s.WantBreach(t, "I6")
			s.RewriteItem(t, s.Tables.Events, e, map[string]any{})
			removed++
		}
	}
	if removed != 1 {
		t.Errorf("%d workspaces were created", removed)
	}
}

// gapHidesLostActionsAndNotLostEvents removes a session that an event of a gap tells, and then an event.
func gapHidesLostActionsAndNotLostEvents(t *testing.T, s *harness.FaultEnv, session string) {
	t.Helper()
	d := s.Deployment()
	d.Gap = invariant.Gap{From: s.Clock.Now(), To: s.Clock.Now().Add(time.Hour)}
	wantBreaches := func(what string, wanted bool) {
		t.Helper()
		told := slices.ContainsFunc(invariant.Check(ctx, d), func(err error) bool {
			return strings.HasPrefix(err.Error(), "I6: ") && strings.Contains(err.Error(), "events")
		})
		if told != wanted {
			t.Errorf("%s is told: %t, want %t", what, told, wanted)
		}
	}
	repair := s.Damage(t, s.Tables.Core, session, "META", nil)
	wantBreaches("an event of a lost action", false)
	repair()
	repair = s.Damage(t, s.Tables.Events, "W#", "", nil)
	wantBreaches("an action whose event is lost", true)
	d.Gap.To = s.Clock.Now().Add(limits.EventLife)
	wantBreaches("an action whose event has expired", false)
	d.Gap.To = s.Clock.Now().Add(time.Hour)
	repair()
	d.Gap = invariant.Gap{From: s.Clock.Now().Add(-2 * time.Hour), To: s.Clock.Now().Add(-time.Hour)}
	repair = s.Damage(t, s.Tables.Core, session, "META", nil)
	wantBreaches("a lost action after the gap", true)
	repair()
}
