package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/folder"
	"vitrine/cmd/vitrine/journal"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// publication is one publish and its result.
type publication struct {
	account     *client.Account
	by          credential // zero if ephemeral
	screen      *screen.Screen
	now         func() time.Time
	idem        string                // one Idempotency-Key for all of its calls
	provisioned *contract.Provisioned // nil unless ephemeral
	path        string                // as given
	flags       string                // flags of the command that gave path
	fresh       bool                  // it creates a new artifact
	addresses   []contract.AddressThread
	watched     bool                 // watch itself reports what was sent
	event       string               // of watch, "" for other commands
	policy      contract.UsagePolicy // read before the upload

	attempt *attempt // its entry in the journal; nil for watch, edit and restore

	stored *contract.Session // the session whose files are stored; the rest can be repeated with idem

	stats  contract.UploadStats
	pages  pageWarnings // findings in the pages
	result contract.Published
	link   madeLink // with --unlisted

	unchanged bool // the newest revision has the same files already
}

// authenticate finds the server and the workspace to publish in: a new one, or that of the credential.
func (a *app) authenticate(ctx context.Context, ephemeral bool) (p *publication, err error) {
	p = &publication{screen: a.screen, now: a.now, idem: "cli_publish_" + a.newUUID()}
	if ephemeral {
		a.noteIgnored()
		deployment, err := a.discover(ctx)
		if err != nil {
			return nil, err
		}
		return p, p.provision(ctx, deployment)
	}
	p.account, p.by, err = a.account(ctx, toPublish)
	return p, err
}

// noteIgnored names the credentials that --ephemeral ignores.
func (a *app) noteIgnored() {
	if a.env(envKey) != "" {
		a.screen.Note("VITRINE_API_KEY is ignored with --ephemeral")
	}
	server, err := a.server()
	if err != nil {
		return // discovery reports it
	}
	if r := a.vault().Load(server); r != nil {
		a.screen.Note("The stored login%s is ignored with --ephemeral", ownerOf(r))
	}
}

func (p *publication) provision(ctx context.Context, deployment *client.Deployment) error {
	made, key, err := deployment.Provision(ctx)
	if err != nil {
		return err
	}
	p.account, p.provisioned = deployment.With(key), &made
	return nil
}

// upload publishes the files as a revision of a new or an existing artifact.
func (p *publication) upload(ctx context.Context, files *folder.Folder, w publishFlags) error {
	base, err := p.check(ctx, files, w)
	if err != nil {
		return err
	}
	if p.attempt != nil && base != nil {
		p.attempt.entry.Base = base.RevisionID
	}
	p.unchanged = base != nil && !w.force && !p.resumes() && isSame(files, w, base)
	if p.unchanged && !base.EphemeralTier {
		return p.keep(ctx, base)
	}
	err = p.revise(ctx, base, files, w)
	if p.unchanged && err == nil { // only a publish renews the day that an unclaimed artifact lives
		p.screen.Note("Nothing changed; it was published again to renew its day, because nobody has claimed it yet")
	}
	return err
}

// keep reports the newest revision instead of publishing one. It gets the result from the server, which repeats that of
// the revision.
func (p *publication) keep(ctx context.Context, base *contract.AgentView) (err error) {
	p.stats.TotalFiles, p.stats.TotalBytes = totals(*base)
	p.stats.ReusedFiles, p.stats.ReusedBytes = p.stats.TotalFiles, p.stats.TotalBytes
	p.pages = pageWarnings{base.PageWarnings, base.PageWarningsOmitted}
	p.result, err = p.account.Publish(ctx, p.idem,
		contract.Finalized{ArtifactID: base.ArtifactID, RevisionID: base.RevisionID}, p.addresses)
	if err == nil {
		p.screen.Note("Nothing changed; no revision was created. " + forceAdvice)
	}
	return err
}

// forceAdvice says how to publish what has not changed.
const forceAdvice = "--force creates one anyway."

// permit checks the files against what the workspace may publish now.
func (p *publication) permit(ctx context.Context, files *folder.Folder, w publishFlags) (err error) {
	if p.policy, err = p.account.UsagePolicy(ctx); err != nil {
		return err
	}
	if err := checkPolicy(p.policy, files); err != nil || w.artifact != "" || p.resumes() {
		return err // an artifact that is made already may be the last one of the day
	}
	return p.checkAllowance(p.policy)
}

// revise publishes the files as a revision of a base; nil for a new artifact. It sends only what changed. If the server
// cannot build on the base, it sends the whole revision, once.
func (p *publication) revise(
	ctx context.Context,
	base *contract.AgentView,
	files *folder.Folder,
	w publishFlags,
) (err error) {
	if err := checkRemovals(base, files.Skipped.Secrets); err != nil {
		return err
	}
	whole := declare(files, w)
	part, ok := partOf(whole, base)
	if ok && !strings.HasSuffix(p.idem, wholeSuffix) {
		p.noteGone(part.DeletedPaths)
		if err = p.send(ctx, part, files); !unbuildable(err) {
			return err
		}
		p.screen.Note("The server cannot build on the current revision; all files are published again")
		p.idem += wholeSuffix
	}
	if whole.RenderMode, err = p.mode(ctx, whole, base); err != nil {
		return err
	}
	return p.send(ctx, whole, files)
}

// wholeSuffix makes another key, because a server refuses the same key with another body.
const wholeSuffix = ".whole"

// mode returns the rendering mode of a revision that is sent as a whole: that of its base, if the entrypoint is the
// same and no other mode is requested. A partial revision inherits it from its base anyway.
func (p *publication) mode(
	ctx context.Context,
	whole contract.CreateSession,
	base *contract.AgentView,
) (string, error) {
	if whole.RenderMode != "" || base == nil || base.Entrypoint != whole.Entrypoint {
		return whole.RenderMode, nil
	}
	list, err := p.account.Revisions(ctx, whole.ArtifactID, "", listPage)
	for _, r := range list.Items {
		if r.RevisionID == base.RevisionID && slices.Contains(renderModes, r.RenderMode) {
			return r.RenderMode, nil
		}
	}
	return "", err
}

// base returns what a new revision builds on, nil for a new artifact. It fails before a publish if a link would
// outlast the requested end.
func (p *publication) base(ctx context.Context, w publishFlags) (*contract.AgentView, error) {
	if w.artifact == "" {
		return nil, nil
	}
	if err := w.of.checkServer(p.account.Deployment); err != nil {
		return nil, err
	}
	revision := id.Revision("")
	if p.resumes() {
		revision = p.attempt.entry.Base // the same body needs the same base
	}
	view, err := p.account.View(ctx, w.of.artifact, revision)
	if f := failure.Of(err); err != nil && f.Exit == failure.NotFound {
		_ = f.Advise("%s", client.NoArtifact) // f points into err
	}
	if err == nil && !w.end.IsZero() {
		err = checkShareEnd(ctx, p.account, w.of.artifact, w.end)
	}
	return &view, err
}

// checkRemovals refuses to remove files from an artifact only because they look like secrets. An earlier version may
// not have refused them, or they were allowed by name.
func checkRemovals(base *contract.AgentView, refused []folder.Refused) error {
	if base == nil {
		return nil
	}
	for _, file := range base.Files {
		for _, r := range refused {
			if file.Path != r.Path && (!strings.HasSuffix(r.Path, "/") || !strings.HasPrefix(file.Path, r.Path)) {
				continue
			}
			return failure.New(failure.Invalid, failure.UnusablePath,
				"the artifact has %q, which is refused now, because %s; nothing was changed", file.Path, r.Why).
				Advise(
					"Keep it with --allow-secret %s, or remove it from the artifact: list it in .artifactignore, or delete it here.",
					failure.Quoted(file.Path))
		}
	}
	return nil
}

func (p *publication) noteGone(paths []string) {
	if len(paths) > 0 && !p.watched {
		p.screen.Note("Removes %d that the artifact had: %s", len(paths), folder.Few(paths))
	}
}

// send publishes what a manifest of these files declares. Files that the manifest omits are reused.
func (p *publication) send(ctx context.Context, manifest contract.CreateSession, files *folder.Folder) error {
	declared := make(map[string]bool, len(manifest.Files))
	for _, f := range manifest.Files {
		declared[f.Path] = true
	}
	var sources []client.File
	for _, f := range files.Files {
		if declared[f.Path] {
			sources = append(sources, client.File{Path: f.Path, Size: f.Size, Open: func() (io.ReadCloser, error) {
				return files.Body(f)
			}})
		}
	}
	return p.finalizeAndPublish(ctx, manifest, sources, len(files.Files), files.Bytes())
}

// finalizeAndPublish sends a manifest and its files through an upload session, and publishes the revision. files and
// size describe the whole revision.
func (p *publication) finalizeAndPublish(
	ctx context.Context,
	manifest contract.CreateSession,
	sources []client.File,
	files int,
	size int64,
) error {
	p.fresh, p.stored = manifest.ArtifactID == "", nil
	p.attempt.opens(p.idem)
	session, plan, err := p.account.Open(ctx, p.idem, manifest, sources)
	if err != nil {
		return err
	}
	s := plan.Stats
	s.TotalFiles, s.TotalBytes = files, size
	s.ReusedFiles, s.ReusedBytes = s.TotalFiles-s.UploadedFiles, s.TotalBytes-s.UploadedBytes
	p.stats = s
	p.attempt.opened(session, s)
	if err := p.store(ctx, plan); err != nil {
		return err
	}
	p.attempt.reach(journal.Uploaded)
	return p.finish(ctx, session)
}

// finish publishes the files that a session has stored. It may be repeated if the result was lost.
func (p *publication) finish(ctx context.Context, session contract.Session) error {
	p.stored = &session
	uninterrupted, stop := p.uninterruptible(ctx)
	defer stop()
	draft, err := p.account.Finalize(uninterrupted, p.idem, session)
	if err != nil {
		return err
	}
	return p.publish(uninterrupted, draft)
}

// store uploads the files of a plan and shows the progress.
func (p *publication) store(ctx context.Context, plan client.Plan) error {
	if plan.Stats.UploadedFiles == 0 {
		return nil
	}
	if p.watched {
		return p.account.Upload(ctx, plan, unseen{})
	}
	there := p.stats.ReusedFiles
	if p.resumes() {
		there = 0 // a note has said it
	}
	progress := p.screen.Progress(p.stats.UploadedFiles, p.stats.UploadedBytes, there)
	defer progress.Stop()
	return p.account.Upload(ctx, plan, progress)
}

// unseen is progress that is not shown.
type unseen struct{}

func (unseen) Sent(int64) {}
func (unseen) Stored()    {}

// share creates the link of --unlisted. The revision is already published, so its failures say how to continue.
func (p *publication) share(ctx context.Context, end time.Time) error {
	artifact := p.result.ArtifactID
	err := p.unlist(ctx, artifact, end)
	if err == nil {
		return nil
	}
	f := *failure.Of(err)
	f.Message = "published as " + string(artifact) + ", but without a link: " + f.Message
	if f.Code != failure.LinkLasts {
		f.Hint = "Make the link: vitrine set-visibility " + string(artifact) + " unlisted, or vitrine link " +
			string(artifact)
		if !end.IsZero() { // otherwise the link would have no end
			f.Hint = "Make the link: vitrine link " + string(artifact) + " --expires " + end.Format(time.RFC3339)
		}
	}
	return &f
}

func (p *publication) unlist(ctx context.Context, artifact id.Artifact, end time.Time) error {
	if !end.IsZero() {
		made, err := linkTo(ctx, p.account, p.idem, artifact,
			contract.CreateLink{Type: shareLink, ExpiresAt: contract.AtOrNull(end)})
		p.link = made
		return err
	}
	v, err := p.account.SetVisibility(ctx, artifact, unlisted)
	if err == nil {
		p.link = linkOf(ctx, p.account, v)
	}
	return err
}

// maxPolicy is the most that the owner of any deployment may allow.
var maxPolicy = contract.UsagePolicy{
	FileCountCap:         limits.FilesPerTree,
	FileSizeCapBytes:     limits.MaxFileSize,
	ArtifactSizeCapBytes: limits.MaxArtifactSize,
}

// checkPolicy compares the files with what may be published.
func checkPolicy(policy contract.UsagePolicy, files *folder.Folder) error {
	if n := len(files.Files); n > policy.FileCountCap {
		return errTooLarge(fault.FileCountCapExceeded, "there are %s files; %s", screen.Number(int64(n)),
			allowed(policy, int64(policy.FileCountCap), "in an artifact", "files"))
	}
	for _, f := range files.Files {
		if f.Size > policy.FileSizeCapBytes {
			return errTooLarge(fault.FileSizeCapExceeded, "%q has %s bytes; %s", f.Path, screen.Number(f.Size),
				allowed(policy, policy.FileSizeCapBytes, "a file", "file_bytes"))
		}
	}
	if sum := files.Bytes(); sum > policy.ArtifactSizeCapBytes {
		return errTooLarge(fault.RevisionSizeCapExceeded, "the files have %s bytes together; %s", screen.Number(sum),
			allowed(policy, policy.ArtifactSizeCapBytes, "in an artifact", "artifact_bytes"))
	}
	return nil
}

// allowed words a limit. member is its name in the policy of the deployment's owner.
func allowed(policy contract.UsagePolicy, limit int64, of, member string) string {
	if policy == maxPolicy {
		return "a deployment allows at most " + screen.Number(limit) + " " + of
	}
	return "this deployment allows " + screen.Number(limit) + " " + of + " (its owner's policy: " + member + ")"
}

// checkAllowance fails before an upload if no new artifact can be published today.
func (p *publication) checkAllowance(policy contract.UsagePolicy) error {
	if left := policy.DailyNewArtifactsRemaining; left == nil || *left > 0 {
		return nil
	}
	now := p.now().UTC()
	tomorrow := now.Truncate(limits.Day).Add(limits.Day) // days begin at midnight UTC
	f := failure.New(failure.Quota, fault.WriteAllowanceExceeded,
		"the workspace has published its new artifacts for today; %s",
		allowed(policy, int64(policy.DailyNewArtifactAllowance), "a day", "new_artifacts_per_day")).
		Advise("New ones can be published from %s; a revision of an existing one, with --artifact-id, now.",
			screen.When(tomorrow, now))
	f.RetryAfter = tomorrow.Sub(now)
	return f
}

func errTooLarge(code fault.Code, format string, args ...any) error {
	return failure.New(failure.Invalid, code, format, args...).
		Advise("Publish fewer or smaller files, or exclude some with .artifactignore.")
}
