package part

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/internal/restore/objects"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/crash"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

func TestADeletedArtifactComesBackHoweverFarItsDeletionWent(t *testing.T) {
	t.Parallel()
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			p := e.publish(t, "words")
			url := harness.ShareURL(t, e.owner.Agent, p.ArtifactID)
			e.take(t)
			e.remove(t, p)
			end(t, e)
			harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
			e.wantBack(t, p, "words")
			if a := e.Resolve(t, url); a.Status != 404 {
				t.Errorf("a link that it had answers %d", a.Status)
			}
			before := e.Snapshot(t)
			harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
			e.WantUnchanged(t, before)
		})
	}
}

func TestAPurgeThatDiedAnywhereIsUndone(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	died := harness.Deaths{}
	for n := 0; ; n++ {
		p := e.publish(t, fmt.Sprint("words ", n))
		e.take(t)
		e.remove(t, p)
		if !e.RunToDeath(t, died, true, func(input any) string {
			if !crash.IsWrite(input) {
				return ""
			}
			return harness.CallName(input)
		}) {
			break
		}
		harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
		e.wantShown(t, p, fmt.Sprint("words ", n))
		e.CheckInvariants(t)
	}
	if len(died) < 4 {
		t.Errorf("jobs died at %v alone", died)
	}
}

// TestARestoreThatDiesAtAnyWriteIsTakenUpAgain has a later revision to discard, too.
func TestARestoreThatDiesAtAnyWriteIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"before the purge", "collected"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			e.Wait = e.pass
			all := e.removed(t, 22)
			endings[name](t, e)
			faults := e.withFaults(t)
			points := crash.Points(faults, func() { harness.NoError(t, e.Artifact(ctx, all[0].ArtifactID)) })
			if len(points) < 7 || len(points) >= len(all) {
				t.Fatalf("a restore has %d writes", len(points))
			}
			for n, point := range points {
				p := all[n+1]
				process := chaos.Process(ctx)
				point.Arm(faults)
				if err := e.Artifact(process, p.ArtifactID); err == nil || !chaos.Died(process) {
					t.Errorf("%s: it lives, %v", point, err)
				}
				faults.Clear()
				harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
			}
			for n, p := range all[:len(points)+1] {
				e.wantShown(t, p, fmt.Sprint("words ", n))
			}
			e.CheckInvariants(t)
			e.Clock.Advance(limits.BundleLease)
			e.RunCollector(t)
		})
	}
}

// removed deletes artifacts that changed since the instant of the copy.
func (e *env) removed(t *testing.T, n int) (all []contract.Published) {
	t.Helper()
	for n := range n {
		all = append(all, e.publish(t, fmt.Sprint("words ", n)))
	}
	lender := e.publish(t, "lent")
	e.take(t)
	for n, p := range all {
		newer := fmt.Sprint("newer ", n)
		harness.Must(e.owner.PublishFiles(ctx, newer, p.ArtifactID, harness.Page(newer), logoOf("lent")))(t)
	}
	harness.NoError(t, e.Bundler.Run(ctx))
	for _, p := range append(all, lender) {
		e.remove(t, p)
	}
	return all
}

func TestARestoreThatIsNeverTakenUpEndsByItself(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	p := e.publish(t, "words")
	e.take(t)
	e.remove(t, p)
	e.RunJobs(t)
	stop := errors.New("stop")
	for range 2 { // while it waits, after the rows are back
		e.Wait = func(context.Context, time.Duration) error { return stop }
		if err := e.Artifact(ctx, p.ArtifactID); !errors.Is(err, stop) {
			t.Fatal(err)
		}
	}
	e.WantClosed(t, e.owner.Agent, p)
	e.Clock.Advance(patience)
	e.RunCollector(t)
	e.WantClosed(t, e.owner.Agent, p)
	e.Wait = e.pass
	harness.NoError(t, e.Workspace(ctx, e.owner.Workspace))
	e.wantBack(t, p, "words")
}

func TestOthersPublishAndJobsRunBeside(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	p, other := e.publish(t, "words"), e.publish(t, "other")
	e.take(t)
	e.remove(t, p)
	e.remove(t, other)
	e.RunCollector(t)
	e.Wait = e.pass // the jobs run beside, and bundles are due as long as somebody publishes
	done := make(chan error)
	const writers = 10
	stop := make(chan struct{})
	for n := range writers {
		go func() {
			for i := 0; ; i++ {
				text := fmt.Sprintf("writer %d, %d", n, i)
				_, err := e.owner.PublishFiles(ctx, text, "", harness.Page(text), logoOf("words")) // as the artifact has it
				select {
				case <-stop:
					done <- err
					return
				default:
					if err != nil {
						done <- err
						return
					}
				}
			}
		}()
	}
	jobs := make(chan error)
	go func() {
		for {
			select {
			case <-stop:
				jobs <- nil
				return
			default:
				if err := errors.Join(e.Host.Run(ctx), e.Bundler.Run(ctx)); err != nil {
					jobs <- err
					return
				}
			}
		}
	}()
	err := e.Artifact(ctx, p.ArtifactID)
	close(stop)
	for range writers {
		harness.NoError(t, <-done)
	}
	harness.NoError(t, errors.Join(err, <-jobs))
	e.wantBack(t, p, "words")
	e.WantClosed(t, e.owner.Agent, other)
}

func TestBytesThatAreGoneEndTheArtifactAgain(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	p := e.publish(t, "words")
	e.take(t)
	e.remove(t, p)
	e.RunCollector(t)
	key := e.objectOf(t, p, "index.html")
	e.forget(t, key)
	err := e.Artifact(ctx, p.ArtifactID)
	if !errors.Is(err, objects.ErrGone) || !strings.Contains(err.Error(), key) {
		t.Errorf("%v, want one that names %s", err, key)
	}
	e.CheckInvariants(t)
	e.WantClosed(t, e.owner.Agent, p)
	e.Clock.Advance(patience)
	e.RunJobs(t)
	e.RunCollector(t)
}

// TestAJobThatBeganBeforeDoesNotUndoTheRestore stops a job after it has decided, and lets it act while the restore
// waits.
func TestAJobThatBeganBeforeDoesNotUndoTheRestore(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		collects bool // the artifact is purged already
		stops    func(input any) bool
		waits    int
	}{
		"the collector, before it deletes": {true, func(input any) bool {
			_, ok := input.(*s3.DeleteObjectsInput)
			return ok
		}, 1},
		"the purger, before it removes a list of files": {false, func(input any) bool {
			in, ok := input.(*dynamodb.UpdateItemInput)
			return ok && strings.Contains(*in.UpdateExpression, "REMOVE #lint")
		}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			p := e.publish(t, "words")
			e.take(t)
			e.remove(t, p)
			if tt.collects {
				e.RunJobs(t)
				e.Clock.Advance(limits.CollectAfter)
			}
			held, ended := make(chan struct{}), make(chan error, 1)
			rule := e.JobFaults.On("").If(tt.stops).Before(chaos.Hold(held))
			go func() { ended <- e.Host.Run(ctx) }()
			select {
			case <-rule.Reached():
			case err := <-ended:
				t.Fatalf("the jobs make no such call: %v", err)
			}
			waits := 0
			e.Wait = func(context.Context, time.Duration) error {
				if waits++; waits > 1 {
					return nil
				}
				close(held)
				return <-ended
			}
			harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
			if waits != tt.waits {
				t.Errorf("it waited %d times, want %d", waits, tt.waits)
			}
			e.JobFaults.Clear()
			e.wantBack(t, p, "words")
		})
	}
}
