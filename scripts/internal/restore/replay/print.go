package replay

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"
	"time"

	"vitrine/shared/platform/event"
)

// Print writes for people what Apply would do: by action, actor, workspace and hour what is done again and what is left
// out, and by workspace what events do not tell.
func (p Plan) Print(w io.Writer) {
	fmt.Fprintf(w, "Since %s:\n", p.instant.UTC().Format(time.RFC3339))
	printGroups(w, "done again", p.applied)
	printGroups(w, "left out by exceptions", p.left)
	lost := map[[3]string]int{}
	for _, e := range slices.Concat(p.others, p.applied) {
		if why := untold[e.Action]; why != "" && !e.At.Before(p.instant) {
			lost[[3]string{line(string(e.Workspace)), string(e.Action), why}]++
		}
	}
	fmt.Fprintf(w, "cannot be told from events: %s\n", numbered(lost))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, k := range sorted(lost) {
		fmt.Fprintf(table, "  workspace %s\t%s\t%d\t%s\n", cmp.Or(k[0], "none"), k[1], lost[k], k[2])
	}
	table.Flush()
}

func printGroups(w io.Writer, what string, events []event.Event) {
	groups := map[[4]string]int{}
	for _, e := range events {
		groups[[4]string{string(e.Action), actorOf(e), line(string(e.Workspace)), hourOf(e)}]++
	}
	fmt.Fprintf(w, "%s: %s\n", what, numbered(groups))
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, k := range sorted(groups) {
		fmt.Fprintf(table, "  %s\t%s\tworkspace %s\t%s\t%d\n", k[0], k[1], k[2], k[3], groups[k])
	}
	table.Flush()
}

// numbered says how many events groups have.
func numbered[K comparable](groups map[K]int) string {
	n := 0
	for _, one := range groups {
		n += one
	}
	if n == 1 {
		return "1 event"
	}
	return fmt.Sprintf("%d events", n)
}

// sorted returns the keys of groups, ordered as text.
func sorted[K comparable](groups map[K]int) []K {
	return slices.SortedFunc(maps.Keys(groups), func(x, y K) int { return cmp.Compare(fmt.Sprint(x), fmt.Sprint(y)) })
}

// untold says for actions that cannot be done again, or not as a whole, what is lost with them. Of the actions that are
// neither here nor done again only the event is left.
var untold = map[event.Action]string{
	event.WorkspaceCreated:     "the workspace and its member are gone; signing in makes a new one",
	event.WorkspaceProvisioned: "the workspace is gone with its key and its claim token",
	event.MemberConfirmed:      "the member has to sign in again and take the workspace over again",
	event.SettingsUpdated:      "the settings are those of the copy, auto_deletion_days too",
	event.PlanUpdated:          "the plan is that of the copy, until the payment provider is asked again",
	event.ExportCreated:        "the export is gone; it can be asked for again",
	event.KeyCreated:           "the key is gone; it has to be made again",
	event.RegistrationCreated:  "the agent is not registered; it has to register again",
	event.DelegationCreated:    "the agents of the provider have to be let in again",
	event.TokenIssued:          "the access token is gone; the agent has to ask again",
	event.ConsentGranted:       "the app has to ask for consent again",
	event.DeviceApproved:       "the device has to sign in again",
	event.ArtifactCreated:      "the artifact is gone with its files",
	event.ArtifactPublished:    "the revision is gone with its files, unless the copy has it as a draft",
	event.DraftCreated:         "the draft is gone with its files",
	event.ArtifactRenamed:      "the artifact has its former name",
	event.LockdownSet:          "the lockdown has another id",
	event.LinkCreated:          "the link is gone; another one has another address",
	event.LinkUpdated:          "the link takes comments as it did in the copy",
	event.FeedbackCreated:      "the thread is gone",
	event.FeedbackReplied:      "the reply is gone",
	event.FeedbackAddressed:    "the thread is open as in the copy",
	event.FeedbackResolved:     "the thread is open as in the copy",
	event.FeedbackReopened:     "the thread is as in the copy",
	event.FeedbackHeld:         "what the guest wrote is gone",
	event.FeedbackLetThrough:   "what the guest wrote waits again, or is gone",
	event.FeedbackPolicy:       "who may write is as in the copy",
	event.ArtifactReported:     "the report is gone",
	event.ReportHandled:        "the report is open as in the copy",
	event.QuotaUpdated:         "the quota of new ephemeral workspaces is that of the copy",
}
