package identity

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// operatorRoutes are all of them, as far as it takes to be let in.
var operatorRoutes = []struct {
	method, path string
	body         any
}{
	{"POST", harness.LocksPath, harness.LockdownOf("artifact", "art_1")},
	{"GET", harness.LocksPath, nil},
	{"DELETE", harness.LocksPath + "/artifact/art_1", nil},
	{"GET", harness.RecordPath, nil},
	{"GET", harness.RecordPath + "?action=", nil},
	{"POST", harness.LocksPath, `{"malformed`},
}

var requestIDs = regexp.MustCompile(`"request_id":"[^"]*"`)

func TestT47OperatorRoutesAreNotThereForAnybodyElse(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	op := s.NewOperator(t)
	promoted := func(client id.Client, audience string, ago time.Duration) *wire.Agent {
		return s.Promote(t, s.GrantTo(t, op, client, audience), s.Options.Now().Add(-ago)).Agent
	}
	nowhere := requestIDs.ReplaceAllString(string(s.Get(t, s.Origins.API+"/v1/web/admin/nowhere").Body), "")
	for name, g := range map[string]*wire.Agent{
		"nobody":                   s.Anyone,
		"an API key":               s.Agent,
		"a member":                 s.Member.Agent,
		"a stale operator":         promoted("cli", s.Origins.API, limits.OperatorFresh),
		"one of the future":        promoted("cli", s.Origins.API, -time.Hour),
		"a token for another host": promoted("cli", "https://mcp.test", 0),
		"a strange client":         promoted(id.NewClient(), s.Origins.API, 0),
		"a malformed token":        s.WithBearer("x"),
	} {
		for _, r := range operatorRoutes {
			a := harness.Do(t, g, r.method, g.At.APIURL+r.path, r.body)
			harness.WantRefused(t, a, 404, fault.NotFound)
			body := requestIDs.ReplaceAllString(string(a.Body), "")
			if body != nowhere || a.Header.Get("WWW-Authenticate") != "" {
				t.Errorf("%s learns of %s %s: %s", name, r.method, r.path, a.Body)
			}
		}
	}
	bearer := "Authorization: Bearer " + op.Key
	harness.WantRefused(t, s.SendRaw(t, "api", "GET "+harness.RecordPath, "", bearer, bearer), 404, fault.NotFound)
	lock := harness.LockdownOf("artifact", "art_1")
	harness.WantRefused(t, harness.TryAs(t, op, "POST", harness.LocksPath, lock), 400, fault.InvalidIdempotencyKey)
	s.Clock.Advance(limits.OperatorFresh)
	harness.WantRefused(t, harness.TryAs(t, op, "GET", harness.RecordPath, nil), 404, fault.NotFound)
}

func TestWhoIsAnOperatorIsSaidByTheIdentityProviderEachTime(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	for _, c := range []struct {
		groups []string
		status int
	}{
		{[]string{"operators2", "Operators"}, 404}, {[]string{"staff", "operators"}, 200}, {nil, 404},
	} {
		who := provider.Person{Email: "ada@example.org", Groups: c.groups}
		idToken := harness.Must(p.Identity.Mint(who, "", "", provider.Honest))(t)
		token := p.Token(t, harness.ExchangeGrant("dashboard", idToken)).AccessToken
		if got := p.StatusFor(t, token, harness.RecordPath); got != c.status {
			t.Errorf("in %q: %d", c.groups, got)
		}
	}
}

// recorded reads all pages of a record.
func recorded(t testing.TB, op *harness.Member, filter url.Values, limit string) (rows []contract.OperatorEvent) {
	t.Helper()
	query := url.Values{"limit": {limit}}
	for name, v := range filter {
		query[name] = v
	}
	for {
		list := harness.CallAs[contract.OperatorEventList](t, op, 200, "GET", harness.RecordPath+"?"+query.Encode(), nil)
		if rows = append(rows, list.Items...); !list.PageInfo.HasMore {
			return rows
		}
		query.Set("cursor", *list.PageInfo.NextCursor)
	}
}

func TestAnOperatorReadsWhatWasDoneEverywhere(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	for range 3 { // days apart
		harness.PublishPage(t, s.Agent, "of a day")
		s.Clock.Advance(limits.Day + 7*time.Hour)
	}
	op := s.NewOperator(t)
	harness.DeleteArtifact(t, s.Agent, s.Published.ArtifactID)
	all, paged := recorded(t, op, nil, "100"), recorded(t, op, nil, "3")
	if len(all) < 14 || len(all) != len(paged) {
		t.Fatalf("%d events, and %d in pages", len(all), len(paged))
	}
	for n, row := range all {
		if row.ID != paged[n].ID || n > 0 && row.Time.After(all[n-1].Time.Time) {
			t.Errorf("%d: %+v, in pages %+v", n, row, paged[n])
		}
	}
	mine, w := s.Events(t, s.Agent), string(s.Member.Workspace)
	sum := 0
	for _, n := range mine {
		sum += n
	}
	published := mine[harness.ArtifactPublished]
	for name, c := range map[string]struct {
		filter url.Values
		want   int
	}{
		"one workspace": {url.Values{"workspace_id": {w}}, sum},
		"published":     {url.Values{"action": {harness.ArtifactPublished}}, published},
		"by the system": {url.Values{"actor_type": {"system"}}, 2},
		"revisions":     {url.Values{"target_type": {"revision"}}, published},
		"security":      {url.Values{"focus": {"security"}}, 1},
		"lifecycle":     {url.Values{"focus": {"lifecycle"}}, len(all) - 1},
		"several":       {url.Values{"focus": {"lifecycle"}, "workspace_id": {w}, "actor_type": {"api_key"}}, sum - 2},
		"one request":   {url.Values{"request_id": {all[1].RequestID}}, 1},
		"nobody's":      {url.Values{"workspace_id": {string(id.NewWorkspace())}}, 0},
	} {
		if rows := recorded(t, op, c.filter, "2"); len(rows) != c.want {
			t.Errorf("%s: %d events, want %d", name, len(rows), c.want)
		}
	}
	for _, q := range []string{"workspace_id=", "focus=", "limit=0", "limit=101"} {
		a := harness.TryAs(t, op, "GET", harness.RecordPath+"?"+q, nil)
		harness.WantRefused(t, a, 400, fault.InvalidRequest)
	}
}

func TestF75ACursorIsForItsListItsFilterAndADay(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	op := s.NewOperator(t)
	for range 2 {
		harness.Lock(t, op, "artifact", string(harness.PublishPage(t, s.Agent, "x").ArtifactID))
	}
	record := harness.CallAs[contract.OperatorEventList](t, op, 200, "GET", harness.RecordPath+"?limit=1", nil).PageInfo
	locks := harness.CallAs[contract.LockdownList](t, op, 200, "GET", harness.LocksPath+"?limit=1", nil).PageInfo
	cursor, lock := *record.NextCursor, *locks.NextCursor
	const events, lockdowns = harness.RecordPath + "?cursor=", harness.LocksPath + "?cursor="
	harness.CallAs[contract.OperatorEventList](t, op, 200, "GET", events+cursor, nil)
	refused := func(by *harness.Member, paths ...string) {
		t.Helper()
		for _, path := range paths {
			harness.WantRefused(t, harness.TryAs(t, by, "GET", path, nil), 400, fault.InvalidCursor)
		}
	}
	refused(op, events, events+cursor[:len(cursor)-2]+"AA", events+strings.Repeat("x", 501), events+lock,
		harness.RecordPath+"?focus=security&cursor="+cursor, lockdowns, lockdowns+cursor)
	refused(s.NewOperator(t), events+cursor, lockdowns+lock)
	s.Clock.Advance(limits.CursorLife + time.Hour)
	refused(s.Promote(t, s.GrantTo(t, op, "cli", s.Origins.API), s.Options.Now()), events+cursor, lockdowns+lock)
}
