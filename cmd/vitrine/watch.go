package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/folder"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
)

func (a *app) watchCommand() *cobra.Command {
	cmd, _ := a.publishing("watch DIR", "Publish a folder, and again whenever its files change", watchGuide,
		onePlace("watch takes one DIR", "DIR is empty; vitrine watch . watches this folder"), a.watch)
	return cmd
}

// watch publishes a path, and again whenever its files change, until it is interrupted. It reports every local error
// before the first call.
func (a *app) watch(ctx context.Context, path string, flags publishFlags) error {
	if err := flags.check(a.now()); err != nil {
		return err
	}
	w := &watcher{
		app:     a,
		path:    path,
		flags:   flags,
		request: a.folderOf(path, flags),
	}
	files, err := w.first(ctx)
	if err != nil {
		return err
	}
	defer func() { files.Close() }()
	p, err := a.authenticate(ctx, flags.ephemeral)
	if err != nil {
		return err
	}
	w.account = p.account
	w.by = p.by
	w.idem = p.idem
	p.path = path
	p.flags = w.flags.repeat()
	p.event = "started"
	for tries := 1; ; tries++ {
		err := w.start(ctx, p, files)
		if !failure.IsCode(err, failure.FileChanged) || tries == maxFirstReads {
			if err != nil {
				return p.by.refusedBy(err)
			}
			break
		}
		if err := a.pause(ctx, quietTime); err != nil {
			return err
		}
		files.Close()
		again, err := w.first(ctx)
		if err != nil {
			return err
		}
		files = again
		p.idem = w.nextKey()
	}
	a.screen.Note("Watching %s for changes; Ctrl-C ends it", path)
	return w.run(ctx)
}

// maxFirstReads is how often the files are read for the first revision if they change meanwhile.
const maxFirstReads = 10

// first reads the files for the first revision. It reads again if files are just being written.
func (w *watcher) first(ctx context.Context) (*folder.Folder, error) {
	for tries := 1; ; tries++ {
		w.state = w.look()
		files, err := w.read(ctx)
		if !errors.Is(err, errUnsettled) && !failure.IsCode(err, failure.FileChanged) || tries == maxFirstReads {
			return files, settled(err)
		}
		if err := w.pause(ctx, quietTime); err != nil {
			return nil, err
		}
	}
}

// settled returns the failure for files that never stop changing.
func settled(err error) error {
	if !errors.Is(err, errUnsettled) {
		return err
	}
	return failure.New(failure.Other, failure.FileChanged, "the files change while they are read").
		Advise("Wait until they no longer change, then run the command again.")
}

// start publishes the first revision and prints the link. It leaves an artifact alone that already has these files.
func (w *watcher) start(ctx context.Context, p *publication, files *folder.Folder) error {
	base, err := p.base(ctx, w.flags)
	if err != nil {
		return err
	}
	if err := p.entitle(files, base, w.flags); err != nil {
		return err
	}
	if err := p.permit(ctx, files, w.flags); err != nil {
		return err
	}
	same := base != nil && isSame(files, w.flags, base)
	if same {
		p.result = contract.Published{
			ArtifactID: base.ArtifactID,
			RevisionID: base.RevisionID,
			Title:      base.Title,
			PrivateURL: base.PrivateURL,
			ExpiresAt:  base.ExpiresAt,
		}
		p.pages = pageWarnings{base.PageWarnings, base.PageWarningsOmitted}
	} else if err := p.revise(ctx, base, files, w.flags); err != nil {
		return err
	}
	if w.flags.unlisted && p.provisioned == nil {
		if err := p.share(ctx, w.flags.end); err != nil {
			return err
		}
	}
	w.begin(p, base)
	if same {
		return w.reportSame(p)
	}
	return w.report(p)
}

// begin continues after the first revision. From now on the artifact must exist.
func (w *watcher) begin(p *publication, base *contract.AgentView) {
	w.policy, w.found = p.policy, p.pages
	w.last = p.result.RevisionID
	w.url = link(p.result)
	if p.link.URL != "" {
		w.url = p.link.URL
	}
	if base == nil {
		w.number = 1
	}
	w.flags.artifact, w.flags.of = string(p.result.ArtifactID), target{artifact: p.result.ArtifactID}
	w.flags.end = time.Time{}
	w.listener = w.listens(p.result.ArtifactID)
}

// startedSame is the JSON line of a watch that starts without a change to publish.
type startedSame struct {
	SchemaVersion string      `json:"schema_version"`
	Event         string      `json:"event"`
	URL           string      `json:"url"`
	ArtifactID    id.Artifact `json:"artifact_id"`
	RevisionID    id.Revision `json:"revision_id"`
	NoOp          bool        `json:"noop"`
	Title         string      `json:"title"`
	PrivateURL    string      `json:"private_url"`
	pageWarnings
}

func (w *watcher) reportSame(p *publication) error {
	r := p.result
	if w.screen.IsJSON() {
		return w.screen.Object(startedSame{
			SchemaVersion: schemaVersion,
			Event:         p.event,
			URL:           w.url,
			ArtifactID:    r.ArtifactID,
			RevisionID:    r.RevisionID,
			NoOp:          true,
			Title:         r.Title,
			PrivateURL:    r.PrivateURL,
			pageWarnings:  p.pages,
		})
	}
	w.screen.Note("The artifact has these files already; no revision was created")
	err := w.screen.Result(w.url, screen.Row{Name: "Title", Value: r.Title},
		screen.Row{Name: "Artifact", Value: string(r.ArtifactID)})
	w.notePages(p.pages)
	return err
}

// failedEvent is the JSON line of a revision that could not be published.
type failedEvent struct {
	SchemaVersion string         `json:"schema_version"`
	Event         string         `json:"event"`
	Error         screen.Problem `json:"error"`
	RetryIn       int64          `json:"retry_in_seconds,omitempty"`
}

func (w *watcher) say(f *failure.Failure, wait time.Duration) error {
	if w.screen.IsJSON() {
		return w.screen.Object(failedEvent{
			SchemaVersion: schemaVersion,
			Event:         "failed",
			Error:         screen.ProblemOf(f),
			RetryIn:       int64(wait / time.Second),
		})
	}
	when := "at the next change"
	if wait > 0 {
		when = "in " + wait.Round(time.Second).String()
	}
	w.screen.Warn(fmt.Sprintf("not published: %s; trying again %s", f.Message, when))
	return nil
}

// mayPass reports whether the same publish may succeed later, because the server, the network or another client was
// in the way.
func mayPass(f *failure.Failure) bool {
	return f.Transient || f.Exit == failure.Server || f.Exit == failure.Conflict
}

const watchGuide = `vitrine watch DIR publishes a folder, and again whenever its files change, until Ctrl-C.

  vitrine watch ./site --ephemeral
  vitrine watch ./site --unlisted --expires 3d
  vitrine watch ./site --artifact-id art_00000000000000000000000002
  vitrine watch ./site --json

The first revision is a new artifact, or one of --artifact-id unless that has these files already.
The link is printed once and stays the same: an open page follows the newest revision. One second
after the last change the changed files are sent, as one revision, and a line says what was sent:

  revision 4: 2 changed, 1 new, 1 deleted, 14 kB sent, 1.2 s

What will not work in its pages follows on stderr, unless the revision before had it already.
Files with the same bytes make no revision. While files keep changing, it waits. DIR is the whole
artifact: a file that is deleted in it is removed, and what others publish meanwhile is replaced by
the next revision; the old one stays in vitrine revisions. An artifact has at most 100 revisions.

What somebody writes about the artifact meanwhile is a line, too, as soon as the server tells it:

  feedback on index.html: member Ada: Which unit?

If a revision cannot be published, a line says why and when it is tried again: when the server asks
for it, after a while if the network or the server fails, or at the next change. Nothing is lost. A
deleted artifact or a refused credential ends the command, with exit code 5 or 2. Ctrl-C ends it
with exit code 130; the page stays. A page of --ephemeral cannot be watched again later.

Twice a second it looks at paths, sizes and times, which takes less than 1 % of a CPU for
100 files; files are read only after a change. Which files: as vitrine publish, see there.

With --json each event is one line with schema_version and event:
  started   the result of publish, or with noop: url, artifact_id, revision_id, title, private_url
  revision  artifact_id, revision_id, revision_number, changed, new, deleted, bytes_sent, seconds,
            page_warnings
  thread    somebody wrote: the members of a thread of vitrine feedback --json
  failed    error{code, message, hint, retry_after_seconds}; retry_in_seconds, absent if it is
            tried at the next change
  stopped   url

Flags, all as of vitrine publish:
  --ephemeral         publish without an account
  --artifact-id ID    create new revisions of this artifact
  --unlisted          create a link that opens without sign-in
  --expires WHEN      end of that link
  --title TEXT        title of the artifact
  --entrypoint FILE   the file that opens first
  --render-mode MODE  html, markdown, text, image, audio or video
  --app               the entrypoint answers for paths that no file has
  --no-app            it does not
  --no-ignore         publish ignored files, too
  --allow-secret FILE publish this file although it looks like a secret
  --relative          publish copies of HTML and CSS with relative addresses
  --as-is             publish what is refused without it
`
