package journey

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// faultStand is a deployment for faults: its clock is the test's, nobody has to prove work, and every workspace may be
// made. When the test ends, the invariants have to hold.
type faultStand struct{ *probe }

func newFaultStand(t testing.TB, change ...func(*stack.Options)) *faultStand {
	t.Helper()
	now := &clock{now: time.Now()}
	plenty := func(o *stack.Options) { o.Limits.Pow, o.Limits.ProvisionAddress.Limit = limits.PowOff, 100 }
	p := pry(t, append([]func(*stack.Options){now.rule, plenty}, change...)...)
	p.clock = now
	s := &faultStand{p}
	t.Cleanup(func() { s.sound(t) })
	return s
}

// sound checks the invariants.
func (s *faultStand) sound(t testing.TB) {
	t.Helper()
	for _, breach := range invariant.Check(ctx, s.inside()) {
		t.Error(breach)
	}
}

func (s *faultStand) inside() invariant.Deployment {
	return invariant.Deployment{
		DynamoDB: s.client,
		Tables:   s.names,
		S3:       s.objects,
		Bucket:   s.options.Engines.Bucket,
		Limits:   s.options.Limits,
	}
}

// revive ends all faults: the next request meets a process that has just started.
func (s *faultStand) revive() {
	s.faults.Clear()
	s.faults.Revive()
}

// events counts what was done in the workspace of an agent.
func (s *faultStand) events(t testing.TB, g *wire.Agent) map[string]int {
	t.Helper()
	out := must(s.client.Query(ctx, &dynamodb.QueryInput{
		TableName:                 &s.names.Events,
		KeyConditionExpression:    aws.String("pk = :w"),
		ConsistentRead:            aws.Bool(true),
		ExpressionAttributeValues: stored{":w": &types.AttributeValueMemberS{Value: "W#" + string(parsed(t, g).Workspace)}},
	}))(t)
	done := map[string]int{}
	for _, e := range out.Items {
		done[text(e["action"])]++
	}
	return done
}

// status is what the gate of a session says.
func (s *faultStand) status(t testing.TB, u id.Session) string {
	t.Helper()
	return text(s.item(t, "U#"+string(u), "META")["status"])
}

func (s *faultStand) item(t testing.TB, pk, sk string) stored {
	t.Helper()
	key := stored{"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk}}
	out, err := s.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &s.names.Core, Key: key, ConsistentRead: aws.Bool(true)})
	succeed(t, err)
	return out.Item
}

// erase deletes an object of a session.
func (s *faultStand) erase(t testing.TB, g *wire.Agent, u id.Session, name string) {
	t.Helper()
	key := "o/" + string(parsed(t, g).Workspace) + "/" + string(u) + "/" + name
	must(s.objects.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &s.options.Engines.Bucket, Key: &key}))(t)
}

// faultCall names an AWS call by its kind and what it works on: "UpdateItem r:actor", "GetItem A META".
func faultCall(input any) string {
	of := func(operation string, key stored) string {
		pk := text(key["pk"])
		if key["sk"] == nil { // of the hot table
			parts := strings.SplitN(pk, ":", 3)
			if parts[0] == "r" {
				return operation + " r:" + parts[1]
			}
			return operation + " " + parts[0]
		}
		pk, _, _ = strings.Cut(pk, "#")
		sk, _, _ := strings.Cut(text(key["sk"]), "#")
		return operation + " " + pk + " " + sk
	}
	switch in := input.(type) {
	case *dynamodb.GetItemInput:
		return of("GetItem", in.Key)
	case *dynamodb.PutItemInput:
		return of("PutItem", in.Item)
	case *dynamodb.UpdateItemInput:
		return of("UpdateItem", in.Key)
	case *dynamodb.DeleteItemInput:
		return of("DeleteItem", in.Key)
	case *dynamodb.BatchGetItemInput:
		return "BatchGetItem"
	case *dynamodb.TransactWriteItemsInput:
		return "TransactWriteItems"
	case *dynamodb.QueryInput:
		return "Query"
	case *s3.ListObjectsV2Input:
		return "ListObjectsV2"
	case *s3.GetObjectInput:
		return "GetObject"
	case *s3.PutObjectInput:
		return "PutObject"
	case *s3.HeadObjectInput:
		return "HeadObject"
	}
	return "another call"
}

// calls are the AWS calls of what is done, sorted.
func (s *faultStand) calls(t testing.TB, do func()) []string {
	t.Helper()
	var mu sync.Mutex
	var names []string
	s.faults.On("").Always().Before(func(_ context.Context, c *chaos.Call) error {
		mu.Lock()
		defer mu.Unlock()
		names = append(names, faultCall(c.Input))
		return nil
	})
	do()
	s.faults.Clear()
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(names)
	return names
}

// asking sends a request from a goroutine of its own, where a test may not end.
func (s *faultStand) asking(t testing.TB, ask func() (wire.Answer, error)) <-chan wire.Answer {
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

// hold sends a request and returns when it is about to make a call of an operation. The result lets it go on, with that
// call or with what happens to it, and gives its answer.
func (s *faultStand) hold(t testing.TB, operation string, ask func() (wire.Answer, error), happens ...chaos.Action) (release func() wire.Answer) {
	t.Helper()
	held := make(chan struct{})
	rule := s.faults.On(operation).Before(append([]chaos.Action{chaos.Hold(held)}, happens...)...)
	answer := s.asking(t, ask)
	select {
	case <-rule.Reached():
		return func() wire.Answer { close(held); return <-answer }
	case a := <-answer:
		t.Errorf("no %s was made: %d %s", operation, a.Status, a.Body)
		return func() wire.Answer { return a }
	}
}

// overtaken holds a request, does something meanwhile, and lets it go on.
func (s *faultStand) overtaken(t testing.TB, operation string, ask func() (wire.Answer, error), meanwhile func()) wire.Answer {
	t.Helper()
	release := s.hold(t, operation, ask)
	meanwhile()
	return release()
}

// atOnce sends n requests in parallel.
func (s *faultStand) atOnce(t testing.TB, n int, ask func(i int) (wire.Answer, error)) []wire.Answer {
	t.Helper()
	running := make([]<-chan wire.Answer, n)
	for i := range running {
		running[i] = s.asking(t, func() (wire.Answer, error) { return ask(i) })
	}
	answers := make([]wire.Answer, n)
	for i := range running {
		answers[i] = <-running[i]
	}
	return answers
}

// The commands of an agent follow as requests that a goroutine may send.

func (s *faultStand) create(g *wire.Agent, idem string, r contract.CreateSession) (wire.Answer, error) {
	return g.Do(ctx, "POST", g.At.UploadURL+"/v1/upload-sessions", r, "Idempotency-Key", idem)
}

func (s *faultStand) finalize(g *wire.Agent, idem string, u id.Session) (wire.Answer, error) {
	return g.Do(ctx, "POST", g.At.UploadURL+"/v1/upload-sessions/"+string(u)+"/finalize", nil, "Idempotency-Key", idem)
}

func (s *faultStand) publish(g *wire.Agent, idem string, a id.Artifact, r id.Revision) (wire.Answer, error) {
	return g.Do(ctx, "POST", g.At.APIURL+"/v1/artifacts/"+string(a)+"/revisions/"+string(r)+"/publish", nil, "Idempotency-Key", idem)
}

func (s *faultStand) remove(g *wire.Agent, a id.Artifact) (wire.Answer, error) {
	return g.Do(ctx, "DELETE", g.At.APIURL+"/v1/artifacts/"+string(a), nil)
}

// uploaded opens a session for one file, of a new artifact unless a is given, and uploads it.
func (s *faultStand) uploaded(t testing.TB, g *wire.Agent, a id.Artifact, words string) contract.Session {
	t.Helper()
	r := wire.Declare(words, page(words))
	r.ArtifactID = a
	u := must(g.Create(ctx, wire.NewKey(), r))(t)
	if put := must(g.Put(ctx, u.Files[0], page(words).Body))(t); put.Status != http.StatusOK {
		t.Fatalf("the PUT answers %d %.200s", put.Status, put.Body)
	}
	return u
}

// blank makes a draft of a file without bytes, which costs no upload; of a new artifact unless a is given.
func (s *faultStand) blank(t testing.TB, g *wire.Agent, a id.Artifact) contract.Finalized {
	t.Helper()
	r := wire.Declare("blank", wire.File{Path: "blank.txt"})
	r.ArtifactID = a
	return must(g.Draft(ctx, wire.NewKey(), r, wire.File{Path: "blank.txt"}))(t)
}
