package invariant

// owner returns the workspace that owns what was in w: claims do not chain.
func (s *snapshot) owner(w string) string {
	if into := s.workspaces[w].Text("into"); into != "" {
		return into
	}
	return w
}

// ends returns when an artifact expires, whether it was moved after a claim or not.
func (s *snapshot) ends(a *artifact) int64 {
	end, source := a.meta.Number("exp"), s.workspaces[a.meta.Text("own")]
	if source.Has("into") && end > source.Number("claimed_at") {
		return max(end, source.Number("floor"))
	}
	return end
}

// checkWorkspaces checks I7.
func (s *snapshot) checkWorkspaces(b *breaches) {
	for w, i := range s.workspaces {
		if into := i.Text("into"); into != "" {
			s.checkClaim(b, w, into)
		} else if s.moves[w] != nil {
			b.add("I7: workspace %s is moved and was not claimed", w)
		}
	}
	for p, i := range s.claims {
		if used, moved := i.Has("redeemed"), s.workspaces[i.Text("ws")].Has("into"); used != moved {
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
		if f.Text("into") == into {
			closed++
		}
	}
	if closed != fences {
		b.add("I7: workspace %s was claimed and has %d of %d fences closed", w, closed, fences)
	}
	if d := s.workspaces[into]; !d.Has("claimed_at") || d.Has("into") {
		b.add("I7: workspace %s was claimed into %s, which nobody has", w, into)
	}
	moving := s.moves[w] != nil
	if (s.aliases[into+" "+w] != nil) != moving || s.workspaces[w].Has("ttl") == moving {
		b.add("I7: workspace %s is being moved: %t, has an alias: %t, and an end: %t", w, moving,
			s.aliases[into+" "+w] != nil, s.workspaces[w].Has("ttl"))
	}
	if moving {
		return
	}
	for p, k := range s.keys {
		if k.Text("ws") == w {
			b.add("I7: workspace %s was moved, and its key %s is still there", w, p)
		}
	}
	for p, l := range s.links {
		if l.Text("ws") == w {
			b.add("I7: workspace %s was moved, and its link %s still says that it is there", w, p)
		}
	}
	for _, a := range s.artifacts {
		if a.meta.Text("own") == w {
			b.add("I7: workspace %s was moved, and artifact %s still says that it is there", w, a.id)
		}
	}
}
