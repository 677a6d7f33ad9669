package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/folder"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/contract"
	"vitrine/shared/fault"
	"vitrine/shared/id"
)

// wishes are the flags of publish.
type wishes struct {
	ephemeral  bool
	artifact   string // to make a revision of, "" for a new one
	titled     bool   // a title was given
	title      string
	entrypoint string
	renderMode string
}

var renderModes = []string{"html", "markdown", "text", "image", "audio", "video"}

func (a *app) publishCommand() *cobra.Command {
	var w wishes
	cmd := &cobra.Command{
		Use: "publish PATH", Short: "Publish a file or folder", Long: publishGuide, Args: onePath,
	}
	f := cmd.Flags()
	cmd.RunE = a.does(func(ctx context.Context, args []string) error {
		w.titled = f.Changed("title")
		return a.publish(ctx, args[0], w)
	})
	f.BoolVar(&w.ephemeral, "ephemeral", false, "publish without an account")
	f.StringVar(&w.artifact, "artifact-id", "", "make a new revision of this artifact")
	f.StringVar(&w.title, "title", "", "title, 1 to 160 characters")
	f.StringVar(&w.entrypoint, "entrypoint", "", "the file that opens first")
	f.StringVar(&w.renderMode, "render-mode", "", strings.Join(renderModes, ", "))
	f.String("claim-code", "", "accepted for old instructions, and ignored")
	_ = f.MarkHidden("claim-code") // fails only for a flag that is not there
	return cmd
}

func onePath(_ *cobra.Command, args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("publish takes one PATH, a file or a folder; %d were given", len(args))
	}
	return nil
}

// publish turns a path into a published revision. All that can be wrong here is found before the first call.
func (a *app) publish(ctx context.Context, path string, w wishes) error {
	if err := w.check(); err != nil {
		return err
	}
	files, err := folder.Open(path, w.entrypoint)
	if err != nil {
		return err
	}
	defer files.Close()
	if w.titled {
		files.Title = w.title
	}
	a.tellSkipped(files.Skipped)
	p, err := a.enter(ctx, w.ephemeral)
	if err != nil {
		return err
	}
	if p.path = path; w.artifact != "" && !w.titled {
		if files.Title, err = p.account.Title(ctx, id.Artifact(w.artifact)); err != nil {
			return p.by.refusedBy(err)
		}
	}
	if err := p.send(ctx, files, w); err != nil {
		return p.by.refusedBy(err)
	}
	return a.report(p)
}

func (w *wishes) check() error {
	w.title = strings.TrimSpace(w.title)
	_, malformed := id.Artifact(w.artifact).Bits()
	switch n := utf8.RuneCountInString(w.title); {
	case w.titled && (n == 0 || n > folder.TitleRunes || !utf8.ValidString(w.title)):
		return failure.New(failure.Invalid, failure.Usage, "the title has %d characters; 1 to %d of UTF-8 are allowed", n, folder.TitleRunes).
			Advise("Give another --title, or none to take the name of the path.")
	case w.artifact != "" && w.ephemeral:
		return failure.New(failure.Invalid, failure.Usage, "--artifact-id and --ephemeral exclude each other").
			Advise("An artifact is revised with the credential of its workspace; leave --ephemeral out.")
	case w.artifact != "" && malformed != nil:
		return failure.New(failure.Invalid, failure.Usage, "--artifact-id is no id of an artifact").
			Advise("It begins with art_; publish prints it.")
	case w.renderMode != "" && !slices.Contains(renderModes, w.renderMode):
		return failure.New(failure.Invalid, failure.Usage, "there is no render mode %q", w.renderMode).
			Advise("--render-mode takes one of %s; without it the entrypoint decides.", strings.Join(renderModes, ", "))
	}
	return nil
}

// tellSkipped says what stays behind, so that nobody misses a file silently.
func (a *app) tellSkipped(s folder.Skipped) {
	if s.GitignoreIn != "" {
		a.screen.Note("Note: .gitignore was not applied, because it leaves out the entrypoint %s", s.GitignoreIn)
	}
	if len(s.Secrets) > 0 {
		a.screen.Note("Left out %d that look like secrets: %s", len(s.Secrets), few(s.Secrets))
	}
	if len(s.Other) > 0 {
		a.screen.Note("Skipped %d: %s", len(s.Other), few(s.Other))
	}
}

// few lists the first names of many.
func few(names []string) string {
	const shown = 5
	if len(names) <= shown {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:shown], ", "), len(names)-shown)
}

// publication is one publish under way: by whom, and what came of it.
type publication struct {
	account *client.Account
	by      credential // zero if ephemeral
	screen  *screen.Screen
	idem    string                // one Idempotency-Key for its three mutations
	trial   *contract.Provisioned // nil unless ephemeral
	path    string                // as it was given

	stats  client.UploadStats
	result contract.Published
}

// enter finds the server and a workspace to publish in: a new one, or that of the credential.
func (a *app) enter(ctx context.Context, ephemeral bool) (p *publication, err error) {
	p = &publication{screen: a.screen, idem: "cli_publish_" + a.chance()}
	if ephemeral {
		a.tellIgnored()
		return p, p.provision(ctx, a)
	}
	p.account, p.by, err = a.account(ctx)
	return p, err
}

// tellIgnored says which credentials --ephemeral leaves alone.
func (a *app) tellIgnored() {
	if a.env(envKey) != "" {
		a.screen.Note("VITRINE_API_KEY is ignored with --ephemeral")
	}
	server, err := a.server()
	if err != nil {
		return // discovery reports it
	}
	if r := a.vault().Load(server); r != nil {
		a.screen.Note("The stored login%s is ignored with --ephemeral", whose(r))
	}
}

func (p *publication) provision(ctx context.Context, a *app) error {
	deployment, err := a.discover(ctx)
	if err != nil {
		return err
	}
	made, key, err := deployment.Provision(ctx)
	if err != nil {
		return err
	}
	p.account, p.trial = deployment.With(key), &made
	return nil
}

// send carries the files through a session to a published revision.
func (p *publication) send(ctx context.Context, files *folder.Folder, w wishes) error {
	policy, err := p.account.UsagePolicy(ctx)
	if err != nil {
		return err
	}
	if err := within(policy, files); err != nil {
		return err
	}
	if err := files.Digest(ctx); err != nil {
		return err
	}
	session, err := p.account.CreateSession(ctx, p.idem, declare(files, w))
	if err != nil {
		return err
	}
	if err := p.upload(ctx, session, files); err != nil {
		return err
	}
	draft, err := p.account.Finalize(ctx, p.idem, session)
	if err != nil {
		return err
	}
	p.result, err = p.account.Publish(ctx, p.idem, draft)
	return err
}

// within compares the files with what the workspace may publish, before any of them is read.
func within(policy contract.UsagePolicy, files *folder.Folder) error {
	if n := len(files.Files); n > policy.FileCountCap {
		return beyond(fault.FileCountCapExceeded, "%d files are more than the %d of this workspace", n, policy.FileCountCap)
	}
	for _, f := range files.Files {
		if f.Size > policy.FileSizeCapBytes {
			return beyond(fault.FileSizeCapExceeded, "%q has %d bytes; a file may have %d", f.Path, f.Size, policy.FileSizeCapBytes)
		}
	}
	if sum := files.Bytes(); sum > policy.ArtifactSizeCapBytes {
		return beyond(fault.RevisionSizeCapExceeded, "the files have %d bytes in total; %d are allowed", sum, policy.ArtifactSizeCapBytes)
	}
	return nil
}

func beyond(code fault.Code, format string, args ...any) error {
	return failure.New(failure.Invalid, code, format, args...).
		Advise("Publish fewer or smaller files, or leave some out with .artifactignore.")
}

func declare(files *folder.Folder, w wishes) contract.CreateSession {
	s := contract.CreateSession{
		ArtifactID: id.Artifact(w.artifact), Title: files.Title, Entrypoint: files.Entrypoint, RenderMode: w.renderMode,
	}
	for _, f := range files.Files {
		s.Files = append(s.Files, contract.DeclaredFile{Path: f.Path, SizeBytes: f.Size, SHA256: f.SHA256})
	}
	return s
}

func (p *publication) upload(ctx context.Context, session contract.Session, files *folder.Folder) error {
	sources := make([]client.File, len(files.Files))
	for i, f := range files.Files {
		sources[i] = client.File{Path: f.Path, Size: f.Size, Open: func() (io.ReadCloser, error) { return files.Body(f) }}
	}
	plan, err := p.account.Plan(session, sources)
	if err != nil {
		return err
	}
	p.stats = plan.Stats
	if p.stats.UploadedFiles == 0 {
		return nil
	}
	progress := p.screen.Progress(p.stats.UploadedFiles, p.stats.UploadedBytes)
	defer progress.Stop()
	return p.account.Upload(ctx, plan, progress)
}
