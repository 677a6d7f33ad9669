package replay_test

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/scripts/internal/restore/replay"
	"vitrine/scripts/journey/harness"
	"vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
)

var ctx = context.Background()

// world is a living deployment with a person, and its items as they were at an instant.
type world struct {
	*harness.JobEnv
	t       testing.TB
	instant time.Time
	copied  map[string][]harness.Item // by table

	email   string
	browser *harness.FakeBrowser
	member  *harness.Member
	key     contract.CreatedKey
	agent   *wire.Agent // with the API key

	operator *harness.Member
}

// newWorld starts a deployment and signs a person up.
func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{JobEnv: harness.NewPeopleEnv(t), t: t, email: "ada@example.com"}
	w.browser = w.SignedIn(t, w.email)
	w.signIn()
	w.key = harness.CreatedKey(t, harness.TryCreateKey(t, w.member, "a key", wire.NewKey()))
	w.agent = w.WithBearer(w.key.Secret)
	w.operator = w.NewOperator(t)
	return w
}

// signIn gives the person a token of a fresh sign-in.
func (w *world) signIn() {
	w.t.Helper()
	w.Clock.Advance(time.Second)
	idToken := harness.Must(w.Identity.Mint(provider.Person{Email: w.email}, "", "", provider.Honest))(w.t)
	token := w.Token(w.t, harness.ExchangeGrant("cli", idToken))
	w.member = &harness.Member{Agent: w.WithBearer(token.AccessToken)}
	w.member.Workspace = w.workspace().ID
}

func (w *world) workspace() contract.WorkspaceSummary {
	w.t.Helper()
	return harness.CallAs[contract.WorkspaceDeletion](w.t, w.member, 200, "GET", deletionPath, nil).Workspace
}

const deletionPath = "/v1/web/workspace/deletion"

func (w *world) as(method, path string, body any) wire.Answer {
	w.t.Helper()
	a := harness.TryAs(w.t, w.member, method, path, body, harness.KeyHeader()...)
	if a.Status >= 300 {
		w.t.Fatalf("%s %s answers %d %s", method, path, a.Status, a.Body)
	}
	return a
}

// post sends a form of the browser.
func (w *world) post(path string, fields url.Values) {
	w.t.Helper()
	if a := w.browser.Post(w.t, path, fields); a.Status >= 400 {
		w.t.Fatalf("%s answers %d %s", path, a.Status, a.Body)
	}
}

// copyNow copies all items, and lets time pass until the next request.
func (w *world) copyNow() {
	w.t.Helper()
	w.copied = w.items(w.Tables)
	w.instant = w.Clock.Now()
	w.Clock.Advance(6 * time.Minute)
}

func (w *world) items(of dynamo.Tables) map[string][]harness.Item {
	w.t.Helper()
	return map[string][]harness.Item{
		"core":   w.Scan(w.t, of.Core),
		"events": w.Scan(w.t, of.Events),
		"hot":    w.Scan(w.t, of.Hot),
	}
}

// restored makes a set of the copied items. Its calls go through the injector; nil: past it.
func (w *world) restored(faults *chaos.Injector) invariant.Deployment {
	w.t.Helper()
	set := w.Deployment()
	set.Tables = dynamo.Named("restored-" + string(id.NewPublic()))
	harness.NoError(w.t, dynamo.CreateTables(ctx, w.DB, set.Tables))
	for table, items := range map[string][]harness.Item{
		set.Tables.Core:   w.copied["core"],
		set.Tables.Events: w.copied["events"],
		set.Tables.Hot:    w.copied["hot"],
	} {
		for part := range slices.Chunk(items, 25) {
			var writes []types.WriteRequest
			for _, i := range part {
				writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: i}})
			}
			harness.Must(w.DB.BatchWriteItem(ctx, &dynamodb.BatchWriteItemInput{
				RequestItems: map[string][]types.WriteRequest{table: writes},
			}))(w.t)
		}
	}
	if faults != nil {
		cfg := w.Options.Engines.AWS()
		cfg.APIOptions = append(cfg.APIOptions, faults.Add)
		set.DynamoDB = dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) {
			o.BaseEndpoint = aws.String(w.Options.Engines.DynamoDB)
			o.RetryMaxAttempts = 1
		})
	}
	return set
}

// plan reads what was done since the instant.
func (w *world) plan(except ...replay.Exception) replay.Plan {
	w.t.Helper()
	events := harness.Must(replay.Read(ctx, w.Deployment(), w.instant))(w.t)
	return harness.Must(replay.New(events, w.instant, except))(w.t)
}

// apply does what was done since in a set, which has to succeed.
func (w *world) apply(set invariant.Deployment, p replay.Plan) replay.Report {
	w.t.Helper()
	return harness.Must(p.Apply(ctx, set, w.Clock.Now()))(w.t)
}

// texts are the items of core and events, by their keys. What differs between two that did the same is left out.
func (w *world) texts(of dynamo.Tables) map[string]string {
	w.t.Helper()
	return textsOf(w.items(of))
}

func textsOf(items map[string][]harness.Item) map[string]string {
	all := map[string]string{}
	for _, i := range slices.Concat(items["core"], items["events"]) {
		i = maps.Clone(i)
		for _, name := range []string{"used_at", "seen", "ver", "ttl", "updated", "revoked"} {
			delete(i, name)
		}
		var out []string
		for _, name := range slices.Sorted(maps.Keys(i)) {
			out = append(out, name+"="+harness.Text(i[name]))
		}
		key := lockdowns.ReplaceAllString(harness.Text(i["pk"])+" "+harness.Text(i["sk"]), "lkd")
		all[key] = lockdowns.ReplaceAllString(strings.Join(out, " "), "lkd")
	}
	return all
}

var lockdowns = regexp.MustCompile(`lkd_[0-9A-Za-z]+`)

// held are the beginnings of keys of what people hold and of what they see at a sign-in, which no event tells.
var held = regexp.MustCompile(`^(CRED|SES|OAR|LTX|UC|OCL)#|SIGNIN`)

// changed returns how items differ that the living set has changed since the instant. An item of a set that the living
// one does not have differs, too.
func (w *world) changed(set invariant.Deployment) (all []string) {
	w.t.Helper()
	was := textsOf(w.copied)
	living, now := w.texts(w.Tables), w.texts(set.Tables)
	for key := range maps.Keys(merged(living, now)) {
		if held.MatchString(key) || was[key] == living[key] && now[key] == was[key] {
			continue
		}
		if living[key] != now[key] {
			all = append(all, fmt.Sprintf("%s\n is     %s\n wanted %s", key, now[key], living[key]))
		}
	}
	slices.Sort(all)
	return all
}

func merged(a, b map[string]string) map[string]string {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}

// outcome returns how often an action had an outcome.
func outcome(r replay.Report, a event.Action, o replay.Outcome) int { return r.Counts[a][o] }
