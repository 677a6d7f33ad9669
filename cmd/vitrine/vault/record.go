package vault

import (
	"encoding/json"
	"regexp"
	"time"

	"vitrine/cmd/vitrine/secret"
	"vitrine/shared/platform/id"
)

// Record is the stored login for one server. Its secrets are sent only to the hosts that it names.
type Record struct {
	BaseURL   string `json:"base_url"` // as the person names the server, normalised
	APIURL    string `json:"api_url"`  // the hosts at the time of the login
	UploadURL string `json:"upload_url"`

	APIKey       secret.Text  `json:"api_key"`
	PublicID     id.Public    `json:"public_id"`
	KeyID        id.Key       `json:"key_id"`
	WorkspaceID  id.Workspace `json:"workspace_id"`
	MemberEmail  string       `json:"member_email,omitempty"`
	ExpiresAt    *time.Time   `json:"expires_at"` // of the key; null for never
	RefreshToken secret.Text  `json:"refresh_token,omitempty"`
}

var (
	keyForm     = regexp.MustCompile(`^ap_pk_(?:production|preview|live)_([0-9A-HJKMNP-TV-Z]{16})_[A-Za-z0-9_-]{32,}$`)
	refreshForm = regexp.MustCompile(`^ap_rt_(production|preview|live)_[0-9A-HJKMNP-TV-Z]{16}_[A-Za-z0-9_-]{32,}$`)
)

// read parses the record of a server. It returns nil for JSON that is corrupt, has another form or belongs to another
// server.
func read(text []byte, server string) *Record {
	var r Record
	if json.Unmarshal(text, &r) != nil || r.BaseURL != server || r.APIURL == "" || r.UploadURL == "" {
		return nil
	}
	form := keyForm.FindStringSubmatch(string(r.APIKey))
	if form == nil || form[1] != string(r.PublicID) || (r.RefreshToken != "" &&
		!refreshForm.MatchString(string(r.RefreshToken))) {
		return nil
	}
	return &r
}

// Expired reports whether the key has expired.
func (r *Record) Expired(now time.Time) bool { return r.ExpiresAt != nil && !now.Before(*r.ExpiresAt) }
