package invariant

import (
	"strconv"
	"strings"

	"vitrine/shared/platform/event"
)

// checkEvents checks I6: each stored state has the events of the actions that led to it.
// Events of a gap may tell actions that the state does not show, and so may be more than those, but not fewer. Actions
// whose events have expired are left out, and so are such events that are still there.
func (s *snapshot) checkEvents(b *breaches, gap Gap) {
	done := s.actions(gap)
	told, lost := map[string]int{}, map[string]int{} // lost are those told in the gap
	for _, e := range s.events {
		action := s.owner(strings.TrimPrefix(e.Text("pk"), "W#")) + " " + e.Text("action") + " " + e.Text("on_id")
		at, _, _ := strings.Cut(e.Text("sk"), "#")
		ms, _ := strconv.ParseInt(at, 10, 64)
		if gap.forgets(ms) {
			continue
		}
		told[action]++
		if len(at) != len("1700000000000") {
			b.add("I6: an event has the sort key %q, whose time is not of 13 digits", e.Text("sk"))
		}
		if gap.has(e) {
			lost[action]++
		}
	}
	back := s.returned(b, told, gap)
	for action, n := range done {
		if (told[action] < n || told[action] > n+lost[action]) && !back[action] {
			b.add("I6: %s happened %d times and has %d events", action, n, told[action])
		}
	}
	untold := s.untraceable()
	for action, n := range told {
		untold[action] = untold[action] || back[action] || identity[word(action)] ||
			strings.Contains(action, " "+feedbackAction) // checkFeedback counts those
		if done[action] == 0 && n > lost[action] && !untold[action] {
			b.add("I6: %s has %d events and did not happen", action, n)
		}
	}
}

// actions returns the committed actions that the state shows, by workspace, action and target.
// Actions in a workspace before its claim count as those of the workspace that claimed it, because
// the state does not distinguish them.
func (s *snapshot) actions(gap Gap) map[string]int {
	done := map[string]int{}
	add := func(at int64, workspace, action, target string) {
		if !gap.forgets(at) {
			done[s.owner(workspace)+" "+action+" "+target]++
		}
	}
	tokens := s.tokens()
	for w, i := range s.workspaces {
		by := creation(i, tokens[w])
		if by == event.RegistrationCreated { // the events of one name the registration
			continue
		}
		add(i.Number("created"), w, string(by), w)
		if i.Has("into") {
			add(i.Number("claimed_at"), w, "ephemeral.workspace.claimed", w)
		}
	}
	for _, i := range s.core {
		if strings.HasPrefix(i.Text("pk"), "RPT#") {
			add(i.Number("created"), i.Text("ws"), "artifact.reported", i.Text("art"))
			if i.Has("handled") {
				add(i.Number("handled"), i.Text("ws"), "artifact.report.handled", i.Text("art"))
			}
		}
	}
	for _, i := range s.exports() {
		add(i.Number("created"), strings.TrimPrefix(i.Text("pk"), "W#"), "workspace.export.created", i.Text("id"))
	}
	first := map[string]bool{} // the draft with which an artifact was made has the event of the artifact
	for u, i := range s.sessions {
		first[i.Text("rev")] = i.Has("new")
		add(i.Number("created"), i.Text("ws"), "upload_session.created", u)
	}
	for _, i := range s.keys {
		if i.Has("rev_at") {
			add(i.Number("rev_at"), i.Text("ws"), "api_key.revoked", i.Text("id"))
		}
	}
	for _, i := range s.links {
		if i.Text("kind") == "revision" {
			add(i.Number("created"), i.Text("ws"), "access_link.created", i.Text("id"))
		}
		if i.Has("rev_at") {
			add(i.Number("rev_at"), i.Text("ws"), "access_link.revoked", i.Text("id"))
		}
	}
	for _, a := range s.artifacts {
		owner := a.meta.Text("own")
		add(a.meta.Number("created"), owner, "artifact.created", a.id)
		if a.is(deleted) {
			add(a.meta.Number("updated"), owner, "artifact.deleted", a.id)
		}
		if a.is(expired) {
			add(a.meta.Number("updated"), owner, "artifact.expired", a.id)
		}
		for r, i := range a.revisions {
			if i.Text("source") == "" && !first[r] { // else it was restored and never a draft, or came with its artifact
				add(i.Number("created"), owner, "revision.draft_created", r)
			}
			if i.Number("no") > 0 {
				add(i.Number("pub_at"), owner, "artifact.published", r)
			}
			if i.Text("status") == retained && a.is(live) {
				add(i.Number("created"), owner, "revision.retained", r)
			}
		}
	}
	return done
}

// untraceable returns the actions that may have been committed without a trace in the state: a
// share link may come with a publication, which has its own event, and a lock, lockdown, pin, plan
// or name is overwritten by the next one.
func (s *snapshot) untraceable() map[string]bool {
	out := map[string]bool{}
	for _, i := range s.links {
		out[s.owner(i.Text("ws"))+" access_link.created "+i.Text("id")] = true
		out[s.owner(i.Text("ws"))+" access_link.updated "+i.Text("id")] = true
		out[s.owner(i.Text("ws"))+" platform.lookup "+strings.TrimPrefix(i.Text("pk"), "AL#")] = true
	}
	for _, e := range s.events {
		if e.Text("action") == "workspace.export.created" { // it may have been replaced
			out[s.owner(strings.TrimPrefix(e.Text("pk"), "W#"))+" workspace.export.created "+e.Text("on_id")] = true
		}
	}
	for w := range s.workspaces {
		for _, action := range []string{
			"platform.lockdown.set", "platform.lockdown.lifted", "platform.lookup", "workspace.settings.updated",
			"workspace.plan.updated",
		} {
			out[w+" "+action+" "+w] = true
		}
	}
	for _, a := range s.artifacts {
		owner := s.owner(a.meta.Text("own"))
		for _, action := range []string{
			"access_link.lockdown.set", "access_link.lockdown.lifted", "artifact.pinned", "artifact.unpinned",
			"artifact.renamed",
			"platform.lockdown.set", "platform.lockdown.lifted", "platform.lookup", "platform.content.opened",
		} {
			out[owner+" "+action+" "+a.id] = true
		}
		for r, i := range a.revisions { // the files of an ended artifact are removed without an event
			out[owner+" revision.retained "+r] = i.Text("status") == retained
		}
		out[owner+" artifact.visibility.updated "+a.id] = a.meta.Has("links_closed")
	}
	return out
}

// checkAtomicity checks that the writes of one transaction are all present: the rest of I6.
func (s *snapshot) checkAtomicity(b *breaches) {
	keys, tokens := map[string]int{}, s.tokens()
	for p, i := range s.keys {
		if keys[i.Text("ws")]++; s.workspaces[i.Text("ws")] == nil {
			b.add("I6: the key %s has no workspace", p)
		}
	}
	for p, i := range s.claims {
		if s.workspaces[i.Text("ws")] == nil {
			b.add("I6: the claim token %s has no workspace", p)
		}
	}
	for w, i := range s.workspaces {
		provisioned := creation(i, tokens[w]) == event.WorkspaceProvisioned
		if provisioned && (keys[w] == 0 && !i.Has("into") || len(tokens[w]) != 1) {
			b.add("I6: workspace %s has %d keys and %d claim tokens", w, keys[w], len(tokens[w]))
		}
	}
	made := map[string]bool{}
	for _, a := range s.artifacts {
		if a.meta == nil {
			b.add("I6: revisions of %s exist and the artifact does not", a.id)
		}
		for r := range a.revisions {
			made[r] = true
		}
	}
	for u, i := range s.sessions {
		if finalized := i.Text("status") == "finalized"; finalized != made[i.Text("rev")] {
			b.add("I6: session %s is %s, and its revision exists: %t", u, i.Text("status"), !finalized)
		}
	}
}
