package chaos_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
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

func TestTheBodyOfAnObjectEndsEarly(t *testing.T) {
	inj := chaos.For(t)
	client, bucket := newObjects(t, inj)
	object := aws.String("o/cut")
	_, err := client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: &bucket,
		Key:    object,
		Body:   strings.NewReader("0123456789"),
	})
	expect.OK(t, err)
	inj.On("GetObject").Nth(1).After(chaos.Cut(4))
	inj.On("GetObject").Nth(2).After(chaos.Break(0))
	inj.On("GetObject").Nth(3).After(chaos.Cut(100))
	inj.On("GetObject").Nth(4).After(chaos.Timeout)
	for _, want := range []struct {
		body string
		err  error
	}{{"0123", nil}, {"", syscall.ECONNRESET}, {"0123456789", nil}, {"0123456789", nil}} {
		out := expect.Value(client.GetObject(t.Context(), &s3.GetObjectInput{Bucket: &bucket, Key: object}))(t)
		body, err := io.ReadAll(out.Body)
		if string(body) != want.body || !errors.Is(err, want.err) {
			t.Errorf("read %q, %v; want %q, %v", body, err, want.body, want.err)
		}
		out.Body.Close()
	}
}

func TestOnlyAGetObjectHasABodyToCut(t *testing.T) {
	inj := chaos.For(t)
	d := newDatabase(t, inj)
	inj.On("PutItem").After(chaos.Cut(1))
	if err := d.put(t.Context(), "a"); err == nil || !strings.Contains(err.Error(), "chaos: only") {
		t.Errorf("error %v", err)
	}
}

func TestS3FailsAsS3Does(t *testing.T) {
	inj := chaos.For(t)
	client, bucket := newObjects(t, inj)
	list := &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: aws.String("o/none")}
	inj.Clear()
	for code, action := range map[string]chaos.Action{"SlowDown": chaos.Throttle, "InternalError": chaos.ServerError} {
		rule := inj.On("ListObjectsV2").Service("S3").Always().Before(action)
		if _, err := client.ListObjectsV2(t.Context(), list); codeOf(err) != code || rule.Fired() != 3 {
			t.Errorf("error %v after %d attempts", err, rule.Fired())
		}
		inj.Clear()
	}
}

func TestADelayedCallWaitsItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		if err := chaos.Delay(time.Second)(t.Context(), nil); err != nil || time.Since(start) != time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
}

func TestNetworkErrorsCarryATraceableURL(t *testing.T) {
	// A test that looks for this text catches code that logs or answers such an error unredacted.
	if err := chaos.Timeout(t.Context(), nil); !strings.Contains(err.Error(), "X-Amz-Signature=chaos") {
		t.Errorf("error %v", err)
	}
}

func TestPredicatesFindTableAndKeyInEveryInput(t *testing.T) {
	core, k := aws.String("core"), key("A#1")
	for name, in := range map[string]any{
		"GetItem":    &dynamodb.GetItemInput{TableName: core, Key: k},
		"PutItem":    &dynamodb.PutItemInput{TableName: core, Item: k},
		"UpdateItem": &dynamodb.UpdateItemInput{TableName: core, Key: k},
		"DeleteItem": &dynamodb.DeleteItemInput{TableName: core, Key: k},
		"Query":      &dynamodb.QueryInput{TableName: core, ExpressionAttributeValues: item{":p": k["PK"]}},
		"BatchGetItem": &dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{
			"hot": {Keys: []item{key("x")}}, "core": {Keys: []item{key("y"), k}},
		}},
		"BatchWriteItem": &dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{
			"core": {{PutRequest: &types.PutRequest{Item: key("x")}}, {DeleteRequest: &types.DeleteRequest{Key: k}}},
		}},
		"TransactWriteItems": &dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{
			{Put: &types.Put{TableName: aws.String("hot"), Item: key("x")}},
			{ConditionCheck: &types.ConditionCheck{TableName: core, Key: k}},
		}},
		"TransactGetItems": &dynamodb.TransactGetItemsInput{
			TransactItems: []types.TransactGetItem{{Get: &types.Get{TableName: core, Key: k}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			want(t, "table core", chaos.Table("core")(in), true)
			want(t, "table events", chaos.Table("events")(in), false)
			want(t, "key A#", chaos.Key("PK", "A#")(in), true)
			want(t, "key W#", chaos.Key("PK", "W#")(in), false)
			if name != "Query" {
				want(t, "key A# in SK", chaos.Key("SK", "A#")(in), false)
			}
		})
	}
}

func TestObjectFindsKeysOfEveryInput(t *testing.T) {
	name := aws.String("o/home/upl/000")
	for operation, in := range map[string]any{
		"GetObject":     &s3.GetObjectInput{Key: name},
		"PutObject":     &s3.PutObjectInput{Key: name, Body: strings.NewReader("body")},
		"ListObjectsV2": &s3.ListObjectsV2Input{Prefix: name},
		"DeleteObjects": &s3.DeleteObjectsInput{Delete: &s3types.Delete{Objects: []s3types.ObjectIdentifier{{Key: name}}}},
	} {
		want(t, operation, chaos.Object("o/home/")(in), true)
		want(t, operation, chaos.Object("d/")(in), false)
	}
	want(t, "nothing", chaos.Object("")(nil), false)
}

func want(t *testing.T, what string, got, want bool) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}
