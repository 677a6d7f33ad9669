package sweep

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"vitrine/shared/identity/account"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/media"
	"vitrine/shared/publishing/archive"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/sharing"
	"vitrine/shared/publishing/tree"
)

// collection is the content of one archive of an export.
type collection struct {
	manifest export.Manifest
	events   bytes.Buffer
	threads  []discussion
	bounds   limits.ExportVolume
	files    []archivedFile
	size     int64 // of the files
	entries  int   // as limits.ExportVolume counts them
	text     int   // of the manifest, about
	homes    map[id.Session]id.Workspace
	next     export.Position
}

const (
	// maxManifest is about how long a manifest may get. With Bytes of files it keeps an archive below the 200 MB that
	// Lambda streams.
	maxManifest = 16 * limits.MiB
	entryText   = 300 // length of an entry of a manifest, without its paths
)

// full reports whether an archive has no room for another entry, with a file of this size. An empty one has room for
// any.
func (c *collection) full(size int64) bool {
	return c.entries > 0 && (c.size+size > c.bounds.Bytes || c.entries >= c.bounds.Entries || c.text >= maxManifest)
}

// count counts an entry of the manifest with these texts.
func (c *collection) count(texts ...string) {
	c.entries++
	c.text += entryText
	for _, t := range texts {
		c.text += len(t)
	}
}

// archivedFile is a file with its name and modification time in the archive.
type archivedFile struct {
	name string
	at   time.Time
	file tree.File
}

// collect reads the content of the next archive of an export: changes of revisions in order while there is room, and
// the events after the last revision.
func (x *Exporter) collect(ctx context.Context, one export.Export, w workspace.Workspace) (*collection, error) {
	c := &collection{bounds: x.Limits.ExportVolume, homes: map[id.Session]id.Workspace{}, next: one.Next}
	c.manifest = export.Manifest{
		Workspace: w.Summary(),
		AsOf:      contract.At(one.StartedAt),
		Volume:    len(one.Volumes) + 1,
		Artifacts: []export.Artifact{},
		Skipped:   []export.Skipped{},
	}
	if len(one.Volumes) == 0 {
		if err := x.describe(ctx, w, &c.manifest); err != nil {
			return nil, err
		}
	}
	full, err := x.collectArtifacts(ctx, one, w, c)
	if err != nil || full {
		return c, err
	}
	return c, x.collectEvents(ctx, one, c)
}

// describe adds the members and the API keys to a manifest, without secrets.
func (x *Exporter) describe(ctx context.Context, w workspace.Workspace, m *export.Manifest) error {
	members, err := x.Store.Members(ctx, w.ID)
	if err != nil {
		return err
	}
	for _, one := range members {
		m.Members = append(m.Members, export.Member{
			ID:        one.ID,
			Email:     one.Email,
			Scopes:    credential.ScopeStrings(one.Scopes),
			CreatedAt: contract.At(one.CreatedAt),
		})
	}
	keys, err := x.Store.APIKeys(ctx, w, x.Now())
	for _, k := range keys {
		m.APIKeys = append(m.APIKeys, k.Record())
	}
	return err
}

// collectArtifacts adds artifacts in order. full reports that the archive has no room for the next one.
func (x *Exporter) collectArtifacts(
	ctx context.Context, one export.Export, w workspace.Workspace, c *collection,
) (full bool, err error) {
	var list []id.Artifact
	for c.next.Artifact < one.Artifacts {
		n := c.next.Artifact
		if list == nil || n%limits.ExportListed == 0 {
			if list, err = x.Store.ReadList(ctx, one, n/limits.ExportListed); err != nil {
				return false, err
			}
		}
		if n%limits.ExportListed >= len(list) {
			return false, fmt.Errorf("the list of export %s ends before artifact %d", one.ID, n)
		}
		if c.full(0) || len(c.manifest.Artifacts) >= c.bounds.Artifacts {
			return true, nil
		}
		full, err = x.collectArtifact(ctx, w, list[n%limits.ExportListed], c)
		if err != nil || full {
			return full, err
		}
		c.next = export.Position{Artifact: n + 1}
	}
	return c.size > c.bounds.Bytes, nil // events beside such a file could exceed what Lambda streams
}

// collectArtifact adds the revisions of an artifact that no archive has yet, while there is room.
func (x *Exporter) collectArtifact(
	ctx context.Context, w workspace.Workspace, name id.Artifact, c *collection,
) (full bool, err error) {
	a, err := x.Store.Artifact(ctx, name)
	if err == nil && a != nil {
		a, err = artifact.Follow(ctx, x.Store, w, a)
	}
	if err != nil {
		return false, err
	}
	if reason := x.vanished(a, w); reason != "" {
		c.skip(name, 0, reason)
		return false, nil
	}
	all, err := x.Store.Revisions(ctx, name)
	if err != nil {
		return false, err
	}
	out := x.describeArtifact(a)
	links, err := x.Store.LinksTo(ctx, w.ID, name)
	if err != nil {
		return false, err
	}
	for _, l := range links {
		out.Links = append(out.Links, export.Link{
			Record:    l.Record(),
			ExpiresAt: idempotency.Time{Time: l.ExpiresAt},
			RevokedAt: idempotency.Time{Time: l.Ended(a.LinksRevokedBefore)},
		})
	}
	c.text += entryText * len(links)
	full, err = c.collectRevisions(ctx, a, newHistory(x.Store, all), &out)
	if err == nil && !full {
		full, err = x.collectThreads(ctx, a, c, &out)
	}
	if len(out.Revisions) > 0 || out.Feedback != "" {
		c.manifest.Artifacts = append(c.manifest.Artifacts, out)
	}
	return full, err
}

// vanished returns why an artifact is not exported, or "" if it is.
func (x *Exporter) vanished(a *artifact.Artifact, w workspace.Workspace) string {
	switch {
	case a == nil, a.Status == artifact.Deleted:
		return export.WasDeleted
	case a.Owner != w.ID:
		return export.NotInWorkspace
	case !a.Active(x.Now()):
		return export.HasExpired
	case a.Lock != "":
		return export.IsLocked
	case a.Current == "":
		return export.NotPublished
	}
	return ""
}

func (x *Exporter) describeArtifact(a *artifact.Artifact) export.Artifact {
	visibility := sharing.Private
	if a.Shared(x.Now()) != "" && a.LinksLockedAt.IsZero() {
		visibility = sharing.Unlisted
	}
	return export.Artifact{
		ID:         a.ID,
		Title:      a.Title,
		Visibility: visibility,
		Pinned:     !a.PinnedAt.IsZero(),
		CreatedAt:  contract.At(a.CreatedAt),
		ExpiresAt:  contract.At(a.ExpiresAt),
		Links:      []export.Link{},
		Revisions:  []export.Revision{},
	}
}

// collectRevisions adds what no archive has yet of the revisions, while there is room.
func (c *collection) collectRevisions(
	ctx context.Context, a *artifact.Artifact, h *history, out *export.Artifact,
) (full bool, err error) {
	for n, r := range h.revisions {
		if r.Number <= c.next.Revision || r.Status == artifact.Draft {
			continue
		}
		if c.full(0) {
			return true, nil
		}
		d, err := h.difference(ctx, n)
		if err != nil {
			return false, err
		}
		if d == nil {
			c.skip(a.ID, r.Number, export.FilesLetGo)
		} else if !c.add(a, r, *d, out) {
			return true, nil
		}
		c.next.Revision = r.Number
		c.next.Changes = 0
	}
	return false, nil
}

func (c *collection) skip(a id.Artifact, revision int, reason string) {
	c.manifest.Skipped = append(c.manifest.Skipped, export.Skipped{Artifact: a, Revision: revision, Reason: reason})
	c.count()
}

// add adds what no archive has yet of the changes of a revision, while there is room. It reports whether that is all.
func (c *collection) add(a *artifact.Artifact, r artifact.Revision, d difference, out *export.Artifact) (all bool) {
	part := export.Revision{
		ID:          r.ID,
		Number:      r.Number,
		Title:       r.Title,
		Entrypoint:  r.Entrypoint,
		Listing:     r.Listing,
		App:         r.App.Is(),
		PublishedAt: contract.At(r.PublishedAt),
		Base:        d.base,
		Files:       []export.File{},
	}
	if len(d.changes) == 0 {
		c.count()
	}
	first := c.next.Changes
	for _, one := range d.changes[min(first, len(d.changes)):] {
		if c.full(one.size()) {
			break
		}
		c.addChange(a, r, one, &part)
		c.next.Changes++
	}
	part.Continues = c.next.Changes < len(d.changes)
	if c.next.Changes > first || !part.Continues {
		out.Revisions = append(out.Revisions, part)
	}
	return !part.Continues
}

// addChange adds a change to the manifest, and the file to the archive if no earlier one has its bytes. The files of a
// revision have a folder of their own.
func (c *collection) addChange(a *artifact.Artifact, r artifact.Revision, one change, to *export.Revision) {
	if one.file == nil {
		to.Removed = append(to.Removed, one.path)
		c.count(one.path)
		return
	}
	f := export.File{
		Path:        one.path,
		SizeBytes:   one.file.Size,
		SHA256:      one.file.SHA256.String(),
		ContentType: media.Of(one.path).ContentType,
		From:        one.from,
	}
	if one.from == nil {
		f.Archive = fmt.Sprintf("artifacts/%s-%s/r%d/%s", archive.Slug(a.Title), a.ID, r.Number, one.name)
		c.files = append(c.files, archivedFile{name: f.Archive, at: r.PublishedAt, file: *one.file})
		c.homes[one.file.Object.Session] = a.StorageWorkspace
		c.size += one.file.Size
		c.count(f.Path, f.Archive)
	} else {
		c.count(f.Path, one.from.Path)
	}
	to.Files = append(to.Files, f)
}

// collectEvents adds the events that follow the last archived one: up to maxVolumeEvents and the rest of a page.
// It marks the archive as the last one if no event is left.
// maxVolumeEvents is how many events one volume has.
const maxVolumeEvents = 10_000

func (x *Exporter) collectEvents(ctx context.Context, of export.Export, c *collection) error {
	after, err := parseEvents(c.next.Events)
	if err != nil {
		return err
	}
	if after.ID == "" { // newest first from the start of the export, which leaves out later events
		after = account.Position{At: of.StartedAt.Add(time.Millisecond), ID: "evt_"}
	}
	for c.manifest.Events < maxVolumeEvents {
		events, last, more, err := x.Store.Story(ctx, of.Workspace, of.StartedAt, after)
		if err != nil {
			return err
		}
		for _, one := range events {
			line, err := contract.Encode(account.AuditRow(one))
			if err != nil {
				return err
			}
			c.events.Write(line)
			c.manifest.Events++
		}
		if !more {
			c.manifest.Last = true
			return nil
		}
		after = last
		c.next.Events = formatEvents(after)
	}
	return nil
}

// formatEvents returns a position in the record of events as text for parseEvents.
func formatEvents(p account.Position) string {
	return strconv.FormatInt(p.At.UnixMilli(), 10) + " " + string(p.ID)
}

func parseEvents(text string) (p account.Position, err error) {
	if text == "" {
		return p, nil
	}
	at, name, _ := strings.Cut(text, " ")
	ms, err := strconv.ParseInt(at, 10, 64)
	return account.Position{At: time.UnixMilli(ms).UTC(), ID: id.Event(name)}, err
}

// write writes the archive: the manifest and the events first, then the threads, then the files. It calls discuss once
// for each artifact with threads, and read once for each file, in order.
func (c *collection) write(
	w io.Writer, at time.Time, discuss func(id.Artifact) ([]byte, error), read func(tree.File) (archive.Body, error),
) error {
	z := archive.NewWriter(w)
	manifest, err := c.manifest.Encode()
	if err == nil {
		err = z.Add(export.ManifestName, at, archive.Bytes(manifest))
	}
	if err == nil && c.events.Len() > 0 {
		err = z.Add(export.EventsName, at, archive.Bytes(c.events.Bytes()))
	}
	for _, d := range c.threads {
		if err != nil {
			break
		}
		var text []byte
		if text, err = discuss(d.artifact); err == nil {
			err = z.Add(d.name, at, archive.Bytes(text))
		}
	}
	for _, f := range c.files {
		if err != nil {
			break
		}
		var b archive.Body
		if b, err = read(f.file); err == nil {
			err = z.Add(f.name, f.at, b)
		}
	}
	if err != nil {
		return err
	}
	return z.Close()
}
