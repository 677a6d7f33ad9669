package main

import (
	"context"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/journal"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/limits"
)

// interruptGrace is how long a publish continues after an interrupt once the server may have created a draft.
const interruptGrace = 30 * time.Second

// uninterruptible returns a context that outlives an interrupt of ctx by interruptGrace. An unpublished draft blocks
// every later publish for a day, so the calls that create one are completed. If ctx has ended already, so has the
// returned context.
func (p *publication) uninterruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() != nil {
		return ctx, func() {}
	}
	on, stop := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() {
		p.screen.Note("Interrupted; finishing the publish that the server has begun")
		time.AfterFunc(interruptGrace, stop)
	})
	return on, func() {
		forget()
		stop()
	}
}

// publish publishes a draft.
func (p *publication) publish(ctx context.Context, draft contract.Finalized) (err error) {
	p.pages = pageWarnings{draft.Warnings, draft.WarningsOmitted}
	p.attempt.reach(journal.Finalized)
	if p.result, err = p.account.Publish(ctx, p.idem, draft, p.addresses); err == nil {
		p.attempt.reach(journal.Published)
	}
	return p.draftLeft(err, draft)
}

// draftLeft adds to a failure how to publish the draft that is left. The draft of a new artifact blocks no other
// publish, so the command can simply be repeated. Beyond the last allowed revision, no draft can be published.
func (p *publication) draftLeft(err error, draft contract.Finalized) error {
	if err == nil || p.fresh || failure.IsCode(err, fault.RevisionCeilingExceeded) {
		return err
	}
	f := *failure.Of(err)
	first := ""
	switch f.Exit {
	case failure.Auth, failure.Quota:
		first = f.Hint + " "
	case failure.Server, failure.Interrupted, failure.Other:
	default:
		return err
	}
	f.Hint = first + "The draft is kept for " + draftLife +
		", and blocks other publishes until it is published: " +
		"vitrine restore " + string(draft.ArtifactID) + " " + string(draft.RevisionID)
	return &f
}

// draftLife is how long an unpublished draft is kept.
var draftLife = screen.Count(int(limits.DraftLife/time.Hour), "hour")
