package contract

import "vitrine/shared/platform/id"

// Comparison lists what changed between two revisions of an artifact. It omits files that are the same in both. For the
// first revision FromRevisionID is absent and all files are added.
type Comparison struct {
	ArtifactID     id.Artifact      `json:"artifact_id" pattern:"^art_[0-9A-HJKMNP-TV-Z]{26}$"`
	FromRevisionID id.Revision      `json:"from_revision_id,omitempty" pattern:"^rev_[0-9A-HJKMNP-TV-Z]{26}$"`
	ToRevisionID   id.Revision      `json:"to_revision_id" pattern:"^rev_[0-9A-HJKMNP-TV-Z]{26}$"`
	Counts         ComparisonCounts `json:"counts" doc:"of all files that differ, on whichever page"`
	Files          []ComparedFile   `json:"files" maxItems:"200"`
	PageInfo       PageInfo         `json:"page_info"`
}

// ComparisonCounts counts the files that differ between two revisions, by kind of change.
type ComparisonCounts struct {
	Added   int `json:"added" minimum:"0"`
	Removed int `json:"removed" minimum:"0"`
	Changed int `json:"changed" minimum:"0"`
	Renamed int `json:"renamed" minimum:"0"`
}

// Add counts one more file by the Change of a ComparedFile.
func (c *ComparisonCounts) Add(change string) {
	switch change {
	case "added":
		c.Added++
	case "removed":
		c.Removed++
	case "changed":
		c.Changed++
	case "renamed":
		c.Renamed++
	}
}

// Sum returns how many files differ.
func (c ComparisonCounts) Sum() int { return c.Added + c.Removed + c.Changed + c.Renamed }

// ComparedFile is a file that differs. A long diff continues in the next answer, in an entry with the same path.
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
