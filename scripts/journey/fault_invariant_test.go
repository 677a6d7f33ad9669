package journey

import (
	"maps"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"vitrine/scripts/testkit/invariant"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/id"
)

// breach is damage that Check has to see. Its item is the first one with the prefixes of pk and sk.
type breach struct {
	name, invariant string
	table           func(*faultStand) string
	pk, sk          string
	set             map[string]any // nil removes the item
}

func faultCore(s *faultStand) string   { return s.names.Core }
func faultEvents(s *faultStand) string { return s.names.Events }
func faultHot(s *faultStand) string    { return s.names.Hot }

var breaches = []breach{
	{"an artifact that never ends", "I2", faultCore, "A#", "META", map[string]any{"g2p": nil}},
	{"an artifact that falls due late", "I2", faultCore, "A#", "META", map[string]any{"g2s": "9999999999999"}},
	{"a number that is missing", "I4", faultCore, "A#", "R#", map[string]any{"no": 7}},
	{"a revision without files", "I4", faultCore, "A#", "M#", nil},
	{"another current revision", "I4", faultCore, "A#", "META", map[string]any{"cur": string(id.NewRevision())}},
	{"a draft that is none", "I4", faultCore, "A#", "META", map[string]any{"draft": string(id.NewRevision())}},
	{"a link to what is deleted", "I4", faultCore, "A#", "META", map[string]any{"status": "deleted"}},
	{"a stranger's link", "I4", faultCore, "AL#", "L", map[string]any{"art": string(id.NewArtifact())}},
	{"a counter above its cap", "I5", faultHot, "r:actor", "", map[string]any{"c": 121}},
	{"an allowance used twice", "I5", faultHot, "d:", "", map[string]any{"c": 2}},
	{"an allowance not used", "I5", faultHot, "d:", "", nil},
	{"more bytes than a day has", "I5", faultHot, "b:", "", map[string]any{"c": 4*20*25<<20/4 + 1}},
	{"a ttl in milliseconds", "I5", faultHot, "r:", "", map[string]any{"ttl": 1_700_000_000_000}},
	{"an action without event", "I6", faultEvents, "W#", "", nil},
	{"an event without action", "I6", faultCore, "U#", "META", nil},
	{"an event of something else", "I6", faultEvents, "W#", "", map[string]any{"on_id": "else"}},
	{"a workspace without claim token", "I6", faultCore, "CT#", "C", nil},
	{"a key without workspace", "I6", faultCore, "K#", "K", map[string]any{"ws": string(id.NewWorkspace())}},
	{"a draft without its session's end", "I6", faultCore, "U#", "META", map[string]any{"status": "pending"}},
	{"a claimed workspace that is open", "I7", faultCore, "W#", "META", map[string]any{"into": string(id.NewWorkspace())}},
	{"a result that is lost", "I8", faultHot, "i:", "", map[string]any{"result": nil}},
	{"a state that is none", "I8", faultHot, "i:", "", map[string]any{"state": "failed"}},
	{"a lease without owner", "I8", faultHot, "i:", "", map[string]any{"state": "flight"}},
	{"a secret", "I8", faultEvents, "W#", "", map[string]any{"detail": "by ap_pk_preview_0000000000000000"}},
	{"a signed URL in a result", "I8", faultHot, "i:", "", map[string]any{"result": []byte(`{"u":"https://x"}`)}},
}

func TestTheInvariantsSeeEveryBreach(t *testing.T) {
	t.Parallel()
	s := newFaultStand(t)
	g := s.agent(t)
	u := s.uploaded(t, g, "", "sound")
	d := must(g.Finalize(ctx, wire.NewKey(), u.UploadSessionID))(t)
	must(g.Publish(ctx, wire.NewKey(), d.ArtifactID, d.RevisionID))(t)
	s.sound(t)
	for _, b := range breaches {
		t.Run(b.name, func(t *testing.T) {
			whole := s.first(t, b)
			s.rewrite(t, b.table(s), whole, b.set)
			s.sees(t, b.invariant)
			s.rewrite(t, b.table(s), whole, map[string]any{})
		})
	}
	s.sound(t)
	pending := "U#" + string(s.uploaded(t, g, "", "pending").UploadSessionID)
	due := text(s.item(t, pending, "META")["g2p"])
	s.change(t, pending, "META", map[string]any{"g2p": nil})
	s.sees(t, "I2")
	s.change(t, pending, "META", map[string]any{"g2p": due})
	s.smuggle(t, g, u.UploadSessionID, "077", "stranger")
	s.sees(t, "I2")
	s.erase(t, g, u.UploadSessionID, "077")
	s.erase(t, g, u.UploadSessionID, "000")
	s.sees(t, "I1")
	s.smuggle(t, g, u.UploadSessionID, "000", "shorter")
	s.sees(t, "I1")
	s.smuggle(t, g, u.UploadSessionID, "000", string(page("sound").Body))
}

// sees checks that some breach of the invariant is reported.
func (s *faultStand) sees(t testing.TB, name string) {
	t.Helper()
	found := invariant.Check(ctx, s.inside())
	for _, err := range found {
		if strings.HasPrefix(err.Error(), name+":") {
			return
		}
	}
	t.Errorf("no breach of %s is reported, but %v", name, found)
}

// first is the item that a breach damages.
func (s *faultStand) first(t testing.TB, b breach) stored {
	t.Helper()
	for _, item := range s.all(t, b.table(s)) {
		if strings.HasPrefix(text(item["pk"]), b.pk) && (b.sk == "" || strings.HasPrefix(text(item["sk"]), b.sk)) {
			return item
		}
	}
	t.Fatalf("there is no %s %s to damage", b.pk, b.sk)
	return nil
}

// rewrite stores an item with changes, or removes it.
func (s *faultStand) rewrite(t testing.TB, table string, item stored, set map[string]any) {
	t.Helper()
	if set == nil {
		key := stored{"pk": item["pk"]}
		if item["sk"] != nil {
			key["sk"] = item["sk"]
		}
		must(s.client.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &table, Key: key}))(t)
		return
	}
	changed := maps.Clone(item)
	alter(changed, set)
	must(s.client.PutItem(ctx, &dynamodb.PutItemInput{TableName: &table, Item: changed}))(t)
}
