package contract

import "vitrine/shared/platform/id"

// MemberSummary describes a member of a workspace.
type MemberSummary struct {
	ID          id.Member    `json:"id" pattern:"^mem_[0-9A-HJKMNP-TV-Z]{26}$"`
	WorkspaceID id.Workspace `json:"workspace_id" format:"uuid"`
	Email       string       `json:"email"`
	Scopes      []string     `json:"scopes" enum:"publish,read,admin" minItems:"1" maxItems:"3"`
	CreatedAt   Time         `json:"created_at" format:"date-time"`
	LastSeenAt  Time         `json:"last_seen_at" format:"date-time"`
}

// AuthCallback answers web.auth.callback. DefaultAPIKey is always null, because members create keys themselves.
type AuthCallback struct {
	Workspace       WorkspaceSummary `json:"workspace"`
	WorkspaceMember MemberSummary    `json:"workspace_member"`
	Scopes          []string         `json:"scopes" enum:"publish,read,admin" minItems:"1" maxItems:"3"`
	DefaultAPIKey   *CreatedKey      `json:"default_api_key"`
}

// WebWorkspace answers web.workspace.get.
type WebWorkspace struct {
	Workspace          WorkspaceSummary `json:"workspace"`
	WorkspaceMember    MemberSummary    `json:"workspace_member"`
	UsagePolicy        UsagePolicy      `json:"usage_policy"`
	DefaultKeyFirstRun bool             `json:"default_key_first_run"`
}

// Settings answers web.settings.get and web.settings.update.
type Settings struct {
	WorkspaceName      string             `json:"workspace_name" minLength:"1" maxLength:"120"`
	AutoDeletionDays   int                `json:"auto_deletion_days" exclusiveMinimum:"0"`
	AutoDeletionBounds AutoDeletionBounds `json:"auto_deletion_bounds"`
	UsagePolicy        SettingsPolicy     `json:"usage_policy"`
}

// AutoDeletionBounds are the fewest and the most days that a workspace may choose.
type AutoDeletionBounds struct {
	MinDays int `json:"min_days" exclusiveMinimum:"0"`
	MaxDays int `json:"max_days" exclusiveMinimum:"0"`
}

// SettingsPolicy is the part of the limits that the settings page shows.
type SettingsPolicy struct {
	ArtifactsPerDay int   `json:"artifacts_per_day" minimum:"0"`
	BytesPerDay     int64 `json:"bytes_per_day" minimum:"0"`
}

// UpdateSettings changes both settings.
type UpdateSettings struct {
	WorkspaceName    string `json:"workspace_name" minLength:"1" maxLength:"120"`
	AutoDeletionDays int    `json:"auto_deletion_days" minimum:"1" maximum:"24000"`
}

// AuditRow is one entry of a workspace's audit log. RequestID is empty if it is unknown.
type AuditRow struct {
	ID            id.Event `json:"id"`
	Time          Time     `json:"time" format:"date-time"`
	Actor         string   `json:"actor" doc:"type:id"`
	Action        string   `json:"action"`
	Target        string   `json:"target" doc:"type:id"`
	ChangeSummary string   `json:"change_summary"`
	RequestID     string   `json:"request_id"`
}

// AuditList answers web.audit.list, newest first.
type AuditList struct {
	Items    []AuditRow `json:"items" maxItems:"100"`
	PageInfo PageInfo   `json:"page_info"`
}

// WebArtifactRow is one row of a member's artifacts.
type WebArtifactRow struct {
	ID               id.Artifact  `json:"id" pattern:"^art_[0-9A-HJKMNP-TV-Z]{26}$"`
	Title            string       `json:"title" minLength:"1"`
	Status           string       `json:"status" enum:"Published,Deleted,Expired"`
	LatestRevisionID *id.Revision `json:"latest_revision_id" pattern:"^rev_[0-9A-HJKMNP-TV-Z]{26}$"`
	Pinned           bool         `json:"pinned"`
	Lockdown         bool         `json:"lockdown" doc:"of its access links"`
	LastPublishedAt  *Time        `json:"last_published_at" format:"date-time"`
	AutoDeleteAt     *Time        `json:"auto_delete_at" format:"date-time"`
}

// WebArtifactList answers web.artifacts.list, newest first. It includes deleted and expired artifacts.
type WebArtifactList struct {
	Items    []WebArtifactRow `json:"items" maxItems:"100"`
	PageInfo PageInfo         `json:"page_info"`
}

// WebArtifact answers web.artifacts.get. Viewer is null unless the artifact is active and published.
type WebArtifact struct {
	WebArtifactRow
	Entrypoint string     `json:"entrypoint" minLength:"1"`
	FileCount  int        `json:"file_count" minimum:"0"`
	SizeBytes  int64      `json:"size_bytes" minimum:"0"`
	Viewer     *WebViewer `json:"viewer"`
}

// WebViewer is the content of an artifact's viewer frame.
type WebViewer struct {
	IframeSrc  string `json:"iframe_src" format:"uri"`
	RenderMode string `json:"render_mode" enum:"html,markdown,text,image,audio,video"`
}

// WebKey is one row of a workspace's API keys.
type WebKey struct {
	APIKeySummary
	Revoked bool `json:"revoked"`
}

// WebKeyList answers web.apiKeys.list, newest first.
type WebKeyList struct {
	Items    []WebKey `json:"items" maxItems:"100"`
	PageInfo PageInfo `json:"page_info"`
}

// CreateKey asks for an API key. Without ExpiresInDays the key gets the default expiry of the client.
type CreateKey struct {
	Name          string `json:"name" minLength:"1" maxLength:"120"`
	ExpiresInDays int    `json:"expires_in_days,omitempty" minimum:"1" maximum:"365"`
}

// CreatedKey answers web.apiKeys.create. The secret is shown only here.
type CreatedKey struct {
	APIKey APIKeySummary `json:"api_key"`
	Secret string        `json:"secret"`
}

// MCPWhoami answers mcp.whoami (strict).
type MCPWhoami struct {
	_               struct{}         `json:"-" additionalProperties:"false"`
	WorkspaceMember MCPMember        `json:"workspace_member"`
	Workspace       WorkspaceSummary `json:"workspace"`
	Scopes          []string         `json:"scopes" enum:"publish,read,admin" maxItems:"3"`
}

// MCPMember is the member of a token (strict).
type MCPMember struct {
	_     struct{}  `json:"-" additionalProperties:"false"`
	ID    id.Member `json:"id" pattern:"^mem_[0-9A-HJKMNP-TV-Z]{26}$"`
	Email string    `json:"email"`
}
