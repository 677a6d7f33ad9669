package contract

import "vitrine/shared/platform/id"

// Comparison tells what changed between two revisions of an artifact. Files that are the same in both are left out. The
// first revision has none before it, so that FromRevisionID is absent and all of its files are added.
type Comparison struct {
	ArtifactID     id.Artifact    `json:"artifact_id" pattern:"^art_[0-9A-HJKMNP-TV-Z]{26}$"`
	FromRevisionID id.Revision    `json:"from_revision_id,omitempty" pattern:"^rev_[0-9A-HJKMNP-TV-Z]{26}$"`
	ToRevisionID   id.Revision    `json:"to_revision_id" pattern:"^rev_[0-9A-HJKMNP-TV-Z]{26}$"`
	Files          []ComparedFile `json:"files" maxItems:"200"`
	PageInfo       PageInfo       `json:"page_info"`
}

// ComparedFile is a file that differs. A long diff goes on in the next answer, in an entry of the same path.
type ComparedFile struct {
	Path          string       `json:"path" minLength:"1" maxLength:"4096"`
	Change        string       `json:"change" enum:"added,removed,changed,renamed"`
	PreviousPath  string       `json:"previous_path,omitempty" maxLength:"4096" doc:"of a renamed file"`
	From          *FileVersion `json:"from,omitempty"`
	To            *FileVersion `json:"to,omitempty"`
	Diff          string       `json:"diff,omitempty" doc:"unified"`
	DiffContinues bool         `json:"diff_continues,omitempty" doc:"the next answer has the rest of the diff"`
	DiffOmitted   string       `json:"diff_omitted,omitempty" doc:"why there is no diff"`
}

// FileVersion is a file as one of the revisions has it.
type FileVersion struct {
	SizeBytes int64  `json:"size_bytes" minimum:"0"`
	SHA256    string `json:"sha256" pattern:"^[a-f0-9]{64}$"`
}
