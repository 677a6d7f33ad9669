package app

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/cursor"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/platform/token"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/lint"
	"vitrine/shared/publishing/tree"
	"vitrine/shared/publishing/view"
)

const (
	newestID    = "rev_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9"
	oldID       = "rev_01J8Z0T7Q1W2E3R4T5Y6V7X8Z8"
	firstID     = "rev_01J8Z0T7Q1W2E3R4T5Y6V7X8Z7" // its files are gone
	draftID     = "rev_01J8Z0T7Q1W2E3R4T5Y6V7X8Z6"
	shareID     = "al_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9"
	pinnedID    = "al_01J8Z0T7Q1W2E3R4T5Y6V7X8Z8"
	strangeID   = "art_01J8Z0T7Q1W2E3R4T5Y6V7X8ZZ" // of somebody else
	restorePath = "/artifacts/" + artifactID + "/revisions/" + oldID + "/restore"
	linkPath    = "/artifacts/" + artifactID + "/links/" + shareID
	linkAddress = "http://localhost:8704/al/T5Y6V7X8Z9ABCDEF#" + blob
)

var sealArtifact = artifact.Artifact{
	ID:          artifactID,
	Owner:       homeID,
	Status:      artifact.Live,
	Current:     newestID,
	Number:      3,
	CreatedAt:   noon.Add(-time.Hour),
	PublishedAt: noon,
	ExpiresAt:   noon.Add(72 * time.Hour),
	Entrypoint:  "report.html",
	FileCount:   3,
	Size:        2_340_000,
}

// sealRevisions are revisions in every state, newest first.
func sealRevisions() []artifact.Revision {
	row := func(r id.Revision, number int, status artifact.RevisionStatus, ago time.Duration) artifact.Revision {
		out := artifact.Revision{
			ID:        r,
			Artifact:  artifactID,
			Number:    number,
			Status:    status,
			FileCount: 3,
			Size:      2_340_000,
			CreatedAt: noon.Add(-ago),
		}
		if number > 0 {
			out.PublishedAt = out.CreatedAt
		}
		return out
	}
	return []artifact.Revision{
		row(draftID, 0, artifact.Draft, 0), row(newestID, 3, artifact.Published, 0),
		row(oldID, 2, artifact.Published, time.Hour), row(firstID, 1, artifact.Retained, 48*time.Hour),
	}
}

// The states of an artifact.

func private(s *fakeServices) { s.links = s.links[2:] } // those that ended

func locked(s *fakeServices) { s.artifact.LinksLockedAt = noon }

func ended(s *fakeServices) { s.artifact.ExpiresAt = noon.Add(-time.Hour) }

func deleted(s *fakeServices) {
	s.artifact.Status, s.artifact.DeletedAt = artifact.Deleted, noon.Add(-2*time.Hour)
}

// closed is what an operator locked.
func closed(s *fakeServices) {
	s.artifact.Lock, s.artifact.LockedAt = "lkd_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9", noon
}

// draft has no published revision.
func draft(s *fakeServices) {
	s.artifact.Current, s.artifact.PublishedAt = "", time.Time{}
	s.revisions, s.links = s.revisions[:1], nil
}

// odd is a file that no browser shows.
func odd(s *fakeServices) { s.artifact.Entrypoint = "minutes of the meeting.pdf" }

// pinned is an artifact whose archive is not ready.
func pinned(s *fakeServices) {
	s.artifact.PinnedAt = noon
	s.artifacts.PreviewFn = func(p *artifact.Preview) {
		p.Bundle = artifact.Availability{Status: "pending", RetryAfter: 42 * time.Second}
	}
}

// lasting is an artifact that does not expire, although it is not pinned.
func lasting(s *fakeServices) { s.artifact.ExpiresAt = limits.Never }

// warned is an artifact with findings, one of them in a path that turns the direction of writing.
func warned(s *fakeServices) {
	s.artifacts.PreviewFn = func(p *artifact.Preview) {
		p.Warnings = lint.Report{More: 3, Warnings: []lint.Warning{
			{
				Code:     lint.MissingFile,
				Severity: lint.Error,
				Path:     "report.html",
				Line:     12,
				Subject:  "pictures/colony-at-low-tide-seen-from-the-northern-lookout.jpg",
			},
			{
				Code:     lint.ConnectBlocked,
				Severity: lint.Warn,
				Path:     "report.html",
				Line:     140,
				Subject:  "https://api.example.com",
			},
			{Code: lint.MissingTitle, Severity: lint.Info, Path: "notes/\u202egpj.exe.html"},
		}}
	}
}

type fakeArtifacts struct {
	*fakeServices
	PreviewFn        func(*artifact.Preview) // changes what a frame shows; nil: nothing does
	PinFn, RestoreFn func() error            // nil: it is done
}

func (f *fakeArtifacts) ListAll(
	ctx context.Context, _ credential.Actor, p artifact.Page,
) ([]artifact.Artifact, string, error) {
	if err := f.called(ctx, "Web "+p.Cursor); err != nil || f.empty {
		return nil, "", err
	}
	next, err := f.turn(ctx, p.Cursor)
	return f.listed(), next, err
}

func (f *fakeArtifacts) Newest(ctx context.Context, _ credential.Actor) ([]artifact.Artifact, bool, error) {
	if err := f.called(ctx, "Newest"); err != nil || f.empty {
		return nil, false, err
	}
	return f.listed(), f.more, nil
}

func (f *fakeArtifacts) Count(ctx context.Context, _ credential.Actor) (artifact.Counts, error) {
	if err := f.called(ctx, "Count"); err != nil || f.empty {
		return artifact.Counts{}, err
	}
	return artifact.Counts{
		All:       artifact.Count{N: 10_000, More: true},
		Published: artifact.Count{N: 1234, More: true},
		Expiring:  artifact.Count{N: 2},
	}, nil
}

// listed are artifacts in every state.
func (f *fakeArtifacts) listed() []artifact.Artifact {
	row := func(title string, status artifact.Status, published, pinned time.Time) artifact.Artifact {
		return artifact.Artifact{
			ID:          artifactID,
			Title:       title,
			Status:      status,
			PinnedAt:    pinned,
			PublishedAt: published,
			ExpiresAt:   noon.Add(72 * time.Hour),
			Entrypoint:  "index.html",
			Size:        int64(len(title)) * 100_000,
		}
	}
	never := time.Time{}
	list := []artifact.Artifact{
		row(f.title, artifact.Live, noon, never),
		row("Tide tables", artifact.Live, noon.Add(time.Minute), noon),
		row("Notes of the first meeting", artifact.Expired, noon, never),
		row("A draft that was not wanted", artifact.Deleted, noon, never),
		row("Being prepared", artifact.Live, never, noon),
	}
	list[1].Entrypoint = "tides.csv"
	for i := range list[1:] {
		list[i+1].ID = otherArtifact(string(rune('1' + i)))
	}
	return list
}

// otherArtifact is the id of a further artifact of the member, by its last character.
func otherArtifact(last string) id.Artifact {
	return id.Artifact(artifactID[:len(artifactID)-1] + last)
}

func (f *fakeArtifacts) Preview(
	ctx context.Context, _ credential.Actor, of *artifact.Artifact,
) (*artifact.Preview, error) {
	err := f.called(ctx, "Preview "+string(of.ID))
	if err != nil || !of.Readable(noon) || of.Current == "" {
		return nil, err
	}
	p := artifact.Preview{
		URL:    f.contentURL + "/v/plain/" + of.Entrypoint,
		Mode:   media.HTML,
		Bundle: readyBundle(f.contentURL + "/b/token"),
	}
	if f.PreviewFn != nil {
		f.PreviewFn(&p)
	}
	return &p, nil
}

func (f *fakeArtifacts) Find(ctx context.Context, _ credential.Actor, which id.Artifact) (*artifact.Artifact, error) {
	if err := f.called(ctx, "Find "+string(which)); err != nil {
		return nil, err
	}
	if which != artifactID && which != otherArtifact("A") && which != otherArtifact("B") {
		return nil, fault.New(fault.NotFound, "no such artifact")
	}
	return f.found(which), nil
}

// found is the artifact of the member, or another one like it.
func (s *fakeServices) found(which id.Artifact) *artifact.Artifact {
	found := s.artifact
	found.ID, found.Title = which, s.title
	return &found
}

func (f *fakeArtifacts) Revision(ctx context.Context, _ id.Artifact, r id.Revision) (*artifact.Revision, error) {
	for _, one := range f.revisions {
		if one.ID == r {
			return &one, f.called(ctx, "Revision "+string(r))
		}
	}
	return nil, f.called(ctx, "Revision "+string(r))
}

func (f *fakeArtifacts) Revisions(
	ctx context.Context, _ credential.Actor, a *artifact.Artifact, p cursor.Page,
) ([]artifact.Revision, string, error) {
	next, err := f.turn(ctx, p.Cursor)
	return f.revisions, next, errors.Join(err, f.called(ctx, "List "+string(a.ID)))
}

func (f *fakeArtifacts) Pin(ctx context.Context, _ credential.Actor, t artifact.Target) (artifact.Detail, error) {
	err := f.commanded(ctx, t.Command, "Pin "+string(t.RequestedID))
	if err == nil && f.PinFn != nil {
		err = f.PinFn()
	}
	return artifact.Detail{}, err
}

func (f *fakeArtifacts) Unpin(ctx context.Context, _ credential.Actor, t artifact.Target) (artifact.Detail, error) {
	return artifact.Detail{}, f.commanded(ctx, t.Command, "Unpin "+string(t.RequestedID))
}

func (f *fakeArtifacts) Rename(
	ctx context.Context, _ credential.Actor, a *artifact.Artifact, title string,
) (string, error) {
	if strings.TrimSpace(title) == "" {
		return "", fault.New(fault.InvalidRequest, "title must have 1 to 160 characters")
	}
	return title, f.changed(ctx, "Rename "+string(a.ID))
}

func (f *fakeArtifacts) Restore(
	ctx context.Context, _ credential.Actor, t artifact.Target, from id.Revision,
) (id.Revision, error) {
	err := f.commanded(ctx, t.Command, "Restore "+string(t.RequestedID)+" "+string(from))
	if err == nil && f.RestoreFn != nil {
		err = f.RestoreFn()
	}
	return newestID, err
}

func (f *fakeArtifacts) Delete(ctx context.Context, _ credential.Actor, t artifact.Target) (time.Time, error) {
	return noon, f.commanded(ctx, t.Command, "Delete "+string(t.Artifact.ID))
}

type fakeViews struct {
	*fakeServices
	ResolveFn func(ctx context.Context, q contract.ResolveRequest, scripts bool) (view.View, error) // nil: every link opens
	bundle    artifact.Availability
	asleep    bool // scripts do not run
	more      int  // files beside the first two
}

func (f *fakeViews) Resolve(ctx context.Context, q contract.ResolveRequest, scripts bool) (view.View, error) {
	if f.ResolveFn != nil {
		return f.ResolveFn(ctx, q, scripts)
	}
	return view.View{Revision: artifact.Revision{Mode: media.HTML}, Title: string(q.PublicID) + " " + q.Blob}, nil
}

// LinkURL takes every secret but "wrong" and none.
func (f *fakeViews) LinkURL(public id.Public, secret string) (string, error) {
	if secret == "wrong" || secret == "" {
		return "", fault.NewCode(fault.NotFound)
	}
	return f.appURL + "/al/" + string(public) + "#" + secret, nil
}

func (f *fakeViews) Latest(
	ctx context.Context, _ credential.Actor, a *artifact.Artifact, p cursor.Page,
) (view.View, error) {
	if err := f.called(ctx, "Latest "+string(a.ID)); err != nil {
		return view.View{}, err
	}
	if !a.Active(noon) || a.Current == "" {
		return view.View{}, fault.New(fault.NotFound, "nothing can be read")
	}
	return f.view(a, newestID, p)
}

func (f *fakeViews) Pinned(
	ctx context.Context, _ credential.Actor, a *artifact.Artifact, r *artifact.Revision, p cursor.Page,
) (view.View, error) {
	if err := f.called(ctx, "Pinned "+string(a.ID)); err != nil {
		return view.View{}, err
	}
	switch {
	case r == nil || r.Artifact != a.ID || r.Status == artifact.Draft:
		return view.View{}, fault.New(fault.NotFound, "no such revision")
	case r.Status == artifact.Retained:
		return view.View{}, fault.New(fault.RevisionRetained, "its bytes are gone")
	}
	return f.view(a, r.ID, p)
}

func (f *fakeViews) view(a *artifact.Artifact, r id.Revision, p cursor.Page) (view.View, error) {
	at := f.fileURL(r)
	v := view.View{
		Artifact:   *a,
		Revision:   artifact.Revision{ID: r, Entrypoint: a.Entrypoint},
		Title:      a.Title,
		Entrypoint: address.FileURLs{Bytes: at(a.Entrypoint)},
		Frame:      at(a.Entrypoint),
		Files: []view.File{
			fileAt(a.Entrypoint, at(a.Entrypoint), 18_412),
			fileAt("data/counts.csv", at("data/counts.csv"), 2_340_000),
		},
		Bundle:  f.bundle,
		Scripts: !f.asleep,
	}
	for n := range f.more {
		path := fmt.Sprintf("files/%04d.txt", n)
		v.Files = append(v.Files, fileAt(path, at(path), int64(n)))
	}
	return paged(v, f.contentURL, p.Cursor)
}

// paged leaves a page of the files of a view, as the service does. Cursors are numbers.
func paged(v view.View, contentURL, cursor string) (view.View, error) {
	for _, f := range v.Files {
		v.Tree = append(v.Tree, f.File)
	}
	tokens, err := token.New(keyring.New().Content, token.Content, contentURL)
	if err != nil {
		return view.View{}, err
	}
	urls := address.URLBuilder{Origins: address.Origins{Content: contentURL}, ContentToken: tokens}
	claims := token.Claims{Workspace: id.NewWorkspace(), Artifact: artifactID, Revision: newestID, Expires: noon}
	if v.Location, err = urls.Locate(claims); err != nil {
		return view.View{}, err
	}
	from, most := 0, limits.ViewFiles
	if cursor != "" {
		if from, err = strconv.Atoi(cursor); err != nil {
			return view.View{}, fault.New(fault.InvalidRequest, "files_cursor is none")
		}
		most = 500
	}
	if v.Files = v.Files[from:]; len(v.Files) > most {
		v.Files, v.Next = v.Files[:most], strconv.Itoa(from+most)
	}
	return v, nil
}

// fileURL builds addresses of files, which differ between the newest revision and the older one.
func (f *fakeViews) fileURL(r id.Revision) func(path string) string {
	token := "scripts"
	if r == oldID {
		token = "plain"
	}
	return func(path string) string { return f.contentURL + "/v/" + token + "/" + path }
}

func (f *fakeViews) FileURLs(_ credential.Actor, a *artifact.Artifact, r id.Revision) (func(string) string, error) {
	if a.ID != artifactID {
		return nil, fault.New(fault.NotFound, "nothing can be read")
	}
	return f.fileURL(r), nil
}

func fileAt(path, url string, size int64) view.File {
	return view.File{File: tree.File{Path: path, Size: size}, URLs: address.FileURLs{Bytes: url}}
}
