package main

import (
	"context"
	"net/url"
	"regexp"
	"strings"
	"time"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// target is an artifact as a person names it: by its ID, by the address of one of its pages, or by a share URL.
type target struct {
	artifact id.Artifact
	revision id.Revision // from an address; "" for the newest
	app      string      // host of an address, "" for an id
	public   id.Public   // of a share URL
	blob     string      // its secret
}

var (
	publicForm = regexp.MustCompile(`^[0-9A-HJKMNP-TV-Z]{16}$`)
	blobForm   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,500}$`)
)

// parseTarget parses an argument. Its failures do not quote the argument, which may contain the secret of a link.
func parseTarget(text string) (target, error) {
	if _, err := id.Artifact(text).Bits(); err == nil {
		return target{artifact: id.Artifact(text)}, nil
	}
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return target{}, unnamed("this is not an artifact: neither an id nor a link")
	}
	path := strings.TrimSuffix(u.Path, "/")
	t := target{app: u.Scheme + "://" + u.Host}
	for _, page := range []string{"/v/", "/artifacts/"} {
		before, last, ok := cut(path, page)
		if _, malformed := id.Artifact(last).Bits(); ok && malformed == nil {
			t.artifact, t.app = id.Artifact(last), t.app+before
			t.revision, err = revisionIn(u)
			return t, err
		}
	}
	if before, last, ok := cut(path, "/al/"); ok && publicForm.MatchString(last) && blobForm.MatchString(u.Fragment) {
		t.public = id.Public(last)
		t.blob = u.Fragment
		t.app = t.app + before
		return t, nil
	}
	return target{}, unnamed(
		"this is not the link of an artifact; a share URL must be complete, with all that follows its #")
}

// revisionIn returns the revision that the address of a page names.
func revisionIn(u *url.URL) (id.Revision, error) {
	query, err := url.ParseQuery(u.RawQuery)
	named := query["revision"]
	if err == nil && len(named) == 0 {
		return "", nil
	}
	if err == nil && len(named) == 1 {
		if _, malformed := id.Revision(named[0]).Bits(); malformed == nil {
			return id.Revision(named[0]), nil
		}
	}
	return "", unnamed("the link does not say which revision it means")
}

// parseWhole parses an argument that must name an artifact and no single revision of it.
func parseWhole(text string) (target, error) {
	t, err := parseTarget(text)
	if err == nil && t.revision != "" {
		err = failure.New(failure.Invalid, failure.Usage,
			"the link names a single revision, %s; this command needs the whole artifact", t.revision).
			Advise("Give the id %s, or the link without what follows its ?", t.artifact)
	}
	return t, err
}

// cut splits a path at the last separator.
func cut(path, separator string) (before, last string, ok bool) {
	i := strings.LastIndex(path, separator)
	if i < 0 {
		return "", "", false
	}
	return path[:i], path[i+len(separator):], true
}

func unnamed(message string) error {
	return failure.New(failure.Invalid, failure.Usage, "%s", message).
		Advise(
			"An id begins with art_; vitrine list shows them. A link is that of its page or a share link.")
}

// isShare reports whether the target is a share URL.
func (t target) isShare() bool { return t.public != "" }

// checkServer refuses an address of another server than d.
func (t target) checkServer(d *client.Deployment) error {
	if t.app == "" {
		return nil
	}
	if base, err := client.Base(t.app); err == nil {
		if own, err := client.Base(d.Hosts.AppURL); err == nil && own == base {
			return nil
		}
	}
	return failure.New(failure.Invalid, failure.Usage, "the link is one of another server than VITRINE_URL").
		Advise("Set VITRINE_URL to the server of the link, or give an id.")
}

// artifactContext is an artifact together with the credential for it.
type artifactContext struct {
	*app
	account  *client.Account
	artifact id.Artifact
}

// withOwnArtifact finds the artifact for a command that changes it. It refuses share URLs.
func (a *app) withOwnArtifact(
	ctx context.Context,
	text string,
	work func(context.Context, *artifactContext) error,
) error {
	t, err := parseOwn(text)
	if err != nil {
		return err
	}
	return a.withArtifact(ctx, t, work)
}

// parseOwn parses an argument that names a whole artifact to change.
func parseOwn(text string) (target, error) {
	t, err := parseWhole(text)
	if err == nil && t.isShare() {
		err = shareIsForReading()
	}
	return t, err
}

func shareIsForReading() error {
	return failure.New(failure.Invalid, failure.Usage, "a share URL is only for reading").
		Advise("Give the id of the artifact; vitrine list shows it.")
}

// withArtifact finds the artifact and a credential for it. It resolves a share URL to its artifact.
func (a *app) withArtifact(ctx context.Context, t target, work func(context.Context, *artifactContext) error) error {
	account, by, err := a.account(ctx, toAct)
	if err != nil {
		return by.refusedBy(err)
	}
	if err := t.checkServer(account.Deployment); err != nil {
		return err
	}
	h := &artifactContext{app: a, account: account, artifact: t.artifact}
	if t.isShare() {
		opened, err := account.Resolve(ctx, t.public, t.blob)
		if err != nil {
			return err
		}
		h.artifact = opened.ArtifactID
	}
	return by.refusedBy(work(ctx, h))
}

// viewer returns revisions of one artifact; "" is the newest one.
type viewer struct {
	// whole returns a revision with all of its files, and first with no more than one call answers.
	whole, first look
	// published returns when a revision was published or, by a share URL, which does not tell, when its artifact was made.
	published func(ctx context.Context, v contract.AgentView) (time.Time, error)
}

type look func(ctx context.Context, revision id.Revision) (contract.AgentView, error)

// lookAt returns the view of a revision with all of its files; "" is the newest one. A share URL needs no credential,
// and shows only its own revision.
func (a *app) lookAt(
	ctx context.Context,
	t target,
	revision id.Revision,
) (v contract.AgentView, d *client.Deployment, err error) {
	see, d, err := a.viewer(ctx, t)
	if err == nil {
		v, err = see.whole(ctx, revision)
	}
	return v, d, err
}

// viewer finds the artifact for a command that only reads it.
func (a *app) viewer(ctx context.Context, t target) (see viewer, d *client.Deployment, err error) {
	if t.isShare() {
		return a.shareViewer(ctx, t)
	}
	account, by, err := a.account(ctx, toAct)
	if err != nil {
		return viewer{}, nil, by.refusedBy(err)
	}
	with := func(view func(context.Context, id.Artifact, id.Revision) (contract.AgentView, error)) look {
		return func(ctx context.Context, revision id.Revision) (contract.AgentView, error) {
			v, err := view(ctx, t.artifact, revision)
			return v, by.refusedBy(err)
		}
	}
	see = viewer{whole: with(account.View), first: with(account.FirstPage)}
	see.published = (&artifactContext{app: a, account: account, artifact: t.artifact}).publishedAt
	return see, account.Deployment, t.checkServer(account.Deployment)
}

// shareViewer returns the viewer for a share URL, which has no other revision than the one that it shows.
func (a *app) shareViewer(ctx context.Context, t target) (viewer, *client.Deployment, error) {
	d, err := a.discover(ctx)
	if err != nil {
		return viewer{}, nil, err
	}
	with := func(resolve func(context.Context, id.Public, string) (contract.PublicAgentView, error)) look {
		return func(ctx context.Context, revision id.Revision) (v contract.AgentView, err error) {
			v.PublicAgentView, err = resolve(ctx, t.public, t.blob)
			if err == nil && revision != "" && revision != v.RevisionID {
				err = failure.New(failure.NotFound, fault.NotFound, "the link does not show that revision").
					Advise("Omit --revision-id, or give the id of the artifact instead of a share URL.")
			}
			return v, err
		}
	}
	see := viewer{whole: with(d.ResolveAll), first: with(d.Resolve)}
	see.published = func(_ context.Context, v contract.AgentView) (time.Time, error) { return v.CreatedAt.Time, nil }
	return see, d, t.checkServer(d)
}

// of returns the revision in --revision-id, or else the one that the target names, or else "".
func (t target) of(flag string) (id.Revision, error) {
	if flag == "" {
		return t.revision, nil
	}
	return parseRevision(flag)
}

// parseRevision parses the value of a flag; "" is valid.
func parseRevision(text string) (id.Revision, error) {
	if _, err := id.Revision(text).Bits(); text != "" && err != nil {
		return "", failure.New(failure.Invalid, failure.Usage, "this is not the id of a revision").
			Advise("It begins with rev_; vitrine revisions with the id of the artifact lists them.")
	}
	return id.Revision(text), nil
}
