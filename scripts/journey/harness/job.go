package harness

import (
	"testing"

	"github.com/aws/smithy-go/middleware"

	"vitrine/functions/assembly"
	"vitrine/functions/assembly/bundle"
	assemblyjobs "vitrine/functions/assembly/jobs"
	"vitrine/functions/jobs"
	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/invariant"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/limits"
)

// WithJobs lets the stack run its jobs itself.
func WithJobs(o *stack.Options) { o.DisableJobs = false }

// JobEnv is a ClaimEnv whose jobs the test runs. Their calls go through JobFaults, too.
type JobEnv struct {
	*ClaimEnv
	Services *assembly.Services
	Host     *jobs.Host
	Bundler  *jobs.Host // makes bundles
}

// NewJobEnv starts a deployment for jobs.
func NewJobEnv(t testing.TB, change ...func(*stack.Options)) *JobEnv {
	t.Helper()
	return newJobEnv(t, NewFaultEnv(t, change...))
}

// NewPeopleEnv starts a deployment for jobs in which people sign up. Of the invariants it checks that nothing is left
// of workspaces that are deleted; the others describe deployments whose only actors are agents.
func NewPeopleEnv(t testing.TB, change ...func(*stack.Options)) *JobEnv {
	t.Helper()
	s := newJobEnv(t, &FaultEnv{NewAgentAuthEnv(t, change...)})
	t.Cleanup(func() { s.CheckRemoved(t) })
	return s
}

func newJobEnv(t testing.TB, of *FaultEnv) *JobEnv {
	t.Helper()
	s := &JobEnv{ClaimEnv: newClaimEnv(t, of)}
	s.Services = s.Scheduled(t, s.JobFaults.Add)
	s.Host = assemblyjobs.Host(s.Services, s.Options.Log)
	s.Bundler = bundle.Host(s.Services, s.Options.Log)
	return s
}

// CheckRemoved reports what is left of workspaces that are deleted.
func (e *JobEnv) CheckRemoved(t testing.TB) {
	t.Helper()
	for _, breach := range invariant.Removed(ctx, e.Deployment()) {
		t.Error(breach)
	}
}

// Scheduled opens the services of functions that a schedule wakes.
func (env *Env) Scheduled(t testing.TB, faults ...func(*middleware.Stack) error) *assembly.Services {
	t.Helper()
	e := env.Options.Engines
	return Must(assembly.Open(assembly.Config{
		Environment:      credential.Preview,
		Origins:          env.Origins,
		Tables:           dynamo.Named(env.Options.Tables),
		Bucket:           e.Bucket,
		AWS:              e.AWS(),
		DynamoDBEndpoint: e.DynamoDB,
		S3Endpoint:       e.S3,
		S3Domain:         e.S3Domain,
		Limits:           env.Options.Limits,
		Billing:          env.Options.Billing,
		Now:              env.Options.Now,
		Middleware:       faults,
	}))(t)
}

// MakeBundles makes the bundles of all revisions that are published.
func (env *Env) MakeBundles(t testing.TB) {
	t.Helper()
	NoError(t, bundle.Host(env.Scheduled(t), env.Options.Log).Run(ctx))
}

// RunJobs runs all jobs until nothing is due, makes all bundles, and checks the invariants. Sessions that were begun
// just now are old enough for the jobs.
func (e *JobEnv) RunJobs(t testing.TB) {
	t.Helper()
	e.Clock.Advance(limits.UploadPatience)
	NoError(t, e.Host.Run(ctx))
	NoError(t, e.Bundler.Run(ctx))
	e.CheckInvariants(t)
}

// Deaths are the calls at which jobs died, by their names.
type Deaths map[string]bool

// RunToDeath runs the jobs as a process that dies at the first call of a name at which none died yet, after the call or
// before it. Calls without a name let it live. It reports whether the process died.
func (e *JobEnv) RunToDeath(t testing.TB, died Deaths, after bool, name func(input any) string) bool {
	t.Helper()
	dies := false
	rule := e.JobFaults.On("").If(func(input any) bool { // the faults ask for one call at a time
		call := name(input)
		if dies || call == "" || died[call] {
			return false
		}
		dies, died[call] = true, true
		return true
	})
	if after {
		rule.After(chaos.Crash)
	} else {
		rule.Before(chaos.Crash)
	}
	process := chaos.Process(ctx)
	err := e.Host.Run(process)
	e.JobFaults.Clear()
	if chaos.Died(process) {
		return true
	}
	NoError(t, err)
	return false
}

// RunCollector runs all jobs now, and again when unreferenced objects may be deleted. No such object may be left.
func (e *JobEnv) RunCollector(t testing.TB) {
	t.Helper()
	e.RunJobs(t)
	e.Clock.Advance(limits.CollectAfter)
	e.RunJobs(t)
	for _, left := range invariant.Collected(ctx, e.Deployment()) {
		t.Error(left)
	}
}
