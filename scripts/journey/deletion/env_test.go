// Package deletion has the journeys of workspaces that are deleted.
package deletion

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"vitrine/scripts/journey/harness"
	"vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// ctx is the context of every request; some of them outlast the test that sends them.
var ctx = context.Background()

const deletionPath = "/v1/web/workspace/deletion"

// person is somebody with a workspace, a browser, a token of the command line from a fresh sign-in, and an API key.
type person struct {
	*wire.Agent // with the API key
	s           *harness.JobEnv
	email       string
	browser     *harness.FakeBrowser
	member      *harness.Member
	workspace   contract.WorkspaceSummary
	key         contract.CreatedKey
}

// newPerson signs somebody up.
func newPerson(t testing.TB, s *harness.JobEnv, email string) *person {
	t.Helper()
	p := &person{s: s, email: email}
	p.browser = s.SignedIn(t, email)
	p.signIn(t)
	p.key = harness.CreatedKey(t, harness.TryCreateKey(t, p.member, "key of a person", wire.NewKey()))
	p.Agent = s.WithBearer(p.key.Secret)
	return p
}

// signIn gives the person a token of the command line that counts as a fresh sign-in.
func (p *person) signIn(t testing.TB) {
	t.Helper()
	p.s.Clock.Advance(time.Second) // past what ended earlier sign-ins
	token := p.s.Token(t, harness.ExchangeGrant("cli", p.idToken(t)))
	p.member = &harness.Member{Agent: p.s.WithBearer(token.AccessToken)}
	d := harness.CallAs[contract.WorkspaceDeletion](t, p.member, 200, "GET", deletionPath, nil)
	p.workspace, p.member.Workspace = d.Workspace, d.Workspace.ID
}

func (p *person) idToken(t testing.TB) string {
	t.Helper()
	return harness.Must(p.s.Identity.Mint(provider.Person{Email: p.email}, "", "", provider.Honest))(t)
}

// delete asks to delete the workspace.
func (p *person) delete(t testing.TB) contract.WorkspaceDeletion {
	t.Helper()
	return harness.CallAs[contract.WorkspaceDeletion](t, p.member, 200, "POST", deletionPath,
		contract.RequestDeletion{Confirm: p.workspace.Name})
}

// keep cancels the deletion.
func (p *person) keep(t testing.TB) contract.WorkspaceDeletion {
	t.Helper()
	return harness.CallAs[contract.WorkspaceDeletion](t, p.member, 200, "DELETE", deletionPath, nil)
}

// post sends a form of the browser.
func (p *person) post(t testing.TB, path string, fields url.Values) wire.Answer {
	t.Helper()
	return p.browser.Post(t, path, fields)
}

// actions are what the record of a workspace tells, oldest first.
func actions(t testing.TB, s *harness.JobEnv, w id.Workspace) (all []string) {
	t.Helper()
	rows := s.Scan(t, s.Tables.Events)
	slices.SortFunc(rows, func(a, b harness.Item) int {
		return strings.Compare(harness.Text(a["sk"]), harness.Text(b["sk"]))
	})
	for _, i := range rows {
		if harness.Text(i["pk"]) == "W#"+string(w) {
			all = append(all, harness.Text(i["action"]))
		}
	}
	return all
}

// removed tells whether the removal of the workspace is done.
func (p *person) removed(t testing.TB) bool {
	t.Helper()
	return slices.Contains(actions(t, p.s, p.workspace.ID), "workspace.deletion.done")
}

// wait lets time pass after the n-th run of the jobs: what a removal waits for other jobs, and once as long as objects
// wait.
func wait(s *harness.JobEnv, n int) {
	if n%20 == 5 {
		s.Clock.Advance(limits.CollectAfter)
		return
	}
	s.Clock.Advance(limits.RemovalWait)
}

// runToTheEnd runs the jobs from the end of the grace until the workspace is removed, or for a day and some hours.
func (p *person) runToTheEnd(t testing.TB) {
	t.Helper()
	p.s.Clock.Advance(limits.DeletionGrace)
	for n := 0; n < 24 && !p.removed(t); n++ {
		harness.NoError(t, p.s.Host.Run(ctx))
		wait(p.s, n)
	}
}
