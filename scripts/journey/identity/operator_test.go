package identity

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/testkit/idp/provider"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
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
	stale := s.Promote(t, s.GrantTo(t, op, "cli", s.Origins.API), s.Options.Now().Add(-limits.OperatorFresh))
	future := s.Promote(t, s.GrantTo(t, op, "cli", s.Origins.API), s.Options.Now().Add(time.Hour))
	delegated := s.Promote(t, s.GrantTo(t, op, "cli", "https://mcp.test"), s.Options.Now())
	strange := s.Promote(t, s.GrantTo(t, op, id.NewClient(), s.Origins.API), s.Options.Now())
	nowhere := requestIDs.ReplaceAllString(
		string(harness.Do(t, s.Anyone, "GET", s.Origins.API+"/v1/web/admin/nowhere", nil).Body), "",
	)
	for name, g := range map[string]*wire.Agent{
		"nobody":                   s.Anyone,
		"an API key":               s.Agent,
		"a member":                 s.Member.Agent,
		"a stale operator":         stale.Agent,
		"one of the future":        future.Agent,
		"a token for another host": delegated.Agent, "a strange client": strange.Agent,
		"a malformed token": {HTTP: s.Anyone.HTTP, At: s.Anyone.At, Key: "x"},
	} {
		for _, r := range operatorRoutes {
			for _, headers := range [][]string{nil, harness.KeyHeader()} {
				a := harness.Do(t, g, r.method, g.At.APIURL+r.path, r.body, headers...)
				harness.WantRefused(t, a, 404, fault.NotFound)
				body := requestIDs.ReplaceAllString(string(a.Body), "")
				if body != nowhere || a.Header.Get("WWW-Authenticate") != "" {
					t.Errorf("%s learns of %s %s: %s", name, r.method, r.path, a.Body)
				}
			}
		}
	}
	two := s.SendRaw(
		t, "api", "GET "+harness.RecordPath, "", "Authorization: Bearer "+op.Key, "Authorization: Bearer "+op.Key,
	)
	harness.WantRefused(t, two, 404, fault.NotFound)
	harness.CallAs[contract.OperatorEventList](t, op, 200, "GET", harness.RecordPath, nil)
	harness.WantRefused(
		t,
		harness.TryAs(t, op, "POST", harness.LocksPath, harness.LockdownOf("artifact", "art_1")),
		400,
		fault.InvalidIdempotencyKey,
	)
	s.Clock.Advance(limits.OperatorFresh)
	harness.WantRefused(t, harness.TryAs(t, op, "GET", harness.RecordPath, nil), 404, fault.NotFound)
}

func TestAnOperatorRouteSaysWhenTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	op := s.NewOperator(t)
	s.Faults.On("BatchGetItem").Before(chaos.Fail(harness.ErrDown))
	harness.WantRefused(t, harness.TryAs(t, op, "GET", harness.RecordPath, nil), 503, fault.DatabaseUnavailable)
}

// exchangeToken returns a member with an access token that was exchanged for an ID token.
func exchangeToken(t testing.TB, p *harness.BackendEnv, who provider.Person) *harness.Member {
	t.Helper()
	idToken := harness.Must(p.Identity.Mint(who, "", "", provider.Honest))(t)
	token := p.Token(t, harness.ExchangeGrant("dashboard", idToken))
	return &harness.Member{Agent: p.WithBearer(token.AccessToken)}
}

func TestWhoIsAnOperatorIsSaidByTheIdentityProviderEachTime(t *testing.T) {
	t.Parallel()
	p := harness.NewBackendEnv(t)
	for name, c := range map[string]struct {
		groups []string
		status int
	}{
		"nobody's group": {nil, 404},
		"another group":  {[]string{"operators2", "Operators"}, 404},
		"operators":      {[]string{"staff", "operators"}, 200},
		"no more":        {nil, 404},
	} {
		who := exchangeToken(t, p, provider.Person{Email: "ada@example.org", Groups: c.groups})
		if a := harness.TryAs(t, who, "GET", harness.RecordPath, nil); a.Status != c.status {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
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
	harness.TryDelete(t, s.Agent, s.Published.ArtifactID)
	all := recorded(t, op, nil, "100")
	paged := recorded(t, op, nil, "3")
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
	for name, c := range map[string]struct {
		filter url.Values
		want   int
		fits   func(contract.OperatorEvent) bool
	}{
		"one workspace": {url.Values{"workspace_id": {w}}, sum, func(e contract.OperatorEvent) bool {
			return string(*e.WorkspaceID) == w
		}},
		"published": {
			url.Values{"action": {"artifact.published"}},
			mine["artifact.published"],
			func(e contract.OperatorEvent) bool {
				return e.Action == "artifact.published"
			}},
		"by the system": {url.Values{"actor_type": {"system"}}, 2, func(e contract.OperatorEvent) bool {
			return e.ActorType == "system"
		}},
		"revisions": {url.Values{"target_type": {"revision"}}, mine["artifact.published"], func(e contract.OperatorEvent) bool {
			return e.TargetType == "revision"
		}},
		"security": {url.Values{"focus": {"security"}}, 1, func(e contract.OperatorEvent) bool {
			return e.Action == "artifact.deleted"
		}},
		"lifecycle": {url.Values{"focus": {"lifecycle"}}, len(all) - 1, func(e contract.OperatorEvent) bool {
			return e.Action != "artifact.deleted"
		}},
		"both": {
			url.Values{"focus": {"lifecycle"}, "workspace_id": {w}, "actor_type": {"api_key"}},
			sum - 2,
			func(e contract.OperatorEvent) bool {
				return e.ActorType == "api_key"
			}},
		"one request": {url.Values{"request_id": {all[1].RequestID}}, 1, func(e contract.OperatorEvent) bool {
			return e.ID == all[1].ID
		}},
		"nothing":  {url.Values{"focus": {"security"}, "action": {"artifact.created"}}, 0, nil},
		"nobody's": {url.Values{"workspace_id": {string(id.NewWorkspace())}}, 0, nil},
	} {
		rows := recorded(t, op, c.filter, "2")
		if len(rows) != c.want {
			t.Errorf("%s: %d events, want %d", name, len(rows), c.want)
		}
		for _, row := range rows {
			if !c.fits(row) {
				t.Errorf("%s: %+v", name, row)
			}
		}
	}
}

func TestAnEmptyFilterAndALimitThatIsNoneAreRefused(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	op := s.NewOperator(t)
	for _, q := range []string{
		"workspace_id=", "actor_type=", "action=", "target_type=", "request_id=", "focus=",
		"limit=0", "limit=", "limit=x", "limit=101",
	} {
		t.Log(q)
		harness.WantRefused(t, harness.TryAs(t, op, "GET", harness.RecordPath+"?"+q, nil), 400, fault.InvalidRequest)
	}
}

func TestF75ACursorIsForItsListItsFilterAndADay(t *testing.T) {
	t.Parallel()
	s := harness.NewLinkEnv(t)
	op, other := s.NewOperator(t), s.NewOperator(t)
	for range 2 {
		harness.Lock(t, op, "artifact", string(harness.PublishPage(t, s.Agent, "x").ArtifactID))
	}
	page := harness.CallAs[contract.OperatorEventList](t, op, 200, "GET", harness.RecordPath+"?limit=1", nil)
	cursor := *page.PageInfo.NextCursor
	lock := *harness.CallAs[contract.LockdownList](
		t, op, 200, "GET", harness.LocksPath+"?limit=1", nil,
	).PageInfo.NextCursor
	harness.CallAs[contract.OperatorEventList](t, op, 200, "GET", harness.RecordPath+"?cursor="+cursor, nil)
	for name, path := range map[string]string{
		"empty":             harness.RecordPath + "?cursor=",
		"tampered":          harness.RecordPath + "?cursor=" + cursor[:len(cursor)-2] + "AA",
		"long":              harness.RecordPath + "?cursor=" + strings.Repeat("x", 501),
		"of another filter": harness.RecordPath + "?focus=security&cursor=" + cursor,
		"of another list":   harness.RecordPath + "?cursor=" + lock,
		"of the record":     harness.LocksPath + "?cursor=" + cursor, "locks, empty": harness.LocksPath + "?cursor=",
	} {
		t.Log(name)
		harness.WantRefused(t, harness.TryAs(t, op, "GET", path, nil), 400, fault.InvalidCursor)
	}
	harness.WantRefused(
		t, harness.TryAs(t, other, "GET", harness.RecordPath+"?cursor="+cursor, nil), 400, fault.InvalidCursor,
	)
	harness.WantRefused(
		t, harness.TryAs(t, other, "GET", harness.LocksPath+"?cursor="+lock, nil), 400, fault.InvalidCursor,
	)
	s.Clock.Advance(limits.CursorLife + time.Hour)
	late := s.Promote(t, s.GrantTo(t, op, "cli", s.Origins.API), s.Options.Now())
	harness.WantRefused(
		t, harness.TryAs(t, late, "GET", harness.RecordPath+"?cursor="+cursor, nil), 400, fault.InvalidCursor,
	)
	harness.WantRefused(t, harness.TryAs(t, late, "GET", harness.LocksPath+"?cursor="+lock, nil), 400, fault.InvalidCursor)
}
