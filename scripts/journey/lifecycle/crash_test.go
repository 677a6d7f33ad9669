package lifecycle

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/crash"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/limits"
)

// dieAtEachWrite runs the jobs until a run lives to its end. Each run before that dies after the first write after
// which none died yet.
func dieAtEachWrite(t *testing.T, s *harness.JobEnv) {
	t.Helper()
	died := harness.Deaths{}
	for s.RunToDeath(t, died, true, nameOfWrite) {
		if s.CheckInvariants(t); t.Failed() || len(died) > 300 {
			t.Fatalf("after one of %v", died)
		}
	}
	t.Logf("%d writes", len(died))
	s.RunJobs(t)
}

// nameOfWrite names a write by what it does and by all that it does it to, but for events, whose ids are new each time.
func nameOfWrite(input any) string {
	if !crash.IsWrite(input) {
		return ""
	}
	name := harness.CallName(input)
	for _, key := range harness.WrittenKeys(input) {
		sk := harness.Text(key["sk"])
		if instant, _, _ := strings.Cut(sk, "#"); len(instant) == len(sortKey(time.Now())) {
			sk = "an event"
		}
		name += " " + harness.Text(key["pk"]) + " " + sk
	}
	switch in := input.(type) {
	case *dynamodb.UpdateItemInput:
		name += " " + *in.UpdateExpression
	case *s3.DeleteObjectsInput:
		name += " " + *in.Delete.Objects[0].Key
	}
	return name
}

// TestWhatFallsDueIsDoneWhereverTheJobsDie has a draft, a session, an artifact and hints fall due at one time, and then
// what they leave.
func TestWhatFallsDueIsDoneWhereverTheJobsDie(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t, harness.Unlimited)
	m, _, d := newDraft(t, s)
	g := s.NewAgent(t)
	p := harness.PublishPage(t, g, "ends")
	u := s.Upload(t, g, "", "forgotten")
	s.Clock.Advance(sessionsEnd)
	dieAtEachWrite(t, s)
	draft := s.GetItem(t, "A#"+string(d.ArtifactID), "R#"+string(d.RevisionID))
	told := fmt.Sprintf("draft %s, artifact %s, session %s", harness.Text(draft["status"]),
		harness.Text(gateOf(t, s, p.ArtifactID)["status"]), s.SessionStatus(t, u.UploadSessionID))
	if told != "draft retained, artifact expired, session expired" {
		t.Error(told)
	}
	if n := s.Events(t, m.Agent)["revision.retained"]; n != 1 {
		t.Errorf("the end of the draft is told %d times", n)
	}
	if n := s.Events(t, g)["artifact.expired"]; n != 1 {
		t.Errorf("the end of the artifact is told %d times", n)
	}
	s.Clock.Advance(limits.Default().Tiers[limits.Free].DefaultLife)
	dieAtEachWrite(t, s)
	s.RunCollector(t)
}

// TestAPurgeThatDiesAnywhereIsMadeUpFor purges an owner and a borrower beside one that stays, and deletes the rest.
func TestAPurgeThatDiesAnywhereIsMadeUpFor(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t, harness.Unlimited)
	m := s.NewClaimant(t)
	first := publishWithLogo(t, s, m.Agent, "first")
	second := finish(t, m.Agent, borrowOnlyLogo(t, m.Agent, ""))
	kept := finish(t, m.Agent, borrowOnlyLogo(t, m.Agent, ""))
	deleteArtifacts(t, m.Agent, first, second)
	dieAtEachWrite(t, s)
	wantLogo(t, s, kept)
	if s.CountItems(t, s.Tables.Core, "A#"+string(first.ArtifactID)) != 2 { // its gate and the revision
		t.Errorf("files of %s are listed", first.ArtifactID)
	}
	s.Clock.Advance(limits.CollectAfter)
	dieAtEachWrite(t, s)
	wantLogo(t, s, kept)
	wantObjects(t, s, m.Agent, 1)
}

// TestTheMessagesOfADeletedThreadGoWhereverTheJobsDie has more messages than one transaction removes.
func TestTheMessagesOfADeletedThreadGoWhereverTheJobsDie(t *testing.T) {
	t.Parallel()
	s := harness.NewJobEnv(t, harness.Unlimited)
	m := s.NewClaimant(t)
	a := harness.PublishPage(t, m.Agent, "discussed").ArtifactID
	thread := harness.WriteAbout(t, m.Agent, a, contract.CreateThread{Body: "A remark"})
	harness.WriteAbout(t, m.Agent, a, contract.CreateThread{Body: "stays"})
	for range 30 {
		harness.Answer(t, m.Agent, a, thread.ID, contract.AnswerThread{Reply: "A reply"})
	}
	path := "/v1/web/artifacts/" + string(a) + "/feedback/" + string(thread.ID)
	who := s.AddMember(t, m.Workspace)
	harness.CallAs[contract.ThreadSummary](t, who, 200, "DELETE", path, nil, harness.KeyHeader()...)
	dieAtEachWrite(t, s)
	s.RunCollector(t)
	if left := harness.Text(s.GetItem(t, "FB#"+string(a), "F")["text"]); left != "5" {
		t.Errorf("%s bytes are left", left)
	}
}

// place is where the function that makes archives dies: before or after the n-th call of an operation.
type place struct {
	operation string
	n         int
	after     bool
}

// placesOf are the places around the writes among calls. Before a read is the same as after the write before it.
func placesOf(calls []chaos.Call) (places []place) {
	counts := map[string]int{}
	for _, c := range calls {
		counts[c.Operation]++
		if crash.IsWrite(c.Input) {
			p := place{operation: c.Operation, n: counts[c.Operation]}
			places = append(places, p, place{operation: p.operation, n: p.n, after: true})
		}
	}
	return places
}

// ofParts reports whether a place is in what only an archive of several parts takes.
func (p place) ofParts() bool {
	return strings.Contains(p.operation, "Multipart") || p.operation == "UploadPart"
}

// killBundler begins work and lets the function that does it die, at another place each time. end has another one do
// it, and checks it.
func killBundler(t *testing.T, s *harness.JobEnv, only func(place) bool, begin, end func()) {
	t.Helper()
	begin()
	calls := s.JobFaults.Record(func() { harness.NoError(t, s.Bundler.Run(ctx)) })
	end()
	deaths := 0
	for _, p := range placesOf(calls) {
		if !only(p) {
			continue
		}
		begin()
		process := chaos.Process(ctx)
		rule := s.JobFaults.On(p.operation).Nth(p.n)
		if p.after {
			rule.After(chaos.Crash)
		} else {
			rule.Before(chaos.Crash)
		}
		err := s.Bundler.Run(process)
		s.JobFaults.Clear()
		if deaths++; !chaos.Died(process) {
			t.Errorf("it lives, and says %v", err)
		}
		s.CheckInvariants(t)
		if end(); t.Failed() {
			t.Fatalf("at %+v", p)
		}
	}
	t.Logf("killed at %d of %d calls", deaths, len(calls))
}

// large is a file whose archive has two parts.
var large = wire.File{Path: "large.bin", Body: harness.RandomBytes(1, 9*limits.MiB)}

// inParts are workspaces whose archives are made at once, and such with one that has parts.
var inParts = map[string]struct {
	files []wire.File
	only  func(place) bool
}{
	"in one part":      {[]wire.File{harness.Page("killed"), logo}, func(place) bool { return true }},
	"in several parts": {[]wire.File{harness.Page("killed"), large}, place.ofParts},
}

func TestF71ABundlerThatDiesAtAnyCallLeavesTheBundleToTheNext(t *testing.T) {
	t.Parallel()
	for name, c := range inParts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := harness.NewJobEnv(t, harness.Unlimited)
			m := s.NewClaimant(t)
			p := harness.Must(m.PublishFiles(ctx, "first", "", c.files...))(t)
			makeBundles(t, s)
			killBundler(t, s, c.only, func() {
				p = harness.Must(m.PublishFiles(ctx, "killed", p.ArtifactID, c.files...))(t)
			}, func() {
				s.Clock.Advance(limits.BundleLease + time.Second)
				makeBundles(t, s)
				wantBundle(t, s, m.Agent, p.ArtifactID, c.files...)
			})
			s.RunCollector(t)
			deleteArtifacts(t, m.Agent, p)
			s.RunCollector(t)
		})
	}
}

// small bounds archives so that two artifacts make two.
func small(o *stack.Options) {
	o.Limits.ExportVolume = limits.ExportVolume{Bytes: 1 << 20, Entries: 3, Artifacts: 2}
}

func TestF89AnExporterThatDiesAtAnyCallLeavesTheRestToTheNext(t *testing.T) {
	t.Parallel()
	for name, c := range inParts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := newExporter(t, harness.Unlimited, small)
			first := harness.Must(x.agent.PublishFiles(ctx, "first", "", c.files...))(t)
			var second contract.Published
			if name == "in one part" { // which the next archive holds
				second = publishPair(t, x.agent, "second")
			}
			x.run(t) // bundles
			killBundler(t, x.JobEnv, c.only, func() { x.signIn(t); x.ask(t) }, func() {
				x.Clock.Advance(limits.ExportLease + time.Second)
				x.signIn(t)
				volumes := x.unpacked(t, x.ready(t))
				wantExported(t, volumes, first.ArtifactID, 1, c.files...)
				if second.ArtifactID != "" {
					wantExported(t, volumes, second.ArtifactID, 1, harness.Page("second"), logo)
				}
			})
			x.RunCollector(t)
		})
	}
}
