package agent

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"vitrine/cmd/vitrine/failure"
)

// Record says what was written into a file of a client, or is about to be.
type Record struct {
	Client  string  `json:"client"`
	Server  string  `json:"server"` // base address of the deployment
	File    string  `json:"file"`
	Name    string  `json:"name"`
	Project bool    `json:"project,omitempty"`
	Writes  []Write `json:"writes"` // the newest first, which an interrupted run may not have made
	// Made are the file and the folders that were not there, the outermost first.
	Made []string `json:"made,omitempty"`
}

// Write is an entry as it was written.
type Write struct {
	Target string `json:"target"`          // the address or the command in it
	Piece  string `json:"piece,omitempty"` // that was inserted into the file; "" if the client's own command did it
}

// wrote reports whether an entry that leads to a target is ours.
func (r Record) wrote(target string) bool {
	return slices.ContainsFunc(r.Writes, func(w Write) bool { return w.Target == target })
}

func (r Record) pieces() (all []string) {
	for _, w := range r.Writes {
		if w.Piece != "" {
			all = append(all, w.Piece)
		}
	}
	return all
}

// Skill says where the skill was written.
type Skill struct {
	File    string   `json:"file"`
	Digests []string `json:"sha256"`         // of what was written
	Link    string   `json:"link,omitempty"` // that leads to the folder of File
	Made    []string `json:"made,omitempty"`
}

// records is the file with everything that connect has written.
type records struct {
	SchemaVersion string   `json:"schema_version"`
	Entries       []Record `json:"entries"`
	Skills        []Skill  `json:"skills,omitempty"`
}

const (
	recordFile = "connections.json"
	maxWrites  = 8
)

func (a *Agents) recordPath() string { return filepath.Join(a.Folder, recordFile) }

// load reads the records. A file that cannot be read stops every command, because only it tells what is ours.
func (a *Agents) load() (r records, f file, err error) {
	if f, err = read(a.recordPath(), true); err != nil || !f.there {
		return r, f, err
	}
	if json.Unmarshal(f.text, &r) != nil {
		return r, f, failure.New(failure.Invalid, failure.Unsettable, "%s is not a file of records", f.name).
			Advise("Remove that file if it is of no use; entries that were made before are then taken out by hand.")
	}
	return r, f, nil
}

// change changes the records. Without any left, their file goes.
func (a *Agents) change(do func(r *records)) error {
	r, f, err := a.load()
	if err != nil {
		return err
	}
	do(&r)
	if len(r.Entries)+len(r.Skills) == 0 {
		if f.there {
			err = f.delete()
		}
		return err
	}
	r.SchemaVersion = "1"
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return f.replace(append(text, '\n'), a.step)
}

// put writes a record in the place of that of the same entry.
func (a *Agents) put(entry Record) error {
	return a.change(func(r *records) {
		if i := slices.IndexFunc(r.Entries, entry.isFor); i >= 0 {
			r.Entries[i] = entry
			return
		}
		r.Entries = append(r.Entries, entry)
	})
}

func (a *Agents) drop(entry Record) error {
	return a.change(func(r *records) { r.Entries = slices.DeleteFunc(r.Entries, entry.isFor) })
}

// isFor reports whether two records are of one entry.
func (r Record) isFor(other Record) bool {
	return r.Client == other.Client && r.File == other.File && r.Name == other.Name
}

// begin adds a write that is about to be made.
func (r Record) begin(w Write, missing []string) Record {
	known := func(name string) bool { return slices.Contains(missing, name) }
	r.Made = append(slices.DeleteFunc(slices.Clone(r.Made), known), missing...)
	r.Writes = append([]Write{w}, slices.DeleteFunc(slices.Clone(r.Writes), func(old Write) bool { return old == w })...)
	r.Writes = r.Writes[:min(len(r.Writes), maxWrites)]
	return r
}
