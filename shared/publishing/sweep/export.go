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

// String names it in errors.
func (e Export) String() string { return "export of workspace " + string(e.Workspace) }

// ExportStore is what Exporter needs of the tables. All reads are strong but those of lists.
type ExportStore interface {
	Queue

	// Exports. All changes hold only while the export is pending and its attempts are those of e.

	// DueExports reads strongly up to n pending exports that no other function has at that instant.
	DueExports(ctx context.Context, now time.Time, n int) ([]Export, error)
	// Take begins an attempt, which stays the only one until an instant, and returns the export with it. It returns false
	// if the export changed since it was read.
	Take(ctx context.Context, e Export, until time.Time) (taken Export, ok bool, err error)
	// Release lets others go on with the export before the instant that Take named.
	Release(ctx context.Context, e Export) error
	// Save stores the progress of e, and ends the attempt. One that failed keeps its objects until no attempt can be under
	// way. It returns false, without effect, if the export changed or began anew, or its workspace is gone.
	Save(ctx context.Context, e Export, progress export.Export) (ok bool, err error)

	// Which artifacts an export has, in parts of limits.ExportListed.

	// SaveList stores a part. An earlier attempt may have stored another one, which is replaced.
	SaveList(ctx context.Context, e export.Export, part int, artifacts []id.Artifact) error
	// ReadList reads a part strongly.
	ReadList(ctx context.Context, e export.Export, part int) ([]id.Artifact, error)

	// What is exported.

	Workspace(ctx context.Context, w id.Workspace) (*workspace.Workspace, error)
	Artifact(ctx context.Context, a id.Artifact) (*artifact.Artifact, error)
	Revisions(ctx context.Context, a id.Artifact) ([]artifact.Revision, error)
	Tree(ctx context.Context, a id.Artifact, r id.Revision) (tree.Tree, error)
	// LiveArtifacts lists the artifacts that a workspace has at an instant, newest first.
	LiveArtifacts(ctx context.Context, w workspace.Workspace, now time.Time) ([]id.Artifact, error)

	// What describes a workspace.

	Members(ctx context.Context, w id.Workspace) ([]member.Member, error)
	// APIKeys lists the newest keys, up to limits.ExportKeys.
	APIKeys(ctx context.Context, w workspace.Workspace, now time.Time) ([]credential.Key, error)
	// LinksTo lists the newest access links of an artifact, up to limits.LinksListed.
	LinksTo(ctx context.Context, w id.Workspace, a id.Artifact) ([]link.Link, error)
	// Story lists events of a workspace that members may see, newest first after a position. It may list none where more
	// follow; last is then the position to go on from.
	Story(ctx context.Context, w id.Workspace, now time.Time, after account.Position) (
		events []event.Event, last account.Position, more bool, err error)
}

// ExportBytes reads files and writes archives in the object store.
type ExportBytes interface {
	// Open reads size bytes of an object from an offset; not_found if there is none.
	Open(ctx context.Context, home id.Workspace, o tree.Object, offset, size int64) (io.ReadCloser, error)
	// WriteExport stores what write writes. There is no object before all of it is stored; an earlier one is replaced.
	WriteExport(ctx context.Context, o export.Object, write func(io.Writer) error) error
}

// Exporter makes the archives of exports, one in a step. The progress of an export is stored after each archive, so a
// function that dies leaves the rest to the next one when its time is over, and at most one archive is made again.
type Exporter struct {
	Store  ExportStore
	Bytes  ExportBytes
	Limits *limits.Limits
	Now    func() time.Time
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
		_ = x.Store.Release(ctx, taken) // it ends by itself otherwise
		return err
	}
	ok, err = x.Store.Save(ctx, taken, progress)
	if err == nil && !ok {
		_ = x.Store.Release(ctx, taken) // it began anew, and the next attempt need not wait
	}
	if err == nil && ok && progress.Status == export.Pending {
		err = errUnfinished
	}
	return err
}

// fail returns an export as it ends without its archives.
func (x *Exporter) fail(e export.Export, reason string) export.Export {
	e.Status = export.Failed
	e.Reason = reason
	e.EndedAt = x.Now()
	return e
}

// step lists the artifacts of an export, or makes its next archive, and returns how far it is then.
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

// start lists what the export has. What is published later is not in it.
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

// maxReplans is how often a volume is begun anew at once because a file vanished meanwhile.
const maxReplans = 3

// volume makes the next archive. A file that vanished since its artifact was read makes it begin anew, because what is
// written of the archive cannot be taken back.
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
		one.Volumes = append(one.Volumes[:len(one.Volumes):len(one.Volumes)], stored)
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

// write stores an archive of what was collected.
func (x *Exporter) write(ctx context.Context, one export.Export, c *collection) (export.Volume, error) {
	sum := sum{Hash: sha256.New()}
	err := x.Bytes.WriteExport(ctx, one.Object(len(one.Volumes)+1), func(w io.Writer) error {
		files := make([]tree.File, len(c.files))
		for n, f := range c.files {
			files[n] = f.file
		}
		ahead := readAhead(ctx, files, func(ctx context.Context, f tree.File) ([]byte, error) {
			return readFile(ctx, x.Bytes, c.homes[f.Object.Session], f)
		})
		defer ahead.stop()
		return c.write(io.MultiWriter(&sum, w), one.StartedAt, ahead.next)
	})
	return export.Volume{Size: sum.size, SHA256: tree.Digest(sum.Sum(nil))}, err
}
