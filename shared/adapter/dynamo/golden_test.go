package dynamo

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"

	"vitrine/shared/entry/access"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/session"
	"vitrine/shared/identity/signin"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/feedback"
	"vitrine/shared/publishing/lockdown"
	"vitrine/shared/publishing/tree"
)

// Parts of what the items in testdata hold.

const (
	goldenHome      = id.Workspace("34220b83-11b4-4627-9faf-0318b6bcea69")
	goldenSource    = id.Workspace("8a40e9fc-9272-48fb-977c-f7738bba9dfd")
	goldenArtifactA = id.Artifact("art_3RG16881XBNST9RRXSMJF1WS6S")
	goldenCurrent   = id.Revision("rev_3PGE414NJDJ0A3FRJJRE52K8XX")
	goldenUploadA   = id.Session("upl_03FJNJPY4GCSFCW9GQ1WVF3VF4")
	goldenPublic    = id.Public("MTYXVS1262WCM0RC")
	goldenThread    = id.Thread("thr_2X6T0M8ZC4R1N5V9K3H7B0D6F2")
	goldenOther     = id.Public("0SFC09D794QS58WT")
	goldenMemberA   = id.Member("mem_45XE90PNNVV9JCHB15PZSQH3FQ")
	goldenClientA   = id.Client("oc_1H3HVRS9JZB5RS9ECNAF0XZW0T")
	goldenLock      = id.Lockdown("lkd_1KJJWHJFRP1FE2HR50E5W1HW1A")
	goldenIssuer    = "https://id.example"
	goldenSubject   = "subject-1"

	goldenDestination = id.Workspace("11111111-11b4-4627-9faf-0318b6bcea69")

	// Of items that hold a short list of files, too.
	goldenNearbyArtifact = id.Artifact("art_6A9J2QK0Q3S8M5T1V7W4X9Y2Z6")
	goldenNearbyRevision = id.Revision("rev_1B2C3D4E5F6G7H8J9K0M1N2P3Q")
	goldenNearbyUpload   = id.Session("upl_5F6G7H8J9K0M1N2P3Q4R5S6T7V")
)

// goldenAt is some minutes after the items were written.
func goldenAt(minutes int) time.Time {
	return time.Date(2026, 1, 2, 3, 4+minutes, 5, 678e6, time.UTC)
}

var goldenDigest = tree.Digest(sha256.Sum256([]byte("abc")))

var goldenTree = tree.Tree{
	{
		Path:   "index.html",
		Size:   3,
		SHA256: goldenDigest,
		Object: tree.Object{Session: goldenUploadA, Entry: 0},
	},
	{
		Path:     "lib/app.js",
		Size:     3,
		SHA256:   goldenDigest,
		Object:   tree.Object{Session: goldenUploadA, Entry: 1},
		Borrowed: true,
	},
}

// goldenPrincipal is the delegation of a subject.
func goldenPrincipal(subject string) id.Delegation {
	return id.DelegationOf("https://agents.example", subject, "https://api.example")
}

// goldenCommand is the command of an operation.
func goldenCommand(o idempotency.Operation) idempotency.Command {
	return idempotency.Command{
		Key: idempotency.Key{
			Actor:     string(goldenMemberA),
			Operation: o,
			Target:    string(goldenArtifactA),
			Client:    "client-key-1",
		},
		Fingerprint: sha256.Sum256([]byte(o)),
	}
}

// golden is a stored item as testdata keeps it: in the JSON of DynamoDB, with its table. The files were written by
// earlier releases and never change: what one stored is read by every later one.
type golden struct {
	Table string
	Item  map[string]struct {
		S    *string
		N    *string
		B    []byte
		BOOL *bool
		SS   []string
	}
}

func (g golden) item() item {
	out := item{}
	for name, v := range g.Item {
		switch {
		case v.S != nil:
			out[name] = &types.AttributeValueMemberS{Value: *v.S}
		case v.N != nil:
			out[name] = &types.AttributeValueMemberN{Value: *v.N}
		case v.B != nil:
			out[name] = &types.AttributeValueMemberB{Value: v.B}
		case v.BOOL != nil:
			out[name] = &types.AttributeValueMemberBOOL{Value: *v.BOOL}
		default:
			out[name] = &types.AttributeValueMemberSS{Value: v.SS}
		}
	}
	return out
}

// goldenStores are stores on tables that hold the items in testdata.
func goldenStores(t *testing.T) Stores {
	t.Helper()
	s := newStore(t)
	tables := map[string]string{"core": s.tables.Core, "events": s.tables.Events, "hot": s.tables.Hot}
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no items", err)
	}
	for _, file := range files {
		g := readGolden(t, file)
		must(s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(tables[g.Table]), Item: g.item()}))(t)
	}
	return s
}

func readGolden(t *testing.T, file string) (g golden) {
	t.Helper()
	noError(t, json.Unmarshal(must(os.ReadFile(file))(t), &g))
	return g
}

// outcome is what reading an item gives.
type outcome struct {
	got any
	err error
}

func outcomeOf[T any](got T, err error) outcome { return outcome{got, err} }

// wantRead compares readings with the values in testdata, by name, which the items had when they were written. Fields
// that are zero are not there.
func wantRead(t *testing.T, readings map[string]outcome) {
	t.Helper()
	var values map[string]json.RawMessage
	noError(t, json.Unmarshal(must(os.ReadFile("testdata/read/values.json"))(t), &values))
	for name, r := range readings {
		want := reflect.New(reflect.TypeOf(r.got))
		stored := json.NewDecoder(bytes.NewReader(values[name]))
		stored.DisallowUnknownFields()
		noError(t, stored.Decode(want.Interface()))
		if diff := cmp.Diff(want.Elem().Interface(), r.got, unexported); r.err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got)\n%s", name, r.err, diff)
		}
	}
	if len(readings) != len(values) {
		t.Errorf("%d readings of %d in testdata", len(readings), len(values))
	}
}

func TestItemsOfEarlierReleasesAreRead(t *testing.T) {
	s := goldenStores(t)
	digest := sha256.Sum256([]byte("session"))
	window := rate.Window{Kind: "publish", Host: "api", Subject: "subject-1", Start: goldenAt(0), End: goldenAt(1)}
	m, home, err := s.Members.Member(ctx, goldenHome, goldenMemberA)
	noError(t, err)
	token, registration, err := s.Registrations.ByClaimToken(ctx, goldenPublic)
	noError(t, err)
	vouched, _, err := s.Registrations.Registration(ctx, id.RegistrationOf(goldenOther), goldenHome)
	noError(t, err)
	u, entries, err := s.Uploads.Session(ctx, goldenUploadA)
	noError(t, err)
	nearby, nearbyEntries, err := s.Uploads.Session(ctx, goldenNearbyUpload)
	noError(t, err)
	locks, _, err := s.Lockdowns.List(ctx, lockdown.Position{}, 10)
	noError(t, err)
	events, _, _, err := s.Events.List(ctx, account.Filter{Workspace: goldenHome}, goldenAt(5), account.Position{}, 10)
	noError(t, err)
	reported, _, err := s.Reports.Reports(ctx, "", "", 10)
	noError(t, err)
	counts, thread, err := s.Feedback.Thread(ctx, goldenArtifactA, goldenThread)
	noError(t, err)
	threads, err := s.Feedback.List(ctx, feedback.Query{Artifact: goldenArtifactA, Limit: 10})
	noError(t, err)
	wantRead(t, map[string]outcome{
		"artifact":                 outcomeOf(s.Artifacts.Artifact(ctx, goldenArtifactA)),
		"revision":                 outcomeOf(s.Artifacts.Revision(ctx, goldenArtifactA, goldenCurrent)),
		"revisions":                outcomeOf(s.Artifacts.Revisions(ctx, goldenArtifactA)),
		"files":                    outcomeOf(s.Artifacts.Tree(ctx, goldenArtifactA, goldenCurrent)),
		"files beside a revision":  outcomeOf(s.Artifacts.Tree(ctx, goldenNearbyArtifact, goldenNearbyRevision)),
		"revision with its files":  outcomeOf(s.Artifacts.Contents(ctx, goldenNearbyArtifact, goldenNearbyRevision)),
		"upload":                   outcomeOf(u, nil),
		"entries":                  outcomeOf(entries, nil),
		"upload with its entries":  outcomeOf(nearby, nil),
		"entries beside an upload": outcomeOf(nearbyEntries, nil),
		"workspace":                outcomeOf(s.Workspaces.Workspace(ctx, goldenHome)),
		"workspace of a member":    outcomeOf(home, nil),
		"workspace, terms ended":   outcomeOf(s.Workspaces.Workspace(ctx, "22222222-11b4-4627-9faf-0318b6bcea69")),
		"aliases":                  outcomeOf(s.Artifacts.sources(ctx, goldenDestination)),
		"quota":                    outcomeOf(s.Workspaces.Quota(ctx)),
		"member":                   outcomeOf(m, nil),
		"address":                  outcomeOf(s.Members.ByAddress(ctx, "golden@example.org")),
		"API key":                  outcomeOf(s.Keys.Key(ctx, goldenPublic)),
		"claim token":              outcomeOf(s.Claims.Token(ctx, goldenPublic)),
		"migration":                outcomeOf(s.Claims.Due(ctx, goldenAt(2), 10)),
		"registration":             outcomeOf(registration, nil),
		"its claim token":          outcomeOf(token, nil),
		"vouched registration":     outcomeOf(vouched, nil),
		"delegation":               outcomeOf(s.Delegations.Delegation(ctx, goldenPrincipal("agent-subject-1"))),
		"tombstone":                outcomeOf(s.Delegations.Delegation(ctx, goldenPrincipal("agent-subject-2"))),
		"question":                 outcomeOf(s.Takeovers.Question(ctx, session.Hash(sha256.Sum256([]byte("question"))))),
		"link":                     outcomeOf(s.Links.Link(ctx, goldenPublic)),
		"grant":                    outcomeOf(s.Grants.Grant(ctx, goldenPublic)),
		"client":                   outcomeOf(s.Clients.Client(ctx, goldenClientA)),
		"described client":         outcomeOf(s.Clients.Client(ctx, "https://client.example/oauth/client.json")),
		"request":                  outcomeOf(s.Consents.Request(ctx, "request-secret")),
		"code":                     outcomeOf(s.Consents.Code(ctx, goldenPublic)),
		"device":                   outcomeOf(s.Devices.Flow(ctx, goldenPublic)),
		"user code":                outcomeOf(s.Devices.FlowByUserCode(ctx, [][]byte{[]byte("mac of the user code")})),
		"session":                  outcomeOf(s.Sessions.Session(ctx, digest)),
		"sign-in":                  outcomeOf(s.SignIns.Take(ctx, "state-1", signin.Hash(digest), goldenAt(1))),
		"lockdown":                 outcomeOf(s.Lockdowns.Active(ctx, lockdown.Artifact, string(goldenArtifactA))),
		"lockdowns":                outcomeOf(locks, nil),
		"kept sessions":            outcomeOf(s.Garbage.Kept(ctx, []id.Session{goldenUploadA})),
		"garbage":                  outcomeOf(s.Garbage.DueGarbage(ctx, goldenAt(2), 10)),
		"garbage of a session":     outcomeOf(s.Garbage.DueGarbage(ctx, goldenAt(4), 10)),
		"counter":                  outcomeOf(s.Counters.CountOf(ctx, window)),
		"failures":                 outcomeOf(s.Counters.Failures(ctx, window)),
		"allowance":                outcomeOf(s.Counters.ArtifactsToday(ctx, goldenHome, goldenAt(0))),
		"used nonce":               outcomeOf(s.Counters.Burn(ctx, "nonce-1", goldenAt(5))),
		"unused nonce":             outcomeOf(s.Counters.Burn(ctx, "nonce-2", goldenAt(5))),
		"events":                   outcomeOf(events, nil),
		"reports":                  outcomeOf(reported, nil),
		"counts of threads":        outcomeOf(counts, nil),
		"thread":                   outcomeOf(thread, nil),
		"threads":                  outcomeOf(threads.Threads, nil),
		"messages":                 outcomeOf(s.Feedback.Messages(ctx, goldenArtifactA, goldenThread, 0, 10)),
		"what waits":               outcomeOf(s.Feedback.Waiting(ctx, goldenArtifactA)),
	})
	stored, err := s.get(ctx, reportKey(reported[0]))
	wantSame(t, "a report that is stored now", reportItem(reported[0]), stored, err)
}

func TestPartsOfItemsOfEarlierReleasesAreRead(t *testing.T) {
	s := goldenStores(t)
	content := goldenTree[0].Content()
	known, err := s.ContentIndex.Lookup(ctx, goldenHome, []tree.Content{content})
	wantSame(t, "content", known, map[tree.Content]tree.Object{content: goldenTree[0].Object}, err)
	held, dead, err := s.Garbage.ReferencesTo(ctx, goldenTree[0].Object)
	wantSame(t, "reference", held && dead == nil, true, err)
	pins, err := s.get(ctx, pinsKey(goldenDestination))
	wantSame(t, "pins", pins.getNum("n"), int64(1), err)
	fence, err := s.get(ctx, fenceKey(goldenSource, 0))
	wantSame(t, "fence", fence.getStr("into"), string(goldenDestination), err)
	copied, err := s.Copies.Newest(ctx)
	wantSame(t, "the newest copy", copied, goldenAt(0), err)
	identity, err := s.get(ctx, identityKey(goldenIssuer, goldenSubject))
	wantSame(t, "identity", id.Member(identity.getStr("mem")), goldenMemberA, err)
}

func TestTheFirstReleaseUsedUpAnIDToken(t *testing.T) {
	s := goldenStores(t)
	g, proof := newGrant(goldenHome), oauth.Proof{Digest: "proof-1", Until: goldenAt(5)}
	if err := s.Grants.Add(ctx, g, proof, record(goldenHome, goldenAt(1))); !errors.Is(err, oauth.ErrGone) {
		t.Error("an ID token is exchanged twice", err)
	}
}

func TestRecordsOfTheFirstReleaseAnswerRepetitions(t *testing.T) {
	s := goldenStores(t)
	files := must(filepath.Glob("testdata/record-*.*.json"))(t)
	if len(files) != 16 {
		t.Errorf("%d records", len(files))
	}
	for _, file := range files {
		o := idempotency.Operation(strings.TrimSuffix(strings.TrimPrefix(file, "testdata/record-"), ".json"))
		c := goldenCommand(o)
		_, found, err := s.Access.FindMember(ctx, goldenHome, goldenMemberA, access.Request{
			Operation: o,
			Target:    c.Key.Target,
			Client:    c.Key.Client,
		})
		if err != nil || found.Record == nil {
			t.Errorf("%s is forgotten: %v", o, err)
			continue
		}
		first, err := idempotency.First[json.RawMessage](found.Record, c)
		want := readGolden(t, file).Item["result"].B
		if !found.Record.Finished(goldenAt(1)) || err != nil || !bytes.Equal(first, want) {
			t.Errorf("%s: %+v %v\n got %s\nwant %s", o, found.Record, err, first, want)
		}
	}
}

func TestACommandInFlightInTheFirstReleaseIsHeld(t *testing.T) {
	s := goldenStores(t)
	c := goldenCommand(idempotency.FinalizeSession)
	c.Key.Client = "client-key-2"
	want := &idempotency.AlreadyDone{Record: idempotency.Record{
		Fingerprint: c.Fingerprint,
		Lease:       goldenAt(1),
		Expires:     recordItem(c, goldenAt(0)).getSeconds("ttl"),
	}}
	err := s.Uploads.Claim(ctx, c, "another", goldenAt(0), goldenAt(2))
	if diff := cmp.Diff(error(want), err, unexported); diff != "" {
		t.Errorf("the refusal (-want +got):\n%s", diff)
	}
	if err := s.Uploads.Claim(ctx, c, "another", goldenAt(2), goldenAt(3)); err != nil {
		t.Error("a lease that is over is held", err)
	}
}
