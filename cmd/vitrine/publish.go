package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/folder"
	"vitrine/cmd/vitrine/journal"
	"vitrine/cmd/vitrine/vault"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// publishFlags are the flags of publish.
type publishFlags struct {
	ephemeral  bool
	artifact   string // the artifact to revise; "" for a new one
	unlisted   bool   // with a link that works without sign-in
	expires    string // end of that link; "" for none
	titled     bool   // a title was given
	title      string
	entrypoint string
	renderMode string
	noIgnore   bool     // ignore files are not applied
	secrets    []string // files to publish even though they look like secrets
	name       string   // name of the file that stdin holds
	dryRun     bool     // only show what would be published
	open       bool     // open the link in the browser
	qr         bool     // draw the link as a QR code
	force      bool     // make a revision even of unchanged files
	operation  string   // names the publish, so that the same one is not made twice; "" for a key of its own
	app, noApp bool     // say whether it is an app of one page
	relative   bool     // publish copies with relative addresses
	asIs       bool     // publish even what readers will not see

	addresses []string                 // threads that the revision has dealt with
	note      string                   // what it did about them
	threads   []contract.AddressThread // addresses, as they were shown

	allSecrets bool     // publish all files even though they look like secrets
	within     []string // folders that the path must be in; nil: any

	of  target    // artifact, parsed
	end time.Time // expires, parsed
}

var renderModes = []string{"html", "markdown", "text", "image", "audio", "video"}

func (a *app) publishCommand() *cobra.Command {
	place := onePlace("publish takes one PATH, a file or a folder",
		"PATH is empty; vitrine publish . publishes this folder")
	cmd, w := a.publishing("publish PATH", "Publish a file or folder", publishGuide, place, a.publish)
	f := cmd.Flags()
	f.StringVar(&w.name, "name", "", "name of the file that stdin holds")
	f.BoolVar(&w.dryRun, "dry-run", false, "only show what would be published")
	f.BoolVar(&w.open, "open", false, "open the link in the browser")
	f.BoolVar(&w.qr, "qr", false, "draw the link as a QR code, too")
	f.BoolVar(&w.force, "force", false, "create a revision although nothing changed")
	f.StringVar(&w.operation, "operation-key", "", "name of this publish; the same one is made once")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "open")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "qr")
	f.StringSliceVar(&w.addresses, "addresses", nil, "threads that the revision has dealt with, or all that were shown")
	f.StringVar(&w.note, "note", "", "what it did about them")
	f.String("claim-code", "", "accepted for older instructions, and ignored")
	_ = f.MarkHidden("claim-code") // an error means that the flag does not exist
	return cmd
}

// publishing returns a command that publishes its argument, and the flags that publish and watch share.
func (a *app) publishing(
	use, short, guide string, args cobra.PositionalArgs, do func(context.Context, string, publishFlags) error,
) (*cobra.Command, *publishFlags) {
	w := &publishFlags{}
	var f *pflag.FlagSet
	cmd := a.command(use, short, guide, args, func(ctx context.Context, args []string) error {
		w.titled = f.Changed("title")
		return do(ctx, args[0], *w)
	})
	f = cmd.Flags()
	w.register(f)
	cmd.MarkFlagsMutuallyExclusive("relative", "as-is")
	cmd.MarkFlagsMutuallyExclusive("app", "no-app")
	return cmd, w
}

func (p *publishFlags) register(f *pflag.FlagSet) {
	f.BoolVar(&p.ephemeral, "ephemeral", false, "publish without an account")
	f.StringVar(&p.artifact, "artifact-id", "", "create a new revision of this artifact")
	f.BoolVar(&p.unlisted, "unlisted", false, "create a link that opens without sign-in")
	f.StringVar(&p.expires, "expires", "", "end of that link")
	f.StringVar(&p.title, "title", "", "title, 1 to 160 characters")
	f.StringVar(&p.entrypoint, "entrypoint", "", "the file that opens first")
	f.StringVar(&p.renderMode, "render-mode", "", strings.Join(renderModes, ", "))
	f.BoolVar(&p.noIgnore, "no-ignore", false, "publish what .artifactignore and .gitignore exclude, too")
	f.StringArrayVar(&p.secrets, "allow-secret", nil, "publish this file although it looks like a secret")
	f.BoolVar(&p.app, "app", false, "the entrypoint answers for paths that no file has")
	f.BoolVar(&p.noApp, "no-app", false, "it does not, whatever the pages look like")
	f.BoolVar(&p.relative, "relative", false, "publish copies of HTML and CSS with relative addresses")
	f.BoolVar(&p.asIs, "as-is", false, "publish pages although they will not work for readers")
}

// onePlace accepts one path. takes and empty begin its failures.
func onePlace(takes, empty string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 {
			return fmt.Errorf("%s, but was given %d", takes, len(args))
		}
		if args[0] == "" { // an empty path would mean the current folder
			return errors.New(empty)
		}
		return nil
	}
}

// publish publishes the files of a path as a revision. It reports every local error before the first call.
func (a *app) publish(ctx context.Context, path string, w publishFlags) error {
	if err := w.check(a.now()); err != nil {
		return err
	}
	if err := w.checkName(path); err != nil {
		return err
	}
	if err := checkOperationKey(w.operation); err != nil {
		return err
	}
	var err error
	if w.threads, err = a.addressed(w); err != nil {
		return err
	}
	rq := a.folderOf(path, w)
	if path == stdin {
		name, remove, err := a.fromStdin(ctx, &w)
		if err != nil {
			return err
		}
		defer remove()
		rq.Path, rq.Given = name, "what stdin holds"
	}
	files, err := folder.Open(rq)
	if err != nil {
		return err
	}
	defer files.Close()
	return a.publishFiles(ctx, path, files, w)
}

// publishFiles publishes the files of a path, or only shows what would be published.
func (a *app) publishFiles(ctx context.Context, path string, files *folder.Folder, w publishFlags) error {
	if w.titled {
		files.Title = w.title
	}
	if err := checkPolicy(maxPolicy, files); err != nil {
		return err
	}
	if err := a.digest(ctx, files); err != nil {
		return err
	}
	a.noteFiles(files)
	told, err := a.checkPages(ctx, files, &w, a.asks())
	if err != nil {
		return err
	}
	a.noteAll(told)
	if w.dryRun {
		return a.dryRun(ctx, files, w)
	}
	t, err := a.attempt(ctx, path, files, w)
	if err != nil {
		return err
	}
	defer t.unlock()
	p, err := a.carryOut(ctx, t, files, &w)
	if t.isOver(p, err) {
		a.screen.Note("The interrupted publish cannot be continued (%s); a new one begins", failure.Of(err).Message)
		t.forget(ctx)
		t.anew()
		p, err = a.carryOut(ctx, t, files, &w)
	}
	if err != nil {
		return p.by.refusedBy(t.failed(ctx, p, err))
	}
	p.path, p.flags = path, w.repeat()
	err = a.hand(p, w)
	a.noteAddressed(p.result)
	if err == nil {
		t.forget(ctx)
	}
	return err
}

// carryOut publishes the files, with a link if the flags ask for one.
func (a *app) carryOut(
	ctx context.Context, t *attempt, files *folder.Folder, w *publishFlags,
) (p *publication, err error) {
	if p, err = a.start(ctx, t, w); err != nil {
		return p, err
	}
	if err = p.upload(ctx, files, *w); err == nil && w.unlisted && p.provisioned == nil {
		err = p.share(ctx, w.end)
	}
	if err == nil && !p.unchanged && len(w.threads) > limits.AddressedThreads {
		err = p.addressRest(ctx, w.threads[limits.AddressedThreads:], a.newUUID)
	}
	return p, err
}

// digest reads the files and shows the progress.
func (a *app) digest(ctx context.Context, files *folder.Folder) error {
	progress := a.screen.Hashing(len(files.Files), files.Bytes())
	defer progress.Stop()
	return files.Digest(ctx, progress)
}

// folderOf returns the request for the files of a path.
func (a *app) folderOf(path string, w publishFlags) folder.Request {
	return folder.Request{
		Path:        path,
		Entrypoint:  w.entrypoint,
		NoIgnore:    w.noIgnore,
		AllowSecret: w.secrets,
		AllSecrets:  w.allSecrets,
		Within:      w.within,
		Logins:      vault.Folders(a.env),
		State:       journal.Folder(a.env),
	}
}

// repeat returns the flags that the next publish of the same path needs to have the same files.
func (p *publishFlags) repeat() (flags string) {
	if p.noIgnore {
		flags = " --no-ignore"
	}
	if p.name != "" {
		flags += " --name " + failure.Quoted(p.name)
	}
	for _, name := range p.secrets {
		flags += " --allow-secret " + failure.Quoted(name)
	}
	if p.app {
		flags += " --app"
	}
	if p.noApp {
		flags += " --no-app"
	}
	if p.relative {
		flags += " --relative"
	}
	if p.asIs {
		flags += " --as-is"
	}
	return flags
}

// check refuses invalid combinations of flags, and parses their values.
func (p *publishFlags) check(now time.Time) (err error) {
	p.title = strings.TrimSpace(p.title)
	switch n := utf8.RuneCountInString(p.title); {
	case p.titled && (n == 0 || n > limits.TitleRunes || !utf8.ValidString(p.title)):
		return failure.New(failure.Invalid, failure.Usage, "the title has %d characters; 1 to %d of UTF-8 are allowed", n,
			limits.TitleRunes).
			Advise("Give another --title, or omit it to use that of the first page.")
	case p.artifact != "" && p.ephemeral:
		return failure.New(failure.Invalid, failure.Usage, "--artifact-id and --ephemeral exclude each other").
			Advise("An artifact is revised with the credential of its workspace; omit --ephemeral.")
	case p.expires != "" && (!p.unlisted || p.ephemeral):
		return failure.New(failure.Invalid, failure.Usage,
			"--expires is the end of the link that --unlisted creates in your own workspace").
			Advise("Give --unlisted too, and omit --ephemeral.")
	case p.renderMode != "" && !slices.Contains(renderModes, p.renderMode):
		return failure.New(failure.Invalid, failure.Usage, "there is no render mode %q", p.renderMode).
			Advise("--render-mode takes one of %s; without it the entrypoint decides.", strings.Join(renderModes, ", "))
	}
	if p.artifact != "" {
		if p.of, err = parseWhole(p.artifact); err == nil && p.of.isShare() {
			err = shareIsForReading()
		}
		if err != nil && p.of.revision != "" {
			return err
		}
		if err != nil {
			return failure.New(failure.Invalid, failure.Usage, "--artifact-id is not the id of an artifact").
				Advise("It begins with art_; publish prints it. The link of its page works too.")
		}
	}
	p.end, err = until(p.expires, now)
	return err
}

// checkName refuses --name for a path that has a name of its own, and a name with folders in it.
func (p *publishFlags) checkName(path string) error {
	switch {
	case p.name == "":
		return nil
	case path != stdin:
		return failure.New(failure.Invalid, failure.Usage, "--name is the name of what stdin holds").
			Advise("Give - as PATH, or omit --name.")
	}
	return checkName(p.name)
}

// maxSecretsNamed is how many refused files are listed. A folder with more of them is not meant to be published.
const maxSecretsNamed = 200

// noteFiles says that readers see a list, and lists what is not published, so that no file is missing without a notice.
func (a *app) noteFiles(f *folder.Folder) {
	s := f.Skipped
	if f.Listing {
		a.screen.Note("Readers see the list of files; with --entrypoint FILE they see that file first")
	}
	if s.GitignoreIn != "" {
		a.screen.Note("Note: .gitignore was not applied, because it excludes %s", s.GitignoreIn)
	}
	for _, r := range s.Secrets[:min(len(s.Secrets), maxSecretsNamed)] {
		a.screen.Note("Not published: %s, because %s", r.Path, r.Why)
	}
	if more := len(s.Secrets) - maxSecretsNamed; more > 0 {
		a.screen.Note("Not published for such reasons: %d more", more)
	}
	if len(s.Secrets) > 0 {
		a.screen.Note("If everyone with the link may read such a file, publish it with --allow-secret FILE, named as above.")
	}
	if len(s.Other) > 0 {
		a.screen.Note("Skipped %d: %s", len(s.Other), folder.Few(s.Other))
	}
}
