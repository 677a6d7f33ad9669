package invariant

import (
	"cmp"
	"fmt"
	"strings"

	"vitrine/shared/publishing/tree"
)

// checkObjects checks the bucket against the tables: I1 and I2.
func (s *snapshot) checkObjects(b *breaches) {
	reachable := map[string]bool{}
	for _, a := range s.artifacts {
		for r, files := range a.trees {
			for _, f := range files {
				if f.Size > 0 {
					reachable[s.checkFile(b, a, r, f)] = true
				}
			}
		}
		s.checkDue(b, a)
	}
	for key := range s.objects {
		if !reachable[key] && !s.due(key) && !s.condemned(key) {
			b.add("%w object %s", ErrStray, key)
		}
	}
	for key := range s.diffs {
		if !s.due(key) {
			b.add("%w diff %s", ErrStray, key)
		}
	}
	for name, h := range s.hints {
		home, _, _ := strings.Cut(name, "#")
		if _, there := s.objects[keyOf(home, h.Text("obj"))]; !there {
			b.add("I2: the hint %s leads to no object", name)
		}
	}
}

// checkFile checks a file of a revision and returns the key of its object.
func (s *snapshot) checkFile(b *breaches, a *artifact, r string, f tree.File) string {
	key, status := objectKey(a.meta.Text("home"), f.Object), a.revisions[r].Text("status")
	if !a.is(live) || status == retained {
		return key // it may be partly deleted
	}
	if size, ok := s.objects[key]; !ok || size != f.Size {
		b.add("%w: %s of revision %s (%s) has %d bytes, the object has %d, there: %t", ErrObject, f.Path, r, status, f.Size,
			size, ok)
	}
	name, referrer := fmt.Sprintf("%s#%d", f.Object.Session, f.Object.Entry), cmp.Or(string(f.Referrer), r)
	if f.Borrowed && s.references[name+" "+referrer] == nil {
		b.add("I2: %s of revision %s is borrowed, and revision %s does not refer to %s", f.Path, r, referrer, name)
	}
	if referrer != r && a.revisions[referrer].Text("status") != published {
		b.add("I2: %s of revision %s needs revision %s, which is %q", f.Path, r, referrer, a.revisions[referrer].Text("status"))
	}
	if brought := s.sessions[string(f.Object.Session)].Text("art"); !f.Borrowed && brought != a.id {
		b.add("I2: %s of revision %s came for artifact %s and is not borrowed", f.Path, r, brought)
	}
	return key
}

func objectKey(home string, o tree.Object) string {
	return fmt.Sprintf("o/%s/%s/%03d", home, o.Session, o.Entry)
}

// keyOf returns the key of an object that an item names.
func keyOf(home, name string) string {
	session, entry, _ := strings.Cut(name, "#")
	return fmt.Sprintf("o/%s/%s/%03s", home, session, entry)
}

// due reports whether an object belongs to a session that is due for cleanup: a file to one that
// did not end well, a diff to any.
func (s *snapshot) due(key string) bool {
	parts := strings.Split(key, "/")
	u := s.sessions[parts[2]]
	kind := "DUE#SESSION#"
	if u.Text("status") == "finalized" {
		if kind = "DUE#HINT#"; parts[0] == "o" {
			return false
		}
	}
	queued := strings.HasPrefix(u.Text("g2p"), kind) ||
		u.Text("status") == "pending" && strings.HasPrefix(u.Text("g2p"), "DUE#UPLOAD#")
	return u.Text("home") == parts[1] && queued && u.Has("g2s")
}

// condemned reports whether an object is marked for deletion.
func (s *snapshot) condemned(key string) bool {
	for name, i := range s.deletions {
		if keyOf(i.Text("home"), name) == key {
			return strings.HasPrefix(i.Text("g2p"), "DUE#DELETE#") && i.Has("g2s")
		}
	}
	return false
}

// checkCollected checks that all garbage is collected: only pending sessions may wait for the jobs.
func (s *snapshot) checkCollected(b *breaches) {
	needed := map[string]bool{}
	for _, a := range s.artifacts {
		if !a.is(live) && len(a.trees) > 0 {
			b.add("artifact %s is %s and %d revisions have files", a.id, a.meta.Text("status"), len(a.trees))
		}
		for r, files := range a.trees {
			if a.revisions[r].Text("status") == retained {
				b.add("revision %s is retained and has files", r)
			}
			for _, f := range files {
				needed[objectKey(a.meta.Text("home"), f.Object)] = true
			}
		}
	}
	for key := range s.objects {
		if !needed[key] && !s.due(key) {
			b.add("nothing refers to the object %s", key)
		}
	}
	for key := range s.diffs {
		if u := s.sessions[strings.Split(key, "/")[2]]; u.Text("status") == "finalized" {
			b.add("the diff %s is still there", key)
		}
	}
	for name := range s.deletions {
		b.add("the object %s still waits to be deleted", name)
	}
	for name := range s.references {
		object, r, _ := strings.Cut(name, " ")
		if !s.hasFiles(r) {
			b.add("revision %s has no files and refers to %s", r, object)
		}
	}
}

func (s *snapshot) hasFiles(r string) bool {
	for _, a := range s.artifacts {
		if _, there := a.trees[r]; there {
			return true
		}
	}
	return false
}
