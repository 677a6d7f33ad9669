package deletion

import (
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/platform/limits"
)

// maxRuns is how often the jobs may run until a removal is done.
const maxRuns = 400

// wantGone checks that the removal of a workspace is done, and that nobody is found by the address of its member.
func wantGone(t testing.TB, s *harness.JobEnv, p *person) {
	t.Helper()
	if told := actions(t, s, p.workspace.ID); strings.Count(strings.Join(told, " "), "workspace.deletion.done") != 1 {
		t.Fatalf("the record tells %v", told)
	}
	s.CheckRemoved(t)
	for _, table := range []string{s.Tables.Core, s.Tables.Events, s.Tables.Hot} {
		for _, i := range s.Scan(t, table) {
			if strings.Contains(itemText(i), p.email) {
				t.Errorf("the address of the member is left: %s", itemText(i))
			}
		}
	}
}

// TestARemovalThatDiesAtEachKindOfCallIsMadeUpFor ends the jobs once before and once after each kind of AWS call that
// they make, in turns. A removal that begins with the other kind of death has both at its last calls, too.
func TestARemovalThatDiesAtEachKindOfCallIsMadeUpFor(t *testing.T) {
	t.Parallel()
	for first, artifacts := range []int{60, 12} { // more than a step takes, and fewer
		t.Run([]string{"before it first", "after it first"}[first], func(t *testing.T) {
			t.Parallel()
			s := harness.NewPeopleEnv(t, harness.Unlimited, longLives)
			p, other := newPerson(t, s, "ada@example.org"), newPerson(t, s, "bob@example.org")
			p.fill(t, artifacts)
			if first == 0 { // the other removal meets what is not cleared up yet
				other.fill(t, 12)
				settle(t, s)
			}
			p.signIn(t)
			s.Clock.Advance(limits.SessionSeenEvery)
			before := belongings(t, s, other.workspace.ID)
			p.delete(t)
			s.Clock.Advance(limits.DeletionGrace)
			deaths := dieEverywhere(t, s, p, first)
			wantGone(t, s, p)
			t.Logf("%d deaths, %d items of the other workspace", deaths, len(before))
			if after := belongings(t, s, other.workspace.ID); !slices.Equal(before, after) {
				t.Errorf("another workspace changed:\n%s\nis now\n%s", missing(before, after), missing(after, before))
			}
		})
	}
}

func TestJobsThatRemoveTogetherLeaveNothingAndOneEvent(t *testing.T) {
	t.Parallel()
	s := harness.NewPeopleEnv(t, harness.Unlimited, longLives)
	p := newPerson(t, s, "ada@example.org")
	p.fill(t, 12)
	p.signIn(t)
	p.delete(t)
	s.Clock.Advance(limits.DeletionGrace)
	for n := range maxRuns {
		done := make(chan error, 3)
		for range cap(done) {
			go func() { done <- s.Host.Run(ctx) }()
		}
		for range cap(done) {
			harness.NoError(t, <-done)
		}
		if p.removed(t) {
			wantGone(t, s, p)
			return
		}
		wait(s, n)
	}
	t.Fatal("the removal is not done")
}

// kindOf names an AWS call by its kind and what it works on, also for those that work on several items.
func kindOf(input any) string {
	name := harness.CallName(input)
	for _, key := range harness.WrittenKeys(input) {
		name += " " + kindOfKey(key)
	}
	return name
}

func kindOfKey(key harness.Item) string {
	pk, _, _ := strings.Cut(harness.Text(key["pk"]), "#")
	pk, _, _ = strings.Cut(pk, ":") // of the hot table
	sk, _, _ := strings.Cut(harness.Text(key["sk"]), "#")
	if len(sk) > 6 { // an instant
		sk = ""
	}
	return pk + " " + sk
}

// settle runs the jobs until what was done before is cleared up.
func settle(t testing.TB, s *harness.JobEnv) {
	t.Helper()
	for range 3 {
		s.Clock.Advance(limits.CollectAfter)
		harness.NoError(t, s.Host.Run(ctx))
		harness.NoError(t, s.Bundler.Run(ctx))
	}
}

func missing(from, in []string) string {
	return strings.Join(slices.DeleteFunc(slices.Clone(from), func(text string) bool {
		return slices.Contains(in, text)
	}), "\n")
}

// dieEverywhere runs the jobs until a removal is done, and lets each run die at the first call of a kind at which none
// died yet: before it in even runs, after it in odd ones.
func dieEverywhere(t testing.TB, s *harness.JobEnv, p *person, first int) (deaths int) {
	t.Helper()
	died := [2]harness.Deaths{{}, {}}
	for run := first; run < maxRuns; run++ {
		if s.RunToDeath(t, died[run%2], run%2 == 1, kindOf) {
			deaths++
			continue
		}
		if p.removed(t) {
			return deaths
		}
		wait(s, run-first-deaths)
	}
	t.Fatalf("the removal is not done after %d runs", maxRuns)
	return deaths
}

// TestARemovalWaitsForTheEndOfASubscription stores an account as the payment provider's events leave it.
func TestARemovalWaitsForTheEndOfASubscription(t *testing.T) {
	t.Parallel()
	for name, cancelled := range map[string]bool{"that is cancelled": true, "for some days only": false} {
		t.Run(name, func(t *testing.T) {
			s := harness.NewPeopleEnv(t, harness.Unlimited)
			p := newPerson(t, s, "ada@example.org")
			pk := "W#" + string(p.workspace.ID)
			s.Put(t, harness.Item{}, map[string]any{
				"pk": pk, "sk": "BILL", "customer": "cus_ada", "subscription": "sub_ada", "status": "active", "version": 1,
			})
			s.Put(t, harness.Item{}, map[string]any{"pk": "BC#cus_ada", "sk": "C", "ws": string(p.workspace.ID)})
			p.delete(t)
			p.runToTheEnd(t)
			if p.removed(t) {
				t.Fatal("it does not wait")
			}
			if account := s.GetItem(t, pk, "BILL"); account["closed"] == nil || harness.Text(account["version"]) != "2" {
				t.Fatalf("the account is %v", account)
			}
			if cancelled { // by the job that compares it with the provider
				s.Update(t, pk, "BILL", map[string]any{"status": "canceled", "version": 3})
			} else {
				s.Clock.Advance(limits.BillingPatience)
			}
			for range 4 {
				s.Clock.Advance(limits.RemovalWait)
				harness.NoError(t, s.Host.Run(ctx))
			}
			wantGone(t, s, p)
		})
	}
}

func TestTheInvariantsSeeWhatIsLeftOfADeletedWorkspace(t *testing.T) {
	t.Parallel()
	s := harness.NewPeopleEnv(t, harness.Unlimited)
	p := newPerson(t, s, "ada@example.org")
	made := harness.PublishPage(t, p.Agent, "mine")
	p.delete(t)
	p.runToTheEnd(t)
	for name, item := range map[string]map[string]any{
		"an item of the workspace":           {"pk": "W#" + string(p.workspace.ID), "sk": "EXPORT"},
		"an item that names the workspace":   {"pk": "REG#x", "sk": "R", "ws": string(p.workspace.ID), "ttl": 1},
		"an item that names one of its keys": {"pk": "X#x", "sk": "X", "text": "by " + string(p.key.APIKey.ID)},
		"an item of an artifact":             {"pk": "A#" + string(made.ArtifactID), "sk": "META"},
	} {
		s.Put(t, harness.Item{}, item)
		if breaches := invariant.Removed(ctx, s.Deployment()); len(breaches) != 1 {
			t.Errorf("%s: %v", name, breaches)
		}
		left := harness.Item{}
		harness.SetAttributes(left, item)
		s.RewriteItem(t, s.Tables.Core, left, nil)
	}
	key := "o/" + string(p.workspace.ID) + "/stray"
	p.putObject(t, key)
	if breaches := invariant.Removed(ctx, s.Deployment()); len(breaches) != 1 {
		t.Errorf("an object: %v", breaches)
	}
	harness.Must(s.S3.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.Options.Engines.Bucket, Key: &key}))(t)
}
