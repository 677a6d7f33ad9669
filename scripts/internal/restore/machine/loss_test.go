package machine

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"

	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/chaos"
)

func TestWhereTheLivingFolderIsLostWhatMayHaveBeenClosedCloses(t *testing.T) {
	for name, lose := range map[string]func(*env, *testing.T){
		"the folder":  func(e *env, t *testing.T) { e.stop(t); expect.OK(t, os.RemoveAll(e.living)) },
		"the file":    func(e *env, t *testing.T) { e.stop(t); e.spoil(t) },
		"the events":  func(e *env, t *testing.T) { e.drop(t, e.Tables.Events); e.stop(t) },
		"and made it": func(e *env, t *testing.T) { e.drop(t, e.Tables.Events); e.stop(t); e.run(t, e.living); e.stop(t) },
	} {
		t.Run(name, func(t *testing.T) {
			e := newEnv(t)
			g := e.NewAgent(t)
			p := harness.PublishPage(t, g, "words")
			r := e.restore(t, e.copy(t))
			lose(e, t)
			expect.OK(t, r.Plan(t.Context()), r.Run(t.Context()))
			e.serve(t, r)
			expect.Has(t, "what was said", e.said.String(), "gap      ", "wait     until ")
			if a := e.Resolve(t, p.UnlistedURL); a.Status == http.StatusOK {
				t.Error("a link opens that may have been revoked")
			}
			if status := e.StatusFor(t, g.Key, "/v1/whoami"); status != http.StatusUnauthorized {
				t.Errorf("a key that may have been revoked answers %d", status)
			}
		})
	}
}

// spoil replaces the tables of the living folder by bytes that are none.
func (e *env) spoil(t *testing.T) {
	t.Helper()
	expect.OK(t, os.WriteFile(filepath.Join(e.living, databaseName), []byte(strings.Repeat("spoiled ", 10_000)), 0o600))
}

func (e *env) drop(t *testing.T, table string) {
	t.Helper()
	_, err := e.DB.DeleteTable(t.Context(), &dynamodb.DeleteTableInput{TableName: &table})
	expect.OK(t, err)
}

func TestEventsOfAKilledFolderAreRead(t *testing.T) {
	e := newEnv(t)
	g := e.NewAgent(t)
	p := harness.PublishPage(t, g, "words")
	r := e.restore(t, e.copy(t))
	harness.DeleteArtifact(t, g, p.ArtifactID)
	e.engines.Kill()
	expect.OK(t, r.Run(t.Context()))
	expect.Lacks(t, "what was said", e.said.String(), "gap ")
	expect.OK(t, e.Close(context.Background()))
	e.serve(t, r)
	e.WantGone(t, p.RevisionContentURL)
}

func TestAnObjectThatIsDamagedInTheCopyIsNamedAndTheOthersServe(t *testing.T) {
	e := newEnv(t)
	g := e.NewAgent(t)
	harness.PublishPage(t, g, "one")
	harness.PublishPage(t, g, "two")
	c := e.copy(t)
	e.stop(t)
	for n, damage := range map[int]func(file string) error{
		0: os.Remove,
		1: func(file string) error {
			content, err := os.ReadFile(file)
			content[0] ^= 1
			return errors.Join(err, os.WriteFile(file, content, 0o600))
		},
	} {
		expect.OK(t, damage(c.ObjectFile(c.Objects[n].Key)))
	}
	r := e.restore(t, c)
	if err := r.Run(t.Context()); !errors.Is(err, ErrLeft) {
		t.Errorf("the run ends with %v", err)
	}
	for _, o := range c.Objects {
		expect.Has(t, "what was said", e.said.String(), "damaged  "+o.Key, "left     I1")
	}
	if err := r.Check(t.Context()); !errors.Is(err, ErrLeft) {
		t.Errorf("the check ends with %v", err)
	}
	e.serve(t, r)
	harness.PublishPage(t, e.WithBearer(g.Key), "three")
}

func TestAMassDeletionNeedsADecision(t *testing.T) {
	e := newEnv(t)
	g := e.NewAgent(t)
	p := harness.PublishPage(t, g, "words")
	r := e.restore(t, e.copy(t))
	harness.DeleteArtifact(t, g, p.ArtifactID)
	expect.OK(t, r.Run(t.Context()), r.Abandon(t.Context()))
	r.Except = []replay.Exception{{Workspace: string(harness.TokenOf(t, g).Workspace), Deletions: true}}
	expect.OK(t, r.Run(t.Context()))
	e.stop(t)
	e.serve(t, r) // it remembers the exceptions
	e.WantContent(t, p.RevisionContentURL, harness.Page("words").Body)
}

func TestARunThatDiesAtAnyCallGoesOn(t *testing.T) {
	e := newEnv(t)
	g := e.NewAgent(t)
	kept, gone := harness.PublishPage(t, g, "kept"), harness.PublishPage(t, g, "gone")
	e.signIn(t)
	c := e.copy(t)
	harness.DeleteArtifact(t, g, gone.ArtifactID)
	e.stop(t)
	r := e.restore(t, c)
	for _, after := range []bool{false, true} {
		died := harness.Deaths{}
		for e.dies(t, r, died, after, Restore.Run) {
		}
		if len(died) < 5 {
			t.Errorf("it died at %v only", died)
		}
		if !after {
			expect.OK(t, r.Abandon(t.Context()))
		}
	}
	e.serve(t, r)
	e.WantContent(t, kept.RevisionContentURL, harness.Page("kept").Body)
	e.WantGone(t, gone.RevisionContentURL)
}

func TestASwitchThatDiesAtAnyCallGoesOn(t *testing.T) {
	e := newEnv(t)
	g := e.NewAgent(t)
	early, gone := harness.PublishPage(t, g, "early"), harness.PublishPage(t, g, "gone")
	r := e.restore(t, e.copy(t))
	harness.DeleteArtifact(t, g, early.ArtifactID)
	expect.OK(t, r.Run(t.Context()))
	e.Clock.Advance(time.Hour)
	harness.DeleteArtifact(t, g, gone.ArtifactID) // after the run, which the switch does not repeat
	e.stop(t)
	died := harness.Deaths{}
	for n := 0; e.dies(t, r, died, n%2 == 1, Restore.Switch); n++ {
	}
	if len(died) < 2 {
		t.Errorf("it died at %v only", died)
	}
	e.serve(t, r)
	e.WantGone(t, early.RevisionContentURL)
	e.WantGone(t, gone.RevisionContentURL)
}

// dies lets a step die at the first write of a kind at which none died yet. It reports false if the step ended.
func (e *env) dies(
	t *testing.T, r Restore, died harness.Deaths, after bool, step func(Restore, context.Context) error,
) bool {
	t.Helper()
	faults := chaos.New()
	dying := false
	rule := faults.On("").If(func(input any) bool {
		call := written(input)
		if dying || call == "" || died[call] {
			return false
		}
		dying, died[call] = true, true
		return true
	})
	if after {
		rule.After(chaos.Crash)
	} else {
		rule.Before(chaos.Crash)
	}
	r.Middleware = []func(*middleware.Stack) error{faults.Add}
	process := chaos.Process(t.Context())
	err := step(r, process)
	if chaos.Died(process) {
		return true
	}
	expect.OK(t, err)
	return false
}

// written names the kind of a write by the kinds of the items that it writes; empty for a call that only reads.
func written(input any) string {
	if o, ok := input.(*s3.PutObjectInput); ok {
		return *o.Key
	}
	name := ""
	for _, k := range harness.WrittenKeys(input) {
		name += " " + strings.FieldsFunc(harness.Text(k["pk"]), func(r rune) bool { return r == '#' || r == ':' })[0]
	}
	return name
}
