// Package cloud restores a deployment in AWS to an instant, in tables beside those that it runs on.
package cloud

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/internal/restore/objects"
	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/limits"
)

// Restore is the restore of one deployment. Plan, Run, Switch and Abandon may end at any call and be called again: what
// was done is in the journal, and what the journal does not know yet is compared with what is there.
type Restore struct {
	Name     string    // of the deployment
	At       time.Time // the instant that the tables return to; zero: that of the journal
	Folder   string    // keeps the journals of the deployment
	Settings string    // file in which scripts/deploy keeps what the stacks give out
	Words    []string  // arguments of scripts/deploy that the deployment was deployed with; none: those of the journal

	Except []replay.Exception // what was done since the instant and is not to be done again; nil: not decided

	// Bucket is the bucket that takes the place of one that was lost; empty: the living bucket stays.
	Bucket string
	// Files has the bytes of a lost bucket. Nil: they lie in the living bucket, some of them under delete markers.
	Files objects.Source

	DynamoDB *dynamodb.Client
	S3       *s3.Client // has the rights of the recovery role, which are those to the living bucket
	OwnS3    *s3.Client // has the rights of the operator, for Bucket
	Commands Commands
	Clock    Clock
	Out      io.Writer // lines for people
	// Limits returns the limits of a deployment with these options of scripts/deploy, by name.
	Limits func(options map[string]string) (limits.Limits, error)
}

// Clock tells the time and waits.
type Clock struct {
	Now  func() time.Time
	Wait func(ctx context.Context, d time.Duration) error
}

// Commands are the programs that a restore runs.
type Commands interface {
	// AWS runs the AWS command line and returns what it prints.
	AWS(ctx context.Context, args ...string) (string, error)
	// Deploy runs scripts/deploy, which may ask the operator.
	Deploy(ctx context.Context, args ...string) error
}

// set is where a deployment keeps its data.
type set struct {
	dynamo.Tables
	Bucket string
}

// work is a restore with its journal.
type work struct {
	Restore
	*journal
	saying *sync.Mutex
	limits limits.Limits
}

// step is a part of a restore that is done once.
type step struct {
	name  string
	calls []string // what it calls, for people
	do    func(context.Context) error
}

// Plan says everything that a restore would do, and has no effect.
func (r Restore) Plan(ctx context.Context) error {
	w, err := r.open()
	if err != nil {
		return err
	}
	if w == nil {
		if w, err = r.begin(ctx); err != nil {
			return err
		}
	}
	w.sayf("%s returns to %s. Nothing is changed by this plan.", w.Name, w.Instant.Format(time.RFC3339))
	for _, part := range [][]step{w.preparing(), w.switching(), w.opening(true)} {
		for _, s := range part {
			w.sayf("%s", s.name)
			for _, call := range s.calls {
				w.sayf("  %s", call)
			}
		}
	}
	plan, err := w.since(ctx)
	if err == nil && plan != nil {
		plan.Print(w.Out)
	}
	return err
}

// Run makes the restored set beside the living one. The deployment keeps running, without its jobs.
func (r Restore) Run(ctx context.Context) error {
	return r.locked(func() error {
		w, err := r.openOrBegin(ctx)
		if err != nil {
			return err
		}
		if err := w.take(ctx, w.preparing()); err != nil {
			return err
		}
		w.sayf("The restored set is ready. Next: check, then switch; abandon deletes it.")
		return nil
	})
}

// openOrBegin opens the journal, or makes one if all that can be refused now is in order.
func (r Restore) openOrBegin(ctx context.Context) (*work, error) {
	w, err := r.open()
	if err != nil {
		return nil, err
	}
	if w != nil {
		return w, w.save() // what the operator decided this time
	}
	if w, err = r.begin(ctx); err != nil {
		return nil, err
	}
	if err := w.decided(ctx); err != nil {
		return nil, err
	}
	return w, w.save()
}

// decided refuses if so much was deleted or revoked since the instant that the operator must decide about it.
func (w *work) decided(ctx context.Context) error {
	plan, err := w.since(ctx)
	if err != nil || plan == nil {
		return err
	}
	return plan.Decided()
}

// Switch makes the deployment run on the restored set. People are served again by Open.
func (r Restore) Switch(ctx context.Context) error {
	return r.going(ctx, func(w *work) error {
		if !w.did(lastOfRun) {
			return fmt.Errorf("the restored set is not ready: run first")
		}
		if !w.did(drainStep) && w.Drained.IsZero() { // later it would leave people unserved
			if err := w.decided(ctx); err != nil {
				return fmt.Errorf("%w; abandon and run again with exceptions, or run with an empty list, then switch", err)
			}
		}
		if err := w.take(ctx, w.switching()); err != nil {
			return err
		}
		w.sayf("Every function names the restored set. Next: check, then open.")
		return nil
	})
}

// Open serves people again. Only with expire are the jobs woken, too, which end what is past its end by now.
func (r Restore) Open(ctx context.Context, expire bool) error {
	return r.going(ctx, func(w *work) error {
		if !w.did(lastOfSwitch) {
			return fmt.Errorf("the functions do not name the restored set yet: switch first")
		}
		if err := w.take(ctx, w.opening(expire)); err != nil {
			return err
		}
		if expire {
			w.sayf("The restore has ended. The old set stays: keep %s and %s for 35 days, because the history of the new "+
				"tables begins now.", w.Living.Core, w.Living.Events)
			return w.archive("opened")
		}
		return w.sayEnding(ctx)
	})
}

// going calls do with the restore that is under way.
func (r Restore) going(_ context.Context, do func(*work) error) error {
	return r.locked(func() error {
		w, err := r.open()
		if err != nil {
			return err
		}
		if w == nil {
			return fmt.Errorf("no restore of %s is under way in %s: plan and run one", r.Name, r.Folder)
		}
		if err := w.save(); err != nil { // what the operator decided this time
			return err
		}
		return do(w)
	})
}

// take does the steps that were not done yet.
func (w *work) take(ctx context.Context, steps []step) error {
	for _, s := range steps {
		if w.did(s.name) {
			continue
		}
		w.sayf("%s", s.name)
		if err := s.do(ctx); err != nil {
			return fmt.Errorf("%s: %w; the same command goes on from there", s.name, err)
		}
		if err := w.finish(s.name); err != nil {
			return err
		}
	}
	return nil
}

// sayf writes a line for people. Steps that run side by side may call it.
func (w *work) sayf(format string, args ...any) {
	w.saying.Lock()
	defer w.saying.Unlock()
	fmt.Fprintf(w.Out, format+"\n", args...)
}

// objects returns the client for the bucket of the restored set.
func (w *work) objects() *s3.Client {
	if w.Set.Bucket == w.Living.Bucket {
		return w.S3
	}
	return w.OwnS3
}

// deployment returns a set as the rules and the replay read it.
func (w *work) deployment(s set) invariant.Deployment {
	gap := invariant.Gap{From: w.Instant, To: w.Drained}
	if w.Drained.IsZero() {
		gap.To = w.Clock.Now()
	}
	return invariant.Deployment{
		DynamoDB: w.DynamoDB,
		Tables:   s.Tables,
		S3:       w.objects(),
		Bucket:   s.Bucket,
		Limits:   w.limits,
		Gap:      gap,
	}
}
