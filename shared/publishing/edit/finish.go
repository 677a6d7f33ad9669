package edit

import (
	"context"

	"vitrine/shared/platform/idempotency"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/upload"
)

// proceed takes an opened session through the remaining steps. An earlier attempt may have ended after any of them.
func (t *task) proceed(ctx context.Context, try int, o upload.Opened, text string) (Result, error) {
	if o.Session != nil {
		return t.complete(ctx, try, o, text)
	}
	target, err := t.target(ctx, try, o)
	if err != nil {
		return Result{}, err
	}
	if t.outdated(o, target) {
		return Result{}, outdated{o.Revision}
	}
	if o.ID == "" || target.Revision != nil || target.Record.Finished(t.Now()) {
		return t.publish(ctx, o, target)
	}
	if err := t.superseded(ctx, try); err != nil { // before Reopen, which would refuse the lost session
		return Result{}, err
	}
	if o, err = t.Uploads.Reopen(ctx, o); err != nil {
		return Result{}, err
	}
	if text, err = t.again(ctx, o.Session); err != nil {
		return Result{}, err
	}
	return t.complete(ctx, try, o, text)
}

// superseded fails with artifact.ErrMoved if an earlier attempt went on to a later try. This try then lost for good,
// and its session may be gone.
func (t *task) superseded(ctx context.Context, try int) error {
	if t.change == nil || try == maxTries {
		return nil
	}
	next, err := t.Store.Record(ctx, t.command(idempotency.CreateSession, "", try+1).Key)
	if err == nil && next.Finished(t.Now()) {
		err = artifact.ErrMoved
	}
	return err
}

// again computes the text of a session that an earlier attempt opened, from the base of that session.
func (t *task) again(ctx context.Context, s *upload.Session) (string, error) {
	if t.change == nil {
		return t.text, nil
	}
	base, err := t.Store.Contents(ctx, s.Artifact, s.Base)
	if err != nil {
		return "", err
	}
	if base == nil {
		return "", artifact.NotFound()
	}
	return t.change.body(ctx, s.Home, base)
}

// complete stores the text, makes the draft and publishes it.
func (t *task) complete(ctx context.Context, try int, o upload.Opened, text string) (Result, error) {
	if err := t.permit(); err != nil {
		return Result{}, err
	}
	if e := o.Entries[0]; !e.Reused { // the one declared file
		if err := t.Objects.Put(ctx, o.Session.Home, e.Object, []byte(text), *e.SHA256); err != nil {
			return Result{}, err
		}
	}
	_, err := t.Uploads.Finalize(ctx, t.by, upload.Attempt{
		Command: t.command(idempotency.FinalizeSession, string(o.ID), try),
		Session: o.Session,
		Entries: o.Entries,
		Current: o.Session.Base,
	})
	if err != nil {
		return Result{}, err
	}
	target, err := t.target(ctx, try, o)
	if err != nil {
		return Result{}, err
	}
	return t.publish(ctx, o, target)
}

// target reads the artifact and the revision to be published.
func (t *task) target(ctx context.Context, try int, o upload.Opened) (artifact.Target, error) {
	out := artifact.Target{
		Command:     t.command(idempotency.PublishRevision, string(o.Revision), try),
		RequestedID: o.Artifact,
		Addresses:   t.r.Addresses,
	}
	var err error
	out.Artifact, out.Revision, out.Record, err = t.Store.Target(ctx, out.Command.Key, o.Artifact, o.Revision)
	if err == nil {
		out.Artifact, err = artifact.Follow(ctx, t.Store, t.by.Workspace, out.Artifact)
	}
	return out, err
}

// publish publishes the draft of a session or returns a revision that is already published. A revision that was found
// and not made is returned with the title of the artifact.
func (t *task) publish(ctx context.Context, o upload.Opened, target artifact.Target) (Result, error) {
	changed := o.ID != ""
	if !changed && target.Artifact != nil && target.Revision != nil {
		target.Revision.Title = target.Artifact.Title
	}
	published, err := t.Artifacts.Publish(ctx, t.by, target)
	result := Result{Published: published, Changed: changed && err == nil}
	if err == nil && target.Revision != nil {
		result.Warnings = target.Revision.WarningsFor(t.by.Policy)
	}
	if result.Changed {
		result.Stats = stats(o, target.Revision)
	}
	return result, err
}

// stats counts the files of a revision. If the revision is gone, only the uploads are known.
func stats(o upload.Opened, r *artifact.Revision) Stats {
	s := Stats{
		TotalFiles:    o.Files,
		TotalBytes:    o.Bytes,
		UploadedFiles: o.Files,
		UploadedBytes: o.Bytes,
	}
	if r != nil {
		s.TotalFiles, s.TotalBytes = r.FileCount, r.Size
	}
	s.ReusedFiles, s.ReusedBytes = s.TotalFiles-s.UploadedFiles, s.TotalBytes-s.UploadedBytes
	return s
}
