package invariant

// returned returns the actions whose events the state no longer shows, because a restore put their artifact back: its
// ends, and what was done with revisions that it discarded. It checks that each deletion but the last one was lifted by
// a restore; one that was given up leaves another expiry. told counts the events by action.
func (s *snapshot) returned(b *breaches, told map[string]int, gap Gap) map[string]bool {
	out := map[string]bool{}
	for _, a := range s.artifacts {
		owner := s.owner(a.meta.Text("own"))
		of := func(action, target string) string { return owner + " " + action + " " + target }
		lifted := told[of("artifact.restored", a.id)]
		if a.meta.Has("back") { // also one that ended before it was finished
			lifted = max(lifted, 1)
		}
		if lifted == 0 {
			continue
		}
		deletions, ends := told[of("artifact.deleted", a.id)], told[of("artifact.expired", a.id)]
		ended := 0
		if !a.is(live) {
			ended = 1
		}
		untold := gap.forgets(a.meta.Number("updated"))
		if deletions+ends < ended && !untold || deletions > lifted+ended {
			b.add("I6: artifact %s was deleted %d times, expired %d times, was put back %d times and is %s", a.id, deletions,
				ends, lifted, a.meta.Text("status"))
		}
		for _, action := range []string{"artifact.deleted", "artifact.expired", "artifact.restored"} {
			out[of(action, a.id)] = true
		}
		for _, r := range a.discarded() {
			out[of("artifact.published", r)] = true
			out[of("revision.retained", r)] = true
		}
	}
	return out
}

// discarded returns the revisions that never got a number or lost it.
func (a *artifact) discarded() (out []string) {
	for r, i := range a.revisions {
		if i.Text("status") == retained && i.Number("no") == 0 {
			out = append(out, r)
		}
	}
	return out
}
