package dynamo

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/entry/access"
	"vitrine/shared/entry/claim"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/identity/account"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/identity/signin"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/rate"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/lockdown"
	"vitrine/shared/publishing/sweep"
	"vitrine/shared/publishing/tree"
)

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

func TestListsInTheirNeighboursItemsAreRead(t *testing.T) {
	s := goldenStores(t)
	r := togetherRevision
	files, err := s.Artifacts.Tree(ctx, r.Artifact, r.ID)
	wantSame(t, "the files", files, goldenTree, err)
	contents, err := s.Artifacts.Contents(ctx, r.Artifact, r.ID)
	wantSame(t, "the contents", contents, &artifact.Contents{Revision: r, Tree: goldenTree}, err)
	u, entries, err := s.Uploads.Session(ctx, togetherUpload.ID)
	wantSame(t, "the session", u, &togetherUpload, err)
	wantSame(t, "its entries", entries, goldenEntries, nil)
	var candidate []tree.File
	found, err := s.Garbage.DueGarbage(ctx, goldenAt(4), 10)
	for _, c := range found {
		if c.Session == togetherUpload.ID {
			candidate = c.Objects
		}
	}
	wantSame(t, "the garbage", candidate, []tree.File{
		{Size: 3, SHA256: goldenDigest, Object: tree.Object{Session: togetherUpload.ID, Entry: 0}},
		{Size: 3, SHA256: goldenDigest, Object: tree.Object{Session: togetherUpload.ID, Entry: 7}},
	}, err)
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
		var g golden
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &g)
		}
		table := tables[g.Table]
		if err == nil {
			_, err = s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: g.item()})
		}
		if err != nil {
			t.Fatal(file, err)
		}
	}
	return s
}

// outcome is what reading an item gives.
type outcome struct {
	got any
	err error
}

func outcomeOf[T any](got T, err error) outcome { return outcome{got, err} }

func TestItemsOfTheFirstReleaseAreRead(t *testing.T) {
	s := goldenStores(t)
	object := goldenTree[0].Object
	window := rate.Window{
		Kind:    "publish",
		Host:    "api",
		Subject: "subject-1",
		Start:   goldenAt(0),
		End:     goldenAt(1),
	}
	tests := map[string]struct {
		outcome
		want any
	}{
		"artifact":     {outcomeOf(s.Artifacts.Artifact(ctx, goldenArtifactA)), &goldenArtifact},
		"revision":     {outcomeOf(s.Artifacts.Revision(ctx, goldenArtifactA, goldenCurrent)), &goldenRevision},
		"revisions":    {outcomeOf(s.Artifacts.Revisions(ctx, goldenArtifactA)), []artifact.Revision{goldenRevision}},
		"files":        {outcomeOf(s.Artifacts.Tree(ctx, goldenArtifactA, goldenCurrent)), goldenTree},
		"workspace":    {outcomeOf(s.Workspaces.Workspace(ctx, goldenHome)), &goldenWorkspace},
		"quota":        {outcomeOf(s.Workspaces.Quota(ctx)), ephemeral.Quota{PerMinute: 30, ValidUntil: goldenAt(60)}},
		"API key":      {outcomeOf(s.Keys.Key(ctx, goldenPublic)), &goldenKey},
		"claim token":  {outcomeOf(s.Claims.Token(ctx, goldenPublic)), &goldenClaimToken},
		"link":         {outcomeOf(s.Links.Link(ctx, goldenPublic)), &goldenLink},
		"grant":        {outcomeOf(s.Grants.Grant(ctx, goldenPublic)), &goldenGrant},
		"client":       {outcomeOf(s.Clients.Client(ctx, goldenClientA)), &goldenClient},
		"described":    {outcomeOf(s.Clients.Client(ctx, goldenDescribed.ID)), &goldenDescribed},
		"request":      {outcomeOf(s.Consents.Request(ctx, goldenRequest.Secret)), &goldenRequest},
		"code":         {outcomeOf(s.Consents.Code(ctx, goldenPublic)), &goldenCode},
		"device":       {outcomeOf(s.Devices.Flow(ctx, goldenPublic)), &goldenFlow},
		"user code":    {outcomeOf(s.Devices.FlowByUserCode(ctx, [][]byte{[]byte("mac of the user code")})), &goldenFlow},
		"session":      {outcomeOf(s.Sessions.Session(ctx, goldenSession.Hash)), &goldenSession},
		"lockdown":     {outcomeOf(s.Lockdowns.Active(ctx, lockdown.Artifact, string(goldenArtifactA))), &goldenLockdown},
		"uploader":     {outcomeOf(s.Garbage.UploaderOf(ctx, goldenUploadA)), goldenArtifactA},
		"counter":      {outcomeOf(s.Counters.CountOf(ctx, window)), 3},
		"failures":     {outcomeOf(s.Counters.Failures(ctx, window)), 3},
		"allowance":    {outcomeOf(s.Counters.ArtifactsToday(ctx, goldenHome, goldenAt(0))), 1},
		"used nonce":   {outcomeOf(s.Counters.Burn(ctx, "nonce-1", goldenAt(5))), false},
		"unused nonce": {outcomeOf(s.Counters.Burn(ctx, "nonce-2", goldenAt(5))), true},
		"content": {
			outcomeOf(s.ContentIndex.Lookup(ctx, goldenHome, []tree.Content{goldenTree[0].Content()})),
			map[tree.Content]tree.Object{goldenTree[0].Content(): object},
		},
		"garbage": {
			outcomeOf(s.Garbage.DueGarbage(ctx, goldenAt(2), 10)),
			[]sweep.GarbageCandidate{{
				Home:      goldenHome,
				Session:   object.Session,
				Objects:   []tree.File{{Size: 3, SHA256: goldenDigest, Object: object}},
				QueueItem: sweep.QueueItem{Key: deletionPrefix + objectName(object) + "\nJ", Due: goldenAt(1)},
			}},
		},
		"migration": {
			outcomeOf(s.Claims.Due(ctx, goldenAt(2), 10)),
			[]claim.DueMove{{Source: goldenSource, Due: goldenAt(1)}},
		},
		"alias": {
			outcomeOf(s.Artifacts.sources(ctx, "11111111-11b4-4627-9faf-0318b6bcea69")),
			[]workspace.Workspace{{
				ID:          goldenSource,
				ClaimedInto: "11111111-11b4-4627-9faf-0318b6bcea69",
				ClaimedAt:   goldenAt(1),
				MinExpiry:   goldenAt(2),
			}},
		},
		"sign-in": {
			outcomeOf(s.SignIns.Take(ctx, "state-1", signin.Hash(goldenSession.Hash), goldenAt(1))),
			&signin.Attempt{
				State:     "state-1",
				Browser:   signin.Hash(goldenSession.Hash),
				ReturnTo:  "/dashboard",
				ExpiresAt: goldenAt(10),
			},
		},
	}
	for name, tt := range tests {
		if tt.err != nil || !reflect.DeepEqual(tt.got, tt.want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", name, tt.err, tt.got, tt.want)
		}
	}
}

func TestItemsOfTheFirstReleaseThatAreReadTogether(t *testing.T) {
	s := goldenStores(t)
	same := func(name string, got, want any, err error) {
		t.Helper()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", name, err, got, want)
		}
	}
	m, w, err := s.Members.Member(ctx, goldenHome, goldenMemberA)
	same("member", m, &goldenMember, err)
	same("workspace of the member", w, &goldenWorkspace, nil)
	token, r, err := s.Registrations.ByClaimToken(ctx, goldenPublic)
	same("registration", r, &goldenRegistration, err)
	same("claim token of the registration", token, &goldenClaimToken, nil)
	u, entries, err := s.Uploads.Session(ctx, goldenUploadA)
	same("upload", u, &goldenUpload, err)
	same("entries", entries, goldenEntries, nil)
	held, dead, err := s.Garbage.ReferencesTo(ctx, goldenTree[0].Object)
	same("reference", held && dead == nil, true, err)
	rows, _, err := s.Lockdowns.List(ctx, lockdown.Position{}, 10)
	same("lockdowns", rows, []lockdown.Lockdown{goldenLifted()}, err)
	pins, err := s.get(ctx, pinsKey("11111111-11b4-4627-9faf-0318b6bcea69"))
	same("pins", pins.getNum("n"), int64(1), err)
	fence, err := s.get(ctx, fenceKey(goldenSource, 0))
	same("fence", fence.getStr("into"), "11111111-11b4-4627-9faf-0318b6bcea69", err)
	known, err := s.get(ctx, identityKey(goldenIssuer, goldenSubject))
	same("identity", id.Member(known.getStr("mem")), goldenMemberA, err)
	events, _, _, err := s.Events.List(ctx, account.Filter{Workspace: goldenHome}, goldenAt(5), account.Position{}, 10)
	same("event", events, []event.Event{goldenEvent}, err)
}

func TestTheFirstReleaseUsedUpAnIDToken(t *testing.T) {
	s := goldenStores(t)
	g, e := goldenGrant, goldenEvent
	g.Public, e.ID = id.NewPublic(), id.NewEvent()
	if err := s.Grants.Add(ctx, g, oauth.Proof{Digest: "proof-1", Until: goldenAt(5)}, e); !errors.Is(err, oauth.ErrGone) {
		t.Error("an ID token is exchanged twice", err)
	}
}

func TestRecordsOfTheFirstReleaseAnswerRepetitions(t *testing.T) {
	s := goldenStores(t)
	for o, result := range goldenResults {
		c := goldenCommand(o)
		_, found, err := s.Access.FindMember(ctx, goldenHome, goldenMemberA, access.Request{
			Operation: o,
			Target:    c.Key.Target,
			Client:    c.Key.Client,
		})
		r := found.Record
		if err != nil || r == nil {
			t.Errorf("%s is forgotten: %v", o, err)
			continue
		}
		first, err := idempotency.First[json.RawMessage](r, c)
		if !r.Finished(goldenAt(1)) || err != nil || string(first) != result {
			t.Errorf("%s: %+v %v\n got %s\nwant %s", o, r, err, first, result)
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
	if !reflect.DeepEqual(err, error(want)) {
		t.Errorf("got %+v want %+v", err, want)
	}
	if err := s.Uploads.Claim(ctx, c, "another", goldenAt(2), goldenAt(3)); err != nil {
		t.Error("a lease that is over is held", err)
	}
}
