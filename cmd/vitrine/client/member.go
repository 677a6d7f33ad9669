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
	k := call{
		method: http.MethodGet,
		host:   m.Hosts.APIURL,
		path:   "/v1/web/workspace",
		bearer: string(m.access),
	}
	return w, m.caller.do(ctx, k, &w)
}

var (
	publicForm    = regexp.MustCompile(`^ap_pk_[a-z]+_([0-9A-HJKMNP-TV-Z]{16})_`)
	workspaceForm = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
)

// CreateKey creates an API key. The returned values are well-formed and consistent.
func (m *Member) CreateKey(ctx context.Context, idem, name string) (contract.CreatedKey, Key, error) {
	var out contract.CreatedKey
	k := call{
		method: http.MethodPost,
		host:   m.Hosts.APIURL,
		path:   "/v1/web/keys",
		bearer: string(m.access),
		idem:   idem,
		body:   contract.CreateKey{Name: name},
	}
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
