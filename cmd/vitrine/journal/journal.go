// Package journal records publishes that are not finished, so that the same command continues them. It holds no secret.
package journal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"vitrine/cmd/vitrine/save"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

const (
	fileMode = 0o600
	dirMode  = 0o700
	ending   = ".json"
)

// Journal is a folder with a file for each entry.
type Journal struct{ Dir string } // Dir is "" if there is none

// Folder returns the folder of the journal for the environment of a process; "" if there is none. A relative
// XDG_STATE_HOME counts as unset, as its specification says.
func Folder(env func(name string) string) string {
	if base := env("XDG_STATE_HOME"); filepath.IsAbs(base) {
		return filepath.Join(base, "vitrine", "publish")
	}
	for _, name := range []string{"HOME", "USERPROFILE"} {
		if home := env(name); filepath.IsAbs(home) {
			return filepath.Join(home, ".local", "state", "vitrine", "publish")
		}
	}
	return ""
}

// Subject is what a publish is about. There is at most one entry for each.
type Subject struct {
	Server       string      `json:"server"`
	Path         string      `json:"path"`                  // of the file or folder, absolute and without links
	Artifact     id.Artifact `json:"artifact_id,omitempty"` // that gets a revision; empty for a new one
	Publisher    string      `json:"publisher"`             // public id of the API key, or Ephemeral
	OperationKey string      `json:"operation_key,omitempty"`
}

// Ephemeral is the publisher of what is published without an account.
const Ephemeral = "ephemeral"

// Name returns a name for the subject, which is also that of its file.
func (s Subject) Name() string {
	return hash(s.Server, s.Path, string(s.Artifact), s.Publisher, s.OperationKey)
}

func hash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:16])
}

// Step is how far a publish came.
type Step string

// Steps in their order. The server may have done more than the last one says.
const (
	Prepared  Step = "prepared"  // a workspace without an account is being made
	Opening   Step = "opening"   // the upload session is requested
	Uploading Step = "uploading" // the session is open
	Uploaded  Step = "uploaded"  // its files are stored
	Finalized Step = "finalized" // the draft is made
	Published Step = "published"
)

// Entry is a publish that is not finished.
type Entry struct {
	SchemaVersion string `json:"schema_version"`
	Subject
	Digest    string                   `json:"manifest_sha256"` // of the manifest that the files and the flags make
	Key       string                   `json:"idempotency_key"`
	Base      id.Revision              `json:"base_revision_id,omitempty"` // that the revision builds on
	Session   id.Session               `json:"upload_session_id,omitempty"`
	Target    id.Artifact              `json:"session_artifact_id,omitempty"` // of the session
	Step      Step                     `json:"step"`
	Expires   string                   `json:"expires,omitempty"` // end of the link as it was given
	LinkEnds  time.Time                `json:"link_ends_at,omitzero"`
	Addresses []contract.AddressThread `json:"addresses,omitempty"` // as they were shown first
	BegunAt   time.Time                `json:"begun_at"`
	UpdatedAt time.Time                `json:"updated_at"`
}

// Load returns the entry of a subject. It returns nil if there is none, if it cannot be used, or if its upload session
// has ended.
func (j Journal) Load(s Subject, now time.Time) *Entry {
	text, err := os.ReadFile(j.path(s))
	var e Entry
	if err != nil || json.Unmarshal(text, &e) != nil || e.Subject != s || e.Key == "" || e.ended(now) {
		return nil
	}
	return &e
}

func (e Entry) ended(now time.Time) bool { return now.Sub(e.BegunAt) >= limits.SessionLife }

// Save writes an entry.
func (j Journal) Save(e Entry) error {
	e.SchemaVersion = "1"
	text, err := json.MarshalIndent(e, "", "  ")
	if err != nil {
		return err
	}
	return save.Private(j.path(e.Subject), append(text, '\n'))
}

// Remove deletes the entry of a subject, if there is one.
func (j Journal) Remove(s Subject) error {
	if err := os.Remove(j.path(s)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Expire deletes the files that were not changed for the life of an upload session, also those that a process left that
// died. It returns the names of the subjects whose entries it deleted.
func (j Journal) Expire(now time.Time) (names []string) {
	files, _ := os.ReadDir(j.Dir) // without a folder there is nothing to delete
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() || now.Sub(info.ModTime()) < limits.SessionLife ||
			os.Remove(filepath.Join(j.Dir, f.Name())) != nil {
			continue
		}
		if name, entry := strings.CutSuffix(f.Name(), ending); entry {
			names = append(names, name)
		}
	}
	return names
}

func (j Journal) path(s Subject) string { return filepath.Join(j.Dir, s.Name()+ending) }

// makeDir makes the folder. It removes the access of other users to an existing one.
func (j Journal) makeDir() error {
	if j.Dir == "" {
		return errors.New("neither HOME nor XDG_STATE_HOME is set")
	}
	if err := os.MkdirAll(j.Dir, dirMode); err != nil {
		return err
	}
	return os.Chmod(j.Dir, dirMode)
}
