package harness

import (
	"errors"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/parallel"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
)

// StampKey is the call that records when a key was last used. Requests do not wait long for it.
const StampKey = "UpdateItem K K"

// FaultEnv is a BackendEnv for faults: the test moves its clock, provisioning needs no proof of work and has room for
// 100 workspaces a minute. The invariants are checked when the test ends.
type FaultEnv struct{ *BackendEnv }

// NewFaultEnv starts a deployment for faults.
func NewFaultEnv(t testing.TB, change ...func(*stack.Options)) *FaultEnv {
	t.Helper()
	s := &FaultEnv{NewAgentAuthEnv(t, change...)}
	t.Cleanup(func() { s.CheckInvariants(t) })
	return s
}

// CheckInvariants reports every breach of the invariants.
func (f *FaultEnv) CheckInvariants(t testing.TB) {
	t.Helper()
	for _, breach := range invariant.Check(ctx, f.Deployment()) {
		t.Error(breach)
	}
}

// Deployment is what the checks of invariants read.
func (f *FaultEnv) Deployment() invariant.Deployment {
	return invariant.Deployment{
		DynamoDB: f.DB,
		Tables:   f.Tables,
		S3:       f.S3,
		Bucket:   f.Options.Engines.Bucket,
		Limits:   f.Options.Limits,
	}
}

// Revive ends all faults. The next request meets a process that has just started.
func (f *FaultEnv) Revive() {
	f.Faults.Clear()
	f.Faults.Revive()
}

// CallName names an AWS call by its kind and what it works on: "UpdateItem r:actor", "GetItem A META".
func CallName(input any) string {
	of := func(operation string, key Item) string {
		pk := Text(key["pk"])
		if key["sk"] == nil { // of the hot table
			parts := strings.SplitN(pk, ":", 3)
			if parts[0] == "r" {
				return operation + " r:" + parts[1]
			}
			return operation + " " + parts[0]
		}
		pk, _, _ = strings.Cut(pk, "#")
		sk, _, _ := strings.Cut(Text(key["sk"]), "#")
		return operation + " " + pk + " " + sk
	}
	operation := strings.TrimSuffix(reflect.TypeOf(input).Elem().Name(), "Input")
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		return of(operation, in.Key)
	case *dynamodb.PutItemInput:
		return of(operation, in.Item)
	case *dynamodb.UpdateItemInput:
		return of(operation, in.Key)
	case *dynamodb.DeleteItemInput:
		return of(operation, in.Key)
	}
	return operation
}

// WrittenKeys are the keys of the items that a call changes. Of a batch it is the first of each table: the jobs put
// items of one kind into a batch.
func WrittenKeys(input any) (keys []Item) {
	switch in := input.(type) {
	case *dynamodb.PutItemInput:
		keys = append(keys, in.Item)
	case *dynamodb.UpdateItemInput:
		keys = append(keys, in.Key)
	case *dynamodb.DeleteItemInput:
		keys = append(keys, in.Key)
	case *dynamodb.TransactWriteItemsInput:
		for _, a := range in.TransactItems {
			switch {
			case a.Update != nil:
				keys = append(keys, a.Update.Key)
			case a.Put != nil:
				keys = append(keys, a.Put.Item)
			case a.Delete != nil:
				keys = append(keys, a.Delete.Key)
			}
		}
	case *dynamodb.BatchWriteItemInput:
		for _, writes := range in.RequestItems {
			if d := writes[0].DeleteRequest; d != nil {
				keys = append(keys, d.Key)
			}
		}
	}
	return keys
}

// Calls returns the sorted names of the AWS calls that do makes.
func (f *FaultEnv) Calls(do func()) []string {
	names := CallNames(f.Faults, do)
	slices.Sort(names)
	return names
}

// requiredCalls returns Calls without those that only some of several equal requests make: the record of a key's last
// use, which the next request repeats if it was slow, and the blocks of permits that every fourth request or so takes.
func (f *FaultEnv) requiredCalls(do func()) []string {
	return slices.DeleteFunc(f.Calls(do), func(call string) bool {
		return call == StampKey || call == "UpdateItem r:actor" || call == "UpdateItem r:workspace"
	})
}

// WantSameRefusals checks that requests about records of others are refused with the same calls and the same answers as
// requests about records that never were.
func (f *FaultEnv) WantSameRefusals(t testing.TB, which string, foreign, unknown map[string]func() wire.Answer) {
	t.Helper()
	for name := range foreign {
		var a, b wire.Answer
		one := f.requiredCalls(func() { a = foreign[name]() })
		other := f.requiredCalls(func() { b = unknown[name]() })
		if !slices.Equal(one, other) {
			t.Errorf("%s, %s: it costs %q, an unknown one %q", which, name, one, other)
		}
		if a.Status != http.StatusNotFound || b.Status != a.Status || a.Code() != b.Code() || a.Message() != b.Message() {
			t.Errorf("%s, %s: it answers %d %q, an unknown one %d %q", which, name, a.Status, a.Message(), b.Status, b.Message())
		}
	}
}

// CallNames returns the names of the AWS calls that do makes past an injector, in their order.
func CallNames(faults *chaos.Injector, do func()) (names []string) {
	for _, c := range faults.Record(do) {
		names = append(names, CallName(c.Input))
	}
	return names
}

// Async sends a request from a goroutine of its own, which may not end the test.
func (f *FaultEnv) Async(t testing.TB, ask func() (wire.Answer, error)) <-chan wire.Answer {
	answer := make(chan wire.Answer, 1)
	go func() {
		a, err := ask()
		if err != nil {
			t.Error(err)
		}
		answer <- a
	}()
	return answer
}

// Hold sends a request and returns when it is about to make a call of an operation. Calling release lets it go on, with
// that call or with the given actions instead, and returns its answer.
func (f *FaultEnv) Hold(
	t testing.TB, operation string, ask func() (wire.Answer, error), happens ...chaos.Action,
) (release func() wire.Answer) {
	t.Helper()
	held := make(chan struct{})
	rule := f.Faults.On(operation).Before(append([]chaos.Action{chaos.Hold(held)}, happens...)...)
	answer := f.Async(t, ask)
	select {
	case <-rule.Reached():
		return func() wire.Answer { close(held); return <-answer }
	case a := <-answer:
		t.Errorf("no %s was made: %d %s", operation, a.Status, a.Body)
		return func() wire.Answer { return a }
	}
}

// Overtake holds a request before a call of an operation, runs meanwhile, and lets the request go on.
func (f *FaultEnv) Overtake(
	t testing.TB, operation string, ask func() (wire.Answer, error), meanwhile func(),
) wire.Answer {
	t.Helper()
	release := f.Hold(t, operation, ask)
	meanwhile()
	return release()
}

// Concurrently sends n requests in parallel.
func (f *FaultEnv) Concurrently(t testing.TB, n int, ask func(i int) (wire.Answer, error)) []wire.Answer {
	t.Helper()
	answers := make([]wire.Answer, n)
	parallel.Do(n, func(i int) { answers[i] = <-f.Async(t, func() (wire.Answer, error) { return ask(i) }) })
	return answers
}

// ErrDown is the failure of an AWS call whose engine is down.
var ErrDown = errors.New("the engine is down")

// WantBreach checks that some breach of the invariant is reported.
func (f *FaultEnv) WantBreach(t testing.TB, name string) {
	t.Helper()
	found := invariant.Check(ctx, f.Deployment())
	for _, err := range found {
		if strings.HasPrefix(err.Error(), name+":") {
			return
		}
	}
	t.Errorf("no breach of %s is reported, but %v", name, found)
}

// Damage changes the first item of a table whose key has these prefixes, or removes it when set is nil. The result puts
// the item back.
func (f *FaultEnv) Damage(t testing.TB, table, pk, sk string, set map[string]any) (repair func()) {
	t.Helper()
	for _, item := range f.Scan(t, table) {
		if strings.HasPrefix(Text(item["pk"]), pk) && (sk == "" || strings.HasPrefix(Text(item["sk"]), sk)) {
			f.RewriteItem(t, table, item, set)
			return func() {
				t.Helper()
				f.RewriteItem(t, table, item, map[string]any{})
			}
		}
	}
	t.Fatalf("there is no %s %s to damage", pk, sk)
	return nil
}
