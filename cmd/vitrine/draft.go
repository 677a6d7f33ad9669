package main

import (
	"context"
	"time"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/screen"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// grace is how long a publish goes on after an interrupt, once the server makes a draft of it.
const grace = 30 * time.Second

// uninterruptible is ctx, but it outlives an interrupt by grace. A draft that nobody publishes stands in the way of every later
// publish for a day, so what makes one comes to its end. A ctx that has ended stays so.
func (p *publication) uninterruptible(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() != nil {
		return ctx, func() {}
	}
	on, stop := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() {
		p.screen.Note("Interrupted; the publish that the server has begun is finished first")
		time.AfterFunc(grace, stop)
	})
	return on, func() {
		forget()
		stop()
	}
}

// release publishes a draft.
func (p *publication) release(ctx context.Context, draft contract.Finalized) (err error) {
	p.result, err = p.account.Publish(ctx, p.idem, draft)
	return p.leftBehind(err, draft)
}

// leftBehind tells, with a failure after which the draft is still there, how to publish it. A draft of a new artifact
// stands in nobody's way: the command can be run again.
func (p *publication) leftBehind(err error, draft contract.Finalized) error {
	if err == nil || p.fresh {
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
	f.Hint = first + "The draft is there, for " + draftLife + ", and stands in the way of other publishes until it is published: " +
		"vitrine restore " + string(draft.ArtifactID) + " " + string(draft.RevisionID)
	return &f
}

// draftLife is how long a draft stays.
var draftLife = screen.Count(int(limits.DraftLife/time.Hour), "hour")
