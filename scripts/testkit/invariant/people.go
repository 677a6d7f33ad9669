package invariant

import (
	"strings"

	"vitrine/scripts/testkit/rows"
	"vitrine/shared/platform/event"
)

// identity are the actions by which people and registered agents come in, and what a restore does. What they leave
// expires or is overwritten, so that the state does not tell how often they happened.
var identity = map[event.Action]bool{
	event.DeploymentRestored: true,
	event.ArtifactRestored:   true,

	event.WorkspaceCreated:  true,
	event.MemberConfirmed:   true,
	event.DeletionRequested: true,
	event.DeletionCancelled: true,
	event.DeletionDone:      true,

	event.KeyCreated:     true,
	event.SessionStarted: true,
	event.SessionEnded:   true,
	event.SessionsEnded:  true,
	event.ConsentGranted: true,
	event.GrantRevoked:   true,
	event.RefreshReused:  true,
	event.DeviceApproved: true,
	event.DeviceDenied:   true,

	event.RegistrationCreated: true,
	event.ClaimCompleted:      true,
	event.ClaimLocked:         true,
	event.TokenIssued:         true,
	event.TokenRevoked:        true,
	event.DelegationCreated:   true,
	event.DelegationRevoked:   true,
}

// word returns the action of a workspace, an action and its target.
func word(told string) event.Action {
	_, action, _ := strings.Cut(told, " ")
	action, _, _ = strings.Cut(action, " ")
	return event.Action(action)
}

// creation returns the action that made a workspace: an agent's provisioning or registration, which leave a claim token, or the first
// sign-in of a person, whose workspace counts as claimed from the start.
func creation(workspace rows.Item, tokens []rows.Item) event.Action {
	switch {
	case len(tokens) > 0 && tokens[0].Text("reg") != "":
		return event.RegistrationCreated
	case len(tokens) == 0 && workspace.Has("claimed_at") && !workspace.Has("into"):
		return event.WorkspaceCreated
	}
	return event.WorkspaceProvisioned
}

// tokens returns the claim tokens by workspace.
func (s *snapshot) tokens() map[string][]rows.Item {
	out := map[string][]rows.Item{}
	for _, i := range s.claims {
		out[i.Text("ws")] = append(out[i.Text("ws")], i)
	}
	return out
}
