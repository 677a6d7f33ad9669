package sweep

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
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
	files    []archivedFile
	size     int64 // of the files
	homes    map[id.Session]id.Workspace
	next     export.Position
}

// archivedFile is a file with its name and modification time in the archive.
type archivedFile struct {
	name string
	at   time.Time
	file tree.File
}

// collect reads the content of the next archive of an export: revisions in order while there is room, and the events
// after the last revision.
func (x *Exporter) collect(ctx context.Context, one export.Export, w workspace.Workspace) (*collection, error) {
	c := &collection{homes: map[id.Session]id.Workspace{}, next: one.Next}
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
		if len(c.manifest.Artifacts) >= x.Limits.ExportVolume.Artifacts {
			return true, nil
		}
		full, err = x.collectArtifact(ctx, w, list[n%limits.ExportListed], c)
		if err != nil || full {
			return full, err
		}
		c.next = export.Position{Artifact: n + 1}
	}
	return false, nil
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
	slices.SortFunc(all, func(a, b artifact.Revision) int { return cmp.Compare(a.Number, b.Number) })
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
	full, err = x.collectRevisions(ctx, a, all, &out, c)
	if len(out.Revisions) > 0 {
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

// collectRevisions adds the revisions that follow the last archived one, while there is room. An empty archive has room
// for any revision.
func (x *Exporter) collectRevisions(
	ctx context.Context, a *artifact.Artifact, all []artifact.Revision, out *export.Artifact, c *collection,
) (full bool, err error) {
	bounds := x.Limits.ExportVolume
	for _, r := range all {
		if r.Number <= c.next.Revision || r.Status == artifact.Draft {
			continue
		}
		if r.Status == artifact.Published {
			if len(c.files) > 0 && (c.size+r.Size > bounds.Bytes || len(c.files)+r.FileCount > bounds.Files) {
				return true, nil
			}
			files, err := x.Store.Tree(ctx, a.ID, r.ID)
			if err != nil {
				return false, err
			}
			if files != nil {
				out.Revisions = append(out.Revisions, c.add(a, r, files))
				c.next.Revision = r.Number
				continue
			}
		}
		c.skip(a.ID, r.Number, export.FilesLetGo)
		c.next.Revision = r.Number
	}
	return false, nil
}

func (c *collection) skip(a id.Artifact, revision int, reason string) {
	c.manifest.Skipped = append(c.manifest.Skipped, export.Skipped{Artifact: a, Revision: revision, Reason: reason})
}

// add adds a revision and its files, in a folder of its own.
func (c *collection) add(a *artifact.Artifact, r artifact.Revision, files tree.Tree) export.Revision {
	folder := fmt.Sprintf("artifacts/%s-%s/r%d/", archive.Slug(a.Title), a.ID, r.Number)
	out := export.Revision{
		ID:          r.ID,
		Number:      r.Number,
		Title:       r.Title,
		Entrypoint:  r.Entrypoint,
		Listing:     r.Listing,
		PublishedAt: contract.At(r.PublishedAt),
		Files:       []export.File{},
	}
	entries, _, _ := archive.Entries(files, r.Entrypoint)
	for _, e := range entries {
		c.files = append(c.files, archivedFile{name: folder + e.Name, at: r.PublishedAt, file: e.File})
		c.homes[e.File.Object.Session] = a.StorageWorkspace
		c.size += e.File.Size
		out.Files = append(out.Files, export.File{
			Path:        e.File.Path,
			SizeBytes:   e.File.Size,
			SHA256:      e.File.SHA256.String(),
			ContentType: media.Of(e.File.Path).ContentType,
			Archive:     folder + e.Name,
		})
	}
	return out
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

// write writes the archive: the manifest and the events first, then the files. It calls read once for each file, in
// order.
func (c *collection) write(w io.Writer, at time.Time, read func(tree.File) (archive.Body, error)) error {
	z := archive.NewWriter(w)
	manifest, err := c.manifest.Encode()
	if err == nil {
		err = z.Add(export.ManifestName, at, archive.Bytes(manifest))
	}
	if err == nil && c.events.Len() > 0 {
		err = z.Add(export.EventsName, at, archive.Bytes(c.events.Bytes()))
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
