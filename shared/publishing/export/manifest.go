package export

import (
	"bytes"
	"encoding/json"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/link"
)

// The names of the entries that describe an archive.
const (
	ManifestName = "manifest.json"
	EventsName   = "events.jsonl"
)

// schemaVersion is raised when a reader of older manifests would misread new ones.
const schemaVersion = "2"

// Manifest describes one archive of an export. Workspace and AsOf are those of the whole export. Members and API keys
// are in the first archive only.
type Manifest struct {
	SchemaVersion string                    `json:"schema_version"`
	Workspace     contract.WorkspaceSummary `json:"workspace"`
	AsOf          contract.Time             `json:"as_of"` // when the artifacts were listed
	Volume        int                       `json:"volume"`
	Last          bool                      `json:"last"` // no archive follows

	Members   []Member            `json:"members,omitempty"`
	APIKeys   []credential.Record `json:"api_keys,omitempty"`
	Artifacts []Artifact          `json:"artifacts"`
	Skipped   []Skipped           `json:"skipped"`
	Events    int                 `json:"events"` // lines of EventsName, which is absent if there are none
}

// Member is a member of the workspace.
type Member struct {
	ID        id.Member     `json:"id"`
	Email     string        `json:"email"`
	Scopes    []string      `json:"scopes"`
	CreatedAt contract.Time `json:"created_at"`
}

// Artifact is an artifact with its revisions in this archive. Further ones are in the next archive.
type Artifact struct {
	ID         id.Artifact   `json:"id"`
	Title      string        `json:"title"`
	Visibility string        `json:"visibility"` // unlisted while its share link works, else private
	Pinned     bool          `json:"pinned"`
	CreatedAt  contract.Time `json:"created_at"`
	ExpiresAt  contract.Time `json:"expires_at"`
	Links      []Link        `json:"access_links"`
	Revisions  []Revision    `json:"revisions"`
	Feedback   string        `json:"feedback,omitempty"` // the file with the threads about it; absent: there are none
}

// Link is an access link of an artifact.
type Link struct {
	link.Record
	ExpiresAt idempotency.Time `json:"expires_at"`
	RevokedAt idempotency.Time `json:"revoked_at"`
}

// Revision is a published revision, as changes of an earlier one. Its files are those of its base, without the removed
// ones and with Files in place of those of the same paths. If it continues, the next archive has more of its changes.
type Revision struct {
	ID          id.Revision   `json:"id"`
	Number      int           `json:"number"`
	Title       string        `json:"title"`
	Entrypoint  string        `json:"entrypoint"`
	Listing     bool          `json:"listing,omitempty"` // the viewer opens the list of files
	App         bool          `json:"app,omitempty"`     // its entrypoint answers for paths that no file has
	PublishedAt contract.Time `json:"published_at"`
	Base        int           `json:"base,omitempty"` // number of an earlier revision of the artifact; absent: no files
	Removed     []string      `json:"removed,omitempty"`
	Files       []File        `json:"files"`
	Continues   bool          `json:"continues,omitempty"`
}

// File is a file that a revision adds or changes. Its bytes are in this archive, or are those of another file.
type File struct {
	Path        string  `json:"path"`
	SizeBytes   int64   `json:"size_bytes"`
	SHA256      string  `json:"sha256"`
	ContentType string  `json:"content_type"`
	Archive     string  `json:"archive_path,omitempty"`
	From        *Source `json:"from,omitempty"`
}

// Source is a file of the artifact, in the same revision or in an earlier one, that has the same bytes.
type Source struct {
	Revision int    `json:"revision"`
	Path     string `json:"path"`
}

// Skipped is an artifact or a revision that was listed but is not in the export.
type Skipped struct {
	Artifact id.Artifact `json:"artifact_id"`
	Revision int         `json:"revision_number,omitempty"` // absent: all that no earlier archive has
	Reason   string      `json:"reason"`
}

// Reasons of Skipped.
const (
	WasDeleted     = "deleted"
	HasExpired     = "expired"
	IsLocked       = "locked"        // by the operator of the deployment
	NotPublished   = "not_published" // it has only a draft
	FilesLetGo     = "retained"      // the revision lost its files
	NotInWorkspace = "moved"
)

// Encode returns the manifest as indented JSON.
func (m Manifest) Encode() ([]byte, error) {
	m.SchemaVersion = schemaVersion
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(m)
	return b.Bytes(), err
}
