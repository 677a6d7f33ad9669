package agent

import (
	"context"
	"os"
	"slices"
	"strings"

	"vitrine/cmd/vitrine/failure"
)

// Removed is what became of an entry.
type Removed struct {
	Client string   `json:"client"`
	Name   string   `json:"name"`
	File   string   `json:"file"`
	Gone   bool     `json:"removed"` // false if the entry is another one by now, which stays
	Notes  []string `json:"-"`       // what the person should know
}

// Records returns what was written for a deployment: into files of the project, or of the user.
func (a *Agents) Records(server string, project bool) (mine []Record, err error) {
	known, _, err := a.load()
	for _, r := range known.Entries {
		if r.Server == server && r.Project == project && (!project || within(a.Dir, r.File)) {
			mine = append(mine, r)
		}
	}
	return mine, err
}

func within(folder, name string) bool {
	return strings.HasPrefix(name, strings.TrimSuffix(folder, string(os.PathSeparator))+string(os.PathSeparator))
}

// Revoke ends a token at the deployment, for the client that got it.
type Revoke func(ctx context.Context, clientID, token string) error

// Remove takes out what was written, and signs the client out.
func (a *Agents) Remove(ctx context.Context, r Record, revoke Revoke) (Removed, error) {
	done := Removed{
		Client: r.Client,
		Name:   r.Name,
		File:   r.File,
		Gone:   true,
	}
	c, ok := Find(r.Client)
	if !ok {
		return done, failure.New(failure.Invalid, failure.Usage, "%s is a client that this version does not know", r.Client).
			Advise("Take the entry %s out of %s by hand.", r.Name, r.File)
	}
	f, leadsTo, err := a.find(c, r)
	if err != nil {
		return done, err
	}
	if leadsTo != "" && !r.wrote(leadsTo) {
		done.Gone = false
		done.Notes = append(done.Notes, "the entry "+r.Name+" in "+r.File+" was changed since, and stays")
		return done, a.drop(r)
	}
	if strings.HasPrefix(leadsTo, "http") {
		if done.Notes, err = a.signOut(ctx, c, r, leadsTo, revoke); err != nil {
			return done, err
		}
	}
	switch {
	case leadsTo == "":
	case a.isNative(r):
		err = a.removeNatively(ctx, r)
	default:
		err = a.takeOut(c, r, f)
	}
	if err != nil {
		return done, err
	}
	if _, leadsTo, err = a.find(c, r); err == nil && leadsTo != "" {
		err = failure.New(failure.Other, failure.ClientFile, "%s still has the entry %s", r.File, r.Name).
			Advise("Close %s, then run the command again.", c.Name)
	}
	if err == nil {
		err = a.step()
	}
	if err != nil {
		return done, err
	}
	removeFolders(r.Made)
	return done, a.drop(r)
}

// takeOut writes the file without the entry, or deletes the file if it was made for it.
func (a *Agents) takeOut(c Client, r Record, f file) error {
	path, err := c.path(f.text, r.Name)
	if err != nil {
		return refused(f.name, "%v", err)
	}
	text, err := c.format.Remove(f.text, path, r.pieces())
	switch {
	case err != nil:
		return refused(f.name, "%v", err)
	case slices.Contains(r.Made, r.File) && c.format.Empty(text):
		if err := a.step(); err != nil {
			return err
		}
		return f.delete()
	}
	return f.replace(text, a.step)
}
