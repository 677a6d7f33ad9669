package client

import (
	"context"
	"net/http"

	"vitrine/shared/platform/contract"
)

// Account calls a deployment with one API key.
type Account struct {
	*Deployment
	key Key
}

// With returns an Account that uses a key.
func (d *Deployment) With(key Key) *Account { return &Account{d, key} }

// Whoami returns the identity behind the key.
func (a *Account) Whoami(ctx context.Context) (who contract.Whoami, err error) {
	err = a.caller.do(ctx, a.call(http.MethodGet, "/v1/whoami"), &who)
	return who, err
}

// UsagePolicy returns the limits of the workspace.
func (a *Account) UsagePolicy(ctx context.Context) (p contract.UsagePolicy, err error) {
	err = a.caller.do(ctx, a.call(http.MethodGet, "/v1/usage-policy"), &p)
	return p, err
}

// CreateSession opens an upload session. The returned ids are well-formed.
func (a *Account) CreateSession(ctx context.Context, idem string, s contract.CreateSession) (contract.Session, error) {
	var out contract.Session
	k := a.mutation(a.Hosts.UploadURL, "/v1/upload-sessions", idem)
	k.body, k.artifact = s, s.ArtifactID
	err := a.caller.do(ctx, k, &out)
	if err == nil && !out.UploadSessionID.Valid() {
		err = a.caller.badResponse(a.Hosts.UploadURL, "the id of the upload session is malformed")
	}
	return out, err
}

// Finalize turns the uploaded files of a session into a draft revision. The returned ids are well-formed.
func (a *Account) Finalize(ctx context.Context, idem string, s contract.Session) (contract.Finalized, error) {
	var out contract.Finalized
	k := a.mutation(a.Hosts.UploadURL, "/v1/upload-sessions/"+string(s.UploadSessionID)+"/finalize", idem)
	k.artifact = s.ArtifactID
	err := a.caller.do(ctx, k, &out)
	if err != nil {
		return out, err
	}
	_, artifact := out.ArtifactID.Bits()
	_, revision := out.RevisionID.Bits()
	if artifact != nil || revision != nil {
		err = a.caller.badResponse(a.Hosts.UploadURL, "the id of the draft is malformed")
	}
	return out, err
}

// Publish makes a draft the current revision of its artifact.
func (a *Account) Publish(
	ctx context.Context, idem string, draft contract.Finalized, addresses []contract.AddressThread,
) (contract.Published, error) {
	var out contract.Published
	k := a.mutation(a.Hosts.APIURL, artifactPath(draft.ArtifactID)+"/revisions/"+string(draft.RevisionID)+"/publish", idem)
	k.artifact = draft.ArtifactID
	if addresses != nil {
		k.body = contract.PublishRevision{Addresses: addresses}
	}
	err := a.caller.do(ctx, k, &out)
	return out, err
}

// RevokeKey revokes the key itself.
func (a *Account) RevokeKey(ctx context.Context) error {
	var out contract.RevokedKey
	return a.caller.do(ctx, a.mutation(a.Hosts.APIURL, "/v1/api-keys/current/revoke", ""), &out)
}

// call returns a call to the api host that carries the key.
func (a *Account) call(method, path string) call {
	return call{
		method: method,
		host:   a.Hosts.APIURL,
		path:   path,
		bearer: a.key.secret,
	}
}

func (a *Account) mutation(host, path, idem string) call {
	k := a.call(http.MethodPost, path)
	k.host, k.idem = host, idem
	return k
}
