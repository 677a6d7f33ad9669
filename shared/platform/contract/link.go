package contract

import "vitrine/shared/platform/id"

// CreateLink asks for an access link (strict). RevisionID is required with type revision and refused with any other.
// ExpiresAt ends the link with its URL. An existing share link keeps its own expiry, and the request is refused if that
// is later. Comments is for share links of claimed workspaces, and changes an existing one.
type CreateLink struct {
	_          struct{}    `json:"-" additionalProperties:"false"`
	Type       string      `json:"type" enum:"share,revision"`
	RevisionID id.Revision `json:"revision_id,omitempty" pattern:"^rev_[0-9A-HJKMNP-TV-Z]{26}$"`
	ExpiresAt  *Time       `json:"expires_at,omitempty" format:"date-time"`
	Comments   *bool       `json:"comments,omitempty" doc:"of a share link: who has it may write feedback, where the artifact takes that"`
}

// CreatedLink answers accessLinks.create (strict). Comments is there where the request had it.
type CreatedLink struct {
	_          struct{}     `json:"-" additionalProperties:"false"`
	ID         id.Link      `json:"id" pattern:"^al_[0-9A-HJKMNP-TV-Z]{26}$"`
	Type       string       `json:"type" enum:"share,revision"`
	ArtifactID id.Artifact  `json:"artifact_id" pattern:"^art_[0-9A-HJKMNP-TV-Z]{26}$"`
	RevisionID *id.Revision `json:"revision_id" pattern:"^rev_[0-9A-HJKMNP-TV-Z]{26}$"`
	CreatedAt  Time         `json:"created_at" format:"date-time"`
	Comments   *bool        `json:"comments,omitempty"`
}

// MintedLink answers accessLinks.mint. The URL includes its secret and works until the link ends.
type MintedLink struct {
	URL string `json:"url" format:"uri"`
}

// LinkRow is one access link in a list (strict).
type LinkRow struct {
	_          struct{}     `json:"-" additionalProperties:"false"`
	ID         id.Link      `json:"id" pattern:"^al_[0-9A-HJKMNP-TV-Z]{26}$"`
	Type       string       `json:"type" enum:"share,revision"`
	ArtifactID id.Artifact  `json:"artifact_id" pattern:"^art_[0-9A-HJKMNP-TV-Z]{26}$"`
	RevisionID *id.Revision `json:"revision_id" pattern:"^rev_[0-9A-HJKMNP-TV-Z]{26}$"`
	CreatedAt  Time         `json:"created_at" format:"date-time"`
	ExpiresAt  *Time        `json:"expires_at" format:"date-time"`
	RevokedAt  *Time        `json:"revoked_at" format:"date-time"`
}

// LinkList answers accessLinks.list and includes revoked links (strict).
type LinkList struct {
	_          struct{}    `json:"-" additionalProperties:"false"`
	ArtifactID id.Artifact `json:"artifact_id" pattern:"^art_[0-9A-HJKMNP-TV-Z]{26}$"`
	Items      []LinkRow   `json:"items"`
}

// RevokedLink answers accessLinks.revoke (strict).
type RevokedLink struct {
	_            struct{} `json:"-" additionalProperties:"false"`
	AccessLinkID id.Link  `json:"access_link_id" pattern:"^al_[0-9A-HJKMNP-TV-Z]{26}$"`
	RevokedAt    Time     `json:"revoked_at" format:"date-time"`
}

// WebLinkRow is one access link in a member's list.
type WebLinkRow struct {
	ID         id.Link      `json:"id" pattern:"^al_[0-9A-HJKMNP-TV-Z]{26}$"`
	Type       string       `json:"type" enum:"share,revision"`
	ArtifactID id.Artifact  `json:"artifact_id" pattern:"^art_[0-9A-HJKMNP-TV-Z]{26}$"`
	RevisionID *id.Revision `json:"revision_id" pattern:"^rev_[0-9A-HJKMNP-TV-Z]{26}$"`
	CreatedAt  Time         `json:"created_at" format:"date-time"`
	ExpiresAt  *Time        `json:"expires_at" format:"date-time"`
	RevokedAt  *Time        `json:"revoked_at" format:"date-time"`
	Revoked    bool         `json:"revoked"`
}

// WebLinkList answers web.accessLinks.listAll and web.accessLinks.listForArtifact, newest first.
type WebLinkList struct {
	Items    []WebLinkRow `json:"items" maxItems:"100"`
	PageInfo PageInfo     `json:"page_info"`
}

// SetVisibility makes an artifact reachable by a share link, or by no link at all.
type SetVisibility struct {
	Visibility string `json:"visibility" enum:"private,unlisted"`
}

// Visibility answers artifacts.setVisibility (strict). An unlisted artifact has AccessLinkID and UnlistedURL: its share
// link with its URL. A private one has PrivateURL, the page for members, and RevokedAccessLinkIDs, which is present
// even if no link ended.
type Visibility struct {
	_                    struct{}    `json:"-" additionalProperties:"false"`
	ArtifactID           id.Artifact `json:"artifact_id" pattern:"^art_[0-9A-HJKMNP-TV-Z]{26}$"`
	Visibility           string      `json:"visibility" enum:"private,unlisted"`
	AccessLinkID         id.Link     `json:"access_link_id,omitempty" pattern:"^al_[0-9A-HJKMNP-TV-Z]{26}$"`
	UnlistedURL          string      `json:"unlisted_url,omitempty" format:"uri"`
	PrivateURL           string      `json:"private_url,omitempty" format:"uri"`
	RevokedAccessLinkIDs *[]id.Link  `json:"revoked_access_link_ids,omitempty"`
}

// UpdateMetadata renames an artifact (strict).
type UpdateMetadata struct {
	_     struct{} `json:"-" additionalProperties:"false"`
	Title string   `json:"title" minLength:"1"`
}

// DisplayMetadata answers artifacts.updateDisplayMetadata; Description is always null.
type DisplayMetadata struct {
	Title       string  `json:"title" minLength:"1" maxLength:"160"`
	Description *string `json:"description"`
}

// SetLockdown asks to close a workspace or an artifact.
type SetLockdown struct {
	Scope      string `json:"scope" enum:"workspace,artifact"`
	TargetID   string `json:"target_id" minLength:"1"`
	ReasonCode string `json:"reason_code" minLength:"1" maxLength:"120"`
}

// Lockdown is one operator lockdown.
type Lockdown struct {
	Scope      string  `json:"scope" enum:"workspace,artifact"`
	TargetID   string  `json:"target_id"`
	ReasonCode string  `json:"reason_code" minLength:"1" maxLength:"120"`
	SetAt      Time    `json:"set_at" format:"date-time"`
	SetBy      string  `json:"set_by" minLength:"1"`
	LiftedAt   *Time   `json:"lifted_at" format:"date-time"`
	LiftedBy   *string `json:"lifted_by"`
}

// LockdownList answers web.admin.lockdown.list, newest first.
type LockdownList struct {
	Items    []Lockdown `json:"items" maxItems:"100"`
	PageInfo PageInfo   `json:"page_info"`
}

// OperatorEvent is one entry of the audit log of all workspaces.
type OperatorEvent struct {
	AuditRow
	WorkspaceID *id.Workspace `json:"workspace_id" format:"uuid"`
	ActorType   string        `json:"actor_type" enum:"api_key,member,admin,system,platform"`
	TargetType  string        `json:"target_type"`
}

// OperatorEventList answers web.admin.events.list, newest first.
type OperatorEventList struct {
	Items    []OperatorEvent `json:"items" maxItems:"100"`
	PageInfo PageInfo        `json:"page_info"`
}
