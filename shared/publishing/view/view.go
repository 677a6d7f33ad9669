// Package view builds agent views for owners, for holders of a signed token, and for holders of an access link.
package view

import (
	"cmp"
	"context"
	"errors"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/cache"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/readaccess"
	"vitrine/shared/publishing/tree"
)

// Store reads revisions and the state that decides about a read.
type Store interface {
	readaccess.Store
	// Contents reads a revision and its files, nil if there is no such revision. An eventually consistent read will do,
	// because both are immutable. If it finds none, a strong read follows.
	Contents(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Contents, error)
}

// Service builds agent views.
type Service struct {
	Store     Store
	Addresses *address.URLBuilder
	Limits    *limits.Limits
	Limiter   *rate.Limiter
	Bytes     Bytes // nil on hosts that do not read files back
	Cursors   *cursor.Codec
	// Cache keeps published revisions with their files, which never change. Whether one may be shown is never kept.
	Cache *cache.Cache
	Now   func() time.Time
}

// View is a revision with the signed URLs that open it.
type View struct {
	Artifact   artifact.Artifact
	Revision   artifact.Revision
	Title      string // of the artifact, or of the revision if a link shows an older one
	Entrypoint address.FileURLs
	Location   address.Location
	Frame      string // URL that a viewer frames
	// Tree has all files of the revision, in the order of their pages. Other views have the same one.
	Tree       tree.Tree
	Files      []File // a page of them
	Next       string // cursor of the next page; empty: there is none
	Bundle     artifact.Availability
	Ephemeral  bool   // the workspace is unclaimed
	Scripts    bool   // scripts of its pages run
	Comments   bool   // the link takes comments, in views that a link opens
	PrivateURL string // of the viewer for members, in views for the owner
}

// File is a file of a view.
type File struct {
	tree.File
	URLs address.FileURLs
}

// Latest returns the owner's view of the current revision. A page after the first one is of the revision of that one. An
// artifact that cannot be read is not_found, and a cursor that is not of its files invalid_request.
func (s *Service) Latest(
	ctx context.Context, by credential.Actor, a *artifact.Artifact, p cursor.Page,
) (View, error) {
	if !s.visible(by, a) || a.Current == "" {
		return View{}, notFound()
	}
	at, err := s.start(a.ID, p)
	if err != nil {
		return View{}, err
	}
	r := cmp.Or(at.revision, a.Current)
	if err := readaccess.CheckRevision(ctx, s.Store, a, r); err != nil {
		return View{}, err
	}
	return s.ownerView(ctx, by, a, r, at)
}

// Pinned returns the owner's view of one revision. A revision whose bytes are gone is revision_retained, and a cursor that
// is not of its files invalid_request.
func (s *Service) Pinned(
	ctx context.Context, by credential.Actor, a *artifact.Artifact, r *artifact.Revision, p cursor.Page,
) (View, error) {
	if !s.visible(by, a) || r == nil || r.Artifact != a.ID || r.Status == artifact.Draft {
		return View{}, notFound()
	}
	if r.Status == artifact.Retained {
		return View{}, fault.New(fault.RevisionRetained,
			"the bytes of this revision are gone; read a newer one")
	}
	at, err := s.startOf(a.ID, r.ID, p)
	if err != nil {
		return View{}, err
	}
	return s.ownerView(ctx, by, a, r.ID, at)
}

// ownerView builds the view of a revision that its owner may read.
func (s *Service) ownerView(
	ctx context.Context, by credential.Actor, a *artifact.Artifact, r id.Revision, at position,
) (View, error) {
	c, err := s.shown(ctx, a.ID, r, at)
	if err != nil {
		return View{}, err
	}
	if c == nil {
		return View{}, notFound()
	}
	out, err := s.build(&by.Workspace, a, c, at, s.claims(&by.Workspace, a, r, ""))
	out.PrivateURL = s.Addresses.Private(a.ID)
	return out, err
}

// visible reports whether the caller may know that an artifact exists. Members see an artifact that an operator locked,
// so that they learn of the lock. The URLs in its view do not open.
func (s *Service) visible(by credential.Actor, a *artifact.Artifact) bool {
	now := s.Now()
	return (a.Readable(now) || by.Member != "" && a.Active(now)) && a.Owner == by.Workspace.ID
}

// notFound returns the refusal of a revision or file that the owner cannot read.
func notFound() error {
	return fault.New(fault.NotFound,
		"no such artifact or revision in this workspace, or it is not published, deleted or expired")
}

// Public returns the view that a signed agent-view token opens. Refusals: not_found for a token that is none,
// invalid_request for a cursor that is not of its files, not_found, rate_limited_artifact.
func (s *Service) Public(ctx context.Context, text string, p cursor.Page) (View, error) {
	claims, err := s.Addresses.ViewToken.Parse(text, s.Now())
	if err != nil {
		return View{}, readaccess.NotFound()
	}
	at, err := s.startOf(claims.Artifact, claims.Revision, p)
	if err != nil {
		return View{}, err
	}
	query := readaccess.Query{Workspace: claims.Workspace, Artifact: claims.Artifact}
	contents := async.Go(func() (*artifact.Contents, error) {
		return s.shown(ctx, claims.Artifact, claims.Revision, at)
	})
	state, _, err := s.checkAccess(ctx, query, claims.Revision)
	c, err2 := contents.Wait()
	if err = cmp.Or(err, err2); err != nil {
		return View{}, err
	}
	if c == nil {
		return View{}, readaccess.NotFound()
	}
	opens := s.claims(state.Workspace, state.Artifact, claims.Revision, "")
	opens.Public = true
	return s.build(state.Workspace, state.Artifact, c, at, opens)
}

// Resolve opens an access link. A page after the first one is of the revision of that one. scripts says that the reader
// wants the scripts of the artifact to run, where its workspace leaves that to readers. Refusals: not_found for an invalid
// link, invalid_request for a cursor that is not of the files of the artifact, not_found for an ended or unknown link,
// then rate_limited_artifact.
func (s *Service) Resolve(ctx context.Context, q contract.ResolveRequest, scripts bool) (View, error) {
	claims, err := s.Addresses.Links.Parse(q.PublicID, q.Blob, s.Now())
	if err != nil {
		return View{}, readaccess.NotFound()
	}
	at, err := s.start(claims.Artifact, cursor.Page{Cursor: q.FilesCursor})
	if err != nil {
		return View{}, err
	}
	query := readaccess.Query{Workspace: claims.Workspace, Artifact: claims.Artifact, Link: q.PublicID}
	state, shown, err := s.checkAccess(ctx, query, at.revision)
	if err != nil {
		return View{}, err
	}
	c, err := s.shown(ctx, claims.Artifact, shown, at)
	if err != nil {
		return View{}, err
	}
	if c == nil {
		return View{}, readaccess.NotFound()
	}
	opens := s.claims(state.Workspace, state.Artifact, shown, q.PublicID)
	opens.Scripts = s.Limits.Tiers[state.Workspace.Tier()].Scripts.Run(scripts)
	out, err := s.build(state.Workspace, state.Artifact, c, at, opens)
	out.Comments = state.Link.Comments
	if shown != state.Artifact.Current {
		out.Title = c.Revision.Title // the artifact has the title of a newer revision
	}
	return out, err
}

// LinkURL returns the URL of an access link. A secret that was not made for the link or has expired is not_found.
// LinkURL makes no read, so that it cannot tell whether the link still works.
func (s *Service) LinkURL(public id.Public, blob string) (string, error) {
	url, err := s.Addresses.Shared(public, blob, s.Now())
	if err != nil {
		return "", readaccess.NotFound()
	}
	return url, nil
}

// checkAccess reads the state while it counts the read. It returns the revision to show: the one that a token or the
// cursor of a page names, or the one that the link follows. A refusal by the state comes before the limit. Tokens and
// links work for every holder of the URL, so locking the links of an artifact closes both, and ending its links ends the
// views published before.
func (s *Service) checkAccess(
	ctx context.Context, q readaccess.Query, named id.Revision,
) (readaccess.State, id.Revision, error) {
	holder := q.Holder("view", named)
	if q.Link != "" {
		holder = q.Holder("view", "")
	}
	limited := s.Limiter.Begin(ctx, q.Artifact, holder)
	state, err := readaccess.Read(ctx, s.Store, q)
	read, now := limited(), s.Now()
	if err != nil {
		return state, named, err
	}
	var revision artifact.Revision
	err = readaccess.NotFound()
	if state.Allows(q, now) && state.Artifact.Current != "" {
		revision, err = s.revision(ctx, state, q, named)
	}
	if err == nil {
		return state, revision.ID, s.Limiter.Confirm(ctx, read, state.Workspace.Tier(), revision.FileCount).Refusal
	}
	if fault.CodeOf(err) == fault.NotFound && state.ArtifactAllows(q, now) {
		s.Limiter.GiveBack(ctx, read)
	}
	return state, named, err
}

// revision returns the revision to show to a reader who may read. A page of a link goes on with an older revision than the
// newest as long as the public view of that one is open, so that the pages of a view never mix two revisions.
func (s *Service) revision(
	ctx context.Context, state readaccess.State, q readaccess.Query, named id.Revision,
) (artifact.Revision, error) {
	if q.Link == "" {
		return readaccess.PublicRevision(ctx, s.Store, state.Artifact, named)
	}
	linked := linkedRevision(state) // Allows has checked that the link works, which includes that links are not locked
	if cmp.Or(named, linked) == linked {
		return readaccess.PublishedRevision(ctx, s.Store, state.Artifact, linked)
	}
	if state.Link.Kind == link.Share {
		r, err := readaccess.PublicRevision(ctx, s.Store, state.Artifact, named)
		if fault.CodeOf(err) != fault.NotFound {
			return r, err
		}
	}
	return artifact.Revision{}, errCursor
}

// linkedRevision returns the revision that a link shows.
func linkedRevision(s readaccess.State) id.Revision {
	if s.Link.Kind == link.Revision {
		return s.Link.Revision
	}
	return s.Artifact.Current
}

// build makes a view with URLs that carry a token with these claims. Only the token of the bundle is Public, because
// copied URLs of files go on working after links are closed.
func (s *Service) build(
	w *workspace.Workspace, a *artifact.Artifact, c *artifact.Contents, at position, claims token.Claims,
) (View, error) {
	ofFiles := claims
	ofFiles.Public = false
	located, err1 := s.Addresses.Locate(ofFiles)
	bundle, err2 := c.Revision.Availability(s.Addresses, s.Limits, claims, s.Now())
	if err := errors.Join(err1, err2); err != nil {
		return View{}, err
	}
	out := View{
		Artifact:   *a,
		Revision:   c.Revision,
		Title:      a.Title,
		Entrypoint: located.Of(c.Revision.Entrypoint),
		Location:   located,
		Frame:      c.Revision.Frame(located),
		Tree:       c.Tree,
		Bundle:     bundle,
		Ephemeral:  w.Tier() == limits.Ephemeral,
		Scripts:    claims.Scripts,
	}
	err := s.fill(&out, at)
	return out, err
}

// claims returns the claims of tokens that open a revision, minted through a link unless through is empty.
func (s *Service) claims(w *workspace.Workspace, a *artifact.Artifact, r id.Revision, through id.Public) token.Claims {
	policy := s.Limits.Tiers[w.Tier()]
	return token.Claims{
		Workspace: w.ID,
		Artifact:  a.ID,
		Revision:  r,
		Link:      through,
		NoIndex:   policy.NoIndex,
		Scripts:   policy.Scripts.Run(false),
		Expires:   token.Until(s.Now(), a.ExpiresAt, !a.PinnedAt.IsZero()),
	}
}
