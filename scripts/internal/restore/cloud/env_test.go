package cloud

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/smithy-go/middleware"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/expect"
	"vitrine/scripts/testkit/output"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/env"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// deployment is a deployment as AWS has one: its tables and bucket are those of a local stack.
type deployment struct {
	*harness.BackendEnv
	standIn *standIn
	account *account
	faults  *chaos.Injector // of the calls of a restore
	bucket  *bucket
	out     *output.Buffer
	name    string
	folder  string
}

func newDeployment(t *testing.T) *deployment {
	t.Helper()
	b := harness.NewAgentAuthEnv(t)
	name := "R" + string(id.NewPublic())[:10]
	d := &deployment{
		BackendEnv: b,
		standIn:    newStandIn(t, b.Clock.Now),
		faults:     chaos.New(),
		bucket:     &bucket{days: 14, policy: `{"Statement":[{"Sid":"DenyOverwrites"},{"Sid":"DenyFunctionsVersions"}]}`},
		out:        &output.Buffer{},
		name:       strings.ReplaceAll(name, "_", "x"),
		folder:     t.TempDir(),
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(d.out.String())
		}
	})
	d.standIn.adopt(d.Tables, d.name)
	d.account = newAccount(d.name, set{d.Tables, b.Options.Engines.Bucket})
	d.writeSettings(t, set{d.Tables, b.Options.Engines.Bucket})
	return d
}

// writeSettings writes what scripts/deploy would of a deployment on a set.
func (d *deployment) writeSettings(t *testing.T, s set) {
	t.Helper()
	out := outputs{d.name + "-Data": {
		"CoreTable": s.Core, "EventsTable": s.Events, "HotTable": s.Hot, "Bucket": s.Bucket,
	}}
	for function := range d.account.functions {
		out[strings.TrimSuffix(function, "-F")] = map[string]string{"FunctionName": function}
	}
	text := expect.Value(json.Marshal(out))(t)
	expect.OK(t, os.WriteFile(filepath.Join(d.folder, "settings.json"), text, 0o600))
}

// restore returns the restore that an operator runs.
func (d *deployment) restore(at time.Time, change ...func(*Restore)) Restore {
	e := d.Options.Engines
	bucket := e.S3Client(d.bucket.add, d.faults.Add)
	r := Restore{
		Name:     d.name,
		At:       at,
		Folder:   filepath.Join(d.folder, "restore"),
		Settings: filepath.Join(d.folder, "settings.json"),
		Words:    []string{"--yes", "-c", "name=" + d.name, "-c", "table-read-units=50", "-c", "table-core=before"},
		DynamoDB: dynamodb.NewFromConfig(e.AWS(), func(o *dynamodb.Options) {
			o.BaseEndpoint = aws.String(d.standIn.url)
			o.APIOptions = append(o.APIOptions, d.faults.Add)
		}),
		S3:       bucket,
		OwnS3:    bucket,
		Commands: d.account,
		Clock: Clock{
			Now: d.Clock.Now,
			Wait: func(ctx context.Context, wait time.Duration) error {
				d.Clock.Advance(wait)
				return ctx.Err()
			},
		},
		Limits: func(map[string]string) (limits.Limits, error) { return d.Options.Limits, nil },
		Out:    d.out,
	}
	for _, f := range change {
		f(&r)
	}
	return r
}

// restored returns where a restore puts a deployment.
func (d *deployment) restored(t *testing.T) *work {
	t.Helper()
	w := expect.Value(d.restore(time.Time{}).open())(t)
	if w == nil {
		t.Fatal("no restore is under way")
	}
	return w
}

// objects returns the keys of all files below a workspace.
func (d *deployment) objects(t *testing.T, w id.Workspace) (keys []string) {
	t.Helper()
	out := expect.Value(d.S3.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{
		Bucket: &d.Options.Engines.Bucket, Prefix: aws.String("o/" + string(w) + "/"),
	}))(t)
	for _, o := range out.Contents {
		keys = append(keys, *o.Key)
	}
	return keys
}

// deleteObject deletes a file as often as is said.
func (d *deployment) deleteObject(t *testing.T, key string, times int) {
	t.Helper()
	for range times {
		expect.Value(d.S3.DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &d.Options.Engines.Bucket, Key: &key}))(t)
	}
}

// bucket answers what S3 says of a bucket's settings. The local server knows neither policies nor life cycles.
type bucket struct {
	days   int32
	policy string
	status types.BucketVersioningStatus // empty: what the server says
}

func (b *bucket) add(stack *middleware.Stack) error {
	return stack.Initialize.Add(b, middleware.After)
}

func (b *bucket) ID() string { return "bucket" }

func (b *bucket) HandleInitialize(
	ctx context.Context, in middleware.InitializeInput, next middleware.InitializeHandler,
) (out middleware.InitializeOutput, md middleware.Metadata, err error) {
	switch in.Parameters.(type) {
	case *s3.GetBucketPolicyInput:
		out.Result = &s3.GetBucketPolicyOutput{Policy: &b.policy}
	case *s3.GetBucketLifecycleConfigurationInput:
		out.Result = &s3.GetBucketLifecycleConfigurationOutput{Rules: []types.LifecycleRule{
			{Status: types.ExpirationStatusEnabled, Filter: &types.LifecycleRuleFilter{Prefix: aws.String("d/")},
				NoncurrentVersionExpiration: &types.NoncurrentVersionExpiration{NoncurrentDays: aws.Int32(1)}},
			{Status: types.ExpirationStatusEnabled, Filter: &types.LifecycleRuleFilter{Prefix: aws.String("o/")},
				NoncurrentVersionExpiration: &types.NoncurrentVersionExpiration{NoncurrentDays: &b.days}},
		}}
	case *s3.GetBucketVersioningInput:
		if b.status != "" {
			out.Result = &s3.GetBucketVersioningOutput{Status: b.status}
			break
		}
		return next.HandleInitialize(ctx, in)
	default:
		return next.HandleInitialize(ctx, in)
	}
	return out, md, nil
}

// account stands in for the AWS command line and scripts/deploy.
type account struct {
	rules     map[string]bool              // whether they are enabled
	functions map[string]map[string]string // their tables and bucket
	reserved  map[string]int
	calls     []string
	left      int // calls until one fails; 0: none does
}

func newAccount(name string, living set) *account {
	a := &account{rules: map[string]bool{}, functions: map[string]map[string]string{}, reserved: map[string]int{}}
	for _, f := range env.Functions {
		a.functions[name+"-"+strings.ToUpper(f[:1])+f[1:]+"-F"] = map[string]string{
			"table-core": living.Core, "table-events": living.Events, "table-hot": living.Hot, "bucket": living.Bucket,
		}
	}
	a.rules[name+"-Jobs-EveryMinute"], a.rules[name+"-Bundle-EveryMinute"] = true, true
	a.reserved[name+"-Content-F"] = 200
	return a
}

// fails reports whether this call is the one that fails.
func (a *account) fails(call string) error {
	a.calls = append(a.calls, call)
	if a.left == 1 {
		a.left = 0
		return chaos.ErrCrashed
	}
	a.left = max(0, a.left-1)
	return nil
}

// AWS implements Commands.
func (a *account) AWS(_ context.Context, args ...string) (string, error) {
	if err := a.fails("aws " + strings.Join(args, " ")); err != nil {
		return "", err
	}
	switch args[1] {
	case "list-stack-resources":
		return fmt.Sprintf("[%q]", args[3]+"-EveryMinute"), nil
	case "describe-rule":
		return map[bool]string{true: "ENABLED\n", false: "DISABLED\n"}[a.rules[args[3]]], nil
	case "disable-rule", "enable-rule":
		a.rules[args[3]] = args[1] == "enable-rule"
	case "get-function-concurrency":
		if n, reserved := a.reserved[args[3]]; reserved {
			return fmt.Sprint(n), nil
		}
	case "put-function-concurrency":
		var n int
		_, err := fmt.Sscan(args[5], &n)
		a.reserved[args[3]] = n
		return "", err
	case "delete-function-concurrency":
		delete(a.reserved, args[3])
	case "get-function-configuration":
		f := a.functions[args[3]]
		text, err := json.Marshal([]string{f["table-core"], f["table-events"], f["table-hot"], f["bucket"]})
		return string(text), err
	}
	return "", nil
}

// Deploy implements Commands.
func (a *account) Deploy(_ context.Context, args ...string) error {
	if err := a.fails("deploy " + strings.Join(args, " ")); err != nil {
		return err
	}
	for _, f := range a.functions {
		for _, word := range args {
			if name, value, named := strings.Cut(word, "="); named {
				f[name] = value
			}
		}
	}
	return nil
}

// running describes what serves people.
func (a *account) running() string {
	return fmt.Sprint(slices.Sorted(maps.Keys(a.reserved)), a.reserved, a.rules)
}
