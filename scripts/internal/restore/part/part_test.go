package part

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/crash"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
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

func TestARestoreThatDiesAtAnyWriteIsTakenUpAgain(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	e.Wait = e.pass
	const most = 40
	var all []contract.Published
	for n := range most {
		all = append(all, e.publish(t, fmt.Sprint("words ", n)))
	}
	e.take(t)
	for _, p := range all {
		e.remove(t, p)
	}
	e.RunCollector(t)
	faults := e.withFaults(t)
	points := crash.Points(faults, func() { harness.NoError(t, e.Artifact(ctx, all[0].ArtifactID)) })
	if len(points) < 8 || len(points) >= most {
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
				if err := e.Host.Run(ctx); err != nil {
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
	if !errors.Is(err, ErrGone) || !strings.Contains(err.Error(), key) {
		t.Errorf("%v, want one that names %s", err, key)
	}
	e.CheckInvariants(t)
	e.WantClosed(t, e.owner.Agent, p)
	e.Clock.Advance(patience)
	e.RunJobs(t)
	e.RunCollector(t)
}
