package replay_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/tables"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// made are events that nothing stores, one a minute from start.
func made(start time.Time, n int, action event.Action, by event.Actor) (all []event.Event) {
	for k := range n {
		all = append(all, event.Event{
			ID:        id.NewEvent(),
			Workspace: "11111111-1111-4111-8111-111111111111",
			At:        start.Add(time.Duration(k) * time.Minute),
			Action:    action,
			Actor:     by,
			Target:    event.Target{Type: event.OnArtifact, ID: string(id.NewArtifact())},
			RequestID: fmt.Sprint("req_", k),
		})
	}
	return all
}

var noon = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

func TestManyDeletionsNeedADecision(t *testing.T) {
	rogue := event.ByMember("mem_rogue")
	deleted := made(noon.Add(time.Hour), 101, event.ArtifactDeleted, rogue)
	revoked := made(noon.Add(time.Hour), 101, event.LinkRevoked, rogue)
	for name, c := range map[string]struct {
		events []event.Event
		except []replay.Exception
		parts  []string // of the refusal; none: it is not refused
	}{
		"100 deletions are done": {deleted[:100], nil, nil},
		"101 are not": {deleted, nil, []string{
			"101 events artifact.deleted", "60 of them by member mem_rogue", "2026-11-29 13h", "--except",
		}},
		"101 revocations are not":            {revoked, nil, []string{"101 events access_link.revoked"}},
		"an empty list is a decision":        {deleted, []replay.Exception{}, nil},
		"an exception is a decision":         {deleted, []replay.Exception{{Actor: "mem_rogue"}}, nil},
		"others are not counted":             {made(noon, 101, event.ArtifactPinned, rogue), nil, nil},
		"kinds are counted for each":         {append(deleted[:60:60], revoked[:60]...), nil, nil},
		"an event that is read twice is one": {append(deleted[:60:60], deleted[:60]...), nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := expect.Value(replay.New(c.events, noon, c.except))(t)
			if err := p.Decided(); c.parts == nil {
				expect.OK(t, err)
			} else {
				expect.Error(t, err, c.parts...)
			}
		})
	}
}

func TestAnExceptionLeavesOutWhatHasAllItsProperties(t *testing.T) {
	rogue, other := event.ByMember("mem_rogue"), event.ByMember("mem_other")
	events := append(made(noon, 3, event.ArtifactDeleted, rogue), made(noon, 2, event.LinkRevoked, rogue)...)
	events = append(events, made(noon, 1, event.ArtifactDeleted, other)...)
	events = append(events, made(noon, 1, event.WorkspaceClaimed, event.ByMember("mem_forged"))...)
	for name, c := range map[string]struct {
		except replay.Exception
		left   string
	}{
		"an actor":              {replay.Exception{Actor: "mem_rogue"}, "5 events"},
		"a request":             {replay.Exception{Request: "req_2"}, "1 event"},
		"another workspace":     {replay.Exception{Workspace: "w"}, "0 events"},
		"a beginning":           {replay.Exception{From: noon.Add(time.Minute)}, "3 events"},
		"an end":                {replay.Exception{To: noon.Add(time.Minute)}, "4 events"},
		"an actor and an end":   {replay.Exception{Actor: "mem_other", To: noon.Add(time.Minute)}, "1 event"},
		"deletions of a theft":  {replay.Exception{From: noon, Deletions: true}, "5 events"},
		"deletions of an actor": {replay.Exception{Actor: "mem_rogue", Deletions: true}, "3 events"},
	} {
		t.Run(name, func(t *testing.T) {
			p := expect.Value(replay.New(events, noon, []replay.Exception{c.except}))(t)
			var out strings.Builder
			p.Print(&out)
			expect.Has(t, "the plan", out.String(), "left out by exceptions: "+c.left+"\n")
		})
	}
}

func TestTheEndOfARestoreLeavesOutWhatItsBeginningDid(t *testing.T) {
	someone := event.ByMember("mem_someone")
	events := append(made(noon, 1, event.ArtifactDeleted, someone), made(noon, 1, event.WorkspaceClaimed, someone)...)
	later := noon.Add(time.Hour)
	events = append(events, made(later, 1, event.LinkRevoked, someone)...)
	for newest, want := range map[time.Time]string{
		{}:                         "3 events",
		noon.Add(8 * time.Minute):  "3 events",
		later.Add(8 * time.Minute): "2 events",
		later.Add(time.Hour):       "1 event",
	} {
		p := expect.Value(replay.New(events, noon, nil))(t)
		var out strings.Builder
		p.Since(newest).Print(&out)
		expect.Has(t, "after "+newest.String(), out.String(), "done again: "+want+"\n")
	}
	p := expect.Value(replay.New(events, noon, nil))(t)
	for now, want := range map[time.Time]time.Time{later: later, noon.Add(time.Minute): noon, noon.Add(-time.Hour): {}} {
		if got := p.Newest(now); !got.Equal(want) {
			t.Errorf("at %s the newest event is of %s, want %s", now, got, want)
		}
	}
}

func TestAFileOfExceptionsIsReadWholeOrRefused(t *testing.T) {
	for text, want := range map[string]any{
		`[]`: []replay.Exception{},
		`[{"actor":"mem_1","from":"2026-11-29T12:00:00Z","deletions":true}]`: []replay.Exception{
			{Actor: "mem_1", From: noon, Deletions: true},
		},
		`[{}]`:               "an exception without a field",
		`[{"actr":"mem_1"}]`: "actr",
		`null`:               "write []",
		`[] []`:              "goes on",
		`{"actor":"mem_1"}`:  "no list of exceptions",
		``:                   "no list of exceptions",
		`[{"from":"2026-11-29T12:00:00Z","to":"2026-11-29T12:00:00Z"}]`: "ends before it begins",
	} {
		t.Run(text, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "except.json")
			expect.OK(t, os.WriteFile(file, []byte(text), 0o600))
			all, err := replay.ReadExceptions(file)
			if part, refused := want.(string); refused {
				expect.Error(t, err, part)
			} else if diff := cmp.Diff(want, all); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
	if _, err := replay.New(nil, noon, []replay.Exception{{}}); err == nil {
		t.Error("an exception that matches everything is taken")
	}
}

func TestThePlanIsPrintedByActionActorWorkspaceAndHour(t *testing.T) {
	events := made(noon.Add(58*time.Minute), 3, event.ArtifactDeleted, event.ByMember("mem_1"))
	events = append(events, made(noon, 1, event.KeyRevoked, event.BySystem())...)
	events = append(events, made(noon, 2, event.KeyCreated, event.ByMember("mem_1"))...)
	events = append(events, made(noon.Add(-time.Minute), 1, event.LinkCreated, event.ByMember("mem_1"))...)
	p := expect.Value(replay.New(events, noon, []replay.Exception{{Actor: "vitrine"}}))(t)
	var out strings.Builder
	p.Print(&out)
	want := `Since 2026-11-29T12:00:00Z:
done again: 3 events
  artifact.deleted  member mem_1  workspace 11111111-1111-4111-8111-111111111111  2026-11-29 12h  2
  artifact.deleted  member mem_1  workspace 11111111-1111-4111-8111-111111111111  2026-11-29 13h  1
left out by exceptions: 1 event
  api_key.revoked  system vitrine  workspace 11111111-1111-4111-8111-111111111111  2026-11-29 12h  1
cannot be told from events: 2 events
  workspace 11111111-1111-4111-8111-111111111111  api_key.created  2  the key is gone; it has to be made again
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Error(diff)
	}
}

// TestManyEventsAreCopiedOnce also has the database answer a part of what was asked, as it does under load.
func TestManyEventsAreCopiedOnce(t *testing.T) {
	t.Parallel()
	faults := chaos.For(t)
	faults.On("BatchGetItem").Nth(3).Times(20).Unprocessed(7)
	living := tables.New(t, faults.Add)
	set := invariant.Deployment{DynamoDB: living.DB, Tables: living.Names, Limits: limits.Default()}
	all := made(noon, 230, event.KeyCreated, event.BySystem())
	all = append(all, made(noon, 130, event.ArtifactDeleted, event.BySystem())...)
	p := expect.Value(replay.New(all, noon, nil))(t)
	for range 2 {
		report := expect.Value(p.Apply(t.Context(), set, noon))(t)
		if n := report.Counts[event.ArtifactDeleted][replay.Unknown]; n != 130 {
			t.Errorf("%d deletions of what is not there, want 130: %v", n, report.Lines)
		}
	}
	living.WantEvents(t, event.KeyCreated, 230)
	living.WantEvents(t, event.ArtifactDeleted, 130)
}

func TestAForgedEventCommandsNoTerminal(t *testing.T) {
	forged := made(noon, 101, event.ArtifactDeleted, event.ByMember("mem\x1b[2J\ndone again: 0 events"))
	for n := range forged {
		forged[n].Workspace = "w\x1b]0;title\a\n\u202e"
	}
	p := expect.Value(replay.New(forged, noon, nil))(t)
	var out strings.Builder
	p.Print(&out)
	said := out.String() + p.Decided().Error()
	if strings.ContainsAny(said, "\x1b\a\u202e") || strings.Contains(said, "\ndone again: 0 events") {
		t.Errorf("%q", said)
	}
}
