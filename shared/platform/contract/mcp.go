package contract

import "vitrine/shared/platform/id"

// MCPDescription answers GET / of the MCP host.
type MCPDescription struct {
	Name                string `json:"name"`
	Transport           string `json:"transport" enum:"streamable-http"`
	Endpoint            string `json:"endpoint" format:"uri"`
	Use                 string `json:"use"`
	Post                string `json:"post"`
	ResourceMetadata    string `json:"resource_metadata" format:"uri"`
	AuthorizationServer string `json:"authorization_server_metadata" format:"uri"`
	Docs                string `json:"docs" format:"uri"`
}

// MCPPublished answers the tools that publish (strict).
type MCPPublished struct {
	_          struct{}     `json:"-" additionalProperties:"false"`
	ArtifactID id.Artifact  `json:"artifact_id"`
	RevisionID id.Revision  `json:"revision_id"`
	Title      string       `json:"title"`
	PrivateURL string       `json:"private_url"`
	ExpiresAt  Time         `json:"expires_at"`
	Stats      *UploadStats `json:"upload_stats,omitempty"`

	// These are there if the call had addresses.
	Addressed []id.Thread     `json:"addressed,omitzero"`
	Skipped   []SkippedThread `json:"skipped,omitzero"`
}

// UploadStats counts what a publication uploaded and what it reused (strict). Sizes are bytes.
type UploadStats struct {
	_             struct{} `json:"-" additionalProperties:"false"`
	TotalFiles    int      `json:"total_files"`
	TotalBytes    int64    `json:"total_bytes"`
	UploadedFiles int      `json:"uploaded_files"`
	UploadedBytes int64    `json:"uploaded_bytes"`
	ReusedFiles   int      `json:"reused_files"`
	ReusedBytes   int64    `json:"reused_bytes"`
}

// MCPFile answers the tool read_file. ContentURL replaces a Body that is binary or does not fit.
type MCPFile struct {
	FileContent
	ContentURL string `json:"content_url,omitempty"`
}

// MCPUpload answers the tool prepare_upload. The paths in Known need no upload.
type MCPUpload struct {
	UploadSessionID id.Session      `json:"upload_session_id"`
	ArtifactID      id.Artifact     `json:"artifact_id"`
	RevisionID      id.Revision     `json:"revision_id"`
	ExpiresAt       Time            `json:"expires_at"`
	Files           []MCPUploadFile `json:"files"`
	Known           []string        `json:"known"`
}

// MCPUploadFile is a file to send by PUT with exactly RequiredHeaders. Curl is a command line that does so.
type MCPUploadFile struct {
	Path            string            `json:"path"`
	PutURL          string            `json:"put_url"`
	RequiredHeaders map[string]string `json:"required_headers"`
	Curl            string            `json:"curl"`
	ExpiresAt       Time              `json:"expires_at"`
}
