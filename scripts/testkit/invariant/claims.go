package invariant

// owner returns the workspace that owns what was in w: claims do not chain.
func (s *snapshot) owner(w string) string {
	if into := s.workspaces[w].text("into"); into != "" {
		return into
	}
	return w
}

// ends returns when an artifact expires, whether it was moved after a claim or not.
func (s *snapshot) ends(a *artifact) int64 {
	end, source := a.meta.number("exp"), s.workspaces[a.meta.text("own")]
	if source.has("into") && end > source.number("claimed_at") {
		return max(end, source.number("floor"))
	}
	return end
}

// checkWorkspaces checks I7.
func (s *snapshot) checkWorkspaces(b *breaches) {
	for w, i := range s.workspaces {
		if into := i.text("into"); into != "" {
			s.checkClaim(b, w, into)
		} else if s.moves[w] != nil {
			b.add("I7: workspace %s is moved and was not claimed", w)
		}
	}
	for p, i := range s.claims {
		if used, moved := i.has("redeemed"), s.workspaces[i.text("ws")].has("into"); used != moved {
			b.add("I7: the claim token %s is redeemed: %t, and its workspace claimed: %t", p, used, moved)
		}
	}
}

// checkClaim checks a workspace that was claimed. Every write checks one of the fences, so that all
// have to be closed; the list of the destination needs the alias until everything is moved.
func (s *snapshot) checkClaim(b *breaches, w, into string) {
	const fences = 8
	closed := 0
	for _, f := range s.fences[w] {
		if f.text("into") == into {
			closed++
		}
	}
	if closed != fences {
		b.add("I7: workspace %s was claimed and has %d of %d fences closed", w, closed, fences)
	}
	if d := s.workspaces[into]; !d.has("claimed_at") || d.has("into") {
		b.add("I7: workspace %s was claimed into %s, which nobody has", w, into)
	}
	moving := s.moves[w] != nil
	if (s.aliases[into+" "+w] != nil) != moving || s.workspaces[w].has("ttl") == moving {
		b.add("I7: workspace %s is being moved: %t, has an alias: %t, and an end: %t", w, moving,
			s.aliases[into+" "+w] != nil, s.workspaces[w].has("ttl"))
	}
	if moving {
		return
	}
	for p, k := range s.keys {
		if k.text("ws") == w {
			b.add("I7: workspace %s was moved, and its key %s is still there", w, p)
		}
	}
	for p, l := range s.links {
		if l.text("ws") == w {
			b.add("I7: workspace %s was moved, and its link %s still says that it is there", w, p)
		}
	}
	for _, a := range s.artifacts {
		if a.meta.text("own") == w {
			b.add("I7: workspace %s was moved, and artifact %s still says that it is there", w, a.id)
		}
	}
}
