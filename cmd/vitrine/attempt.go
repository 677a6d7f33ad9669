package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"time"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/folder"
	"vitrine/cmd/vitrine/journal"
	"vitrine/cmd/vitrine/screen"
	"vitrine/cmd/vitrine/vault"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// turnTime is how long a publish waits for another one of the same path.
const turnTime = 5 * time.Second

// operationKeyForm matches what a server accepts as an Idempotency-Key, with room for wholeSuffix.
var operationKeyForm = regexp.MustCompile(`^[A-Za-z0-9._:-]{8,194}$`)

// checkOperationKey refuses a key that no server accepts.
func checkOperationKey(key string) error {
	if key == "" || operationKeyForm.MatchString(key) {
		return nil
	}
	return failure.New(failure.Invalid, failure.Usage, "--operation-key is not 8 to 194 of A-Z a-z 0-9 . _ : -").
		Advise("Give a key of your own for each publish, for example --operation-key report-2026-12-31")
}

// attempt is a publish with its entry in the journal, by which the same command continues it after an interruption.
type attempt struct {
	*app
	journal journal.Journal
	logins  *vault.Vault
	entry   journal.Entry
	kept    bool      // the journal is used
	resumed bool      // it continues a publish that was interrupted
	since   time.Time // of the interruption
	unlock  func()
}

// attempt begins a publish. No other process publishes the path to the server until unlock. What stdin holds is not
// recorded, because it has no path.
func (a *app) attempt(ctx context.Context, path string, files *folder.Folder, w publishFlags) (*attempt, error) {
	server, err := a.server()
	if err != nil {
		return nil, err
	}
	t := &attempt{
		app:     a,
		journal: journal.Journal{Dir: journal.Folder(a.env)},
		logins:  a.vault(),
		unlock:  func() {},
	}
	t.entry = journal.Entry{
		Digest:    digestOf(declare(files, w), append(w.addresses, w.note)...),
		Expires:   w.expires,
		LinkEnds:  w.end,
		Addresses: w.threads[:min(len(w.threads), limits.AddressedThreads)],
	}
	t.entry.Subject = journal.Subject{
		Server:       server,
		Path:         files.Location(),
		Artifact:     w.of.artifact,
		OperationKey: w.operation,
	}
	t.anew()
	if path == stdin {
		return t, nil
	}
	unlock, err := t.journal.Lock(ctx, server, t.entry.Path, a.turn)
	if busy, ok := errors.AsType[journal.Busy](err); ok {
		return nil, failure.New(failure.Conflict, failure.InProgress, "%s is just being published by process %s",
			failure.Quoted(path), cmp.Or(busy.PID, "unknown")).
			Advise("Wait until that process has ended, then run the command again.")
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		t.unrecorded(err)
		return t, nil
	}
	t.kept, t.unlock = true, unlock
	for _, name := range t.journal.Expire(a.now()) {
		_ = t.logins.RemoveTrial(ctx, name) // best effort: the server ends its workspace, too
	}
	return t, nil
}

// digestOf returns the SHA-256 of a manifest and of what is said with it.
func digestOf(m contract.CreateSession, words ...string) string {
	text, _ := json.Marshal(m) // a manifest has nothing that JSON cannot hold
	text = append(text, strings.Join(words, "")...)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// unrecorded says that the publish goes on without the journal.
func (t *attempt) unrecorded(err error) {
	t.kept = false
	t.screen.Note("If this publish is interrupted, it cannot be continued: %v", err)
}

// anew makes the entry one of a publish that begins now.
func (t *attempt) anew() {
	e := &t.entry
	t.resumed = false
	e.Key = cmp.Or(e.OperationKey, "cli_publish_"+t.newUUID())
	e.Base = ""
	e.Session, e.Target = "", ""
	e.Step, e.BegunAt = journal.Prepared, t.now()
}

// find looks for an interrupted publish of the same files by the same publisher, and continues it. It adopts the end of
// its link, because the same --expires means another end now.
func (t *attempt) find(publisher string, w *publishFlags) error {
	t.entry.Publisher = publisher
	if !t.kept {
		return nil
	}
	old := t.journal.Load(t.entry.Subject, t.now())
	switch {
	case old == nil:
		return nil
	case old.Digest == t.entry.Digest:
		if old.Expires != w.expires || !old.LinkEnds.After(t.now()) {
			old.Expires, old.LinkEnds = w.expires, w.end
		}
		w.end = old.LinkEnds
		t.entry, t.since = *old, old.UpdatedAt
		t.resumed = old.Step != journal.Prepared
	case old.OperationKey != "":
		return keyTaken(w.operation)
	case old.Step != journal.Prepared:
		t.noteLeft(*old)
	}
	return nil
}

// keyTaken returns the failure for an operation key that belongs to a publish of something else.
func keyTaken(key string) error {
	return failure.New(failure.Invalid, fault.InvalidIdempotencyKey,
		"the operation key %s was used for other files or flags", key).
		Advise("Give another --operation-key, or publish the same files with the same flags again.")
}

// noteLeft names an interrupted publish that is not continued.
func (t *attempt) noteLeft(old journal.Entry) {
	ends := "ends by itself"
	switch old.Step {
	case journal.Finalized:
		ends = "may be published"
	case journal.Published:
		ends = "is published"
	}
	what := ""
	if old.Target != "" {
		what = ", " + string(old.Session) + " for " + string(old.Target) + ","
	}
	t.screen.Note("The files or flags differ from those of the publish that was interrupted at %s; a new one begins, and "+
		"the unfinished one%s %s", screen.When(old.UpdatedAt, t.now()), what, ends)
}

// reach records how far the publish came.
func (t *attempt) reach(step journal.Step) {
	if t == nil || !t.kept {
		return
	}
	t.entry.Step, t.entry.UpdatedAt = step, t.now()
	if err := t.journal.Save(t.entry); err != nil {
		t.unrecorded(err)
	}
}

// opens records the key of a session and the revision that it builds on, before the session is requested.
func (t *attempt) opens(idem string) {
	if t == nil {
		return
	}
	if t.entry.Key != idem {
		t.entry.Key = idem
		t.entry.Session, t.entry.Target = "", ""
	}
	t.reach(journal.Opening)
}

// opened records a session and says how much of it was there already.
func (t *attempt) opened(s contract.Session, stats contract.UploadStats) {
	if t == nil {
		return
	}
	t.entry.Session, t.entry.Target = s.UploadSessionID, s.ArtifactID
	t.reach(journal.Uploading)
	if t.resumed {
		t.screen.Note("Continues the publish that was interrupted at %s: %d of %d files are there already",
			screen.When(t.since, t.now()), stats.ReusedFiles, stats.TotalFiles)
	}
}

// trial returns the workspace of an interrupted publish without an account, if this server still has the same hosts.
func (t *attempt) trial(hosts contract.Discovery) (client.Key, *contract.Provisioned) {
	if !t.kept || t.since.IsZero() {
		return client.Key{}, nil
	}
	stored := t.logins.LoadTrial(t.entry.Name())
	if stored == nil || stored.APIURL != hosts.APIURL || stored.UploadURL != hosts.UploadURL {
		return client.Key{}, nil
	}
	key, err := client.ParseKey(stored.Workspace.APIKeySecret)
	if err != nil {
		return client.Key{}, nil
	}
	return key, &stored.Workspace
}

// keepTrial stores the secrets of a new workspace, without which nothing in it can be continued.
func (t *attempt) keepTrial(ctx context.Context, hosts contract.Discovery, made contract.Provisioned) {
	if !t.kept {
		return
	}
	err := t.logins.SaveTrial(ctx, t.entry.Name(), vault.Trial{
		APIURL:    hosts.APIURL,
		UploadURL: hosts.UploadURL,
		Workspace: made,
	})
	if err != nil {
		t.forget(ctx)
		t.unrecorded(err)
	}
}

// forget deletes the entry, and the secrets of its workspace.
func (t *attempt) forget(ctx context.Context) {
	if !t.kept {
		return
	}
	err := t.journal.Remove(t.entry.Subject)
	if t.entry.Publisher == journal.Ephemeral {
		err = cmp.Or(err, t.logins.RemoveTrial(context.WithoutCancel(ctx), t.entry.Name()))
	}
	if err != nil {
		t.screen.Note("The next publish of these files may repeat this one: %v", err)
	}
}

// isOver reports whether a publish cannot be continued, because its session or its workspace has ended.
func (t *attempt) isOver(p *publication, err error) bool {
	if err == nil || !t.resumed || t.entry.OperationKey != "" || p.result.ArtifactID != "" {
		return false
	}
	f := failure.Of(err)
	return f.Exit == failure.NotFound || f.Code == fault.InvalidIdempotencyKey || f.Code == fault.UploadSessionExpired ||
		f.Exit == failure.Auth && p.provisioned != nil
}

// failed keeps the entry if the same command may come further next time, and says so after an interrupt.
func (t *attempt) failed(ctx context.Context, p *publication, err error) error {
	f := failure.Of(err)
	if t.entry.OperationKey != "" && f.Code == fault.InvalidIdempotencyKey {
		return keyTaken(t.entry.OperationKey)
	}
	if t.entry.OperationKey != "" && f.Code == fault.UploadSessionExpired {
		return f.Advise("The publish with this key has ended; give another --operation-key.")
	}
	switch {
	case p.result.ArtifactID != "":
	case f.Exit == failure.Invalid, f.Exit == failure.NotFound, t.entry.Step == journal.Prepared && p.provisioned == nil,
		t.entry.Session == "" && isRefused(f) && p.provisioned == nil:
		t.forget(ctx)
	case f.Code == failure.WasInterrupted && t.kept:
		return f.Advise("Run the command again within a day to continue.")
	}
	return err
}

// isRefused reports whether the server has decided that it does not open a session now, so that there is nothing to
// continue.
func isRefused(f *failure.Failure) bool {
	return f.Exit == failure.Auth || f.Exit == failure.Quota ||
		f.Exit == failure.Conflict && f.Code != fault.IdempotencyInFlight
}

// start is authenticate for a publish that the journal records. It continues one that was interrupted.
func (a *app) start(ctx context.Context, t *attempt, w *publishFlags) (p *publication, err error) {
	p = &publication{screen: a.screen, now: a.now, attempt: t}
	if w.ephemeral {
		err = p.enter(ctx, a, w)
	} else if p.account, p.by, err = a.account(ctx, toPublish); err == nil {
		err = t.find(p.by.key.PublicID(), w)
	}
	p.idem, p.addresses = t.entry.Key, t.entry.Addresses
	return p, err
}

// enter continues in the workspace of an interrupted publish without an account, or makes one.
func (p *publication) enter(ctx context.Context, a *app, w *publishFlags) error {
	a.noteIgnored()
	deployment, err := a.discover(ctx)
	if err != nil {
		return err
	}
	t := p.attempt
	if err := t.find(journal.Ephemeral, w); err != nil {
		return err
	}
	if key, workspace := t.trial(deployment.Hosts); workspace != nil {
		p.account, p.provisioned = deployment.With(key), workspace
		return nil
	}
	t.anew()
	t.reach(journal.Prepared)
	if err := p.provision(ctx, deployment); err != nil {
		return err
	}
	t.keepTrial(ctx, deployment.Hosts, *p.provisioned)
	return nil
}

// resumes reports whether it continues an interrupted publish.
func (p *publication) resumes() bool { return p.attempt != nil && p.attempt.resumed }
