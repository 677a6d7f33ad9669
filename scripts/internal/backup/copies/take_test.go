package copies_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"vitrine/scripts/internal/backup/copies"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/local/engines"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/contract"
)

// TestACopyBesideWritersIsWhole takes a copy while many publish, change and delete.
func TestACopyBesideWritersIsWhole(t *testing.T) {
	const writers = 20
	d := newEnv(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	acknowledged := make(chan contract.Published, writers)
	var all sync.WaitGroup
	for range writers {
		g := d.NewAgent(t)
		all.Go(func() {
			first, err := g.PublishFiles(ctx, "first", "", harness.Page(wire.NewKey()))
			if err != nil {
				t.Error(err)
			}
			acknowledged <- first
			for ctx.Err() == nil {
				p, err := g.PublishFiles(ctx, "next", "", harness.Page(wire.NewKey()))
				if err == nil {
					_, err = g.PublishFiles(ctx, "changed", first.ArtifactID, harness.Page(wire.NewKey()))
				}
				if err == nil {
					_, err = harness.Delete(g, p.ArtifactID)
				}
				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	var before []contract.Published
	for range writers {
		before = append(before, <-acknowledged)
	}
	c := d.take(t)
	stop()
	all.Wait()

	set := restored(t, c)
	for _, breach := range invariant.Check(t.Context(), set) {
		t.Error(breach)
	}
	stores := dynamo.New(set.DynamoDB, set.Tables)
	for _, p := range before {
		files, err := stores.Artifacts.Tree(t.Context(), p.ArtifactID, p.RevisionID)
		if err != nil || len(files) != 1 {
			t.Errorf("%s was published before the copy and has %d files there: %v", p.ArtifactID, len(files), err)
		}
	}
	expect.OK(t, c.Verify(t.Context(), t.Output()))
}

func TestTheNextCopySharesTheObjects(t *testing.T) {
	d := newEnv(t)
	g := d.NewAgent(t)
	harness.PublishPage(t, g, "one")
	first := d.take(t)
	harness.PublishPage(t, g, "two")
	second := d.take(t)
	if len(first.Objects) != 1 || len(second.Objects) != 2 {
		t.Fatalf("the copies have %d and %d objects", len(first.Objects), len(second.Objects))
	}
	key := first.Objects[0].Key
	if !os.SameFile(stat(t, first.ObjectFile(key)), stat(t, second.ObjectFile(key))) {
		t.Errorf("%s was fetched again", key)
	}
	for _, o := range second.Objects {
		if o.ContentType == "" {
			t.Errorf("%s has no type", o.Key)
		}
	}
	expect.OK(t, first.Verify(t.Context(), t.Output()), second.Verify(t.Context(), t.Output()))
}

// TestAnObjectThatTheCopyBeforeLostIsFetched also cuts one off, because a link to it would spread the damage.
func TestAnObjectThatTheCopyBeforeLostIsFetched(t *testing.T) {
	d := newEnv(t)
	g := d.NewAgent(t)
	harness.PublishPage(t, g, "one")
	harness.PublishPage(t, g, "two")
	first := d.take(t)
	expect.OK(t, os.Remove(first.ObjectFile(first.Objects[0].Key)), os.Truncate(first.ObjectFile(first.Objects[1].Key), 3))
	expect.OK(t, d.take(t).Verify(t.Context(), t.Output()))
}

func TestOnlyTheOwnerReadsACopy(t *testing.T) {
	d := newEnv(t)
	harness.PublishPage(t, d.NewAgent(t), "one")
	c := d.take(t)
	files := 0
	expect.OK(t, filepath.WalkDir(d.options.To, func(path string, e fs.DirEntry, err error) error {
		want := fs.FileMode(0o600)
		if e.IsDir() {
			want = 0o700
		}
		files++
		if got := stat(t, path).Mode().Perm(); got != want {
			t.Errorf("%s has the mode %o, want %o", path, got, want)
		}
		return err
	}))
	if files < 10 || len(c.Rings) < 3 {
		t.Errorf("the copy has %d files, and %v of the data folder", files, c.Rings)
	}
	for _, f := range c.Rings {
		living := expect.Value(os.ReadFile(filepath.Join(d.options.Data, f.Name)))(t)
		if copied := expect.Value(os.ReadFile(c.RingFile(f.Name)))(t); !bytes.Equal(copied, living) {
			t.Errorf("%s is another one", f.Name)
		}
	}
}

// dying is the output of a process that dies when it has said so many lines.
type dying struct{ lines int }

var errDied = errors.New("killed")

func (d *dying) Write(p []byte) (int, error) {
	if d.lines--; d.lines < 0 {
		panic(errDied)
	}
	return len(p), nil
}

// TestACopyThatIsInterruptedIsNone lets the process die at each step. The panic skips what a process that is killed
// does not do, and gives the locks back as its death does.
func TestACopyThatIsInterruptedIsNone(t *testing.T) {
	d := newEnv(t)
	harness.PublishPage(t, d.NewAgent(t), "one")
	out, finished, died := d.options.Out, 0, 0
	for lines := 0; finished == 0; lines++ {
		d.options.Out = &dying{lines: lines}
		func() {
			defer func() {
				if recover() != nil {
					died++
				}
			}()
			expect.Value(copies.Take(t.Context(), d.options))(t)
		}()
		finished = len(d.list(t))
	}
	if died < 3 {
		t.Errorf("the process died %d times", died)
	}
	d.options.Out = out
	expect.OK(t, d.take(t).Verify(t.Context(), t.Output()))
	d.wantNothingUnfinished(t)
	if all := d.list(t); len(all) != 2 {
		t.Errorf("there are the copies %v", all)
	}
}

func TestACopyThatIsStoppedLeavesNothing(t *testing.T) {
	d := newEnv(t)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	_, err := copies.Take(ctx, d.options)
	expect.Error(t, err, "canceled")
	d.wantNothingUnfinished(t)
}

func TestOldCopiesGoWhenTheNewOneIsThere(t *testing.T) {
	d := newEnv(t)
	d.take(t)
	second := d.take(t)
	d.options.Keep = 2
	third := d.take(t)
	if all := d.list(t); len(all) != 2 || all[0] != third.Dir || all[1] != second.Dir {
		t.Errorf("there are %v", all)
	}
	d.wantNothingUnfinished(t)
	newest := expect.Value(copies.Newest(d.options.To))(t)
	if newest.Dir != third.Dir {
		t.Errorf("%s is the newest", newest.Dir)
	}
}

// TestTablesAreCopiedAfterACrash copies what a killed engine left, whose last writes are in a log beside the database.
func TestTablesAreCopiedAfterACrash(t *testing.T) {
	d := newEnv(t)
	p := harness.PublishPage(t, d.NewAgent(t), "one")
	d.options.Engines.DynamoDBProcess.Kill()
	to := t.TempDir()
	expect.OK(t, copies.Snapshot(t.Context(), d.options.Data, to))
	e := expect.Value(engines.Start(t.Context(), engines.Options{Dir: to, Own: true}))(t)
	defer e.Close()
	client := e.DynamoDBClient()
	a, err := dynamo.New(client, d.options.Tables).Artifacts.Artifact(t.Context(), p.ArtifactID)
	if err != nil || a == nil {
		t.Errorf("the artifact is %v, %v", a, err)
	}
}

func TestTheTablesTellWhenTheyWereCopied(t *testing.T) {
	d := newEnv(t)
	c, e := d.take(t), d.options.Engines
	client := e.DynamoDBClient()
	at, err := dynamo.New(client, d.options.Tables).Copies.Newest(t.Context())
	if err != nil || !at.Equal(c.At) {
		t.Errorf("%v, %v, want %v", at, err, c.At)
	}
}
