package agent

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"

	"vitrine/cmd/vitrine/failure"
)

// Agents writes into the files of clients, and records in Folder what it has written. Callers hold a lock meanwhile.
type Agents struct {
	Machine
	Folder string // of the records
	// Run runs a client's program and returns what it writes.
	Run func(ctx context.Context, program string, args ...string) (string, error)

	hook func() error // runs before each step of a write, if not nil; for tests
}

func (a *Agents) step() error {
	if a.hook == nil {
		return nil
	}
	return a.hook()
}

// Change is an entry that is wanted in a file.
type Change struct {
	Client Client
	Name   string // of the entry
	File   string
	// Known reports that the entry was there before, so that no file is written.
	Known bool

	want   Want
	record Record
}

// Plan looks what has to be written for a client. It fails where that cannot be done, before anything is written.
func (a *Agents) Plan(c Client, w Want) (Change, error) {
	known, _, err := a.load()
	if err != nil {
		return Change{}, err
	}
	ch := Change{Client: c, Name: serverName, File: c.File(a.Machine, w.Project), want: w}
	ours := slices.IndexFunc(known.Entries, func(r Record) bool {
		return r.Client == c.ID && r.File == ch.File && r.Server == w.Server
	})
	switch {
	case ours >= 0:
		ch.record, ch.Name = known.Entries[ours], known.Entries[ours].Name
	case slices.ContainsFunc(known.Entries, Record{Client: c.ID, File: ch.File, Name: serverName}.isFor):
		ch.Name = otherName(w.Server)
	}
	if ours < 0 {
		ch.record = Record{
			Client:  c.ID,
			Server:  w.Server,
			File:    ch.File,
			Name:    ch.Name,
			Project: w.Project,
		}
	}
	f, leadsTo, err := a.find(c, ch.record)
	switch {
	case err != nil:
		return ch, err
	case leadsTo == w.target():
		ch.Known = true
	case leadsTo != "" && !ch.record.wrote(leadsTo):
		return ch, failure.New(failure.Conflict, failure.ForeignEntry,
			"%s has a server %s that vitrine connect has not written; nothing was changed", ch.File, ch.Name).
			Advise("Rename or remove that entry, then run the command again.")
	case a.isNative(ch.record):
		_, err = a.LookPath(c.program)
		if err != nil {
			err = refused(ch.File, "only %s changes it, and there is no %s in PATH", c.Name, c.program)
		}
	default:
		_, _, err = ch.edited(f)
	}
	return ch, err
}

// isNative reports whether a client's own command makes a change. Claude Code rewrites its file while it runs.
func (a *Agents) isNative(r Record) bool { return r.Client == claudeCode && !r.Project }

// find returns the file of a record, and what the entry in it leads to; "" if there is none.
func (a *Agents) find(c Client, r Record) (f file, leadsTo string, err error) {
	if f, err = read(r.File, !r.Project); err != nil || !f.there {
		return f, "", err
	}
	path, err := c.path(f.text, r.Name)
	if err != nil {
		return f, "", refused(f.name, "%v", err)
	}
	value, err := c.format.Find(f.text, path)
	switch {
	case err != nil:
		return f, "", refused(f.name, "%v", err)
	case value == nil:
		return f, "", nil
	}
	if leadsTo = target(value); leadsTo == "" {
		leadsTo = fmt.Sprint(value)
	}
	return f, leadsTo, nil
}

// edited returns the text of a file with the entry in the place of the one that was there, and the piece that is new.
func (ch Change) edited(f file) (text []byte, piece string, err error) {
	if err := f.writable(); err != nil {
		return nil, "", err
	}
	format := ch.Client.format
	path, err := ch.Client.path(f.text, ch.Name)
	if text = f.text; err == nil && f.there {
		text, err = format.Remove(text, path, ch.record.pieces())
	}
	if err == nil {
		text, piece, err = format.Add(text, path, ch.want.entry(ch.Client))
	}
	if err != nil {
		return nil, "", refused(f.name, "%v", err)
	}
	return text, piece, nil
}

// edit records the entry and writes it into its file.
func (a *Agents) edit(f file, ch Change) (Record, error) {
	text, piece, err := ch.edited(f)
	if err != nil {
		return ch.record, err
	}
	r := ch.record.begin(Write{Target: ch.want.target(), Piece: piece}, f.missing)
	if err := a.put(r); err != nil {
		return r, err
	}
	return r, f.replace(text, a.step)
}

// Write makes a change that was planned, and reads what became of it.
func (a *Agents) Write(ctx context.Context, ch Change) error {
	f, leadsTo, err := a.find(ch.Client, ch.record)
	if err != nil {
		return err
	}
	r := ch.record
	switch {
	case leadsTo == ch.want.target():
	case a.isNative(r):
		r, err = a.addNatively(ctx, ch, leadsTo != "")
	default:
		if leadsTo == "" && f.there { // then it was not made for the entry, although an interrupted run has recorded it
			made := func(name string) bool { return name == r.File }
			ch.record.Made = slices.DeleteFunc(slices.Clone(r.Made), made)
		}
		r, err = a.edit(f, ch)
	}
	if err != nil || len(r.Writes) == 0 { // the entry was there before, and is not ours
		return err
	}
	if _, leadsTo, err = a.find(ch.Client, r); err == nil && leadsTo != ch.want.target() {
		err = failure.New(failure.Other, failure.ClientFile, "%s does not have the entry after it was written", r.File).
			Advise("Close %s, then run the command again.", ch.Client.Name)
	}
	return err
}

// addNatively has the client add the entry.
func (a *Agents) addNatively(ctx context.Context, ch Change, there bool) (Record, error) {
	r := ch.record.begin(Write{Target: ch.want.target()}, nil)
	if err := a.put(r); err != nil {
		return r, err
	}
	if there {
		if err := a.removeNatively(ctx, r); err != nil {
			return r, err
		}
	}
	command, err := ch.Client.command(ch.Name, ch.want)
	if err == nil {
		err = a.step()
	}
	if err != nil {
		return r, err
	}
	_, err = a.Run(ctx, command[0], command[1:]...)
	return r, a.unless(ctx, err)
}

func (a *Agents) removeNatively(ctx context.Context, r Record) error {
	if err := a.step(); err != nil {
		return err
	}
	_, err := a.Run(ctx, "claude", "mcp", "remove", "-s", "user", r.Name)
	return a.unless(ctx, err)
}

// unless keeps the failures of a program that did not run. What it did is read from its file, because its exit code
// is no proof.
func (a *Agents) unless(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if _, ended := errors.AsType[*exec.ExitError](err); ended || err == nil {
		return nil
	}
	return failure.New(failure.Other, failure.ClientFile, "cannot run the client's program: %v", err).
		Advise("Start it once by hand, then run the command again.")
}
