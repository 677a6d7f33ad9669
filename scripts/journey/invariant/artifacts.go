package invariant

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"vitrine/shared/limits"
	"vitrine/shared/tree"
)

// checkObjects holds the bucket against the tables: I1 and I2.
func (s *snapshot) checkObjects(b *breaches) {
	reachable := map[string]bool{}
	for _, a := range s.artifacts {
		for r, files := range a.trees {
			for _, f := range files {
				if f.Size == 0 {
					continue
				}
				key := objectKey(a.meta.text("home"), f.Object)
				reachable[key] = true
				if size, ok := s.objects[key]; a.is(live) && (!ok || size != f.Size) {
					b.add("I1: %s of revision %s (%s) has %d bytes, but the object has %d, there: %t", f.Path, r, a.revisions[r].text("status"), f.Size, size, ok)
				}
			}
		}
		s.checkDue(b, a)
	}
	for key := range s.objects {
		if !reachable[key] && !s.due(key) {
			b.add("I2: nothing leads to the object %s", key)
		}
	}
}

func objectKey(home string, o tree.Object) string {
	return fmt.Sprintf("o/%s/%s/%03d", home, o.Session, o.Entry)
}

// due tells whether an object belongs to a session that did not end well and falls due, when it will be cleaned.
func (s *snapshot) due(key string) bool {
	parts := strings.Split(key, "/")
	u := s.sessions[parts[2]]
	return u.text("home") == parts[1] && u.text("status") != "finalized" && strings.HasPrefix(u.text("g2p"), "DUE#SESSION#") && u.has("g2s")
}

// checkDue checks that an artifact falls due when it expires or its draft does, whatever comes first, and that the bytes
// of a deleted one are queued for purge.
func (s *snapshot) checkDue(b *breaches, a *artifact) {
	kind, latest := "DUE#ARTIFACT#", s.ends(a)
	if a.meta.has("pin_at") {
		latest = math.MaxInt64
	}
	if at := a.meta.number("draft_at"); at != 0 {
		latest = min(latest, at+limits.DraftLife.Milliseconds())
	}
	if a.is(deleted) {
		kind, latest = "DUE#PURGE#", a.meta.number("deleted")
	}
	if !strings.HasPrefix(a.meta.text("g2p"), kind) || !a.meta.has("g2s") {
		b.add("I2: artifact %s is %s and falls due as %q, not as %s", a.id, a.meta.text("status"), a.meta.text("g2p"), kind)
	}
	if at, _ := strconv.ParseInt(a.meta.text("g2s"), 10, 64); at > latest {
		b.add("I2: artifact %s falls due %s too late", a.id, time.Duration(at-latest)*time.Millisecond)
	}
}

// checkRevisions is I4.
func (s *snapshot) checkRevisions(b *breaches) {
	for _, a := range s.artifacts {
		numbers, drafts, newest := map[int64]string{}, []string{}, a.meta.number("no")
		for r, i := range a.revisions {
			if _, ok := a.trees[r]; !ok {
				b.add("I4: revision %s has no files", r)
			}
			n := i.number("no")
			switch {
			case i.text("status") == draft && n != 0:
				b.add("I4: the draft %s has the number %d", r, n)
			case i.text("status") == draft:
				drafts = append(drafts, r)
			case n < 1 || n > newest:
				b.add("I4: revision %s of %s has the number %d, the artifact %d", r, a.id, n, newest)
			case numbers[n] != "":
				b.add("I4: the revisions %s and %s both have the number %d", r, numbers[n], n)
			default:
				numbers[n] = r
			}
		}
		if int64(len(numbers)) != newest || numbers[newest] != a.meta.text("cur") {
			b.add("I4: artifact %s has the number %d, %d published revisions and shows %q", a.id, newest, len(numbers), a.meta.text("cur"))
		}
		if named := a.meta.text("draft"); len(drafts) > 1 || a.is(live) && strings.Join(drafts, " ") != named {
			b.add("I4: artifact %s names the draft %q and has the drafts %q", a.id, named, drafts)
		}
		if a.is(deleted) && (a.meta.has("draft") || a.meta.has("share")) {
			b.add("I4: the deleted artifact %s names a draft or a share link", a.id)
		}
		if share := a.meta.text("share"); share != "" && s.links[share].text("art") != a.id {
			b.add("I4: artifact %s names a share link %s that is not its own", a.id, share)
		}
	}
}
