// Package journal stores how far the restore into a data folder has come, so that each command goes on where the last
// one ended.
package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"vitrine/scripts/local/folder"
	"vitrine/shared/adapter/dynamo"
)

// File is the name of the journal in the data folder of a restore.
const File = "restore.json"

// format is the newest form of a journal that this program reads.
const format = 1

// State says which command comes next.
type State string

// The states, in their order.
const (
	Begun    State = "begun"    // run has not ended
	Ready    State = "ready"    // everything is there: switch comes next
	Switched State = "switched" // the folder serves, and jobs wait until open
	Open     State = "open"     // a data folder like any other
)

// Journal is what the commands remember of a restore.
type Journal struct {
	Format int       `json:"format"`
	State  State     `json:"state"`
	Copy   string    `json:"copy"`    // folder of the copy
	At     time.Time `json:"instant"` // of the copy
	Living string    `json:"living"`  // data folder that the restored one replaces

	Tables dynamo.Tables `json:"tables"`
	// Except is the list of what is not done again; absent: that was not decided.
	Except json.RawMessage `json:"except,omitempty"`
	// Applied is the time of the newest event that the last replay of a run did again; zero: none has ended.
	Applied time.Time `json:"applied,omitzero"`
	// Done names the steps of run that have ended.
	Done []string `json:"done,omitempty"`
	// Base is the base of the ports of the living stack; 0 if it is unknown.
	Base       int       `json:"base,omitempty"`
	SwitchedAt time.Time `json:"switched_at,omitzero"`
	OpenedAt   time.Time `json:"opened_at,omitzero"`
}

// Read returns the journal of a data folder, or nil if the folder is not of a restore.
func Read(folder string) (*Journal, error) {
	file := filepath.Join(folder, File)
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	j := &Journal{}
	if err := json.Unmarshal(text, j); err != nil {
		return nil, fmt.Errorf("%s cannot be read: %w: delete %s and run the restore into a new folder", file, err, folder)
	}
	if j.Format > format {
		return nil, fmt.Errorf("%s was written by a newer version of scripts/restore: use that version", file)
	}
	return j, nil
}

// Write stores the journal. A crash leaves the old one or the new one.
func (j *Journal) Write(data string) error {
	j.Format = format
	return folder.ReplaceJSON(filepath.Join(data, File), j)
}

// Ended reports whether a step has ended.
func (j *Journal) Ended(step string) bool { return slices.Contains(j.Done, step) }

// JobsWait reports whether the folder serves and must not end anything yet.
func JobsWait(folder string) bool {
	j, err := Read(folder)
	return err != nil || j != nil && j.State != Open
}

// Serves returns an error if a stack must not run on the folder, because its restore has not been switched to.
func Serves(folder string) error {
	j, err := Read(folder)
	if err != nil || j == nil || j.State == Switched || j.State == Open {
		return err
	}
	return fmt.Errorf("the data in %s is a restore that is not in use yet: run `scripts/restore switch --data %s` first, "+
		"or `scripts/restore abandon --data %s`", folder, folder, folder)
}
