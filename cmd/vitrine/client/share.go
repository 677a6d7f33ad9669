package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// SetVisibility makes an artifact unlisted, which returns its share link, or private, which revokes all its links.
func (a *Account) SetVisibility(
	ctx context.Context,
	artifact id.Artifact,
	visibility string,
) (v contract.Visibility, err error) {
	k := a.call(http.MethodPut, artifactPath(artifact)+"/visibility")
	k.body, k.about = contract.SetVisibility{Visibility: visibility}, aboutArtifact
	if err = a.caller.do(ctx, k, &v); err != nil {
		return v, err
	}
	address := v.UnlistedURL
	if visibility == "private" {
		address = v.PrivateURL
	}
	if v.ArtifactID != artifact || v.Visibility != visibility || !a.isLink(address) {
		err = a.caller.badResponse(a.Hosts.APIURL, "it does not say that this artifact is %s now", visibility)
	}
	return v, err
}

// CreateLink creates an access link, or returns the existing share link. The returned id is well-formed.
func (a *Account) CreateLink(
	ctx context.Context,
	idem string,
	artifact id.Artifact,
	want contract.CreateLink,
) (l contract.CreatedLink, err error) {
	k := a.mutation(a.Hosts.APIURL, artifactPath(artifact)+"/access-links", idem)
	k.body, k.about = want, aboutArtifact
	if err = a.caller.do(ctx, k, &l); err != nil {
		return l, err
	}
	if _, malformed := l.ID.Public(); malformed != nil || l.ArtifactID != artifact || l.Type != want.Type {
		err = a.caller.badResponse(a.Hosts.APIURL, "the access link is another one than was asked for")
	}
	return l, err
}

// MintLink returns a new URL of an access link.
func (a *Account) MintLink(ctx context.Context, l id.Link) (string, error) {
	var out contract.MintedLink
	if err := a.changeLink(ctx, l, "mint", &out); err != nil {
		return "", err
	}
	if !a.isLink(out.URL) {
		return "", a.caller.badResponse(a.Hosts.APIURL, "it made no URL")
	}
	return out.URL, nil
}

// Links lists the access links of an artifact, ended ones included.
func (a *Account) Links(ctx context.Context, artifact id.Artifact) (l contract.LinkList, err error) {
	if err = a.read(ctx, artifactPath(artifact)+"/access-links", &l); err == nil && l.ArtifactID != artifact {
		err = a.caller.badResponse(a.Hosts.APIURL, "the links are of another artifact")
	}
	return l, err
}

// RevokeLink revokes an access link. It may be repeated.
func (a *Account) RevokeLink(ctx context.Context, l id.Link) (r contract.RevokedLink, err error) {
	if err = a.changeLink(ctx, l, "revoke", &r); err == nil && r.AccessLinkID != l {
		err = a.caller.badResponse(a.Hosts.APIURL, "it does not say that this link was revoked")
	}
	return r, err
}

func (a *Account) changeLink(ctx context.Context, l id.Link, verb string, out any) error {
	k := a.call(http.MethodPost, "/v1/access-links/"+string(l)+"/"+verb)
	k.about = aboutLink
	return a.caller.do(ctx, k, out)
}

// Resolve returns what a share URL opens, with no more files than one call answers. It sends no credential.
func (d *Deployment) Resolve(ctx context.Context, public id.Public, blob string) (contract.PublicAgentView, error) {
	return d.resolvePage(ctx, contract.ResolveRequest{PublicID: public, Blob: blob})
}

// ResolveAll returns what Resolve does with all files.
func (d *Deployment) ResolveAll(ctx context.Context, public id.Public, blob string) (contract.PublicAgentView, error) {
	return d.allFiles(func(cursor string) (contract.PublicAgentView, error) {
		return d.resolvePage(ctx, contract.ResolveRequest{PublicID: public, Blob: blob, FilesCursor: cursor})
	})
}

func (d *Deployment) resolvePage(
	ctx context.Context,
	asked contract.ResolveRequest,
) (v contract.PublicAgentView, err error) {
	var r contract.Resolved
	k := call{
		method: http.MethodPost,
		host:   d.Hosts.APIURL,
		path:   "/v1/access-links/resolve",
		body:   asked,
		about:  aboutShare,
	}
	if err = d.caller.do(ctx, k, &r); err != nil {
		return v, err
	}
	v = r.AgentView
	if _, malformed := v.ArtifactID.Bits(); malformed != nil {
		return v, d.caller.badResponse(d.Hosts.APIURL, "the id of the artifact is malformed")
	}
	return v, d.checkView(v, v.ArtifactID, "")
}

// isLink reports whether a text is a URL that may be shown to a person, as well protected as the deployment itself.
func (d *Deployment) isLink(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
		keepsTLS(text, d.Hosts.APIURL) && !strings.ContainsAny(text, " \t\r\n")
}
