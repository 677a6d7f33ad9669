package journey

import (
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/middleware"
	"github.com/google/go-cmp/cmp"

	"vitrine/scripts/internal/local/stack"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/keyring"
)

// probe is a deployment with a hand in its tables, objects and AWS clients, for what no client can see or do.
type probe struct {
	*deployment
	faults  *chaos.Injector
	client  *dynamodb.Client // past the faults
	objects *s3.Client
	names   dynamo.Tables
	clock   *clock // of the deployment, if the test moves it
}

// pry starts a deployment of its own that the test can look into.
func pry(t testing.TB, change ...func(*stack.Options)) *probe {
	t.Helper()
	p := &probe{faults: chaos.For(t)}
	p.deployment = deploy(t, append([]func(*stack.Options){func(o *stack.Options) {
		o.Lambda = false
		o.Middleware = []func(*middleware.Stack) error{p.faults.Add}
	}}, change...)...)
	e := p.options.Engines
	p.names = dynamo.Named(p.options.Tables)
	p.client = dynamodb.NewFromConfig(e.AWS(), func(o *dynamodb.Options) { o.BaseEndpoint = &e.DynamoDB })
	p.objects = s3.NewFromConfig(e.AWS(), func(o *s3.Options) { o.BaseEndpoint, o.UsePathStyle = &e.S3, true })
	return p
}

// must is the value of a call that may not fail: must(call())(t).
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		succeed(t, err)
		return v
	}
}

func succeed(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type stored = map[string]types.AttributeValue

// all reads a whole table.
func (p *probe) all(t testing.TB, table string) (items []stored) {
	t.Helper()
	in := &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)}
	for {
		out, err := p.client.Scan(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		if items = append(items, out.Items...); out.LastEvaluatedKey == nil {
			return items
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

// text is an attribute as text that equals only for equal values.
func text(v types.AttributeValue) string {
	switch v := v.(type) {
	case *types.AttributeValueMemberS:
		return v.Value
	case *types.AttributeValueMemberN:
		return v.Value
	case *types.AttributeValueMemberB:
		return base64.StdEncoding.EncodeToString(v.Value)
	case *types.AttributeValueMemberBOOL:
		return strconv.FormatBool(v.Value)
	}
	return fmt.Sprintf("%#v", v)
}

// state is everything that is stored, by key, except rate counters and when a key was used last: refusals may count.
func (p *probe) state(t testing.TB) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, table := range []string{p.names.Core, p.names.Events, p.names.Hot} {
		for _, item := range p.all(t, table) {
			name := text(item["pk"])
			if table == p.names.Hot && strings.HasPrefix(name, "r:") {
				continue
			}
			if item["sk"] != nil {
				name += " " + text(item["sk"])
			}
			delete(item, "used_at")
			var line strings.Builder
			for _, attribute := range slices.Sorted(maps.Keys(item)) {
				fmt.Fprintf(&line, "%s=%s ", attribute, text(item[attribute]))
			}
			out[name] = line.String()
		}
	}
	return out
}

// unchanged checks that nothing was stored since before.
func (p *probe) unchanged(t testing.TB, before map[string]string) {
	t.Helper()
	if diff := cmp.Diff(before, p.state(t)); diff != "" {
		t.Errorf("something was stored (-before +after):\n%s", diff)
	}
}

// count is how many items of a table have a key with the prefix.
func (p *probe) count(t testing.TB, table, prefix string) (n int) {
	t.Helper()
	for _, item := range p.all(t, table) {
		if strings.HasPrefix(text(item["pk"]), prefix) {
			n++
		}
	}
	return n
}

// change rewrites one item of core; nil removes an attribute, a nil map the item.
func (p *probe) change(t testing.TB, pk, sk string, set map[string]any) {
	t.Helper()
	key := stored{"pk": &types.AttributeValueMemberS{Value: pk}, "sk": &types.AttributeValueMemberS{Value: sk}}
	if set == nil {
		_, err := p.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &p.names.Core, Key: key})
		succeed(t, err)
		return
	}
	found, err := p.client.GetItem(ctx, &dynamodb.GetItemInput{TableName: &p.names.Core, Key: key, ConsistentRead: aws.Bool(true)})
	succeed(t, err)
	if found.Item == nil {
		t.Fatalf("there is no item %s %s to change", pk, sk)
	}
	p.put(t, found.Item, set)
}

// alter changes an item; nil removes an attribute.
func alter(item stored, set map[string]any) {
	for name, value := range set {
		switch v := value.(type) {
		case nil:
			delete(item, name)
		case string:
			item[name] = &types.AttributeValueMemberS{Value: v}
		case []byte:
			item[name] = &types.AttributeValueMemberB{Value: v}
		case int:
			item[name] = &types.AttributeValueMemberN{Value: strconv.Itoa(v)}
		case time.Time:
			item[name] = &types.AttributeValueMemberN{Value: strconv.FormatInt(v.UnixMilli(), 10)}
		}
	}
}

// put writes an item of core with changes.
func (p *probe) put(t testing.TB, item stored, set map[string]any) {
	t.Helper()
	alter(item, set)
	_, err := p.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &p.names.Core, Item: item})
	succeed(t, err)
}

func (p *probe) peppers(t testing.TB) keyring.Derived {
	t.Helper()
	rings, err := keyring.Parse(must(os.ReadFile(filepath.Join(p.options.Data, "rings.json")))(t))
	succeed(t, err)
	return must(rings.Pepper.Derive("credential"))(t)
}

// parsed takes the key of an agent apart.
func parsed(t testing.TB, g *wire.Agent) credential.Token {
	t.Helper()
	return must(credential.Parse(g.Key, credential.APIKey, credential.Preview))(t)
}

// sibling gives the agent's workspace a second key with its own scopes.
func (p *probe) sibling(t testing.TB, g *wire.Agent, scopes ...credential.Scope) *wire.Agent {
	t.Helper()
	first := parsed(t, g)
	token := credential.Mint(credential.APIKey, credential.Preview, first.Workspace, "")
	for _, item := range p.all(t, p.names.Core) {
		if text(item["pk"]) == "K#"+string(first.Public) {
			p.put(t, item, map[string]any{
				"pk": "K#" + string(token.Public), "id": string(id.NewKey(token.Public)), "mac": token.Hash(p.peppers(t)).MAC, "scopes": words(scopes), "used_at": nil,
			})
			return &wire.Agent{HTTP: g.HTTP, At: g.At, Key: token.Reveal()}
		}
	}
	t.Fatal("the key is not stored")
	return nil
}

func words(scopes []credential.Scope) string {
	out := make([]string, len(scopes))
	for i, s := range scopes {
		out[i] = string(s)
	}
	return strings.Join(out, " ")
}

// smuggle puts an object into a session's folder past the signed URLs.
func (p *probe) smuggle(t testing.TB, g *wire.Agent, s id.Session, name, body string) {
	t.Helper()
	key := "o/" + string(parsed(t, g).Workspace) + "/" + string(s) + "/" + name
	_, err := p.objects.PutObject(ctx, &s3.PutObjectInput{Bucket: &p.options.Engines.Bucket, Key: &key, Body: strings.NewReader(body)})
	succeed(t, err)
}

// do sends a request with the agent's credential.
func do(t testing.TB, g *wire.Agent, method, target string, body any, headers ...string) wire.Answer {
	t.Helper()
	return must(g.Do(ctx, method, target, body, headers...))(t)
}

func tryCreate(t testing.TB, g *wire.Agent, idem string, body any) wire.Answer {
	t.Helper()
	return do(t, g, "POST", g.At.UploadURL+"/v1/upload-sessions", body, "Idempotency-Key", idem)
}

func tryFinalize(t testing.TB, g *wire.Agent, idem string, s id.Session) wire.Answer {
	t.Helper()
	return do(t, g, "POST", g.At.UploadURL+"/v1/upload-sessions/"+string(s)+"/finalize", nil, "Idempotency-Key", idem)
}

func tryPublish(t testing.TB, g *wire.Agent, idem string, a id.Artifact, r id.Revision, body any) wire.Answer {
	t.Helper()
	return do(t, g, "POST", g.At.APIURL+"/v1/artifacts/"+string(a)+"/revisions/"+string(r)+"/publish", body, "Idempotency-Key", idem)
}

func tryDelete(t testing.TB, g *wire.Agent, a id.Artifact, headers ...string) wire.Answer {
	t.Helper()
	return do(t, g, "DELETE", g.At.APIURL+"/v1/artifacts/"+string(a), nil, headers...)
}

// draft makes a draft of one small file.
func draft(t testing.TB, g *wire.Agent, words string) contract.Finalized {
	t.Helper()
	return must(g.Draft(ctx, wire.NewKey(), wire.Declare(words, page(words)), page(words)))(t)
}

// published publishes one small file.
func published(t testing.TB, g *wire.Agent, words string) contract.Published {
	t.Helper()
	return must(g.PublishFiles(ctx, words, "", page(words)))(t)
}
