package copies

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/local/engines"
	"vitrine/scripts/local/folder"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/contract"
)

// Options say what is copied and where the copy goes.
type Options struct {
	Data string // data folder
	To   string // folder of the copies
	// Engines run on the data folder; nil: those of the stack that runs on it, or else engines that Take starts.
	Engines *engines.Engines
	// Base of the ports of the stack, if its folder does not tell it.
	Base int
	// Tables are the names of the tables; empty: those of scripts/dev.
	Tables dynamo.Tables
	Keep   int // finished copies that stay, the new one among them; 0 keeps all
	Now    func() time.Time
	Out    io.Writer // what happens, for people
}

// localTables are the names that scripts/dev gives to its tables.
var localTables = dynamo.Named("vitrine")

// taking is a copy in the making.
type taking struct {
	Options
	Copy             // its Dir is the folder that it will have
	partial string   // the folder that it has until it is finished
	before  *Copy    // whose objects it shares
	wanted  []wanted // objects
	bytes   int64    // of the objects that have to be fetched
}

// Take makes a copy of a data folder. Stacks may run and write meanwhile: tables are copied as of one instant, then the
// objects that they name, which outlive that instant by a day. An interrupted copy is no copy, and the next Take
// removes what is left of it.
func Take(ctx context.Context, o Options) (_ Copy, err error) {
	o.Tables = cmp.Or(o.Tables, localTables)
	t := &taking{Options: o}
	if err := t.checkFolders(); err != nil {
		return Copy{}, err
	}
	unlock, err := lockFolder(t.To)
	if err != nil {
		return Copy{}, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if t.Engines != nil {
		err = t.take(ctx)
		return t.Copy, err
	}
	err = Reach(ctx, t.Data, t.Base, func(e *engines.Engines, alone bool) error {
		if alone {
			t.say("started  engines on %s, because no stack runs there", t.Data)
		}
		t.Engines = e
		return t.take(ctx)
	})
	return t.Copy, err
}

// take makes the copy, or removes what there is of it.
func (t *taking) take(ctx context.Context) error {
	if err := t.make(ctx); err != nil {
		if t.partial != "" {
			err = errors.Join(err, os.RemoveAll(t.partial))
		}
		return err
	}
	return errors.Join(t.note(ctx), t.prune())
}

// note stores in the living tables when they were copied, so that operators are told when that was long ago.
func (t *taking) note(ctx context.Context) error {
	err := dynamo.New(t.Engines.DynamoDBClient(), t.Tables).Copies.Record(ctx, t.At)
	if err != nil {
		return fmt.Errorf("the copy is finished, but that it was made could not be stored: %w", err)
	}
	return nil
}

// checkFolders refuses what cannot be copied, and copies that would lie in what they copy.
func (t *taking) checkFolders() error {
	if _, err := os.Stat(filepath.Join(t.Data, databaseName)); err != nil {
		return fmt.Errorf("%s holds no data to copy (%w): name the folder of scripts/dev with --data", t.Data, err)
	}
	data, err := resolve(t.Data)
	if err != nil {
		return err
	}
	if t.To, err = resolve(t.To); err != nil {
		return err
	}
	if in, err := filepath.Rel(data, t.To); err == nil && filepath.IsLocal(in) {
		return fmt.Errorf("%s lies in the data folder %s, and a copy is to outlive that: choose a folder elsewhere, best "+
			"on another disk", t.To, data)
	}
	return nil
}

// resolve returns the path without links. Its last parts need not exist.
func resolve(path string) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(path) != path {
		above, err := resolve(filepath.Dir(path))
		return filepath.Join(above, filepath.Base(path)), err
	}
	return real, err
}

// lockFolder makes the folder of copies and locks it against other copies, until this process ends at the latest.
func lockFolder(path string) (unlock func() error, err error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("the folder for copies cannot be made: %w", err)
	}
	lock, err := folder.Take(path, folder.User{PID: os.Getpid()})
	if _, used := errors.AsType[*folder.InUseError](err); used {
		return nil, fmt.Errorf("another copy into %s is being made: wait until it ends", path)
	}
	if err != nil {
		return nil, err
	}
	return lock.Release, nil
}

// make makes the copy under the name of an unfinished one, and renames it once all of it is on the disk.
func (t *taking) make(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		t.begin, t.copyDatabase, t.copyRings, t.list, t.fetch, t.finish,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// begin removes what interrupted copies left, finds the copy before, and makes the folder.
func (t *taking) begin(context.Context) error {
	left, err := filepath.Glob(filepath.Join(t.To, "*"+unfinished))
	if err != nil {
		return err
	}
	for _, folder := range left {
		t.say("removing %s, which was not finished", folder)
		if err := os.RemoveAll(folder); err != nil {
			return err
		}
	}
	names, err := finished(t.To)
	if err != nil {
		return err
	}
	for _, name := range names {
		if c, err := Open(filepath.Join(t.To, name)); err == nil {
			t.before = &c
			break
		}
	}
	t.Manifest = Manifest{
		Format:  Format,
		Version: contract.Release,
		At:      t.Now().UTC().Truncate(time.Second),
		Tables:  t.Tables,
	}
	t.Dir = filepath.Join(t.To, t.At.Format(timeLayout))
	if _, err := os.Lstat(t.Dir); err == nil {
		return fmt.Errorf("%s is there already: make the next copy a second later", t.Dir)
	}
	t.partial = t.Dir + unfinished
	return os.MkdirAll(filepath.Join(t.partial, ringsName), 0o700)
}

// copyDatabase copies the tables.
func (t *taking) copyDatabase(ctx context.Context) error {
	info, err := os.Stat(filepath.Join(t.Data, databaseName))
	if err != nil {
		return err
	}
	if err := folder.HaveRoom(t.partial, 2*info.Size()); err != nil { // the copy, and one that an engine reads
		return err
	}
	t.say("copying  the tables, %.1f MB", megabytes(info.Size()))
	if err := Snapshot(ctx, t.Data, t.partial); err != nil {
		return fmt.Errorf("the tables cannot be copied: %w", err)
	}
	t.DatabaseFile, err = describe(filepath.Join(t.partial, databaseName))
	return err
}

// ringNames are the files of a data folder that have to fit its tables, or that decide who gets in.
var ringNames = []string{
	"rings.json", "identity.json", "identity-second.json", "identity-secret", "providers.json", policyName,
}

func (t *taking) copyRings(context.Context) error {
	for _, name := range ringNames {
		f, err := copyFile(filepath.Join(t.Data, name), filepath.Join(t.partial, ringsName, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("%s cannot be copied: %w", name, err)
		}
		t.Rings = append(t.Rings, f)
	}
	return nil
}

// list reads in the copied tables which objects they name.
func (t *taking) list(ctx context.Context) error {
	err := readTables(ctx, filepath.Join(t.partial, databaseName), t.partial, func(client *dynamodb.Client) (err error) {
		t.wanted, err = wantedBy(ctx, client, t.Tables)
		return err
	})
	if err != nil {
		return fmt.Errorf("the copied tables cannot be read: %w", err)
	}
	return nil
}

// finish writes the manifest, has everything written to the disk, and gives the copy its name.
func (t *taking) finish(context.Context) error {
	slices.SortFunc(t.Objects, func(a, b Object) int { return strings.Compare(a.Key, b.Key) })
	text, err := json.MarshalIndent(t.Manifest, "", " ")
	if err != nil {
		return err
	}
	manifest := strings.NewReader(string(text) + "\n")
	if _, err := writeFile(filepath.Join(t.partial, manifestName), manifest); err != nil {
		return err
	}
	syscall.Sync() // folders and links; each file was synced when it was written
	if err := os.Rename(t.partial, t.Dir); err != nil {
		return err
	}
	if err := folder.Sync(t.To); err != nil {
		return err
	}
	t.say("done     %s with %d objects", t.Dir, len(t.Objects))
	return nil
}

// prune removes the oldest finished copies beyond those that stay.
func (t *taking) prune() error {
	names, err := finished(t.To)
	if err != nil || t.Keep < 1 {
		return err
	}
	for _, name := range names[min(t.Keep, len(names)):] {
		t.say("removing %s, because it is not among the newest %d", name, t.Keep)
		old := filepath.Join(t.To, name)
		if err := os.Rename(old, old+unfinished); err != nil { // so that half of it is no copy
			return err
		}
		if err := os.RemoveAll(old + unfinished); err != nil {
			return err
		}
	}
	return nil
}

func (t *taking) say(format string, args ...any) { fmt.Fprintf(t.Out, format+"\n", args...) }
