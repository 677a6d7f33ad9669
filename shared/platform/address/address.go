// Package address builds every URL that the service hands out, from configuration only, and derives counter subjects
// from client addresses.
package address

import (
	"cmp"
	"net/url"
	"strings"
	"time"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/media"
	"vitrine/shared/platform/token"
)

// Origins are the origins of the hosts of a deployment, without trailing slash. An old template, as during an update
// from a release without an MCP host, leaves MCP empty or equal to API. Documents then name no MCP host.
type Origins struct {
	API, Upload, Content, App, MCP string

	// Own is the pattern of the origins of artifacts, with * in place of the label. If it is empty, artifacts have no
	// origins of their own, and Content has them all.
	Own string
}

// Of returns the own origin of an artifact; empty: artifacts have none.
func (o Origins) Of(a id.Artifact) string { return strings.Replace(o.Own, "*", a.Label(), 1) }

// Wildcard returns the pattern of the origins of artifacts in a domain, which have the scheme and the port of the content
// origin. Without a domain it is the host name of that.
func (o Origins) Wildcard(domain string) string {
	u, err := url.Parse(o.Content)
	if err != nil {
		return ""
	}
	port := ""
	if p := u.Port(); p != "" {
		port = ":" + p
	}
	return u.Scheme + "://*." + cmp.Or(domain, u.Hostname()) + port
}

// OwnDomain returns the domain of the origins of artifacts, with a dot before it; empty: there is none.
func (o Origins) OwnDomain() string {
	u, err := url.Parse(strings.Replace(o.Own, "*", "x", 1)) // a host name cannot have the asterisk
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Hostname(), "x")
}

// Delegated returns the origin for which third-party OAuth clients get their tokens: the MCP host's, or the api's if
// MCP is empty. At the api such a token opens only the route that describes its own actor.
func (o Origins) Delegated() string { return cmp.Or(o.MCP, o.API) }

// URLBuilder builds URLs.
type URLBuilder struct {
	Origins      Origins
	ContentToken *token.Codec
	BundleToken  *token.Codec
	ViewToken    *token.Codec
	ExportToken  *token.Codec
	Links        *token.LinkCodec
}

// Discovery returns the document that lists the hosts for clients.
func (b *URLBuilder) Discovery() contract.Discovery {
	o := b.Origins
	d := contract.Discovery{
		APIURL:     o.API,
		UploadURL:  o.Upload,
		ContentURL: o.Content,
		AppURL:     o.App,
		OwnOrigins: o.Own != "",
		Version:    contract.Version,
	}
	if o.MCP != o.API {
		d.MCPURL = o.MCP
	}
	return d
}

// Content returns the URL prefix of all files of a revision. It ends with a slash; append a path from Escape.
func (b *URLBuilder) Content(claims token.Claims) (string, error) {
	l, err := b.Locate(claims)
	return l.files, err
}

// Locate returns the URLs of the files of a revision and of their pages.
func (b *URLBuilder) Locate(claims token.Claims) (Location, error) {
	t, err := b.ContentToken.Mint(claims)
	if err != nil {
		return Location{}, err
	}
	l := Location{files: b.Origins.Content + "/v/" + t + "/", pages: b.Origins.Content + "/r/" + t + "/"}
	if own := b.Origins.Of(claims.Artifact); own != "" {
		l.opening = own + OpenPath + t + "/"
	}
	return l, nil
}

// The paths at the origin of an artifact that are no paths of its files. OpenPath is followed by a token and the path to
// open, and OwnPagesPath by the path of a file or folder.
const (
	OpenPath     = "/.vitrine/open/"
	OwnPagesPath = env.OwnPagesPath
)

// Location is where the files of a revision are, under one token.
type Location struct {
	files, pages, opening string
	own                   bool
}

// Own returns the location by which a viewer opens the files at the origin of their artifact. ok is false if artifacts have
// none.
func (l Location) Own() (own Location, ok bool) {
	return Location{files: l.opening, pages: l.opening + OwnPagesPath[1:], own: true}, l.opening != ""
}

// IsOwn reports whether it is one that Own returned.
func (l Location) IsOwn() bool { return l.own }

// Of returns the URLs of a file. At the own origin of an artifact, the index of a folder has the path of that, because pages
// that choose what they show by their path expect it.
func (l Location) Of(path string) FileURLs {
	escaped := Escape(path)
	urls := FileURLs{Bytes: l.files + escaped}
	if folder, ok := strings.CutSuffix("/"+path, "/index.html"); l.own && ok {
		urls.Bytes = l.files + strings.TrimPrefix(Escape(folder)+"/", "/")
	}
	if media.ViewOf(path) != media.NoView {
		urls.Page = l.pages + escaped
	}
	if media.HasText(path) {
		urls.Text = l.pages + escaped + "?as=text"
	}
	return urls
}

// Folder returns the URL of the page that lists a folder; an empty path means all files.
func (l Location) Folder(path string) string { return strings.TrimSuffix(l.pages+Escape(path), "/") }

// FileURLs are where a file is.
type FileURLs struct {
	Bytes string
	Page  string // the page that shows the file; empty: none, as its path tells
	Text  string // the same as plain text; empty: the bytes are plain text, or there is none
}

// Frame returns the URL that a viewer frames: the page of the file, or its bytes if it has none.
func (f FileURLs) Frame() string { return cmp.Or(f.Page, f.Bytes) }

// Bundle returns the URL of the archive of one revision.
func (b *URLBuilder) Bundle(claims token.Claims) (string, error) {
	t, err := b.BundleToken.Mint(claims)
	if err != nil {
		return "", err
	}
	return b.Origins.Content + "/b/" + t, nil
}

// Export returns the URL of one archive of an export of a workspace.
func (b *URLBuilder) Export(claims token.ExportClaims) (string, error) {
	t, err := b.ExportToken.MintExport(claims)
	if err != nil {
		return "", err
	}
	return b.Origins.Content + "/x/" + t, nil
}

// AgentView returns the URL of the public agent view of one revision.
func (b *URLBuilder) AgentView(claims token.Claims) (string, error) {
	t, err := b.ViewToken.Mint(claims)
	if err != nil {
		return "", err
	}
	return b.Origins.API + "/v1/public/agent-view/" + t, nil
}

// Link returns the URL of an access link that a person opens, with the public id in the path and the secret in the
// fragment.
func (b *URLBuilder) Link(
	public id.Public,
	workspace id.Workspace,
	artifact id.Artifact,
	expires time.Time,
) (string, error) {
	blob, err := b.Links.Mint(public, token.Blob{
		Expires:   expires,
		Scopes:    token.AllScopes,
		Workspace: workspace,
		Artifact:  artifact,
	})
	if err != nil {
		return "", err
	}
	return b.opened(public, blob), nil
}

// opened returns the URL of an access link with its secret.
func (b *URLBuilder) opened(public id.Public, blob string) string {
	return b.Origins.App + "/al/" + string(public) + "#" + blob
}

// Shared returns the URL of an access link whose secret a client holds. It fails with token.ErrBlob for a wrong secret.
// It does not know whether the link still opens anything.
func (b *URLBuilder) Shared(public id.Public, blob string, now time.Time) (string, error) {
	if _, err := b.Links.Parse(public, blob, now); err != nil {
		return "", err
	}
	return b.opened(public, blob), nil
}

// Private returns the URL of the viewer page for members.
func (b *URLBuilder) Private(artifact id.Artifact) string {
	return b.Origins.App + "/v/" + string(artifact)
}

// Escape escapes the segments of a file path, so that it can be appended to a content prefix.
func Escape(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		parts[i] = url.PathEscape(p)
	}
	return strings.Join(parts, "/")
}
