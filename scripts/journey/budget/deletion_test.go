package budget

import (
	"testing"
	"time"

	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
)

// TestDeletingAWorkspaceCostsOneTransaction counts what asking for a deletion and cancelling it take, however much the
// workspace has.
func TestDeletingAWorkspaceCostsOneTransaction(t *testing.T) {
	l := newBudgetEnv(t)
	p := l.backend()
	who := p.NewMember(t)
	const path = "/v1/web/workspace/deletion"
	signedIn := func() {
		who = p.GrantTo(t, who, oauth.CLI, l.Origins.API)
		p.Update(t, "CRED#"+string(who.Grant), "G", map[string]any{
			"auth_at": l.Options.Now(), "created": l.Options.Now().Add(time.Second), // after what a request ends
		})
	}
	signedIn()
	l.wantWithin(t, "member: deletion", budget{4, 3, 3, 2}, l.sends(t, who.Agent, 200, "GET", path, nil))
	l.wantWithin(t, "member: request a deletion", budget{5, 4, 4, 28},
		l.sends(t, who.Agent, 200, "POST", path, contract.RequestDeletion{Confirm: "Someone's Workspace"}))
	signedIn()
	l.wantWithin(t, "member: cancel a deletion", budget{5, 4, 4, 28}, l.sends(t, who.Agent, 200, "DELETE", path, nil))
}
