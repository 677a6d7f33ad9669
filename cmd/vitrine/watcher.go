package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"vitrine/cmd/vitrine/client"
	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/folder"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
)

// Times of a watch: between two looks at the folder, without a change before a revision, and the first and the longest
// wait before a failed revision is tried again.
const (
	lookTime     = 500 * time.Millisecond
	quietTime    = time.Second
	retryTime    = 5 * time.Second
	maxRetryTime = 5 * time.Minute
)

// watcher publishes a path whenever its files change.
type watcher struct {
	*app
	path    string
	flags   publishFlags
	request folder.Request
	account *client.Account
	by      credential
	policy  contract.UsagePolicy
	idem    string // prefix of every Idempotency-Key
	keys    int

	url    string       // address of the page
	last   id.Revision  // the newest revision that is known
	number int          // number of last; 0 if unknown
	found  pageWarnings // findings in the pages of the last publication

	state    string       // state of the folder at the last look
	changed  time.Time    // when the state last changed
	pending  bool         // the state is not published yet
	retryAt  time.Time    // no attempt before that time, if set
	stated   bool         // the server set retryAt
	failures int          // consecutive failures
	left     *sentChanges // a publish whose result is unknown
	noted    string       // description of what noteFiles said last
	told     []string     // what was told last of the pages

	listener *listener // nil: threads are not printed
}

// sentChanges is the publication of a revision, and what it changes.
type sentChanges struct {
	*publication
	base    id.Revision
	changes changes
	begun   time.Time
}

// errStopped ends a watch after an interrupt, which stop has already reported.
var errStopped = fmt.Errorf("the watch was stopped: %w", context.Canceled)

// errUnsettled means that the folder changed while it was read.
var errUnsettled = errors.New("the folder changed meanwhile")

// run looks at the folder until it is interrupted, or until the artifact cannot be published any more.
func (w *watcher) run(ctx context.Context) error {
	for {
		if err := w.pause(ctx, lookTime); err != nil {
			return w.stop()
		}
		w.listen(ctx)
		if err := w.step(ctx); err != nil {
			return err
		}
	}
}

// stop reports the end of the watch and where the page is.
func (w *watcher) stop() error {
	var err error
	switch {
	case w.screen.IsJSON():
		err = w.screen.Object(struct {
			SchemaVersion string `json:"schema_version"`
			Event         string `json:"event"`
			URL           string `json:"url"`
		}{schemaVersion, "stopped", w.url})
	case !w.screen.IsQuiet():
		err = w.screen.Text(screen.Clean("Stopped; the page stays at "+w.url) + "\n")
	}
	return errors.Join(err, errStopped)
}

// look returns the state of the folder. If the folder cannot be published, the state is the failure.
func (w *watcher) look() string {
	files, err := folder.Open(w.request)
	if err != nil {
		return "unusable: " + err.Error()
	}
	defer files.Close()
	return files.State()
}

// step publishes the folder if it has changed and is quiet again.
func (w *watcher) step(ctx context.Context) error {
	now := w.now()
	if state := w.look(); state != w.state {
		w.state = state
		w.changed = now
		w.pending = true
		if !w.stated {
			w.retryAt, w.failures = time.Time{}, 0
		}
	}
	if !w.pending || now.Sub(w.changed) < quietTime || now.Before(w.retryAt) {
		return nil
	}
	return w.settle(ctx, w.publish(ctx))
}

// settle decides when a failed revision is tried again. It returns an error only if no later attempt could succeed.
func (w *watcher) settle(ctx context.Context, err error) error {
	f := failure.Of(err)
	switch {
	case err == nil:
		w.pending = false
		w.failures = 0
		w.stated = false
		w.retryAt = time.Time{}
		return nil
	case ctx.Err() != nil: // run notices the end of the context
		return nil
	case errors.Is(err, errUnsettled), f.Code == failure.FileChanged:
		w.changed = w.now()
		return nil
	case f.Exit == failure.Auth && f.Code != failure.HTTP, f.Code == fault.ArtifactNotFound, f.Code == fault.NotFound,
		f.Code == failure.Unwritten:
		return w.by.refusedBy(err)
	}
	wait := w.waitAfter(f)
	w.stated, w.retryAt = f.RetryAfter > 0, time.Time{}
	if w.pending = wait > 0; w.pending {
		w.retryAt = w.now().Add(wait)
	}
	return w.say(f, wait)
}

// waitAfter returns how long to wait after a failure; 0 means until the next change.
func (w *watcher) waitAfter(f *failure.Failure) time.Duration {
	if f.RetryAfter > 0 {
		return f.RetryAfter
	}
	if !mayPass(f) {
		return 0
	}
	w.failures++
	return min(retryTime<<min(w.failures-1, 10), maxRetryTime)
}

// publish publishes what the folder changes in the newest revision, if anything.
func (w *watcher) publish(ctx context.Context) error {
	if err := w.finishLeft(ctx); err != nil {
		return err
	}
	files, err := w.read(ctx)
	if err != nil {
		return err
	}
	defer files.Close()
	if err := checkPolicy(w.policy, files); err != nil {
		return err
	}
	p := &publication{
		account: w.account,
		by:      w.by,
		screen:  w.screen,
		now:     w.now,
		idem:    w.nextKey(),
		watched: true,
	}
	base, err := p.base(ctx, w.flags)
	if err != nil {
		return err
	}
	w.follow(base)
	if err := p.entitle(files, base, w.flags); err != nil {
		return err
	}
	whole := declare(files, w.flags)
	if files.Listing && !base.Listing && !slices.ContainsFunc(files.Files, func(f folder.File) bool {
		return f.Path == base.Entrypoint
	}) { // as while a build makes the folder anew; its readers must not get the list meanwhile
		return failure.New(failure.Invalid, failure.NoEntrypoint, "%q, which opens first, is gone", base.Entrypoint).
			Advise("Put it back, or end the watch and publish the folder as it is.")
	}
	_, changed := changesOf(whole, base)
	if changed == (changes{}) && opensAs(whole, base) {
		return nil
	}
	return w.send(ctx, &sentChanges{p, base.RevisionID, changed, w.now()}, base, files)
}

// nextKey returns the Idempotency-Key of another publish of this command.
func (w *watcher) nextKey() string {
	w.keys++
	return w.idem + "." + strconv.Itoa(w.keys+1)
}

// read opens and reads the files. It returns errUnsettled if the folder has another state than it had at the last look,
// before or after.
func (w *watcher) read(ctx context.Context) (*folder.Folder, error) {
	files, err := folder.Open(w.request)
	if err != nil {
		return nil, err
	}
	if w.flags.titled {
		files.Title = w.flags.title
	}
	state := files.State()
	if err = checkPolicy(maxPolicy, files); err == nil {
		err = files.Digest(ctx, unseen{})
	}
	if err == nil && (state != w.state || w.look() != state) {
		err = errUnsettled
	}
	if err != nil {
		files.Close()
		return nil, err
	}
	if noted := fmt.Sprint(files.Listing, files.Skipped); noted != w.noted {
		w.noteFiles(files)
		w.noted = noted
	}
	told, err := w.checkPages(ctx, files, &w.flags, w.url == "" && w.asks())
	if err != nil {
		files.Close()
		return nil, err
	}
	if !slices.Equal(told, w.told) {
		w.noteAll(told)
		w.told = told
	}
	return files, nil
}

// follow notes that another client has published since.
func (w *watcher) follow(base *contract.AgentView) {
	if base.RevisionID == w.last {
		return
	}
	w.screen.Note("Another client has published %s meanwhile; it stays in vitrine revisions", base.RevisionID)
	w.last, w.number = base.RevisionID, 0
}

func (w *watcher) send(ctx context.Context, s *sentChanges, base *contract.AgentView, files *folder.Folder) error {
	err := s.revise(ctx, base, files, w.flags)
	if err == nil {
		return w.published(ctx, s)
	}
	if s.stored != nil && mayPass(failure.Of(err)) {
		w.left = s
	}
	return err
}

// finishLeft finishes a publish whose result is unknown, because its draft would block every other publish. It gives up
// one that the server refuses: the folder still has what that publish would have changed.
func (w *watcher) finishLeft(ctx context.Context) error {
	s := w.left
	if s == nil {
		return nil
	}
	err := s.finish(ctx, *s.stored)
	switch {
	case err == nil:
		w.left = nil
		return w.published(ctx, s)
	case ctx.Err() != nil, failure.Of(err).Transient, failure.IsCode(err, fault.IdempotencyInFlight):
		return err
	}
	w.left = nil
	return nil
}

// revisionEvent is the JSON line of a published revision.
type revisionEvent struct {
	SchemaVersion  string      `json:"schema_version"`
	Event          string      `json:"event"`
	ArtifactID     id.Artifact `json:"artifact_id"`
	RevisionID     id.Revision `json:"revision_id"`
	RevisionNumber int         `json:"revision_number,omitempty"`
	Changed        int         `json:"changed"`
	New            int         `json:"new"`
	Deleted        int         `json:"deleted"`
	BytesSent      int64       `json:"bytes_sent"`
	Seconds        float64     `json:"seconds"`
	pageWarnings
}

// published reports what a revision has sent, and what is newly wrong with its pages.
func (w *watcher) published(ctx context.Context, s *sentChanges) error {
	took := w.now().Sub(s.begun)
	w.number = w.numberAfter(ctx, s)
	w.last = s.result.RevisionID
	e := revisionEvent{
		SchemaVersion:  schemaVersion,
		Event:          "revision",
		ArtifactID:     s.result.ArtifactID,
		RevisionID:     s.result.RevisionID,
		RevisionNumber: w.number,
		Changed:        s.changes.changed,
		New:            s.changes.added,
		Deleted:        s.changes.deleted,
		BytesSent:      s.stats.UploadedBytes,
		Seconds:        took.Round(time.Millisecond).Seconds(),
		pageWarnings:   s.pages,
	}
	fresh := s.pages.since(w.found)
	w.found = s.pages
	switch {
	case w.screen.IsJSON():
		return w.screen.Object(e)
	case w.screen.IsQuiet():
		return nil
	}
	if err := w.screen.Text(e.line() + "\n"); err != nil {
		return err
	}
	w.notePages(fresh)
	return nil
}

// numberAfter returns the number of a new revision; 0 if it is unknown. It counts on from the base, and asks the server
// only if the base's number is unknown.
func (w *watcher) numberAfter(ctx context.Context, s *sentChanges) int {
	if w.number > 0 && s.base == w.last {
		return w.number + 1
	}
	list, err := w.account.Revisions(ctx, s.result.ArtifactID, "", listPage)
	if err != nil {
		return 0 // the revision is then named by its ID
	}
	for _, r := range list.Items {
		if r.RevisionID == s.result.RevisionID && r.RevisionNumber != nil {
			return *r.RevisionNumber
		}
	}
	return 0
}

// line describes the event for people.
func (e revisionEvent) line() string {
	name := "revision " + strconv.Itoa(e.RevisionNumber)
	if e.RevisionNumber == 0 {
		name = "revision " + string(e.RevisionID)
	}
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{e.Changed, "changed"}, {e.New, "new"}, {e.Deleted, "deleted"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	parts = append(parts, screen.Bytes(e.BytesSent)+" sent", fmt.Sprintf("%.1f s", e.Seconds))
	return name + ": " + strings.Join(parts, ", ")
}
