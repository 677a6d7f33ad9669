package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/edits"
	"vitrine/cmd/vitrine/failure"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/leak"
)

func (a *app) editCommand() *cobra.Command {
	var from string
	var secrets []string
	var force bool
	cmd := a.command("edit ARTIFACT PATH", "Change a text file of an artifact",
		editGuide, exactly(2, "an ARTIFACT and the PATH of a file in it"),
		func(ctx context.Context, args []string) error {
			for _, name := range secrets {
				if name != args[1] {
					return failure.New(failure.Invalid, failure.Usage, "--allow-secret names %q, which is not the file to edit", name).
						Advise("Give it the same PATH: --allow-secret %s", failure.Quoted(args[1]))
				}
			}
			list, err := a.readEdits(ctx, from)
			if err != nil {
				return err
			}
			return a.withOwnArtifact(ctx, args[0], func(ctx context.Context, h *artifactContext) error {
				e := &editing{
					artifactContext: h,
					path:            args[1],
					list:            list,
					idem:            "cli_edit_" + a.newUUID(),
					secrets:         len(secrets) > 0,
					force:           force,
				}
				return e.run(ctx)
			})
		})
	cmd.Flags().StringVar(&from, "edits", "", "read the edits from this file instead of stdin")
	cmd.Flags().BoolVar(&force, "force", false, "create a revision although the edits change nothing")
	cmd.Flags().StringArrayVar(&secrets, "allow-secret", nil, "the edits may put a secret into this file, which is PATH")
	return cmd
}

// readEdits reads all edits before any call.
func (a *app) readEdits(ctx context.Context, from string) ([]edits.Edit, error) {
	stdin := from == "" || from == "-"
	if stdin && a.stdinTTY {
		return nil, failure.New(failure.Invalid, failure.Usage, "there are no edits: stdin is a terminal").
			Advise("Give them in a file: --edits FILE, or through a pipe. vitrine help edit shows their form.")
	}
	type read struct {
		text []byte
		err  error
	}
	done := make(chan read, 1)
	go func() { // a read from a pipe cannot be cancelled; it ends with the program
		if stdin {
			text, err := readAll(a.in)
			done <- read{text, err}
			return
		}
		text, err := readFile(from)
		done <- read{text, err}
	}()
	var text []byte
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-done:
		if r.err != nil {
			return nil, failure.New(failure.Invalid, failure.UnusablePath, "cannot read the edits: %v", r.err).
				Advise("Give fewer or shorter edits, or name another file: --edits FILE")
		}
		text = r.text
	}
	list, err := edits.Parse(text)
	if err != nil {
		return nil, failure.New(failure.Invalid, failure.Usage, "%v", err).
			Advise(`Give [{"old_string":"...","new_string":"..."}]; vitrine help edit shows the form.`)
	}
	return list, nil
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAll(f)
}

func readAll(in io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, edits.MaxBytes+1))
	if err == nil && len(text) > edits.MaxBytes {
		err = errors.New("they are larger than 32 MiB")
	}
	return text, err
}

// editing is the edit of one file.
type editing struct {
	*artifactContext
	path    string
	list    []edits.Edit
	idem    string
	secrets bool // allows edits that add secrets
	force   bool // creates a revision of an unchanged artifact
}

// maxEditAttempts is how often an edit starts over because another revision was published in between.
const maxEditAttempts = 3

// maxFile is the largest size of a file that edits change, in bytes. Nobody edits larger texts by hand.
const maxFile = 25 * limits.MiB

// errNewer means that another revision was published during an edit.
var errNewer = errors.New("a newer revision is there")

// run edits the newest revision. It starts over if another revision is published meanwhile.
func (e *editing) run(ctx context.Context) error {
	idem := e.idem
	newer := 0
	waits := 0
	for {
		err := e.once(ctx)
		switch {
		case errors.Is(err, errNewer):
			if newer++; newer == maxEditAttempts {
				return failure.New(failure.Invalid, fault.PatchConflict,
					"a newer revision was published during each of %d attempts; nothing was changed", maxEditAttempts).
					Advise("Run the command again when no one else is publishing this artifact.")
			}
			e.screen.Note("A newer revision was published meanwhile; the edits are applied to that one")
		case failure.IsCode(err, fault.DraftRevisionConflict): // another publish is in progress
			waits++
			if again, interrupted := e.account.Pause(ctx, waits); interrupted != nil {
				return interrupted
			} else if !again {
				return err
			}
		default:
			return err
		}
		// The key is a new one, because the server refuses the same key with another body.
		e.idem = idem + "." + strconv.Itoa(1+newer+waits)
	}
}

// once edits one revision and publishes the result. It returns errNewer if the revision is no longer the newest.
func (e *editing) once(ctx context.Context) error {
	base, err := e.account.View(ctx, e.artifact, "")
	if err != nil {
		return err
	}
	before, err := e.read(ctx, base)
	if err != nil {
		return err
	}
	after, err := edits.Apply(before, e.list, maxFile)
	if err != nil {
		return failure.New(failure.Invalid, failure.NoEdit, "%v; nothing was changed", err).Advise("%s", e.adviceFor(err))
	}
	if after == before && !e.force {
		return e.reportUnchanged(base, "The edits change nothing; no revision was created. "+forceAdvice)
	}
	if what := leak.Added(before, after); what != "" && !e.secrets {
		return failure.New(failure.Invalid, failure.NoEdit, "the edits put %s into %q; nothing was changed", what, e.path).
			Advise("If everyone with a link may read it, allow it: --allow-secret %s", failure.Quoted(e.path))
	}
	p := &publication{account: e.account, screen: e.screen, idem: e.idem}
	if err := e.send(ctx, p, base, before, after); err != nil {
		return err
	}
	return e.report(p)
}

func (e *editing) adviceFor(err error) string {
	if n, ok := errors.AsType[edits.NoMatch](err); ok && n.Times > 1 {
		return "Make old_string longer until it occurs once, or set replace_all; overlapping matches count."
	}
	return "See what is there: vitrine pull " + string(e.artifact) + " " + failure.Quoted(e.path)
}

// read returns the text of the file in a revision.
func (e *editing) read(ctx context.Context, base contract.AgentView) (string, error) {
	if _, err := fileOf(base, e.path); err != nil {
		return "", err
	}
	f, err := e.account.Text(ctx, e.artifact, base.RevisionID, e.path)
	switch {
	case err != nil:
		return "", err
	case f.Body == nil:
		return "", failure.New(failure.Invalid, failure.Unshowable, "%q is no text, or too large to edit (%s)", e.path,
			f.ContentType).
			Advise("Change it here and publish the whole: vitrine publish PATH --artifact-id %s", e.artifact)
	}
	return *f.Body, nil
}

// send publishes the new text, as a diff if that is smaller. The base must still be the newest revision before the
// draft is created, because a draft blocks other publishes, and again before it is published.
func (e *editing) send(ctx context.Context, p *publication, base contract.AgentView, before, after string) error {
	manifest, body := e.manifest(base, before, after)
	open := func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(body)), nil }
	session, plan, err := p.account.Open(ctx, p.idem, manifest,
		[]client.File{{Path: e.path, Size: int64(len(body)), Open: open}})
	if err != nil {
		return outdated(err)
	}
	p.stats = e.stats(plan.Stats, base, len(after))
	if err := p.store(ctx, plan); err != nil {
		return err
	}
	if err := e.stillNewest(ctx, base.RevisionID); err != nil {
		return err
	}
	uninterrupted, stop := p.uninterruptible(ctx)
	defer stop()
	draft, err := p.account.Finalize(uninterrupted, p.idem, session)
	if err != nil {
		return outdated(err)
	}
	if err := e.stillNewest(uninterrupted, base.RevisionID); err != nil {
		return e.abandon(p, err, draft)
	}
	return p.publish(uninterrupted, draft)
}

// manifest declares the new text. It also returns the body to upload.
func (e *editing) manifest(base contract.AgentView, before, after string) (contract.CreateSession, string) {
	file := contract.DeclaredFile{Path: e.path, SizeBytes: int64(len(after)), SHA256: digest(after)}
	body := after
	if diff, ok := edits.Patch(before, after); ok {
		body = string(diff)
		file = contract.DeclaredFile{Path: e.path, SizeBytes: int64(len(diff)), Patch: &contract.DeclaredPatch{
			BaseSHA256: digest(before), Format: "unified", ResultSHA256: digest(after),
		}}
	}
	return contract.CreateSession{
		ArtifactID:     e.artifact,
		BaseRevisionID: base.RevisionID,
		BaseFiles:      baseFiles(base),
		Title:          base.Title,
		Entrypoint:     base.Entrypoint,
		Files:          []contract.DeclaredFile{file},
	}, body
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// stats counts the whole revision. Files that are not uploaded count as reused.
func (e *editing) stats(sent contract.UploadStats, base contract.AgentView, size int) contract.UploadStats {
	s := contract.UploadStats{
		TotalFiles:    len(base.Files),
		UploadedFiles: sent.UploadedFiles,
		UploadedBytes: sent.UploadedBytes,
	}
	for _, f := range base.Files {
		if f.Path == e.path {
			f.SizeBytes = int64(size)
		}
		if f.Path != e.path || sent.UploadedFiles == 0 {
			s.ReusedFiles++
			s.ReusedBytes += f.SizeBytes
		}
		s.TotalBytes += f.SizeBytes
	}
	return s
}

// outdated maps the server's refusal of the base to errNewer.
func outdated(err error) error {
	if unbuildable(err) {
		return errNewer
	}
	return err
}

func (e *editing) stillNewest(ctx context.Context, base id.Revision) error {
	now, err := e.account.FirstPage(ctx, e.artifact, "")
	if err == nil && now.RevisionID != base {
		err = errNewer
	}
	return err
}

// abandon ends an edit whose draft must not be published, because it would revert a newer revision.
func (e *editing) abandon(p *publication, err error, draft contract.Finalized) error {
	if !errors.Is(err, errNewer) {
		return p.draftLeft(err, draft)
	}
	return failure.New(failure.Invalid, fault.PatchConflict,
		"a newer revision was published at the last moment; the edit was not published").
		Advise("Its draft blocks other publishes for %s; publishing it would undo that revision; "+
			"if that is what you want: vitrine restore %s %s",
			draftLife, draft.ArtifactID, draft.RevisionID)
}

// unchanged is the JSON result of a command that has no change to make.
type unchanged struct {
	SchemaVersion string      `json:"schema_version"`
	ArtifactID    id.Artifact `json:"artifact_id"`
	NoOp          bool        `json:"noop"`
	Unchanged     bool        `json:"unchanged"`
	Title         string      `json:"title"`
	PrivateURL    string      `json:"private_url"`
}

func (a *artifactContext) reportUnchanged(now contract.AgentView, why string) error {
	if a.screen.IsJSON() {
		return a.screen.Object(unchanged{
			SchemaVersion: schemaVersion,
			ArtifactID:    a.artifact,
			NoOp:          true,
			Unchanged:     true,
			Title:         now.Title,
			PrivateURL:    now.PrivateURL,
		})
	}
	a.screen.Note("%s", why)
	return a.screen.Result(now.PrivateURL)
}

const editGuide = `vitrine edit ARTIFACT PATH changes a text file and publishes the result as a new revision.

  vitrine edit art_00000000000000000000000002 index.html --edits edits.json
  vitrine edit art_00000000000000000000000002 index.html < edits.json

edits.json holds, for example, [{"old_string":"Helo","new_string":"Hello"}]: a JSON array of 1 to
100 {old_string, new_string, replace_all?}. Edits are literal and applied in order, each to the
result of those before. old_string must occur exactly once, overlapping matches included, unless
replace_all is true. If one does not fit, nothing is sent, and the error names it, such as edits[2]:
exit code 4, edit_failed.

If another revision is published meanwhile, the edits are applied to that one, up to 3 times; then
it fails with exit code 4, patch_conflict. It waits some seconds for another draft to be published.
Edits that would add a Vitrine key or token or a private key to the file fail with exit code 4.
With --json the result is that of publish; if nothing changes:
{"schema_version":"1","artifact_id":...,"noop":true,"unchanged":true,"title":...,"private_url":...}.

Flags:
  --edits FILE         read the edits from a file; default: stdin
  --force              create a revision although the edits change nothing
  --allow-secret PATH  the same PATH again: the edits may add a secret to it
` + targetNote + `.
`
