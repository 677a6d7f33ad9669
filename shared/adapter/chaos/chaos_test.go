package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/chaos"
)

func TestARuleCountsAttemptsSoThatTheSDKRetries(t *testing.T) {
	for name, c := range map[string]struct {
		action chaos.Action
		times  int
		code   string // "" if a retry succeeds
	}{
		"throttled once":          {chaos.Throttle, 1, ""},
		"throttled to the end":    {chaos.Throttle, 3, "ProvisionedThroughputExceededException"},
		"server error twice":      {chaos.ServerError, 2, ""},
		"server error to the end": {chaos.ServerError, 3, "InternalServerError"},
		"conflict, never retried": {chaos.Conflict, 1, "TransactionConflictException"},
		"unreachable twice":       {chaos.Unreachable, 2, ""},
		"timeout twice":           {chaos.Timeout, 2, ""},
	} {
		t.Run(name, func(t *testing.T) {
			inj := chaos.For(t)
			d := newDatabase(t, inj)
			rule := inj.On("PutItem").Times(c.times).Before(c.action)
			err := d.put(t.Context(), "a")
			if code := codeOf(err); code != c.code {
				t.Errorf("error %q (%v), want %q", code, err, c.code)
			}
			if rule.Fired() != c.times {
				t.Errorf("fired %d times, want %d", rule.Fired(), c.times)
			}
			d.wantItem(t, "a", c.code == "")
		})
	}
}

func TestALostAnswerIsAnEffect(t *testing.T) {
	t.Run("and the SDK sends the same token again", func(t *testing.T) {
		inj := chaos.For(t)
		d := newDatabase(t, inj)
		inj.On("TransactWriteItems").Times(2).After(chaos.Timeout)
		expect.OK(t, d.add(t.Context(), "a"))
		d.wantHits(t, "a", "1")
	})
	t.Run("also when the caller gets no answer at all", func(t *testing.T) {
		inj := chaos.For(t)
		d := newDatabase(t, inj)
		inj.On("TransactWriteItems").Always().After(chaos.Timeout)
		var timeout interface{ Timeout() bool }
		if err := d.add(t.Context(), "a"); !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("error %v, want a timeout", err)
		}
		d.wantHits(t, "a", "1")
	})
}

func TestACancelledTransactionHasAReasonForEachItem(t *testing.T) {
	inj := chaos.For(t)
	d := newDatabase(t, inj)
	failed := types.CancellationReason{Code: aws.String("ConditionalCheckFailed"), Item: key("old")}
	inj.On("TransactWriteItems").Before(chaos.Conflict)
	inj.On("TransactWriteItems").Nth(2).Before(chaos.Cancel(types.CancellationReason{Code: aws.String("None")}, failed))
	for _, want := range []string{"TransactionConflict None", "None ConditionalCheckFailed"} {
		var cancelled *types.TransactionCanceledException
		if err := d.add(t.Context(), "a"); !errors.As(err, &cancelled) {
			t.Fatalf("error %v", err)
		}
		codes := []string{}
		for _, r := range cancelled.CancellationReasons {
			codes = append(codes, *r.Code)
		}
		if got := strings.Join(codes, " "); got != want {
			t.Errorf("reasons %s, want %s", got, want)
		}
	}
	d.wantHits(t, "a", "none")
}

func TestAHeldCallLetsOthersPass(t *testing.T) {
	for name, hold := range map[string]func(*chaos.Rule, chaos.Action) *chaos.Rule{
		"before it is sent":        func(r *chaos.Rule, a chaos.Action) *chaos.Rule { return r.Before(a) },
		"after it took its effect": func(r *chaos.Rule, a chaos.Action) *chaos.Rule { return r.After(a) },
	} {
		t.Run(name, func(t *testing.T) {
			inj := chaos.For(t)
			d := newDatabase(t, inj)
			release, done := make(chan struct{}), make(chan error)
			held := hold(inj.On("PutItem").If(chaos.Key("PK", "slow")), chaos.Hold(release))
			go func() { done <- d.put(t.Context(), "slow") }()
			<-held.Reached()
			d.wantItem(t, "slow", strings.HasPrefix(name, "after"))
			if err := d.put(t.Context(), "fast"); err != nil {
				t.Error(err)
			}
			close(release)
			if err := <-done; err != nil {
				t.Error(err)
			}
			d.wantItem(t, "slow", true)
		})
	}
}

func TestAHeldCallEndsWithItsContext(t *testing.T) {
	inj := chaos.For(t)
	d := newDatabase(t, inj)
	held := inj.On("PutItem").Before(chaos.Hold(nil))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- d.put(ctx, "a") }()
	<-held.Reached()
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	d.wantItem(t, "a", false)
}

func TestAnotherOperationRunsInBetween(t *testing.T) {
	inj := chaos.For(t)
	d := newDatabase(t, inj)
	inj.On("TransactWriteItems").Before(chaos.Run(func() {
		if err := d.add(t.Context(), "a"); err != nil { // the second attempt: no rule is left
			t.Error(err)
		}
		d.wantHits(t, "a", "1")
	})).After(chaos.Run(func() { d.wantHits(t, "a", "2") }))
	expect.OK(t, d.add(t.Context(), "a"))
}

func TestARuleThatNeverFiredIsNamed(t *testing.T) {
	inj := chaos.New()
	d := newDatabase(t, inj)
	if got := inj.Unfired(); got != nil {
		t.Errorf("unfired without rules: %q", got)
	}
	inj.On("PutItem").Before(chaos.Throttle)
	inj.On("PutItem").Nth(3).Before(chaos.Throttle)
	inj.On("GetItem").After(chaos.Timeout)
	inj.On("PutItem").Service("S3").After(chaos.Timeout)
	expect.OK(t, d.put(t.Context(), "a"))
	got := strings.Join(inj.Unfired(), "; ")
	for _, want := range []string{
		`: On("PutItem").Nth(3) matched 2 times; chaos_test.go:`, `: On("GetItem") matched 0 times; `,
		`: On("PutItem") matched 0 times`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%s does not say %s", got, want)
		}
	}
	if n := len(inj.Unfired()); n != 3 {
		t.Errorf("%d unfired rules, want 3", n)
	}
	if inj.Clear(); inj.Unfired() != nil {
		t.Error("a cleared injector has rules")
	}
}

func TestForFailsATestWhoseFaultDidNotHappen(t *testing.T) {
	f := &fakeTest{}
	chaos.For(f).On("PutItem").Before(chaos.Throttle)
	f.cleanup()
	if !strings.Contains(f.said, `this fault never happened: chaos_test.go:`) {
		t.Errorf("said %q", f.said)
	}
}

type fakeTest struct {
	cleanup func()
	said    string
}

func (*fakeTest) Helper()                        {}
func (f *fakeTest) Cleanup(c func())             { f.cleanup = c }
func (f *fakeTest) Errorf(s string, args ...any) { f.said += fmt.Sprintf(s, args...) }

func TestPresigningIsNotDisturbed(t *testing.T) {
	inj := chaos.New()
	client, bucket := newObjects(t, inj)
	inj.On("").Before(chaos.Throttle)
	in := &s3.PutObjectInput{Bucket: &bucket, Key: aws.String("o/a")}
	expect.Value(s3.NewPresignClient(client).PresignPutObject(t.Context(), in))(t)
	if len(inj.Unfired()) != 1 {
		t.Error("the rule fired")
	}
}

func TestAnActionMayFailAsItLikes(t *testing.T) {
	inj := chaos.For(t)
	d := newDatabase(t, inj)
	mine := errors.New("mine")
	inj.On("PutItem").If(func(input any) bool {
		return *input.(*dynamodb.PutItemInput).TableName == d.table
	}).Before(chaos.Fail(mine))
	if err := d.put(t.Context(), "a"); !errors.Is(err, mine) {
		t.Errorf("error %v", err)
	}
}

func codeOf(err error) string {
	if api := smithy.APIError(nil); errors.As(err, &api) {
		return api.ErrorCode()
	}
	if err != nil {
		return "error"
	}
	return ""
}
