package contract

import "vitrine/shared/platform/id"

// WorkspaceSummary names a workspace.
type WorkspaceSummary struct {
	ID        id.Workspace `json:"id" format:"uuid"`
	Name      string       `json:"name" minLength:"1" maxLength:"120"`
	CreatedAt Time         `json:"created_at" format:"date-time"`
}

// UsagePolicy lists the limits of a workspace. Sizes are bytes and lifetimes are seconds.
type UsagePolicy struct {
	FileSizeCapBytes           int64 `json:"file_size_cap_bytes" exclusiveMinimum:"0"`
	ArtifactSizeCapBytes       int64 `json:"artifact_size_cap_bytes" exclusiveMinimum:"0"`
	BundleSizeCapBytes         int64 `json:"bundle_size_cap_bytes" exclusiveMinimum:"0"`
	FileCountCap               int   `json:"file_count_cap" exclusiveMinimum:"0"`
	BundlesEnabled             bool  `json:"bundles_enabled"`
	LiveUpdateEnabled          bool  `json:"live_update_enabled"`
	ActorRateLimitPerMinute    int   `json:"actor_rate_limit_per_minute" exclusiveMinimum:"0"`
	WorkspaceBurstCapPerMinute int   `json:"workspace_burst_cap_per_minute" exclusiveMinimum:"0"`
	UploadSessionTTLSeconds    int   `json:"upload_session_ttl_seconds" exclusiveMinimum:"0"`
	DefaultTTLSeconds          int   `json:"default_ttl_seconds" exclusiveMinimum:"0"`
	MinTTLSeconds              int   `json:"min_ttl_seconds" exclusiveMinimum:"0"`
	MaxTTLSeconds              int   `json:"max_ttl_seconds" exclusiveMinimum:"0"`
	LiveArtifactsCap           int   `json:"live_artifacts_cap" exclusiveMinimum:"0"`
	DailyNewArtifactAllowance  int   `json:"daily_new_artifact_allowance" exclusiveMinimum:"0"`
	LifetimeRevisionCeiling    int   `json:"lifetime_revision_ceiling" exclusiveMinimum:"0"`
	// DailyNewArtifactsRemaining is absent if the counter cannot be read.
	DailyNewArtifactsRemaining *int `json:"daily_new_artifacts_remaining,omitempty" minimum:"0"`
}

// APIKeySummary describes an API key without its secret.
type APIKeySummary struct {
	ID          id.Key       `json:"id" pattern:"^key_[0-9A-HJKMNP-TV-Z]{26}$"`
	WorkspaceID id.Workspace `json:"workspace_id" format:"uuid"`
	Name        string       `json:"name" minLength:"1" maxLength:"120"`
	PublicID    id.Public    `json:"public_id" pattern:"^[0-9A-HJKMNP-TV-Z]{16}$"`
	Scopes      []string     `json:"scopes" enum:"publish,read,admin" minItems:"1" maxItems:"3"`
	RevokedAt   *Time        `json:"revoked_at" format:"date-time"`
	ExpiresAt   *Time        `json:"expires_at" format:"date-time"`
	CreatedAt   Time         `json:"created_at" format:"date-time"`
	LastUsedAt  *Time        `json:"last_used_at" format:"date-time"`
}

// ArtifactSummary is one row of an artifact list.
type ArtifactSummary struct {
	ID           id.Artifact  `json:"id" pattern:"^art_[0-9A-HJKMNP-TV-Z]{26}$"`
	RevisionID   *id.Revision `json:"revision_id" pattern:"^rev_[0-9A-HJKMNP-TV-Z]{26}$"`
	Status       string       `json:"status" enum:"active,deleted,expired"`
	Title        string       `json:"title" minLength:"1" maxLength:"160"`
	Entrypoint   string       `json:"entrypoint" minLength:"1" maxLength:"4096"`
	FileCount    int          `json:"file_count" minimum:"0"`
	SizeBytes    int64        `json:"size_bytes" minimum:"0"`
	ExpiresAt    Time         `json:"expires_at" format:"date-time"`
	CreatedAt    Time         `json:"created_at" format:"date-time"`
	UpdatedAt    Time         `json:"updated_at" format:"date-time"`
	DeletedAt    *Time        `json:"deleted_at" format:"date-time"`
	DeleteReason *string      `json:"delete_reason"`
}

// Bundle reports whether a zip of the revision is available (strict).
type Bundle struct {
	_                 struct{} `json:"-" additionalProperties:"false"`
	Status            string   `json:"status" enum:"pending,ready,failed,disabled"`
	RetryAfterSeconds int      `json:"retry_after_seconds,omitempty" exclusiveMinimum:"0"`
	URL               string   `json:"url,omitempty" format:"uri"`
	SizeBytes         int64    `json:"size_bytes,omitempty" minimum:"0"`
	GeneratedAt       *Time    `json:"generated_at,omitempty" format:"date-time"`
}

// AgentViewFile is one file of an Agent View with its signed URL.
type AgentViewFile struct {
	Path        string `json:"path" minLength:"1" maxLength:"4096"`
	SizeBytes   int64  `json:"size_bytes" minimum:"0"`
	ContentType string `json:"content_type" minLength:"1" maxLength:"200"`
	URL         string `json:"url" format:"uri"`
	SHA256      string `json:"sha256,omitempty" pattern:"^[a-f0-9]{64}$"`
	RenderedURL string `json:"rendered_url,omitempty" format:"uri" doc:"signed; a page that shows the file"`
	TextURL     string `json:"text_url,omitempty" format:"uri" doc:"signed; the file as plain text"`
}

// SafetyWarning is a finding of a scanner about the content.
type SafetyWarning struct {
	Code       string `json:"code" pattern:"^[a-z0-9_]+$"`
	Severity   string `json:"severity" enum:"info,warning"`
	Scope      string `json:"scope" enum:"artifact,revision,file"`
	FilePath   string `json:"file_path,omitempty" minLength:"1" maxLength:"4096"`
	Message    string `json:"message" minLength:"1" maxLength:"500"`
	DetectedAt Time   `json:"detected_at" format:"date-time"`
}

// PageWarning is a finding about a page: what will not work in it and how to fix it.
type PageWarning struct {
	Code     string `json:"code" pattern:"^[a-z0-9_]+$"`
	Severity string `json:"severity" enum:"error,warning,info"`
	Path     string `json:"path" minLength:"1" maxLength:"4096"`
	Line     int    `json:"line,omitempty" minimum:"1" doc:"absent: the file as a whole"`
	Message  string `json:"message" minLength:"1" maxLength:"1000" doc:"what is wrong, and what to do"`
}

// PublicAgentView is the machine-readable view of one revision for the holder of a signed token or link.
type PublicAgentView struct {
	ArtifactID         id.Artifact     `json:"artifact_id" pattern:"^art_[0-9A-HJKMNP-TV-Z]{26}$"`
	RevisionID         id.Revision     `json:"revision_id" pattern:"^rev_[0-9A-HJKMNP-TV-Z]{26}$"`
	Title              string          `json:"title" minLength:"1" maxLength:"160"`
	Description        *string         `json:"description,omitempty" nullable:"true" maxLength:"2000" doc:"not sent yet"`
	CreatedAt          Time            `json:"created_at" format:"date-time" doc:"when the artifact was made"`
	ExpiresAt          Time            `json:"expires_at" format:"date-time"`
	Entrypoint         string          `json:"entrypoint" minLength:"1" maxLength:"4096"`
	Listing            bool            `json:"listing,omitempty" doc:"the viewer opens the list of files, not the entrypoint"`
	App                bool            `json:"app,omitempty" doc:"an app of one page, whose entrypoint answers for paths that no file has"`
	RevisionContentURL string          `json:"revision_content_url" format:"uri" doc:"signed; opens the entrypoint"`
	RenderedURL        string          `json:"rendered_url,omitempty" format:"uri" doc:"signed; a page that shows the entrypoint"`
	TextURL            string          `json:"text_url,omitempty" format:"uri" doc:"signed; the entrypoint as plain text"`
	Files              []AgentViewFile `json:"files" minItems:"1" maxItems:"1000" doc:"all, or a page if there are more than 100"`
	FilesTotal         int             `json:"files_total,omitempty" minimum:"1" doc:"of the revision; absent: files has all"`
	SizeTotal          int64           `json:"size_total,omitempty" minimum:"0" doc:"of these files in bytes"`
	FilesNextCursor    string          `json:"files_next_cursor,omitempty" maxLength:"500" doc:"files_cursor of the next page; absent: this is the last"`
	SafetyWarnings     []SafetyWarning `json:"safety_warnings" maxItems:"100"`
	Bundle             Bundle          `json:"bundle"`
	EphemeralTier      bool            `json:"ephemeral_tier,omitempty" doc:"true while nobody has claimed the workspace"`
}

// AgentView is the view of one revision for its owner's credentials.
type AgentView struct {
	PublicAgentView
	PrivateURL string         `json:"private_url" format:"uri"`
	Lockdown   *ViewLockdowns `json:"lockdown,omitempty" doc:"for members, while anything is locked"`
	// PageWarnings are the stored warnings; PageWarningsOmitted counts the others.
	PageWarnings        []PageWarning `json:"page_warnings,omitempty" maxItems:"20" doc:"the worst first; absent: none"`
	PageWarningsOmitted int           `json:"page_warnings_omitted,omitempty" minimum:"1" doc:"how many more there were"`
	Feedback            *ViewFeedback `json:"feedback,omitempty" doc:"with feedback=1"`
}

// ViewFeedback says how much is written about an artifact (strict). URL lists it for the same credential.
type ViewFeedback struct {
	_    struct{} `json:"-" additionalProperties:"false"`
	Open int      `json:"open" minimum:"0" doc:"how many threads are open"`
	Seq  int64    `json:"seq" minimum:"0" doc:"rises by 1 with every change of a thread"`
	URL  string   `json:"url" format:"uri"`
}

// ViewLockdowns reports what is locked (strict): the artifact's access links by members, and the artifact or its
// workspace by the operator.
type ViewLockdowns struct {
	_          struct{}      `json:"-" additionalProperties:"false"`
	AccessLink Locked        `json:"access_link"`
	Platform   ViewPlatforms `json:"platform"`
}

// ViewPlatforms are the operator's locks (strict).
type ViewPlatforms struct {
	_         struct{} `json:"-" additionalProperties:"false"`
	Workspace Locked   `json:"workspace"`
	Artifact  Locked   `json:"artifact"`
}

// Locked reports whether and since when a lock is set (strict).
type Locked struct {
	_        struct{} `json:"-" additionalProperties:"false"`
	Locked   bool     `json:"locked"`
	LockedAt *Time    `json:"locked_at" format:"date-time"`
}
