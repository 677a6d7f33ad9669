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
)

// wishes are the flags of publish.
type wishes struct {
	ephemeral  bool
	titled     bool // a title was given
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
	if err := p.send(ctx, files, w.renderMode); err != nil {
		return err
	}
	return a.report(p)
}

func (w *wishes) check() error {
	w.title = strings.TrimSpace(w.title)
	switch n := utf8.RuneCountInString(w.title); {
	case w.titled && (n == 0 || n > folder.TitleRunes || !utf8.ValidString(w.title)):
		return failure.New(failure.Invalid, failure.Usage, "the title has %d characters; 1 to %d of UTF-8 are allowed", n, folder.TitleRunes).
			Advise("Give another --title, or none to take the name of the path.")
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
	screen  *screen.Screen
	idem    string                // one Idempotency-Key for its three mutations
	trial   *contract.Provisioned // nil unless ephemeral

	stats  client.UploadStats
	result contract.Published
}

// enter finds the server and a workspace to publish in: a new one, or that of the API key.
func (a *app) enter(ctx context.Context, ephemeral bool) (*publication, error) {
	p := &publication{screen: a.screen, idem: "cli_publish_" + a.chance()}
	text := a.env(envKey)
	if ephemeral {
		if text != "" {
			a.screen.Note("VITRINE_API_KEY is ignored with --ephemeral")
		}
		return p, p.provision(ctx, a)
	}
	if text == "" {
		return nil, failure.New(failure.Auth, fault.NotAuthenticated, "there is no API key to publish with").
			Advise("Add --ephemeral to publish without an account, or set VITRINE_API_KEY.")
	}
	key, err := client.ParseKey(text)
	if err != nil {
		return nil, err
	}
	deployment, err := a.discover(ctx)
	if err != nil {
		return nil, err
	}
	p.account = deployment.With(key)
	return p, nil
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
func (p *publication) send(ctx context.Context, files *folder.Folder, renderMode string) error {
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
	session, err := p.account.CreateSession(ctx, p.idem, declare(files, renderMode))
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

func declare(files *folder.Folder, renderMode string) contract.CreateSession {
	s := contract.CreateSession{Title: files.Title, Entrypoint: files.Entrypoint, RenderMode: renderMode}
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
