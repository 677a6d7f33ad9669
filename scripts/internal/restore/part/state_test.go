package part

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

func TestRevisionsThatWereMadeSinceAreDiscarded(t *testing.T) {
	t.Parallel()
	for name, end := range endings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			p := e.publish(t, "words")
			e.take(t)
			harness.Must(e.owner.PublishFiles(ctx, "newer", p.ArtifactID, harness.Page("newer"), logoOf("newer")))(t)
			harness.NoError(t, e.Bundler.Run(ctx))
			harness.Must(e.owner.PublishFiles(ctx, "newest", p.ArtifactID, harness.Page("newest")))(t)
			harness.Must(e.owner.Draft(ctx, wire.NewKey(), harness.DeclareRevision(p.ArtifactID, "draft"),
				harness.Page("draft")))(t)
			e.remove(t, p)
			end(t, e)
			harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
			later := map[string]int{"before the purge": 3, "purged": 2, "collected": 2}[name] // the draft went with the purge
			if !strings.Contains(e.out.String(), fmt.Sprintf("%d later or unfinished revisions are discarded", later)) {
				t.Errorf("it says %s", e.out.String())
			}
			e.wantBack(t, p, "words")
			again := harness.Must(e.owner.PublishFiles(ctx, "again", p.ArtifactID, harness.Page("again")))(t)
			e.WantOpen(t, e.owner.Agent, again)
			e.remove(t, p)
		})
	}
}

func TestADraftOfTheInstantIsDiscarded(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	p := e.publish(t, "words")
	declared := harness.DeclareRevision(p.ArtifactID, "draft")
	harness.Must(e.owner.Draft(ctx, wire.NewKey(), declared, harness.Page("draft")))(t)
	e.take(t)
	e.remove(t, p)
	harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
	e.wantBack(t, p, "words")
}

func TestWhatNobodyDeletedProperlyComesBack(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	p, other := e.publish(t, "words"), e.publish(t, "other")
	lent := harness.Must(e.owner.PublishFiles(ctx, "lent", "", harness.Page("lent"), logoOf("other")))(t)
	e.take(t)
	for _, i := range e.Scan(t, e.Tables.Core) {
		pk := harness.Text(i["pk"])
		mine := pk == "A#"+string(p.ArtifactID) || pk == "A#"+string(lent.ArtifactID)
		session := strings.HasPrefix(pk, "U#") && harness.Text(i["art"]) == string(p.ArtifactID)
		if mine || session || strings.HasPrefix(pk, "O#") && harness.Text(i["art"]) == string(lent.ArtifactID) {
			key := harness.Item{"pk": i["pk"], "sk": i["sk"]}
			harness.Must(e.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &e.Tables.Core, Key: key}))(t)
		}
	}
	e.remove(t, other)
	harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
	harness.NoError(t, e.Artifact(ctx, lent.ArtifactID))
	e.wantBack(t, p, "words")
	e.wantShown(t, lent, "lent")
}

func TestAFileOfAnotherArtifactComesBackWithTheOneThatBorrowedIt(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	lender := e.publish(t, "words")
	p := harness.Must(e.owner.PublishFiles(ctx, "lent", "", harness.Page("lent"), logoOf("words")))(t)
	e.take(t)
	e.remove(t, lender)
	e.remove(t, p)
	e.RunCollector(t)
	harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
	e.wantBack(t, p, "lent")
	e.WantClosed(t, e.owner.Agent, lender)
}

func TestAPinComesBackWithinTheCap(t *testing.T) {
	t.Parallel()
	for pins, want := range map[string]string{"0": "1", "50": "50"} {
		t.Run(pins+" others", func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			p := e.publish(t, "words")
			who := e.AddMember(t, e.owner.Workspace)
			pin := func(a id.Artifact) {
				harness.CallAs[contract.WebArtifact](t, who, 200, "POST", harness.PinPath(a), nil, harness.KeyHeader()...)
			}
			pin(p.ArtifactID)
			e.take(t)
			e.remove(t, p)
			if pins != "0" {
				for n := range 50 {
					pin(harness.PublishPage(t, e.owner.Agent, fmt.Sprint(n)).ArtifactID)
				}
			}
			harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
			if n := harness.Text(e.GetItem(t, "W#"+string(e.owner.Workspace), "PINS")["n"]); n != want {
				t.Errorf("%s pins are counted, want %s", n, want)
			}
			e.CheckInvariants(t)
			if said := strings.Contains(e.out.String(), "is not pinned"); said != (pins == "50") {
				t.Errorf("it says %s", e.out.String())
			}
		})
	}
}

func TestAnArtifactThatExpiredGetsAWeek(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	p := e.publish(t, "words")
	e.take(t)
	e.Clock.Advance(4 * limits.Day)
	e.RunCollector(t)
	e.WantClosed(t, e.owner.Agent, p)
	harness.NoError(t, e.Workspace(ctx, e.owner.Workspace))
	if !strings.Contains(e.out.String(), "is left alone") {
		t.Errorf("it says %s", e.out.String())
	}
	harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
	want := e.Clock.Now().Add(7 * limits.Day).UnixMilli()
	if exp := harness.Text(e.GetItem(t, "A#"+string(p.ArtifactID), "META")["exp"]); exp != fmt.Sprint(want) {
		t.Errorf("it ends at %s, want %d", exp, want)
	}
	e.CheckInvariants(t)
}

func TestALockStaysInEffect(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	p := e.publish(t, "words")
	e.take(t)
	harness.Lock(t, e.NewOperator(t), "artifact", string(p.ArtifactID))
	e.remove(t, p)
	harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
	e.WantClosed(t, e.owner.Agent, p)
	if i := e.GetItem(t, "A#"+string(p.ArtifactID), "META"); harness.Text(i["status"]) != "active" || i["lock"] == nil {
		t.Errorf("it is %v, want it live and locked", i)
	}
}

func TestFeedbackOfTodayStaysAndWhatWasPurgedComesBack(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]int{"before the purge": 2, "purged": 1} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEnv(t)
			p := e.publish(t, "words")
			harness.WriteAbout(t, e.owner.Agent, p.ArtifactID, contract.CreateThread{Body: "then"})
			e.take(t)
			if name == "before the purge" {
				harness.WriteAbout(t, e.owner.Agent, p.ArtifactID, contract.CreateThread{Body: "since"})
			}
			e.remove(t, p)
			endings[name](t, e)
			harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
			if all := harness.Threads(t, e.owner.Agent, p.ArtifactID, ""); len(all.Threads) != want {
				t.Errorf("%d threads, want %d", len(all.Threads), want)
			}
			e.CheckInvariants(t)
		})
	}
}

func TestTheOwnerIsWhoOwnsItToday(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	source := e.NewSource(t)
	p := harness.Must(source.PublishFiles(ctx, "words", "", harness.Page("words")))(t)
	e.take(t)
	e.MustClaim(t, e.owner, source.ClaimToken)
	e.Migrate(t, source.WorkspaceID)
	e.remove(t, p)
	harness.NoError(t, e.Workspace(ctx, source.WorkspaceID))
	e.wantShown(t, p, "words")
}

func TestAWorkspaceGetsBackWhatWasDeletedAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	var gone []contract.Published
	for n := range 3 {
		gone = append(gone, e.publish(t, fmt.Sprint("gone ", n)))
	}
	kept, changed := e.publish(t, "kept"), e.publish(t, "changed")
	e.take(t)
	newer := harness.Must(e.owner.PublishFiles(ctx, "newer", changed.ArtifactID, harness.Page("newer")))(t)
	for _, p := range gone {
		e.remove(t, p)
	}
	e.RunJobs(t)
	waited := 0
	wait := e.Wait
	e.Wait = func(ctx context.Context, d time.Duration) error { waited++; return wait(ctx, d) }
	harness.NoError(t, e.Workspace(ctx, e.owner.Workspace))
	for n, p := range gone {
		e.wantShown(t, p, fmt.Sprint("gone ", n))
	}
	e.WantOpen(t, e.owner.Agent, kept)
	e.WantOpen(t, e.owner.Agent, newer)
	if said := e.out.String(); waited != 1 || strings.Count(said, "it is live") != 2 {
		t.Errorf("it waited %d times and says %s", waited, said)
	}
	e.CheckInvariants(t)
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	e := newEnv(t)
	gone, p, blank := e.publish(t, "gone"), e.publish(t, "words"), harness.DraftPage(t, e.owner.Agent, "draft")
	e.remove(t, gone)
	e.take(t)
	later := e.publish(t, "later")
	refused := func(a id.Artifact, words string) {
		t.Helper()
		before := e.Snapshot(t)
		if err := e.Artifact(ctx, a); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), words) {
			t.Errorf("%v, want it refused: %s", err, words)
		}
		e.WantUnchanged(t, before)
	}
	refused(gone.ArtifactID, "it had ended already then")
	refused(blank.ArtifactID, "nothing of it was published then")
	refused(later.ArtifactID, "there was no such artifact then")
	refused(p.ArtifactID, "vitrine restore "+string(p.ArtifactID)+" "+string(p.RevisionID))
	e.Clock.Advance(4 * limits.Day)
	refused(p.ArtifactID, "it has expired and the jobs have not ended it yet")
	e.RunJobs(t)
	w := "W#" + string(e.owner.Workspace)
	meta := e.GetItem(t, w, "META")
	e.Update(t, w, "META", map[string]any{"deletes": e.Clock.Now()})
	refused(p.ArtifactID, "sign in to it and keep it")
	e.Update(t, w, "META", map[string]any{"removed": e.Clock.Now()})
	refused(p.ArtifactID, "its workspace was deleted")
	e.Put(t, meta, nil)
	stop := errors.New("stop")
	e.Wait = func(context.Context, time.Duration) error { return stop }
	if err := e.Artifact(ctx, p.ArtifactID); !errors.Is(err, stop) {
		t.Fatal(err)
	}
	was := e.Instant
	e.Instant = was.Add(time.Second)
	refused(p.ArtifactID, "another restore brings it to its state of "+was.UTC().Format(time.RFC3339))
	e.Instant = was
	e.Wait = e.pass
	harness.NoError(t, e.Artifact(ctx, p.ArtifactID))
}
