package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/save"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

// downloadRequest holds the flags of download.
type downloadRequest struct {
	target   target
	revision id.Revision
	output   string // "" for a name made of the title
	force    bool
}

func (a *app) downloadCommand() *cobra.Command {
	var o downloadRequest
	var revision string
	cmd := a.command("download ARTIFACT", "Save all files of an artifact as a zip",
		downloadGuide, exactly(1, "one ARTIFACT"),
		func(ctx context.Context, args []string) (err error) {
			if o.target, err = parseTarget(args[0]); err != nil {
				return err
			}
			if o.revision, err = o.target.of(revision); err != nil {
				return err
			}
			return a.download(ctx, o)
		})
	f := cmd.Flags()
	f.StringVar(&revision, "revision-id", "", "this revision instead of the newest")
	f.StringVar(&o.output, "output", "", "save to this file, - for stdout")
	f.BoolVar(&o.force, "force", false, "replace an existing file")
	return cmd
}

// downloaded is the JSON result of download.
type downloaded struct {
	SchemaVersion string      `json:"schema_version"`
	ArtifactID    id.Artifact `json:"artifact_id"`
	RevisionID    id.Revision `json:"revision_id"`
	Path          string      `json:"path"`
	SizeBytes     int64       `json:"size_bytes"`
	SHA256        string      `json:"sha256"`
}

// download saves the zip of a revision. It reports every local error before it calls the server.
func (a *app) download(ctx context.Context, o downloadRequest) error {
	if err := a.checkOutput(o); err != nil {
		return err
	}
	see, d, err := a.viewer(ctx, o.target)
	if err != nil {
		return err
	}
	w := &bundleWait{
		app:      a,
		see:      see,
		revision: o.revision,
		pins:     !o.target.isShare(),
	}
	if o.output == stdout {
		return a.downloadOut(ctx, w, d)
	}
	if o.output == "" {
		v, err := w.look(ctx)
		if err != nil {
			return err
		}
		o.output, w.seen = zipName(v.Title, v.ArtifactID), &v
	}
	to, err := save.Resume(o.output, o.force)
	if err != nil {
		return err
	}
	defer to.Close()
	v, archive, err := w.fetch(ctx, d, to)
	if err != nil {
		return continuable(err, to)
	}
	if err := to.Keep(); err != nil {
		return err
	}
	return a.reportDownload(downloaded{
		SchemaVersion: schemaVersion,
		ArtifactID:    v.ArtifactID,
		RevisionID:    v.RevisionID,
		Path:          o.output,
		SizeBytes:     archive.Size,
		SHA256:        archive.SHA256,
	}, v.Title)
}

// checkOutput refuses an output that cannot be written, before any call.
func (a *app) checkOutput(o downloadRequest) error {
	switch {
	case o.output == stdout && o.force:
		return failure.New(failure.Invalid, failure.Usage, "--force goes with a file, and --output - is stdout").
			Advise("Leave --force out, or name the file to replace: --output FILE --force")
	case o.output == stdout && a.screen.IsJSON():
		return failure.New(failure.Invalid, failure.Usage, "--output - and --json both write to stdout").
			Advise("Leave one of them out, or name a file: --output FILE")
	case o.output == stdout && a.stdoutTTY:
		return failure.New(failure.Invalid, failure.Unshowable, "a zip is not written to a terminal").
			Advise("Save it with --output FILE, or send it through a pipe.")
	case o.output == stdout, o.output == "":
		return nil
	}
	to, err := save.Resume(o.output, o.force)
	if err == nil {
		to.Close()
	}
	return err
}

// downloadOut writes a zip to stdout, but only once all of it has arrived with the right digest.
func (a *app) downloadOut(ctx context.Context, w *bundleWait, d *client.Deployment) error {
	dir, err := os.MkdirTemp("", "vitrine-*")
	if err != nil {
		return failure.New(failure.Other, failure.Unsavable, "cannot store the zip until it is whole: %v", err).
			Advise("Set TMPDIR to a folder with enough space, or save the zip: --output FILE")
	}
	defer os.RemoveAll(dir)
	to, err := save.Resume(filepath.Join(dir, "zip"), false)
	if err != nil {
		return err
	}
	defer to.Close()
	if _, _, err := w.fetch(ctx, d, to); err != nil {
		return err
	}
	return a.screen.Stream(to.Copy)
}

// continuable adds to a failure that another run continues the download.
func continuable(err error, to *save.Part) error {
	f := *failure.Of(err)
	size, tag := to.Kept()
	if size == 0 || tag == "" || f.Exit != failure.Server && f.Exit != failure.Interrupted {
		return err
	}
	if f.Exit == failure.Interrupted {
		f.Message = "interrupted before the zip was whole"
	}
	f.Hint = "Run the command again: it continues after the " + screen.Bytes(size) + " that have arrived."
	return &f
}

func (a *app) reportDownload(r downloaded, title string) error {
	if a.screen.IsJSON() {
		return a.screen.Object(r)
	}
	return a.screen.Result(r.Path, screen.Row{Name: "Saved", Value: title + ", " + screen.Bytes(r.SizeBytes)},
		screen.Row{Name: "Revision", Value: string(r.RevisionID)}, screen.Row{Name: "SHA-256", Value: r.SHA256})
}

// bundleWait waits for the zip of a revision.
type bundleWait struct {
	*app
	see      viewer
	revision id.Revision
	pins     bool                // stays with the first revision seen; a share URL shows only one anyway
	seen     *contract.AgentView // read before the wait, for its title
}

// look reads the view of the revision that it saw first.
func (w *bundleWait) look(ctx context.Context) (contract.AgentView, error) {
	if v := w.seen; v != nil {
		w.seen = nil
		return *v, nil
	}
	v, err := w.see.first(ctx, w.revision)
	if err == nil && w.pins {
		w.revision = v.RevisionID
	}
	return v, err
}

// bundleTime bounds how long download waits for a zip, and pollTime one wait.
const (
	bundleTime = 10 * time.Minute
	pollTime   = time.Minute
)

// ready waits until the zip of a revision is made, or cannot be, and returns the view.
func (w *bundleWait) ready(ctx context.Context) (v contract.AgentView, err error) {
	var waited time.Duration
	for {
		if v, err = w.look(ctx); err != nil {
			return v, err
		}
		if v.Bundle.Status != "pending" {
			return v, nil
		}
		wait := min(time.Duration(max(v.Bundle.RetryAfterSeconds, 1))*time.Second, pollTime)
		if waited += wait; waited > bundleTime {
			f := failure.New(failure.Server, failure.BundlePending, "the server has not made the zip within %s",
				screen.Count(int(bundleTime/time.Minute), "minute")).
				Advise("Run the command again later, or fetch single files: %s", pullHint(v))
			f.RetryAfter = wait
			return v, f
		}
		w.screen.Note("The server is making the zip; asking again in %s", screen.Count(int(wait/time.Second), "second"))
		if err := w.pause(ctx, wait); err != nil {
			return v, err
		}
	}
}

// pullHint returns the command that saves one file. It does not repeat a share URL, which grants access.
func pullHint(v contract.AgentView) string {
	if v.PrivateURL == "" {
		return "vitrine pull with the same link, " + failure.Quoted(v.Entrypoint) + " and --output FILE"
	}
	return "vitrine pull " + string(v.ArtifactID) + " " + failure.Quoted(v.Entrypoint) + " --output " +
		failure.Quoted(filepath.Base(v.Entrypoint))
}

// maxBundleURLs is how often download asks for another signed URL because one has expired.
const maxBundleURLs = 3

// fetch waits for the zip and downloads it, or else writes it. It replaces a URL that expires meanwhile.
func (w *bundleWait) fetch(
	ctx context.Context,
	d *client.Deployment,
	to *save.Part,
) (v contract.AgentView, archive client.Archive, err error) {
	progress := &downloadProgress{screen: w.screen}
	defer progress.stop()
	for try := 1; ; try++ {
		if v, err = w.ready(ctx); err != nil {
			return v, archive, err
		}
		if v.Bundle.Status != "ready" {
			w.screen.Note("The server has no zip of this revision; its files are fetched one by one")
			return w.assemble(ctx, d, v.RevisionID, to)
		}
		before, _ := to.Kept()
		archive, err = d.DownloadBundle(ctx, v.Bundle, to, progress.observe)
		after, _ := to.Kept()
		if err == nil || after <= before || try == maxBundleURLs || !hasEnded(err) {
			return v, archive, err
		}
	}
}

// hasEnded reports whether a signed URL may have been refused because it has expired.
func hasEnded(err error) bool {
	exit := failure.Of(err).Exit
	return exit == failure.NotFound || exit == failure.Auth
}

// downloadProgress shows a download once its size is known.
type downloadProgress struct {
	screen *screen.Screen
	shown  *screen.Progress
}

func (p *downloadProgress) observe(done, total int64) {
	if p.shown == nil {
		p.shown = p.screen.Download(total)
	}
	p.shown.Done(done)
}

func (p *downloadProgress) stop() {
	if p.shown != nil {
		p.shown.Stop()
	}
}

// maxName bounds a file name that is made from a title, in bytes and without the extension.
const maxName = 80

// reservedNames are the names that Windows reserves for devices, with any extension.
const reservedNames = " con prn aux nul com1 com2 com3 com4 com5 com6 com7 com8 com9 " +
	"lpt1 lpt2 lpt3 lpt4 lpt5 lpt6 lpt7 lpt8 lpt9 "

// zipName makes a file name from a title. The name is safe on every system.
func zipName(title string, artifact id.Artifact) string {
	var b strings.Builder
	for _, r := range title {
		if !unicode.In(r, unicode.L, unicode.M, unicode.N) && !strings.ContainsRune("._", r) {
			r = '-'
		}
		if b.Len()+len(string(r)) > maxName {
			break
		}
		if r != '-' || !strings.HasSuffix(b.String(), "-") {
			b.WriteRune(r)
		}
	}
	name := strings.Trim(b.String(), "-._")
	first, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch {
	case name == "":
		name = string(artifact)
	case strings.Contains(reservedNames, " "+first+" "):
		name = "artifact-" + name
	}
	return name + ".zip"
}

const downloadGuide = `vitrine download ARTIFACT saves all files of an artifact as one zip.

  vitrine download art_00000000000000000000000002
  vitrine download art_00000000000000000000000002 --output site.zip --json
  vitrine download art_00000000000000000000000002 --revision-id rev_00000000000000000000000011

Without --output the name is made of the title. While the server makes the zip, the command asks
again as often as the server wants, for up to 10 minutes; then it fails with exit code 6 and
bundle_pending. If the server has no zip, because it makes none or the files are too large for one,
the command fetches the files and writes the same zip. By a share URL, which does not tell when the
revision was published, they have the time at which the artifact was made.

What has arrived is kept in FILE.part, beside FILE.part.etag, until the zip is whole and its SHA-256
is the one that the server states. After an interrupt or a broken connection run the same command
again: it continues where it stopped, or starts over if the zip is another one now. Files that are
fetched one by one are kept whole in the folder FILE.files until the zip is written.
--output - writes to stdout once the whole zip has arrived, and never to a terminal.
With --json: {"schema_version":"1","artifact_id":...,"revision_id":...,"path":...,"size_bytes":...,
"sha256":...}.

Flags:
  --revision-id ID  this revision instead of the newest; ARTIFACT may be the link of its page
                    (?revision=rev_..., in quotes) instead
  --output FILE     save to this file; an existing file is not replaced; - is stdout
  --force           replace an existing regular file
` + readNote + `A share URL needs no sign-in and gives the revision that it opens.
`
