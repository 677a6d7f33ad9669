package sweep

import (
	"context"
	"crypto/sha256"
	"io"
	"time"

	"vitrine/shared/identity/account"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/member"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/export"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/tree"
)

// Export is an export that is due.
type Export struct {
	export.Export
	QueueItem
}

// String names the export in errors.
func (e Export) String() string { return "export of workspace " + string(e.Workspace) }

// ExportStore is the exporter's view of the tables. Reads are strong, except those of lists.
type ExportStore interface {
	Queue

	// Exports. A change has no effect unless the export is pending and its number of attempts is that of e.

	// DueExports reads strongly up to n pending exports that no other function has taken.
	DueExports(ctx context.Context, now time.Time, n int) ([]Export, error)
	// Take begins an attempt, reserves the export for it until an instant, and returns the export with the attempt
	// counted. It returns false if the export changed since it was read.
	Take(ctx context.Context, e Export, until time.Time) (taken Export, ok bool, err error)
	// Release ends the reservation of Take early.
	Release(ctx context.Context, e Export) error
	// Save stores the progress of e and ends the attempt. The objects of a failed export are deleted only when no attempt
	// can be under way. It returns false, without effect, if the export changed or began anew, or its workspace is gone.
	Save(ctx context.Context, e Export, progress export.Export) (ok bool, err error)

	// The artifacts of an export, listed in parts of limits.ExportListed.

	// SaveList stores a part. It replaces what an earlier attempt stored.
	SaveList(ctx context.Context, e export.Export, part int, artifacts []id.Artifact) error
	// ReadList reads a part strongly.
	ReadList(ctx context.Context, e export.Export, part int) ([]id.Artifact, error)

	// What is exported.

	Workspace(ctx context.Context, w id.Workspace) (*workspace.Workspace, error)
	Artifact(ctx context.Context, a id.Artifact) (*artifact.Artifact, error)
	Revisions(ctx context.Context, a id.Artifact) ([]artifact.Revision, error)
	Tree(ctx context.Context, a id.Artifact, r id.Revision) (tree.Tree, error)
	// LiveArtifacts lists the artifacts of a workspace that are live at an instant, newest first.
	LiveArtifacts(ctx context.Context, w workspace.Workspace, now time.Time) ([]id.Artifact, error)

	// What describes a workspace.

	Members(ctx context.Context, w id.Workspace) ([]member.Member, error)
	// APIKeys lists the newest keys, up to limits.ExportKeys.
	APIKeys(ctx context.Context, w workspace.Workspace, now time.Time) ([]credential.Key, error)
	// LinksTo lists the newest access links of an artifact, up to limits.LinksListed.
	LinksTo(ctx context.Context, w id.Workspace, a id.Artifact) ([]link.Link, error)
	// Story lists events of a workspace that members may see, newest first after a position. A page may be empty although
	// more follows. last is the position to go on from.
	Story(ctx context.Context, w id.Workspace, now time.Time, after account.Position) (
		events []event.Event, last account.Position, more bool, err error)
}

// ExportBytes reads files and writes archives in the object store.
type ExportBytes interface {
	// Open reads size bytes of an object from an offset; not_found if there is none.
	Open(ctx context.Context, home id.Workspace, o tree.Object, offset, size int64) (io.ReadCloser, error)
	// WriteExport stores what write writes, as a whole or not at all. It replaces an earlier object.
	WriteExport(ctx context.Context, o export.Object, write func(io.Writer) error) error
}

// Exporter makes the archives of exports, one in each step. It stores the progress after each archive. If its function
// dies, another one goes on when the reservation ends, and makes at most one archive again.
type Exporter struct {
	Store   ExportStore
	Bytes   ExportBytes
	Threads Discussions
	Limits  *limits.Limits
	Now     func() time.Time
}

// After these an export fails. Attempts count since the last volume that was made.
const (
	maxExportAttempts = 5
	maxExportTime     = limits.Day // each deletion meanwhile makes it begin anew
)

// Due does one round: one step of each export that is due.
func (x *Exporter) Due(ctx context.Context) (Round, error) {
	r := round{rows: x.Store, now: x.Now, workers: archivesAtOnce}
	return run(ctx, r, batchSize, x.Store.DueExports, x.export)
}

// export does one step of an export, or gives it up.
func (x *Exporter) export(ctx context.Context, due Export) error {
	taken, ok, err := x.Store.Take(ctx, due, x.Now().Add(limits.ExportLease))
	if err != nil || !ok {
		return err
	}
	if taken.Attempts > maxExportAttempts {
		_, err := x.Store.Save(ctx, taken, x.fail(taken.Export, export.Unreadable)) // its archives are deleted
		return err
	}
	progress, err := x.step(ctx, taken.Export)
	if err != nil {
		_ = x.Store.Release(ctx, taken) // without its error, because the reservation ends by itself
		return err
	}
	ok, err = x.Store.Save(ctx, taken, progress)
	if err == nil && !ok {
		_ = x.Store.Release(ctx, taken) // the export began anew, and its next attempt need not wait
	}
	if err == nil && ok && progress.Status == export.Pending {
		err = errUnfinished
	}
	return err
}

// fail returns an export as failed for a reason.
func (x *Exporter) fail(e export.Export, reason string) export.Export {
	e.Status = export.Failed
	e.Reason = reason
	e.EndedAt = x.Now()
	return e
}

// step lists the artifacts of an export or makes its next archive. It returns the export with that progress.
func (x *Exporter) step(ctx context.Context, one export.Export) (export.Export, error) {
	w, err := x.Store.Workspace(ctx, one.Workspace)
	switch {
	case err != nil:
		return one, err
	case w == nil:
		return one, fault.New(fault.Internal, "the workspace %s does not exist", one.Workspace)
	case x.Now().Sub(one.CreatedAt) > maxExportTime:
		return x.fail(one, export.Overtaken), nil
	case one.StartedAt.IsZero():
		return x.start(ctx, one, *w)
	case len(one.Volumes) == limits.ExportVolumes:
		return x.fail(one, export.TooLarge), nil
	}
	return x.volume(ctx, one, *w)
}

// start lists the artifacts of an export. What is published later is not part of it.
func (x *Exporter) start(ctx context.Context, one export.Export, w workspace.Workspace) (export.Export, error) {
	now := x.Now()
	all, err := x.Store.LiveArtifacts(ctx, w, now)
	if err != nil {
		return one, err
	}
	for part := 0; part*limits.ExportListed < len(all); part++ {
		from := part * limits.ExportListed
		some := all[from:min(from+limits.ExportListed, len(all))]
		if err := x.Store.SaveList(ctx, one, part, some); err != nil {
			return one, err
		}
	}
	one.StartedAt, one.Artifacts = now, len(all)
	return one, nil
}

// volume makes the next archive. It begins the archive anew if a file vanished since its artifact was read, because the
// manifest that names the file is already written.
// maxReplans is how often a volume is begun anew at once because a file vanished meanwhile.
const maxReplans = 3

func (x *Exporter) volume(ctx context.Context, one export.Export, w workspace.Workspace) (export.Export, error) {
	for try := 1; ; try++ {
		c, err := x.collect(ctx, one, w)
		if err != nil {
			return one, err
		}
		stored, err := x.write(ctx, one, c)
		if fault.KindOf(err) == fault.KindNotFound && try < maxReplans {
			continue
		}
		if err != nil {
			return one, err
		}
		// The full slice expression makes append copy, because the caller still holds the export as it was taken.
		one.Volumes = append(one.Volumes[:len(one.Volumes):len(one.Volumes)], stored)
		one.Most = max(one.Most, len(one.Volumes))
		one.Next = c.next
		one.Skipped += len(c.manifest.Skipped)
		if c.manifest.Last {
			one.Status = export.Ready
			one.EndedAt = x.Now()
			one.ExpiresAt = one.EndedAt.Add(limits.ExportLife)
		}
		return one, nil
	}
}

// write stores an archive of a collection.
func (x *Exporter) write(ctx context.Context, one export.Export, c *collection) (export.Volume, error) {
	sum := sum{Hash: sha256.New()}
	err := x.Bytes.WriteExport(ctx, one.Object(len(one.Volumes)+1), func(w io.Writer) error {
		files := make([]tree.File, len(c.files))
		for n, f := range c.files {
			files[n] = f.file
		}
		ahead := readAhead(ctx, files, func(ctx context.Context, f tree.File) (io.ReadCloser, error) {
			return x.Bytes.Open(ctx, c.homes[f.Object.Session], f.Object, 0, f.Size)
		})
		defer ahead.stop()
		discuss := func(a id.Artifact) ([]byte, error) {
			text, _, err := x.discussion(ctx, a)
			return text, err
		}
		return c.write(io.MultiWriter(&sum, w), one.StartedAt, discuss, ahead.next)
	})
	return export.Volume{Size: sum.size, SHA256: tree.Digest(sum.Sum(nil))}, err
}
