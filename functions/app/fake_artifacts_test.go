package app

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/address"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/media"
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

// The scenes of an artifact.
const (
	private = "private" // without a link
	locked  = "locked"
	pinned  = "pinned"
	warned  = "warned"
	ended   = "ended"
	deleted = "deleted"
	closed  = "closed" // by the operator
	draft   = "draft"
	odd     = "odd" // nothing that browsers show
)

type artifacts struct{ *house }

func (a artifacts) ListAll(
	ctx context.Context, _ credential.Actor, p artifact.Page,
) ([]artifact.Artifact, string, error) {
	if err := a.called(ctx, "Web "+p.Cursor); err != nil || a.empty {
		return nil, "", err
	}
	if p.Cursor == "stale" {
		return nil, "", fault.NewCode(fault.InvalidCursor)
	}
	return a.shelved(), "next+cursor", nil
}

func (a artifacts) Newest(ctx context.Context, _ credential.Actor) ([]artifact.Artifact, bool, error) {
	if err := a.called(ctx, "Newest"); err != nil || a.empty {
		return nil, false, err
	}
	return a.shelved(), a.more, nil
}

func (a artifacts) Count(ctx context.Context, _ credential.Actor) (artifact.Counts, error) {
	if err := a.called(ctx, "Count"); err != nil || a.empty {
		return artifact.Counts{}, err
	}
	return artifact.Counts{
		All:       artifact.Count{N: 10_000, More: true},
		Published: artifact.Count{N: 1234, More: true},
		Expiring:  artifact.Count{N: 2},
	}, nil
}

// shelved are artifacts in every state.
func (a artifacts) shelved() []artifact.Artifact {
	row := func(title string, status artifact.Status, life time.Duration, published, pinned time.Time) artifact.Artifact {
		return artifact.Artifact{
			ID:          artifactID,
			Title:       title,
			Status:      status,
			PinnedAt:    pinned,
			PublishedAt: published,
			ExpiresAt:   noon.Add(life),
			Entrypoint:  "index.html",
			Size:        int64(len(title)) * 100_000,
		}
	}
	none, long := time.Time{}, 72*time.Hour
	list := []artifact.Artifact{
		row(a.title, artifact.Live, long, noon, none),
		row("Tide tables", artifact.Live, long, noon.Add(time.Minute), noon),
		row("Notes of the first meeting", artifact.Expired, long, noon, none),
		row("A draft that was not wanted", artifact.Deleted, long, noon, none),
		row("Being prepared", artifact.Live, long, none, noon),
	}
	list[1].Entrypoint = "tides.csv"
	for i := range list[1:] {
		list[i+1].ID = id.Artifact(strings.TrimSuffix(artifactID, "Z9")) + id.Artifact("Z"+string(rune('1'+i)))
	}
	return list
}

func (a artifacts) Preview(ctx context.Context, _ credential.Actor, of *artifact.Artifact) (*artifact.Preview, error) {
	if err := a.called(ctx, "Preview "+string(of.ID)); err != nil {
		return nil, err
	}
	if !of.Readable(noon) || of.Current == "" {
		return nil, nil
	}
	p := artifact.Preview{
		URL:    a.contentURL + "/v/plain/" + a.entrypoint(),
		Mode:   media.HTML,
		Bundle: readyBundle(a.contentURL + "/b/token"),
	}
	if a.scene == warned {
		p.Warnings = pageFindings
	}
	if a.scene == pinned {
		p.Bundle = artifact.Availability{Status: "pending", RetryAfter: 42 * time.Second}
	}
	return &p, nil
}

// pageFindings are those of the scene warned, with a path that turns the direction of writing.
var pageFindings = lint.Report{More: 3, Warnings: []lint.Warning{
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

func (h *house) entrypoint() string {
	if h.scene == odd {
		return "minutes of the meeting.pdf"
	}
	return "report.html"
}

func (a artifacts) Find(ctx context.Context, by credential.Actor, which id.Artifact) (*artifact.Artifact, error) {
	if err := a.called(ctx, "Find "+string(which)); err != nil {
		return nil, err
	}
	if which != artifactID && !slices.Contains(a.others, string(which)[len(which)-1:]) {
		return nil, fault.New(fault.NotFound, "no such artifact")
	}
	found := a.found(which)
	found.Owner = by.Workspace.ID
	return found, nil
}

// found is the gate of an artifact in its scene.
func (h *house) found(a id.Artifact) *artifact.Artifact {
	found := &artifact.Artifact{
		ID:          a,
		Title:       h.title,
		Status:      artifact.Live,
		Current:     newestID,
		Number:      3,
		CreatedAt:   noon.Add(-time.Hour),
		PublishedAt: noon,
		ExpiresAt:   noon.Add(72 * time.Hour),
		Entrypoint:  h.entrypoint(),
		FileCount:   3,
		Size:        2_340_000,
	}
	switch h.scene {
	case draft:
		found.Current, found.PublishedAt = "", time.Time{}
	case pinned:
		found.PinnedAt = noon
	case locked:
		found.LinksLockedAt = noon
	case closed:
		found.Lock, found.LockedAt = "lkd_01J8Z0T7Q1W2E3R4T5Y6V7X8Z9", noon
	case ended:
		found.ExpiresAt = noon.Add(-time.Hour)
	case deleted:
		found.Status, found.DeletedAt = artifact.Deleted, noon.Add(-2*time.Hour)
	}
	return found
}

// commanded writes down a command.
func (h *house) commanded(c idempotency.Command) {
	h.calling.Lock()
	defer h.calling.Unlock()
	h.commands = append(h.commands, c)
}

// shelf answers in place of what keeps artifacts.
type shelf struct{ *house }

// views shows artifacts to members.
type views struct{ *house }

func (v views) Latest(ctx context.Context, _ credential.Actor, a *artifact.Artifact) (view.View, error) {
	if err := v.called(ctx, "Latest "+string(a.ID)); err != nil {
		return view.View{}, err
	}
	if v.scene == ended || v.scene == draft {
		return view.View{}, fault.New(fault.NotFound, "nothing can be read")
	}
	return v.view(a, newestID), nil
}

func (v views) Pinned(
	ctx context.Context, _ credential.Actor, a *artifact.Artifact, r *artifact.Revision,
) (view.View, error) {
	if err := v.called(ctx, "Pinned "+string(a.ID)); err != nil {
		return view.View{}, err
	}
	switch {
	case r == nil || r.Artifact != a.ID || r.Status == artifact.Draft:
		return view.View{}, fault.New(fault.NotFound, "no such revision")
	case r.Status == artifact.Retained:
		return view.View{}, fault.New(fault.RevisionRetained, "its bytes are gone")
	}
	return v.view(a, r.ID), nil
}

func (v views) view(a *artifact.Artifact, r id.Revision) view.View {
	token := "scripts"
	if r == oldID {
		token = "plain"
	}
	at := func(name string) string { return v.contentURL + "/v/" + token + "/" + name }
	return view.View{
		Artifact:   *a,
		Revision:   artifact.Revision{ID: r, Entrypoint: v.entrypoint()},
		Title:      a.Title,
		Entrypoint: address.FileURLs{Bytes: at(v.entrypoint())},
		Files: []view.File{
			fileAt(v.entrypoint(), at(v.entrypoint()), 18_412),
			fileAt("data/counts.csv", at("data/counts.csv"), 2_340_000),
		},
		Bundle: v.bundle,
	}
}

func fileAt(path, url string, size int64) view.File {
	return view.File{File: tree.File{Path: path, Size: size}, URLs: address.FileURLs{Bytes: url}}
}

func (s shelf) Revision(ctx context.Context, a id.Artifact, r id.Revision) (*artifact.Revision, error) {
	if err := s.called(ctx, "Revision "+string(r)); err != nil {
		return nil, err
	}
	statuses := map[id.Revision]artifact.RevisionStatus{oldID: artifact.Published, firstID: artifact.Retained, draftID: artifact.Draft}
	if status, ok := statuses[r]; ok {
		return &artifact.Revision{ID: r, Artifact: a, Status: status}, nil
	}
	return nil, nil
}

func (s shelf) Revisions(ctx context.Context, _ credential.Actor, a *artifact.Artifact) ([]artifact.Revision, error) {
	if err := s.called(ctx, "List "+string(a.ID)); err != nil {
		return nil, err
	}
	row := func(r id.Revision, number int, status artifact.RevisionStatus, ago time.Duration) artifact.Revision {
		out := artifact.Revision{
			ID:        r,
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
	out := []artifact.Revision{row(draftID, 0, artifact.Draft, 0)}
	if s.scene != draft {
		out = append(out, row(newestID, 3, artifact.Published, 0), row(oldID, 2, artifact.Published, time.Hour),
			row(firstID, 1, artifact.Retained, 48*time.Hour))
	}
	for range s.many {
		out = append(out, row(id.NewRevision(), 1, artifact.Published, 24*time.Hour))
	}
	return out, nil
}

func (s shelf) Pin(ctx context.Context, _ credential.Actor, t artifact.Target) (artifact.Detail, error) {
	s.commanded(t.Command)
	return artifact.Detail{}, cmp.Or(s.called(ctx, "Pin "+string(t.RequestedID)), s.pinRefused)
}

func (s shelf) Restore(
	ctx context.Context, _ credential.Actor, t artifact.Target, from id.Revision,
) (id.Revision, error) {
	s.commanded(t.Command)
	return newestID, cmp.Or(s.called(ctx, "Restore "+string(t.RequestedID)+" "+string(from)), s.restoreRefused)
}

func (s shelf) Unpin(ctx context.Context, _ credential.Actor, t artifact.Target) (artifact.Detail, error) {
	s.commanded(t.Command)
	return artifact.Detail{}, s.called(ctx, "Unpin "+string(t.RequestedID))
}

func (s shelf) Rename(
	ctx context.Context, _ credential.Actor, a *artifact.Artifact, title string,
) (string, error) {
	if err := s.called(ctx, "Rename "+string(a.ID)); err != nil {
		return "", err
	}
	if strings.TrimSpace(title) == "" {
		return "", fault.New(fault.InvalidRequest, "title must have 1 to 160 characters")
	}
	s.title2 = title
	return title, nil
}

func (s shelf) Delete(ctx context.Context, _ credential.Actor, t artifact.Target) (time.Time, error) {
	s.commanded(t.Command)
	return noon, s.called(ctx, "Delete "+string(t.Artifact.ID))
}

// doorkeeper answers in place of what keeps access links.
type doorkeeper struct{ *house }
