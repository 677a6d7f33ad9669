package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/save"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// exportRequest holds the flags of export.
type exportRequest struct {
	output string // a folder, or a file for an export of one archive; "" for the current folder
	anew   bool   // never reuse an export that is ready
	noWait bool
}

func (a *app) exportCommand() *cobra.Command {
	var o exportRequest
	cmd := a.command("export", "Save everything that the workspace has", exportGuide, cobra.NoArgs,
		func(ctx context.Context, _ []string) error { return a.export(ctx, o) })
	f := cmd.Flags()
	f.StringVar(&o.output, "output", "", "save to this folder, or to this file")
	f.BoolVar(&o.anew, "new", false, "make another export although one is ready")
	f.BoolVar(&o.noWait, "no-wait", false, "ask for it and do not wait")
	return cmd
}

// exported is the JSON result of export.
type exported struct {
	SchemaVersion string          `json:"schema_version"`
	ExportID      id.Export       `json:"export_id"`
	Status        string          `json:"status"`
	CreatedAt     contract.Time   `json:"created_at"`
	Artifacts     int             `json:"artifacts_total"`
	Skipped       int             `json:"skipped"`
	Volumes       []exportedAsZip `json:"volumes"`
}

// exportedAsZip describes a saved archive.
type exportedAsZip struct {
	Path      string `json:"path"`
	SizeBytes int64  `json:"size_bytes"`
	SHA256    string `json:"sha256"`
}

// export requests an export, waits for it and saves its archives.
func (a *app) export(ctx context.Context, o exportRequest) error {
	member, err := a.member(ctx, "export a workspace")
	if err != nil {
		return err
	}
	e, err := a.beginExport(ctx, member, o)
	if err != nil {
		return signInFresh(err)
	}
	if o.noWait {
		return a.reportExport(e, nil)
	}
	if e, err = a.awaitExport(ctx, member, e); err != nil {
		return signInFresh(err)
	}
	saved, err := a.saveExport(ctx, member, e, o)
	if err != nil {
		return err
	}
	return a.reportExport(e, saved)
}

// recentExport is how long a ready export is used instead of a new one.
const recentExport = time.Hour

// beginExport returns the export to save: one that is being made, one that became ready a short time ago or that an
// earlier run began to save, or else a new one.
func (a *app) beginExport(ctx context.Context, m *client.Member, o exportRequest) (contract.Export, error) {
	if !o.anew {
		e, err := m.Export(ctx)
		if err != nil {
			return contract.Export{}, err
		}
		if e != nil && e.Status == "ready" && (a.now().Sub(e.ReadyAt.Time) < recentExport || o.unfinished(*e)) {
			a.screen.Note("Taking the export of %s; --new makes another one", screen.When(e.CreatedAt.Time, a.now()))
			return *e, nil
		}
	}
	return m.RequestExport(ctx, "cli_export_"+a.newUUID())
}

// unfinished reports whether a part of an archive is left from an earlier run.
func (r exportRequest) unfinished(e contract.Export) bool {
	for n := range e.Volumes {
		if _, err := os.Lstat(r.path(e, n) + ".part"); err == nil {
			return true
		}
	}
	return false
}

// path returns where to save an archive.
func (r exportRequest) path(e contract.Export, n int) string {
	if r.output == "" {
		return e.Volumes[n].FileName
	}
	if info, err := os.Stat(r.output); err == nil && info.IsDir() || os.IsPathSeparator(r.output[len(r.output)-1]) {
		return filepath.Join(r.output, e.Volumes[n].FileName)
	}
	return r.output
}

// exportTime bounds how long export waits.
const exportTime = time.Hour

// awaitExport waits until an export is ready.
func (a *app) awaitExport(ctx context.Context, m *client.Member, e contract.Export) (contract.Export, error) {
	var waited time.Duration
	said := -1
	for e.Status == "pending" {
		wait := min(time.Duration(max(e.RetryAfterSeconds, 1))*time.Second, pollTime)
		if waited += wait; waited > exportTime {
			return e, failure.New(failure.Server, failure.ExportPending, "the server has not made the export within an hour").
				Advise("Run the command again later: it goes on with this one.")
		}
		if e.ArtifactsDone != said && e.ArtifactsTotal > 0 {
			a.screen.Note("The server is making the export: %d of %s",
				e.ArtifactsDone, screen.Count(e.ArtifactsTotal, "artifact"))
			said = e.ArtifactsDone
		} else if said < 0 {
			a.screen.Note("The server begins the export within a minute")
			said = 0
		}
		if err := a.pause(ctx, wait); err != nil {
			return e, err
		}
		found, err := m.Export(ctx)
		if err != nil {
			return e, err
		}
		if found == nil || found.ID != e.ID {
			return e, failure.New(failure.Conflict, failure.NoExport, "another export has taken the place of this one").
				Advise("Run the command again.")
		}
		e = *found
	}
	return e, checkExport(e)
}

// checkExport refuses an export that has no archives.
func checkExport(e contract.Export) error {
	switch {
	case e.Status == "ready" && len(e.Volumes) > 0:
		return nil
	case e.FailureReason != nil:
		ended := "failed"
		if e.Status == "expired" {
			ended = "has ended"
		}
		return failure.New(failure.Server, failure.NoExport, "the export %s: %s", ended, screen.Clean(*e.FailureReason)).
			Advise("Run the command again, which makes another one.")
	}
	return failure.New(failure.Server, failure.NoExport, "the export has no archives, it is %q", screen.Clean(e.Status)).
		Advise("Run the command again, which makes another one.")
}

// saveExport saves all archives. It keeps those that an earlier run has saved.
func (a *app) saveExport(
	ctx context.Context, m *client.Member, e contract.Export, o exportRequest,
) (saved []exportedAsZip, err error) {
	if len(e.Volumes) > 1 && o.output != "" && o.path(e, 0) == o.output {
		return nil, failure.New(failure.Invalid, failure.Unsavable, "the export has %d archives, and %s is no folder",
			len(e.Volumes), o.output).Advise("Name a folder that exists: --output DIR")
	}
	for n, v := range e.Volumes {
		to := o.path(e, n)
		if whole(to, v) {
			a.screen.Note("%s is there already", to)
		} else if err := a.saveVolume(ctx, m, e, n, to); err != nil {
			return nil, err
		}
		saved = append(saved, exportedAsZip{Path: to, SizeBytes: v.SizeBytes, SHA256: v.SHA256})
	}
	return saved, nil
}

// whole reports whether a file is the archive that the server describes.
func whole(name string, v contract.ExportVolume) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != v.SizeBytes {
		return false
	}
	f, err := os.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return err == nil && hex.EncodeToString(sum.Sum(nil)) == v.SHA256
}

// saveVolume downloads an archive, and continues what an earlier run has left. It replaces a URL that expires
// meanwhile.
func (a *app) saveVolume(ctx context.Context, m *client.Member, e contract.Export, n int, name string) error {
	to, err := save.Resume(name, false)
	if err != nil {
		return err
	}
	defer to.Close()
	progress := &downloadProgress{screen: a.screen}
	defer progress.stop()
	v := e.Volumes[n]
	for try := 1; ; try++ {
		if v.URL == nil {
			return signInFresh(failure.New(failure.Auth, "forbidden",
				"the export is ready, and your sign-in is older than 15 minutes"))
		}
		before, _ := to.Kept()
		archive, err := m.DownloadBundle(ctx, contract.Bundle{URL: *v.URL, SizeBytes: v.SizeBytes}, to, progress.observe)
		if err == nil && archive.SHA256 != v.SHA256 {
			to.Discard()
			return failure.New(failure.Other, failure.BadResponse, "%s does not have the SHA-256 that the server states", name).
				Advise("Run the command again; if it fails again, a proxy may be changing the answers.")
		}
		if err == nil {
			return to.Keep()
		}
		after, _ := to.Kept()
		if after <= before || try == maxBundleURLs || !hasEnded(err) {
			return continuable(err, to)
		}
		if v, err = renewed(ctx, m, e, n); err != nil {
			return err
		}
	}
}

// renewed returns an archive with a fresh URL.
func renewed(ctx context.Context, m *client.Member, e contract.Export, n int) (contract.ExportVolume, error) {
	found, err := m.Export(ctx)
	switch {
	case err != nil:
		return contract.ExportVolume{}, signInFresh(err)
	case found != nil && found.ID == e.ID && found.Status != "ready":
		return contract.ExportVolume{}, checkExport(*found)
	case found == nil || found.ID != e.ID || n >= len(found.Volumes):
		return contract.ExportVolume{}, failure.New(failure.Conflict, failure.NoExport,
			"another export has taken the place of this one").Advise("Run the command again.")
	}
	return found.Volumes[n], nil
}

// reportExport reports what was saved, or that there is no archive yet.
func (a *app) reportExport(e contract.Export, saved []exportedAsZip) error {
	if a.screen.IsJSON() {
		return a.screen.Object(exported{
			SchemaVersion: schemaVersion,
			ExportID:      e.ID,
			Status:        e.Status,
			CreatedAt:     e.CreatedAt,
			Artifacts:     e.ArtifactsTotal,
			Skipped:       e.Skipped,
			Volumes:       append([]exportedAsZip{}, saved...),
		})
	}
	if saved == nil {
		return a.screen.Result("The export is "+screen.Clean(e.Status),
			screen.Row{Name: "Next", Value: "vitrine export saves it when it is ready"})
	}
	rows := make([]screen.Row, 0, 2*len(saved))
	for n, v := range saved {
		if n > 0 {
			rows = append(rows, screen.Row{Name: "Saved", Value: v.Path})
		}
		rows = append(rows, screen.Row{Name: "SHA-256", Value: v.SHA256})
	}
	rows = append(rows, screen.Row{Name: "Artifacts", Value: screen.Count(e.ArtifactsTotal, "artifact")})
	if e.Skipped > 0 {
		rows = append(rows, screen.Row{Name: "Left out", Value: fmt.Sprint(e.Skipped, ", listed in manifest.json")})
	}
	return a.screen.Result(saved[0].Path, rows...)
}

const exportGuide = `vitrine export saves everything that the workspace has, as zip archives.

  vitrine export
  vitrine export --output backups/ --json
  vitrine export --no-wait          asks for it; run vitrine export later to save it

The archives hold all published revisions of all artifacts, byte for byte, and manifest.json: the
workspace, its members, API keys and access links without their secrets, and each file with its
size and SHA-256. A revision lists what it changes: what it shares with an earlier one lies in the
folder of that one, and manifest.json tells where. events.jsonl has what was done. A small workspace
is one archive; a large one is several, each a whole zip.

It needs a login of a person with the scope admin who signed in within the last 15 minutes:
vitrine login --fresh. While the server makes the export, the command tells how far it is. One that
is being made is joined, and one that became ready within the last hour is saved as it is. A
workspace may make 5 exports a day; each takes the place of the last one, and is kept for 7 days.

What has arrived is kept in FILE.part until the zip is whole and its SHA-256 is the one that the
server states. After an interrupt run the same command again: it continues where it stopped, and
archives that are there already are not fetched again. No other file is ever replaced.
With --json: {"schema_version":"1","export_id":...,"status":...,"created_at":...,
"artifacts_total":...,"skipped":...,"volumes":[{path, size_bytes, sha256}]}.

Flags:
  --output PATH  a folder that exists, or the name of a file for an export of one archive; default
                 is the current folder
  --new          make another export although one is ready
  --no-wait      ask for the export and end
`
