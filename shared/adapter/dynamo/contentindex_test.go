package dynamo

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"vitrine/shared/entry/agentauth"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/delegation"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
	"vitrine/shared/publishing/link"
	"vitrine/shared/publishing/lockdown"
)

// An item in listIndex is written a second time there, by every change of any attribute, at the price of its size.
func TestWhatTheListIndexHoldsStaysSmall(t *testing.T) {
	registration, grant := filled[agentauth.Registration](t), filled[oauth.Grant](t)
	registration.State, grant.RevokedAt = agentauth.Verified, time.Time{}
	registration.Vouched, registration.Link = agentauth.Vouched{}, 0 // the others are not listed
	key, linked := filled[credential.Key](t), filled[delegation.Delegation](t)
	key.Term, linked.EndedAt = "", time.Time{} // agents' keys have no login
	for kind, c := range map[string]struct {
		item item
		most int // bytes
	}{
		"artifact":     {artifactItem(filled[artifact.Artifact](t)), 700},
		"API key":      {apiKeyItem(key), 470},
		"access link":  {linkItem(filled[link.Link](t)), 400},
		"registration": {registrationItem(registration), 880},
		"delegation":   {delegationItem(linked), 640},
		"grant":        {grantItem(grant), 660},
		"lockdown":     {lockdownItem(filled[lockdown.Lockdown](t)), 390},
	} {
		if c.item.getStr("g1p") == "" || c.item.getStr("g1s") == "" {
			t.Errorf("%s: it is not listed", kind)
		}
		if size := c.item.size(); size > c.most {
			t.Errorf("%s: %d bytes, want at most %d", kind, size, c.most)
		}
	}
}

// filled is a value without a zero field, with texts of 40 characters.
func filled[T any](t *testing.T) (out T) {
	t.Helper()
	fill(t, reflect.ValueOf(&out).Elem())
	return out
}

// ids are those that the items hold.
var ids = []any{
	id.NewWorkspace(), id.NewArtifact(), id.NewRevision(), id.NewPublic(), id.NewKey(id.NewPublic()), id.NewMember(),
	id.NewLockdown(), id.NewClient(), id.NewLink(), id.RegistrationOf(id.NewPublic()),
	artifact.Live, artifact.FoundApp, agentauth.Verified, link.Share, lockdown.Artifact,
	credential.Publish,
}

func fill(t *testing.T, v reflect.Value) {
	t.Helper()
	if v.Type() == reflect.TypeFor[time.Time]() {
		v.Set(reflect.ValueOf(time.UnixMilli(1_800_000_000_000)))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for n := range v.NumField() {
			fill(t, v.Field(n))
		}
	case reflect.Slice:
		n := 2
		switch v.Type() {
		case reflect.TypeFor[[]byte]():
			n = macLen
		case reflect.TypeFor[[]id.Public]():
			n = limits.AgentTokens
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for n := range v.Len() {
			fill(t, v.Index(n))
		}
	case reflect.String:
		v.SetString(strings.Repeat("x", 40))
		for _, known := range ids {
			if reflect.TypeOf(known) == v.Type() {
				v.Set(reflect.ValueOf(known))
			}
		}
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(1)
	case reflect.Int, reflect.Int64:
		v.SetInt(1000)
	default:
		t.Fatalf("nothing fills a %s", v.Type())
	}
}

// Tables on a machine keep the index that they were made with, which carries 20 attributes beside the keys.
func TestTablesWithAnOlderListIndexGoOn(t *testing.T) {
	client, tables := newClient(t), Named("old-"+string(id.NewPublic()))
	older := coreTable(tables.Core)
	older.GlobalSecondaryIndexes[0].Projection = &types.Projection{
		ProjectionType: types.ProjectionTypeInclude,
		NonKeyAttributes: strings.Fields("status title entry n bytes exp pin_at cur " +
			"created updated deleted own pub_at links_off name scopes rev_at used_at id kind"),
	}
	must(client.CreateTable(t.Context(), older))(t)
	noError(t, CreateTables(t.Context(), client, tables))
	s := New(client, tables)
	w, k := tenant(t, s)
	r := draft(t, s, w, k, "")
	noError(t, s.Artifacts.Publish(t.Context(), publication(k, r, 1)))
	want := must(s.Artifacts.Artifact(t.Context(), r.Artifact))(t)
	rows, _, err := s.Artifacts.List(t.Context(), artifact.Query{Workspace: w.ID, Limit: 10, Now: now()})
	if err != nil || len(rows) != 1 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	shown := func(a artifact.Artifact) string {
		return fmt.Sprint(a.ID, a.Status, a.Title, a.Entrypoint, a.FileCount, a.Size, a.Current,
			a.ExpiresAt, a.CreatedAt, a.UpdatedAt, a.DeletedAt, a.PublishedAt)
	}
	if got, want := shown(rows[0]), shown(*want); got != want {
		t.Errorf("the list shows %s, want %s", got, want)
	}
}
