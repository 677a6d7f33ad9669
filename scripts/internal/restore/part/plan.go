package part

import (
	"context"
	"fmt"
	"io"
	"time"

	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

// Plan says what putting an artifact back would do.
type Plan struct {
	Artifact id.Artifact
	Title    string
	Owner    id.Workspace // today
	Refusal  error        // why it is not put back; nil: it is
	Alone    bool         // it is as its owner and its time left it, so that a restore of its workspace passes it by
	Done     bool         // it was put back already
	Resumes  bool         // a restore that died is taken up again
	Expired  bool         // it ended by its time, and not by a deletion

	Revisions int   // that are put back
	Later     int   // that were published or drafted since and are discarded
	Files     int   // objects that have to be there
	Size      int64 // of them
	Links     int   // that it had and that stay closed
	Pin       bool  // it was pinned
	Locked    bool  // an operator's lock of it, or of its workspace, stays in effect

	saved, living dynamo.Saved
	maxPins       int
}

// Plan reads what there is of an artifact and decides, without changing anything.
func (r Restore) Plan(ctx context.Context, a id.Artifact) (Plan, error) {
	p := Plan{Artifact: a}
	var err error
	if p.saved, err = r.from().Read(ctx, a); err != nil {
		return p, err
	}
	if p.living, err = r.to().Recoveries.Read(ctx, a); err != nil {
		return p, err
	}
	if p.Refusal = r.unsaved(p.saved); p.Refusal != nil {
		return p, nil
	}
	p.Title = p.saved.Artifact.Title
	owner, err := r.owner(ctx, p)
	if err != nil {
		return p, err
	}
	p.Alone = p.living.Artifact != nil && p.living.Artifact.Status == artifact.Live && p.living.Held().IsZero()
	p.Done = p.living.Returned().Equal(r.instant())
	if p.Done {
		return p, nil
	}
	if p.Refusal = closed(owner); p.Refusal == nil {
		p.Refusal = r.unended(p)
	}
	if p.Refusal != nil {
		return p, nil
	}
	return p, r.describe(ctx, &p, *owner)
}

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrRefused, fmt.Sprintf(format, args...))
}

// unsaved returns why the restored tables do not have the artifact to put back; nil: they do.
func (r Restore) unsaved(s dynamo.Saved) error {
	switch a := s.Artifact; {
	case a == nil:
		return refuse("there was no such artifact then; choose a later instant, or check the id")
	case a.Status != artifact.Live || !a.Active(r.instant()):
		return refuse("it had ended already then; choose an earlier instant")
	case a.Current == "":
		return refuse("nothing of it was published then; choose a later instant")
	}
	for name, revision := range s.Revisions {
		if revision.Status == artifact.Published && s.Trees[name] == nil {
			return refuse("revision %d has no list of files there; choose another instant", revision.Number)
		}
	}
	return nil
}

// owner returns the workspace that owns the artifact today; nil: it is gone. A claim moves what its source had.
func (r Restore) owner(ctx context.Context, p Plan) (*workspace.Workspace, error) {
	of := p.saved.Artifact
	if p.living.Artifact != nil {
		of = p.living.Artifact
	}
	store := r.to().Workspaces
	w, err := store.Workspace(ctx, of.Owner)
	if err == nil && w != nil && w.ClaimedInto != "" {
		w, err = store.Workspace(ctx, w.ClaimedInto)
	}
	return w, err
}

// closed returns why a workspace gets no artifact back; nil: it may get some. A lock is no reason.
func closed(w *workspace.Workspace) error {
	switch {
	case w == nil || !w.RemovedAt.IsZero():
		return refuse("its workspace was deleted, as its owner asked; nothing of it is put back")
	case w.Deleting():
		return refuse("its workspace is to be deleted; sign in to it and keep it, then run the same command again")
	}
	return nil
}

// unended returns why an artifact that is there is not replaced; nil: it ended, or its restore is under way.
func (r Restore) unended(p Plan) error {
	a, under := p.living.Artifact, p.living.Held()
	switch {
	case a == nil || a.Status != artifact.Live || under.Equal(r.instant()):
		return nil
	case !under.IsZero():
		return refuse("another restore brings it to its state of %s; finish that one with the same command",
			under.Format(time.RFC3339))
	case !a.Active(r.Now()):
		return refuse("it has expired and the jobs have not ended it yet; run the same command again after they did")
	}
	return refuse("it is live; to show what it showed then, publish that revision again: vitrine restore %s %s",
		a.ID, p.saved.Artifact.Current)
}

// describe fills in what is put back and what is not.
func (r Restore) describe(ctx context.Context, p *Plan, owner workspace.Workspace) error {
	a := p.saved.Artifact
	p.Owner = owner.ID
	p.Resumes = !p.living.Held().IsZero()
	p.Expired = p.living.Expired()
	p.Revisions = len(p.saved.Trees)
	p.Later = len(r.recovery(*p).Later(p.living))
	for _, f := range p.saved.Objects() {
		p.Files++
		p.Size += f.Size
	}
	p.Pin = !a.PinnedAt.IsZero()
	p.Locked = owner.Lock != "" || p.living.Artifact != nil && p.living.Artifact.Lock != ""
	p.maxPins = r.To.Limits.Tiers[owner.Tier()].LiveArtifacts
	links, err := r.to().Exports.LinksTo(ctx, owner.ID, a.ID)
	p.Links = len(links)
	return err
}

// Print says what the plan does.
func (p Plan) Print(w io.Writer) {
	say := func(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }
	switch {
	case p.Done:
		say("%s %q was put back already", p.Artifact, p.Title)
		return
	case p.Refusal != nil:
		say("%s %q is left alone: %v", p.Artifact, p.Title, p.Refusal)
		return
	case p.Resumes:
		say("%s %q: a restore that stopped is taken up again", p.Artifact, p.Title)
	default:
		say("%s %q of workspace %s", p.Artifact, p.Title, p.Owner)
	}
	say("  %d revisions with %d files of %d bytes are put back", p.Revisions, p.Files, p.Size)
	say("  %d links that it had stay closed, and so do its public views, and keys that were revoked since; share it again",
		p.Links)
	say("  it lives %d days at least from now on", leastLife/limits.Day)
	if p.Later > 0 {
		say("  %d later or unfinished revisions are discarded", p.Later)
	}
	if p.Locked {
		say("  the lock of an operator stays in effect, so that nobody can read it until it is lifted")
	}
}
