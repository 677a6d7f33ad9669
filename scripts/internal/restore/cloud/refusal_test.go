package cloud

import (
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"

	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
)

func TestARestoreIsRefusedBeforeAnythingIsMade(t *testing.T) {
	d := newDeployment(t)
	d.Clock.Advance(time.Hour)
	at := d.standIn.remember(d.Tables.Core, d.Tables.Events)
	d.Clock.Advance(time.Hour)
	core := d.standIn.settings[d.Tables.Core]
	foreign := d.name + "-restore-20260101T000000Z-core"
	tests := []struct {
		name   string
		change func() (undo func())
		at     time.Time
		with   func(*Restore)
		want   string
	}{
		{name: "no instant", want: "say the instant"},
		{name: "an instant to come", at: d.Clock.Now().Add(time.Hour), want: "a past one"},
		{name: "an instant that cannot be restored yet", at: d.Clock.Now().Add(-time.Minute), want: "history reaches to"},
		{name: "an instant before the history", at: at.Add(-36 * 24 * time.Hour), want: "its history begins"},
		{name: "an instant older than the versions of files", at: at, want: "keeps deleted files for 0 days",
			change: func() func() { d.bucket.days = 0; return func() { d.bucket.days = 14 } }},
		{name: "a table without history", at: at, want: "no point-in-time recovery",
			change: func() func() { core.History = false; return func() { core.History = true } }},
		{name: "a table of somebody else", at: at, want: "lacks the tag vitrine=" + d.name,
			change: func() func() { core.Tags[nameTag] = "other"; return func() { core.Tags[nameTag] = d.name } }},
		{name: "a table with other keys", at: at, want: "it has [HASH PK ], not [HASH pk RANGE sk",
			change: func() func() { return d.settle(t, set{Tables: d.otherTables(t), Bucket: "vitrine"}) }},
		{name: "a table that was never there", at: at, want: "DynamoDB kept no backup",
			change: func() func() { return d.settle(t, set{Tables: dynamo.Named("none"), Bucket: "vitrine"}) }},
		{name: "a bucket without versions", at: at, want: "keeps no versions",
			change: func() func() {
				d.bucket.status = types.BucketVersioningStatusSuspended
				return func() { d.bucket.status = "" }
			}},
		{name: "a bucket whose policy was changed", at: at, want: "lacks DenyFunctionsVersions",
			change: func() func() {
				whole := d.bucket.policy
				d.bucket.policy = `{"Statement":[{"Sid":"DenyOverwrites"}]}`
				return func() { d.bucket.policy = whole }
			}},
		{name: "another bucket and no files", at: at, want: "say where its files come from",
			with: func(r *Restore) { r.Bucket = "another" }},
		{name: "another restore", at: at, want: "another restore of " + d.name + " has made the table " + foreign,
			change: func() func() {
				expect.OK(t, engine.CreateTable(t.Context(), d.DB, foreign))
				return func() {
					_, err := d.DB.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &foreign})
					expect.OK(t, err)
				}
			}},
		{name: "the words of another deployment", at: at, want: "name Vitrine, and " + d.name,
			with: func(r *Restore) { r.Words = []string{"--yes"} }},
		{name: "words that are none", at: at, want: `not "keep=no"`,
			with: func(r *Restore) { r.Words = []string{"keep=no"} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.change != nil {
				defer tt.change()()
			}
			r := d.restore(tt.at)
			if tt.with != nil {
				tt.with(&r)
			}
			expect.Error(t, r.Run(t.Context()), tt.want)
			expect.Error(t, r.Plan(t.Context()), tt.want)
			if w, err := r.open(); w != nil || err != nil || len(d.account.calls) > 0 {
				t.Errorf("a refused restore left %v, %v, %v", w, err, d.account.calls)
			}
		})
	}
}

// settle makes the deployment run on a set, until undo.
func (d *deployment) settle(t *testing.T, s set) (undo func()) {
	d.writeSettings(t, s)
	return func() { d.writeSettings(t, set{d.Tables, d.Options.Engines.Bucket}) }
}

// otherTables makes tables of something else.
func (d *deployment) otherTables(t *testing.T) dynamo.Tables {
	other := dynamo.Named(d.Options.Tables + "-other")
	for _, name := range []string{other.Core, other.Events, other.Hot} {
		expect.OK(t, engine.CreateTable(t.Context(), d.DB, name))
	}
	return other
}

func TestCommandsAreRefusedOutOfTheirOrder(t *testing.T) {
	l := newLoss(t)
	none := l.restore(time.Time{})
	for _, command := range []func() error{
		func() error { return none.Check(t.Context()) },
		func() error { return none.Switch(t.Context()) },
		func() error { return none.Open(t.Context(), true) },
		func() error { return none.Abandon(t.Context()) },
	} {
		expect.Error(t, command(), "plan and run one")
	}
	expect.OK(t, l.restore(l.at).Run(t.Context()))
	expect.Error(t, none.Open(t.Context(), false), "switch first")
	expect.Error(t, l.restore(l.at.Add(-time.Second)).Run(t.Context()), "is under way")
	expect.OK(t, none.locked(func() error {
		expect.Error(t, none.Switch(t.Context()), "another process")
		return nil
	}))
	expect.OK(t, none.Switch(t.Context()))
	expect.Error(t, none.Abandon(t.Context()), "functions may run on the restored set", l.Tables.Core)
}

// TestADeploymentThatChangedNoFunctionCanBeAbandoned lets scripts/deploy fail before it has changed anything.
func TestADeploymentThatChangedNoFunctionCanBeAbandoned(t *testing.T) {
	l := newLoss(t)
	before := l.account.running()
	expect.OK(t, l.restore(l.at).Run(t.Context()))
	w := l.restored(t)
	expect.OK(t, w.take(t.Context(), w.switching()[:3]))
	l.account.left = 1
	expect.Error(t, l.restore(time.Time{}).Switch(t.Context()), deployStep)
	if !l.restored(t).Deploys {
		t.Error("the journal does not know that functions may have changed")
	}
	expect.OK(t, l.abandon(t)())
	if after := l.account.running(); after != before {
		t.Errorf("abandoned, the deployment has %s, not %s", after, before)
	}
}

// TestAMassDeletionIsDecidedBeforeTheServiceStops records deletions as a thief with the role of a function may.
func TestAMassDeletionIsDecidedBeforeTheServiceStops(t *testing.T) {
	l := newLoss(t)
	expect.OK(t, l.restore(l.at).Run(t.Context()))
	store := dynamo.New(l.DB, l.Tables).Lookups
	for range 101 {
		expect.OK(t, store.Record(t.Context(), event.Event{
			ID:        id.NewEvent(),
			At:        l.Clock.Now(),
			Workspace: l.workspace,
			Actor:     event.BySystem(),
			Action:    event.ArtifactDeleted,
			Target:    event.Target{Type: event.OnArtifact, ID: string(id.NewArtifact())},
		}))
	}
	before := l.account.running()
	expect.Error(t, l.restore(time.Time{}).Switch(t.Context()), "artifact.deleted", "run again with exceptions")
	if after := l.account.running(); after != before {
		t.Errorf("a refused switch left %s, not %s", after, before)
	}
	decide := func(except []replay.Exception) func(*Restore) {
		return func(r *Restore) { r.Except = except }
	}
	late := []replay.Exception{{Deletions: true}}
	expect.Error(t, l.restore(time.Time{}, decide(late)).Run(t.Context()), "applied already: abandon")
	expect.OK(t, l.restore(time.Time{}, decide([]replay.Exception{})).Run(t.Context()),
		l.restore(time.Time{}).Switch(t.Context()))
}
