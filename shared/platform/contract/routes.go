package contract

import "vitrine/shared/platform/id"

// Discovery lists the hosts of a deployment (GET /.well-known/vitrine).
type Discovery struct {
	APIURL     string `json:"api_url" format:"uri"`
	UploadURL  string `json:"upload_url" format:"uri"`
	ContentURL string `json:"content_url" format:"uri"`
	AppURL     string `json:"app_url" format:"uri"`
	MCPURL     string `json:"mcp_url,omitempty" format:"uri" doc:"only where there is an MCP host"`
	OwnOrigins bool   `json:"own_origins,omitempty" doc:"each artifact has an origin of its own, so that paths from the root lead to its files"`
	Version    string `json:"version"`
	Name       string `json:"name,omitempty" doc:"what the deployment calls itself, where its owner gave it a name"`
	Contact    string `json:"contact,omitempty" format:"uri" doc:"where people ask about it: a mailto or https URL"`

	Features  []string   `json:"features,omitempty" maxItems:"20" doc:"feedback: artifacts have threads"`
	LoadsFrom *LoadsFrom `json:"loads_from,omitempty" doc:"what pages may load from other hosts than their own"`
}

// FeatureFeedback is the feature of Discovery that says that artifacts have threads. A client leaves out what belongs to a
// feature that is missing.
const FeatureFeedback = "feedback"

// LoadsFrom lists the hosts that pages whose scripts run may load from, in the form of host sources of a content security
// policy. A kind that is absent comes from nowhere else.
type LoadsFrom struct {
	Scripts []string `json:"scripts,omitempty"`
	Styles  []string `json:"styles,omitempty"`
	Fonts   []string `json:"fonts,omitempty"`
	Images  []string `json:"images,omitempty"`
	Connect []string `json:"connect,omitempty"`
}

// Whoami answers whoami.get.
type Whoami struct {
	Actor       WhoamiActor      `json:"actor"`
	Workspace   WorkspaceSummary `json:"workspace"`
	Scopes      []string         `json:"scopes" enum:"publish,read,admin" minItems:"1" maxItems:"3"`
	UsagePolicy UsagePolicy      `json:"usage_policy"`
}

// WhoamiActor names the credential that asks.
type WhoamiActor struct {
	Type string `json:"type" enum:"api_key"`
	ID   id.Key `json:"id" pattern:"^key_[0-9A-HJKMNP-TV-Z]{26}$"`
	Name string `json:"name" minLength:"1" maxLength:"120"`
}

// RevokedKey answers apiKeys.revokeCurrent.
type RevokedKey struct {
	APIKey    APIKeySummary `json:"api_key"`
	RevokedAt Time          `json:"revoked_at" format:"date-time"`
}

// ProvisionRequest asks for an ephemeral workspace (strict). ClaimCode may be any JSON value; a malformed one is
// ignored.
type ProvisionRequest struct {
	_         struct{}   `json:"-" additionalProperties:"false"`
	ClaimCode any        `json:"claim_code,omitempty" documentType:"string,null" pattern:"^clm_[0-9A-HJKMNP-TV-Z]{26}$" doc:"whom to credit; anything else is ignored"`
	Challenge *Challenge `json:"challenge,omitempty" doc:"of the refusal pow_required, as it came"`
	Solution  *Solution  `json:"solution,omitempty"`
}

// Provisioned answers ephemeral.provision (strict). Both secrets are shown only here.
type Provisioned struct {
	_            struct{}      `json:"-" additionalProperties:"false"`
	APIKeySecret string        `json:"api_key_secret" minLength:"1"`
	ClaimToken   string        `json:"claim_token" minLength:"1"`
	WorkspaceID  id.Workspace  `json:"workspace_id" format:"uuid"`
	APIKeyID     id.Key        `json:"api_key_id" minLength:"1"`
	ClaimTokenID id.ClaimToken `json:"claim_token_id" minLength:"1"`
}

// CreateSession asks for an upload session.
type CreateSession struct {
	ArtifactID     id.Artifact    `json:"artifact_id,omitempty" pattern:"^art_[0-9A-HJKMNP-TV-Z]{26}$" doc:"makes a new revision of this artifact"`
	BaseRevisionID id.Revision    `json:"base_revision_id,omitempty" pattern:"^rev_[0-9A-HJKMNP-TV-Z]{26}$"`
	Title          string         `json:"title" minLength:"1"`
	Entrypoint     string         `json:"entrypoint" minLength:"1" maxLength:"4096"`
	Listing        bool           `json:"listing,omitempty" doc:"the viewer opens the list of files, not the entrypoint"`
	App            *bool          `json:"app,omitempty" doc:"an app of one page: at an origin of its own, the entrypoint answers for paths that no file has; absent: as before, or as its pages look"`
	RenderMode     string         `json:"render_mode,omitempty" enum:"html,markdown,text,image,audio,video"`
	DeletedPaths   []string       `json:"deleted_paths,omitempty" maxItems:"2000"`
	BaseFiles      int            `json:"base_files,omitempty" minimum:"1" maximum:"2000" doc:"how many files of the base were compared; required if it has more than 100"`
	Resumable      bool           `json:"resumable,omitempty" doc:"a repetition answers files that are stored already as reused"`
	Files          []DeclaredFile `json:"files" maxItems:"2000"`
}

// DeclaredFile is a file that the client will upload.
type DeclaredFile struct {
	Path      string         `json:"path" minLength:"1" maxLength:"4096"`
	SizeBytes int64          `json:"size_bytes" minimum:"0" maximum:"188743680"`
	SHA256    string         `json:"sha256,omitempty" pattern:"^[a-f0-9]{64}$" doc:"lower-case hex; lets known bytes be reused"`
	Patch     *DeclaredPatch `json:"patch,omitempty"`
}

// DeclaredPatch declares that the upload is a diff against the base revision's file.
type DeclaredPatch struct {
	BaseSHA256   string `json:"base_sha256" pattern:"^[a-f0-9]{64}$"`
	Format       string `json:"format" enum:"unified"`
	ResultSHA256 string `json:"result_sha256" pattern:"^[a-f0-9]{64}$"`
}

// Session answers uploadSessions.create; Files are in the order of the request.
type Session struct {
	UploadSessionID id.Session     `json:"upload_session_id" pattern:"^upl_[0-9A-HJKMNP-TV-Z]{26}$"`
	ArtifactID      id.Artifact    `json:"artifact_id" pattern:"^art_[0-9A-HJKMNP-TV-Z]{26}$"`
	RevisionID      id.Revision    `json:"revision_id" pattern:"^rev_[0-9A-HJKMNP-TV-Z]{26}$"`
	Status          string         `json:"status" enum:"pending"`
	ExpiresAt       Time           `json:"expires_at" format:"date-time"`
	Files           []UploadTarget `json:"files" maxItems:"2000"`
}

// UploadTarget describes how to upload one file: by PUT to PutURL with exactly RequiredHeaders. A reused file has no
// PutURL and needs no upload.
type UploadTarget struct {
	Status          string            `json:"status" enum:"upload_required,reused"`
	Path            string            `json:"path" minLength:"1" maxLength:"4096"`
	PutURL          string            `json:"put_url,omitempty" format:"uri"`
	RequiredHeaders map[string]string `json:"required_headers,omitempty"`
	ExpiresAt       *Time             `json:"expires_at,omitempty" format:"date-time"`
}

// Finalized answers uploadSessions.finalize.
type Finalized struct {
	UploadSessionID id.Session  `json:"upload_session_id" pattern:"^upl_[0-9A-HJKMNP-TV-Z]{26}$"`
	ArtifactID      id.Artifact `json:"artifact_id" pattern:"^art_[0-9A-HJKMNP-TV-Z]{26}$"`
	RevisionID      id.Revision `json:"revision_id" pattern:"^rev_[0-9A-HJKMNP-TV-Z]{26}$"`
	Status          string      `json:"status" enum:"draft"`
	Title           string      `json:"title" minLength:"1" maxLength:"160"`
	Entrypoint      string      `json:"entrypoint" minLength:"1" maxLength:"4096"`
	FileCount       int         `json:"file_count" minimum:"1"`
	SizeBytes       int64       `json:"size_bytes" minimum:"0"`
	// Warnings are findings about the pages. They never stop a publication.
	Warnings        []PageWarning `json:"warnings,omitempty" maxItems:"20" doc:"the worst first; absent: none"`
	WarningsOmitted int           `json:"warnings_omitted,omitempty" minimum:"1" doc:"how many more there were"`
}

// Published answers revisions.publish (strict). PrivateURL is for workspaces of members and UnlistedURL for unclaimed
// ones. URL is set in addition if the key came from an agent registration.
type Published struct {
	_                  struct{}    `json:"-" additionalProperties:"false"`
	ArtifactID         id.Artifact `json:"artifact_id" pattern:"^art_[0-9A-HJKMNP-TV-Z]{26}$"`
	RevisionID         id.Revision `json:"revision_id" pattern:"^rev_[0-9A-HJKMNP-TV-Z]{26}$"`
	Title              string      `json:"title" minLength:"1" maxLength:"160"`
	RevisionContentURL string      `json:"revision_content_url" format:"uri"`
	AgentViewURL       string      `json:"agent_view_url" format:"uri"`
	ExpiresAt          Time        `json:"expires_at" format:"date-time"`
	Bundle             Bundle      `json:"bundle"`
	PrivateURL         string      `json:"private_url,omitempty" format:"uri"`
	UnlistedURL        string      `json:"unlisted_url,omitempty" format:"uri"`
	URL                string      `json:"url,omitempty" format:"uri"`

	// These are there if the request had addresses.
	Addressed []id.Thread     `json:"addressed,omitzero" maxItems:"20" doc:"threads that the revision addressed"`
	Skipped   []SkippedThread `json:"skipped,omitzero" maxItems:"20" doc:"threads that stay as they were"`
}

// ArtifactList answers artifacts.list, newest first.
type ArtifactList struct {
	Data     []ArtifactSummary `json:"data" maxItems:"100"`
	PageInfo PageInfo          `json:"page_info"`
}

// DeletedArtifact answers artifacts.delete.
type DeletedArtifact struct {
	ArtifactID id.Artifact `json:"artifact_id" pattern:"^art_[0-9A-HJKMNP-TV-Z]{26}$"`
	DeletedAt  Time        `json:"deleted_at" format:"date-time"`
}

// ResolveRequest carries the two parts of an access link: the public id in its path and the blob in its fragment.
type ResolveRequest struct {
	PublicID id.Public `json:"public_id" pattern:"^[0-9A-HJKMNP-TV-Z]{16}$"`
	Blob     string    `json:"blob" minLength:"1"`

	FilesCursor string `json:"files_cursor,omitempty" maxLength:"500" doc:"the next page of the files of the same revision"`
}

// Resolved answers accessLinks.resolve.
type Resolved struct {
	AgentView  PublicAgentView `json:"agent_view"`
	RenderMode string          `json:"render_mode" enum:"html,markdown,text,image,audio,video"`
	IframeSrc  string          `json:"iframe_src" format:"uri"`
	Title      string          `json:"title" minLength:"1" maxLength:"160"`
	Pinned     bool            `json:"pinned,omitempty" doc:"the artifact is kept: it does not end at expires_at while that is so"`
}

// PublishedRevision is the type of a LiveUpdate about a newer revision.
const PublishedRevision = "published_revision"

// LiveUpdate tells an open page what changed.
type LiveUpdate struct {
	Type    string  `json:"type"`
	Pointer Pointer `json:"pointer"`
}

// Pointer locates the newest revision of an artifact.
type Pointer struct {
	RevisionID id.Revision `json:"revision_id"`
	IframeSrc  string      `json:"iframe_src"`
	RenderMode string      `json:"render_mode"`
	Title      string      `json:"title"`
	Number     int         `json:"number"`
}

// Challenge is the proof of work that a busy service requires. It accompanies the error pow_required.
type Challenge struct {
	Nonce      string `json:"nonce" minLength:"22" maxLength:"22" doc:"22 base64url characters"`
	Difficulty int    `json:"difficulty" minimum:"1" doc:"leading zero bits that SHA-256 of nonce:counter needs, the counter in decimal"`
	ExpiresAt  Time   `json:"expires_at" format:"date-time"`
	Signature  string `json:"signature" doc:"to be sent back as it is"`
}

// Solution answers a Challenge.
type Solution struct {
	Nonce   string `json:"nonce"`
	Counter uint64 `json:"counter"`
}

// CLIVersion answers cli.version.
type CLIVersion struct {
	Latest       string `json:"latest" pattern:"^\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z.-]+)?(?:\\+[0-9A-Za-z.-]+)?$"`
	MinSupported string `json:"min_supported" pattern:"^\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z.-]+)?(?:\\+[0-9A-Za-z.-]+)?$"`
}

// FileContent answers artifacts.fileContent (strict). Body is present for text whose answer fits the inline cap.
type FileContent struct {
	_           struct{} `json:"-" additionalProperties:"false"`
	Path        string   `json:"path" minLength:"1" maxLength:"4096"`
	SHA256      string   `json:"sha256" pattern:"^[a-f0-9]{64}$"`
	SizeBytes   int64    `json:"size_bytes" minimum:"0"`
	ContentType string   `json:"content_type" minLength:"1" maxLength:"200"`
	IsBinary    bool     `json:"is_binary"`
	Body        *string  `json:"body,omitempty" maxLength:"10485760"`
}

// RevisionSummary is one row of a list of revisions.
type RevisionSummary struct {
	RevisionID     id.Revision `json:"revision_id" pattern:"^rev_[0-9A-HJKMNP-TV-Z]{26}$"`
	RevisionNumber *int        `json:"revision_number" exclusiveMinimum:"0"`
	Status         string      `json:"status" enum:"draft,published,retained"`
	Entrypoint     string      `json:"entrypoint" minLength:"1" maxLength:"4096"`
	RenderMode     string      `json:"render_mode" enum:"html,markdown,text,image,audio,video"`
	FileCount      int         `json:"file_count" minimum:"1"`
	SizeBytes      int64       `json:"size_bytes" minimum:"0"`
	CreatedAt      Time        `json:"created_at" format:"date-time"`
	PublishedAt    *Time       `json:"published_at" format:"date-time"`
}

// RevisionList answers revisions.list: drafts first, then the newest.
type RevisionList struct {
	ArtifactID id.Artifact       `json:"artifact_id" pattern:"^art_[0-9A-HJKMNP-TV-Z]{26}$"`
	Items      []RevisionSummary `json:"items" maxItems:"100"`
	PageInfo   PageInfo          `json:"page_info"`
}
