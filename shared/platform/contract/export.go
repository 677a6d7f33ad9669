package contract

import "vitrine/shared/platform/id"

// ExportStatus answers web.workspace.export.create and web.workspace.export.get. Export is null if the workspace never
// had one.
type ExportStatus struct {
	Export *Export `json:"export"`
}

// Export is the newest export of a workspace. Volumes is empty unless the export is ready.
type Export struct {
	ID                id.Export      `json:"id" pattern:"^exp_[0-9A-HJKMNP-TV-Z]{26}$"`
	Status            string         `json:"status" enum:"pending,ready,failed,expired"`
	CreatedAt         Time           `json:"created_at" format:"date-time"`
	ArtifactsDone     int            `json:"artifacts_done" minimum:"0"`
	ArtifactsTotal    int            `json:"artifacts_total" minimum:"0" doc:"0 until they were counted"`
	Skipped           int            `json:"skipped" minimum:"0" doc:"artifacts and revisions that had vanished, as the manifests list them"`
	RetryAfterSeconds int            `json:"retry_after_seconds,omitempty" minimum:"1" doc:"of a pending one"`
	FailureReason     *string        `json:"failure_reason"`
	ReadyAt           *Time          `json:"ready_at" format:"date-time"`
	ExpiresAt         *Time          `json:"expires_at" format:"date-time" doc:"when its archives are deleted"`
	Volumes           []ExportVolume `json:"volumes" maxItems:"10000"`
}

// ExportVolume is one archive of an export. URL works for an hour, and is null unless the caller signed in within the
// last 15 minutes.
type ExportVolume struct {
	Number    int     `json:"number" minimum:"1"`
	FileName  string  `json:"file_name"`
	SizeBytes int64   `json:"size_bytes" minimum:"0"`
	SHA256    string  `json:"sha256" pattern:"^[0-9a-f]{64}$"`
	URL       *string `json:"url" format:"uri"`
}
