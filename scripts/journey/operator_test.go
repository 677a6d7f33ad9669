package journey

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/testkit/idp/provider"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/adapter/chaos"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

const recordPath = "/v1/web/admin/events"

// operatorRoutes are all of them, as far as it takes to be let in.
var operatorRoutes = []struct {
	method, path string
	body         any
}{
	{"POST", locksPath, lockOf("artifact", "art_1")},
	{"GET", locksPath, nil},
	{"DELETE", locksPath + "/artifact/art_1", nil},
	{"GET", recordPath, nil},
	{"GET", recordPath + "?action=", nil},
	{"POST", locksPath, `{"malformed`},
}

var requestIDs = regexp.MustCompile(`"request_id":"[^"]*"`)

func TestT47OperatorRoutesAreNotThereForAnybodyElse(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	op := s.operator(t)
	stale := s.promotes(t, s.lets(t, op, "cli", s.Origins.API), s.options.Now().Add(-limits.OperatorFresh))
	future := s.promotes(t, s.lets(t, op, "cli", s.Origins.API), s.options.Now().Add(time.Hour))
	delegated := s.promotes(t, s.lets(t, op, "cli", "https://mcp.test"), s.options.Now())
	strange := s.promotes(t, s.lets(t, op, id.NewClient(), s.Origins.API), s.options.Now())
	nowhere := requestIDs.ReplaceAllString(string(do(t, s.anyone, "GET", s.Origins.API+"/v1/web/admin/nowhere", nil).Body), "")
	for name, g := range map[string]*wire.Agent{
		"nobody": s.anyone, "an API key": s.agent, "a member": s.who.Agent, "a stale operator": stale.Agent, "one of the future": future.Agent,
		"a token for another host": delegated.Agent, "a strange client": strange.Agent,
		"a malformed token": {HTTP: s.anyone.HTTP, At: s.anyone.At, Key: "x"},
	} {
		for _, r := range operatorRoutes {
			for _, headers := range [][]string{nil, keyed()} {
				a := do(t, g, r.method, g.At.APIURL+r.path, r.body, headers...)
				refused(t, a, 404, fault.NotFound)
				if body := requestIDs.ReplaceAllString(string(a.Body), ""); body != nowhere || a.Header.Get("WWW-Authenticate") != "" {
					t.Errorf("%s learns of %s %s: %s", name, r.method, r.path, a.Body)
				}
			}
		}
	}
	two := s.raw(t, "api", "GET "+recordPath, "", "Authorization: Bearer "+op.Key, "Authorization: Bearer "+op.Key)
	refused(t, two, 404, fault.NotFound)
	asks[contract.OperatorEventList](t, op, 200, "GET", recordPath, nil)
	refused(t, tries(t, op, "POST", locksPath, lockOf("artifact", "art_1")), 400, fault.InvalidIdempotencyKey)
	s.clock.pass(limits.OperatorFresh)
	refused(t, tries(t, op, "GET", recordPath, nil), 404, fault.NotFound)
}

func TestAnOperatorRouteSaysWhenTheDatabaseIsAway(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	op := s.operator(t)
	s.faults.On("BatchGetItem").Before(chaos.Fail(errDown))
	refused(t, tries(t, op, "GET", recordPath, nil), 503, fault.DatabaseUnavailable)
}

// exchanged is a member whose access token was made of an ID token.
func (p *probe) exchanged(t testing.TB, who provider.Person) *person {
	t.Helper()
	form := url.Values{
		"grant_type": {contract.GrantExchange}, "client_id": {"dashboard"}, "subject_token_type": {contract.TypeIDToken},
		"subject_token": {must(p.Identity.Mint(who, "", "", provider.Honest))(t)},
	}
	a := do(t, p.anyone, "POST", p.Origins.API+"/oauth2/token", form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
	var token contract.Token
	if succeed(t, json.Unmarshal(a.Body, &token)); a.Status != http.StatusOK {
		t.Fatalf("%d %s", a.Status, a.Body)
	}
	return &person{Agent: &wire.Agent{HTTP: p.anyone.HTTP, At: p.anyone.At, Key: token.AccessToken}}
}

func TestWhoIsAnOperatorIsSaidByTheIdentityProviderEachTime(t *testing.T) {
	t.Parallel()
	p := pry(t)
	for name, c := range map[string]struct {
		groups []string
		status int
	}{
		"nobody's group": {nil, 404}, "another group": {[]string{"operators2", "Operators"}, 404}, "operators": {[]string{"staff", "operators"}, 200},
		"no more": {nil, 404},
	} {
		who := p.exchanged(t, provider.Person{Email: "ada@example.org", Groups: c.groups})
		if a := tries(t, who, "GET", recordPath, nil); a.Status != c.status {
			t.Errorf("%s: %d %s", name, a.Status, a.Body)
		}
	}
}

// recorded reads all pages of a record.
func recorded(t testing.TB, op *person, filter url.Values, limit string) (rows []contract.OperatorEvent) {
	t.Helper()
	query := url.Values{"limit": {limit}}
	for name, v := range filter {
		query[name] = v
	}
	for {
		list := asks[contract.OperatorEventList](t, op, 200, "GET", recordPath+"?"+query.Encode(), nil)
		if rows = append(rows, list.Items...); !list.PageInfo.HasMore {
			return rows
		}
		query.Set("cursor", *list.PageInfo.NextCursor)
	}
}

func TestAnOperatorReadsWhatWasDoneEverywhere(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	for range 3 { // days apart
		published(t, s.agent, "of a day")
		s.clock.pass(limits.Day + 7*time.Hour)
	}
	op := s.operator(t)
	tryDelete(t, s.agent, s.made.ArtifactID)
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
	mine, w := s.events(t, s.agent), string(s.who.workspace)
	sum := 0
	for _, n := range mine {
		sum += n
	}
	for name, c := range map[string]struct {
		filter url.Values
		want   int
		fits   func(contract.OperatorEvent) bool
	}{
		"one workspace": {url.Values{"workspace_id": {w}}, sum, func(e contract.OperatorEvent) bool { return string(*e.WorkspaceID) == w }},
		"published": {url.Values{"action": {"artifact.published"}}, mine["artifact.published"], func(e contract.OperatorEvent) bool {
			return e.Action == "artifact.published"
		}},
		"by the system": {url.Values{"actor_type": {"system"}}, 2, func(e contract.OperatorEvent) bool { return e.ActorType == "system" }},
		"revisions":     {url.Values{"target_type": {"revision"}}, 8, func(e contract.OperatorEvent) bool { return e.TargetType == "revision" }},
		"security":      {url.Values{"focus": {"security"}}, 1, func(e contract.OperatorEvent) bool { return e.Action == "artifact.deleted" }},
		"lifecycle":     {url.Values{"focus": {"lifecycle"}}, len(all) - 1, func(e contract.OperatorEvent) bool { return e.Action != "artifact.deleted" }},
		"both": {url.Values{"focus": {"lifecycle"}, "workspace_id": {w}, "actor_type": {"api_key"}}, sum - 2, func(e contract.OperatorEvent) bool {
			return e.ActorType == "api_key"
		}},
		"one request": {url.Values{"request_id": {all[1].RequestID}}, 1, func(e contract.OperatorEvent) bool { return e.ID == all[1].ID }},
		"nothing":     {url.Values{"focus": {"security"}, "action": {"artifact.created"}}, 0, nil},
		"nobody's":    {url.Values{"workspace_id": {string(id.NewWorkspace())}}, 0, nil},
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

func TestAFilterThatIsNoneIsRefused(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	op := s.operator(t)
	for _, q := range []string{
		"workspace_id=", "workspace_id=x", "actor_type=", "actor_type=robot", "action=", "action=artifact.framed", "target_type=", "target_type=x",
		"request_id=", "request_id=" + strings.Repeat("x", 129), "focus=", "focus=everything", "limit=0", "limit=", "limit=x", "limit=101",
	} {
		t.Log(q)
		refused(t, tries(t, op, "GET", recordPath+"?"+q, nil), 400, fault.InvalidRequest)
	}
}

func TestF75ACursorIsForItsListItsFilterAndADay(t *testing.T) {
	t.Parallel()
	s := newLinkStand(t)
	op, other := s.operator(t), s.operator(t)
	for range 2 {
		locks(t, op, "artifact", string(published(t, s.agent, "x").ArtifactID))
	}
	page := asks[contract.OperatorEventList](t, op, 200, "GET", recordPath+"?limit=1", nil)
	cursor := *page.PageInfo.NextCursor
	lock := *asks[contract.LockdownList](t, op, 200, "GET", locksPath+"?limit=1", nil).PageInfo.NextCursor
	asks[contract.OperatorEventList](t, op, 200, "GET", recordPath+"?cursor="+cursor, nil)
	for name, path := range map[string]string{
		"empty": recordPath + "?cursor=", "tampered": recordPath + "?cursor=" + cursor[:len(cursor)-2] + "AA", "long": recordPath + "?cursor=" + strings.Repeat("x", 501),
		"of another filter": recordPath + "?focus=security&cursor=" + cursor, "of another list": recordPath + "?cursor=" + lock,
		"of the record": locksPath + "?cursor=" + cursor, "locks, empty": locksPath + "?cursor=",
	} {
		t.Log(name)
		refused(t, tries(t, op, "GET", path, nil), 400, fault.InvalidCursor)
	}
	refused(t, tries(t, other, "GET", recordPath+"?cursor="+cursor, nil), 400, fault.InvalidCursor)
	refused(t, tries(t, other, "GET", locksPath+"?cursor="+lock, nil), 400, fault.InvalidCursor)
	s.clock.pass(limits.CursorLife + time.Hour)
	late := s.promotes(t, s.lets(t, op, "cli", s.Origins.API), s.options.Now())
	refused(t, tries(t, late, "GET", recordPath+"?cursor="+cursor, nil), 400, fault.InvalidCursor)
	refused(t, tries(t, late, "GET", locksPath+"?cursor="+lock, nil), 400, fault.InvalidCursor)
}
