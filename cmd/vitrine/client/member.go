package client

import (
	"context"
	"net/http"
	"regexp"

	"vitrine/cmd/vitrine/secret"
	"vitrine/shared/platform/contract"
)

// Member calls a deployment with the access token of a person.
type Member struct {
	*Deployment
	access secret.Text
}

// As returns a Member that uses an access token.
func (d *Deployment) As(access secret.Text) *Member { return &Member{d, access} }

// Workspace returns the person and their workspace.
func (m *Member) Workspace(ctx context.Context) (w contract.WebWorkspace, err error) {
	err = m.caller.do(ctx, m.call(http.MethodGet, "/v1/web/workspace"), &w)
	return w, err
}

// call returns a call to the api host that carries the access token.
func (m *Member) call(method, path string) call {
	return call{
		method: method,
		host:   m.Hosts.APIURL,
		path:   path,
		bearer: string(m.access),
	}
}

const settingsPath = "/v1/web/settings"

// Settings returns the settings of the workspace.
func (m *Member) Settings(ctx context.Context) (s contract.Settings, err error) {
	err = m.caller.do(ctx, m.call(http.MethodGet, settingsPath), &s)
	return s, err
}

// UpdateSettings changes the settings of the workspace.
func (m *Member) UpdateSettings(
	ctx context.Context, idem string, asked contract.UpdateSettings,
) (s contract.Settings, err error) {
	c := m.call(http.MethodPatch, settingsPath)
	c.idem, c.body = idem, asked
	err = m.caller.do(ctx, c, &s)
	return s, err
}

var (
	publicForm    = regexp.MustCompile(`^ap_pk_[a-z]+_([0-9A-HJKMNP-TV-Z]{16})_`)
	workspaceForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// CreateKey creates an API key that expires after this many days; 0 leaves that to the server. The returned values are
// well-formed and consistent.
func (m *Member) CreateKey(ctx context.Context, idem, name string, days int) (contract.CreatedKey, Key, error) {
	var out contract.CreatedKey
	k := m.call(http.MethodPost, "/v1/web/keys")
	k.idem, k.body = idem, contract.CreateKey{Name: name, ExpiresInDays: days}
	if err := m.caller.do(ctx, k, &out); err != nil {
		return out, Key{}, err
	}
	key, err := ParseKey(out.Secret)
	about := out.APIKey
	if err != nil || publicForm.FindStringSubmatch(out.Secret)[1] != string(about.PublicID) || !about.ID.Valid() ||
		!workspaceForm.MatchString(string(about.WorkspaceID)) {
		return out, Key{}, m.caller.badResponse(m.Hosts.APIURL, "the new API key is malformed")
	}
	return out, key, nil
}

const deletionPath = "/v1/web/workspace/deletion"

// Deletion tells whether the workspace is being deleted.
func (m *Member) Deletion(ctx context.Context) (d contract.WorkspaceDeletion, err error) {
	err = m.caller.do(ctx, m.call(http.MethodGet, deletionPath), &d)
	return d, err
}

// RequestDeletion asks to delete the workspace, by its name.
func (m *Member) RequestDeletion(ctx context.Context, name string) (d contract.WorkspaceDeletion, err error) {
	c := m.call(http.MethodPost, deletionPath)
	c.body = contract.RequestDeletion{Confirm: name}
	err = m.caller.do(ctx, c, &d)
	return d, err
}

// CancelDeletion cancels the deletion of the workspace.
func (m *Member) CancelDeletion(ctx context.Context) (d contract.WorkspaceDeletion, err error) {
	err = m.caller.do(ctx, m.call(http.MethodDelete, deletionPath), &d)
	return d, err
}
