package invariant

import (
	"math"
	"strconv"
	"strings"
	"time"

	"vitrine/shared/platform/limits"
)

// checkDue checks that an artifact falls due when it expires or its draft does, at the earlier of
// both, and that the files of an ended one, and those of retained revisions, are queued for purge
// until they are purged.
func (s *snapshot) checkDue(b *breaches, a *artifact) {
	kind, latest := "DUE#ARTIFACT#", next(a, s.ends(a))
	if !a.is(live) {
		if len(a.trees) == 0 && !a.meta.Has("g2p") { // purged
			return
		}
		kind, latest = "DUE#PURGE#", a.meta.Number("updated")
	}
	if latest == math.MaxInt64 { // it does not expire and has no draft
		moving := s.workspaces[a.meta.Text("own")].Has("into") // it falls due as before its claim, or no longer
		if !moving && (a.meta.Has("g2p") || a.meta.Has("g2s")) {
			b.add("I2: artifact %s does not expire and falls due as %q", a.id, a.meta.Text("g2p"))
		}
		return
	}
	if !strings.HasPrefix(a.meta.Text("g2p"), kind) || !a.meta.Has("g2s") {
		b.add("I2: artifact %s is %s and falls due as %q, not as %s", a.id, a.meta.Text("status"), a.meta.Text("g2p"), kind)
	}
	at, _ := strconv.ParseInt(a.meta.Text("g2s"), 10, 64)
	if at > latest && a.meta.Text("tried") != a.meta.Text("g2s") { // failed work is put off
		b.add("I2: artifact %s falls due %s too late", a.id, time.Duration(at-latest)*time.Millisecond)
	}
	// until it is moved it falls due as before its claim
	if earliest := next(a, a.meta.Number("exp")); a.is(live) && at < earliest {
		b.add("I2: artifact %s falls due %s too soon", a.id, time.Duration(earliest-at)*time.Millisecond)
	}
}

// next returns when a live artifact that ends at an instant needs attention next; the maximum if
// never.
func next(a *artifact, ends int64) int64 {
	if a.meta.Has("pin_at") || ends == limits.Never.UnixMilli() {
		ends = math.MaxInt64
	}
	if at := a.meta.Number("draft_at"); at != 0 {
		ends = min(ends, at+limits.DraftLife.Milliseconds())
	}
	return ends
}

// checkRevisions checks I4.
func (s *snapshot) checkRevisions(b *breaches) {
	for _, a := range s.artifacts {
		numbers := map[int64]string{}
		drafts := []string{}
		newest := a.meta.Number("no")
		for r, i := range a.revisions {
			_, there := a.trees[r]
			if !there && i.Text("status") != retained {
				b.add("I4: revision %s has no files", r)
			}
			if queued := strings.HasPrefix(i.Text("g2p"), "DUE#PURGE#"); a.is(live) &&
				queued != (there && i.Text("status") == retained) {
				b.add("I2: revision %s is %s, has files: %t, and is queued for purge: %t", r, i.Text("status"), there, queued)
			}
			n := i.Number("no")
			if a.is(live) && i.Text("status") == retained && n > 0 {
				b.add("I4: revision %s was published and ended before its artifact", r)
			}
			switch {
			case i.Text("status") == draft && n != 0:
				b.add("I4: the draft %s has the number %d", r, n)
			case i.Text("status") == draft:
				drafts = append(drafts, r)
			case i.Text("status") == retained && n == 0: // a draft that was discarded, or purged with its artifact
			case n < 1 || n > newest:
				b.add("I4: revision %s of %s has the number %d, the artifact %d", r, a.id, n, newest)
			case numbers[n] != "":
				b.add("I4: the revisions %s and %s both have the number %d", r, numbers[n], n)
			default:
				numbers[n] = r
			}
		}
		if int64(len(numbers)) != newest || numbers[newest] != a.meta.Text("cur") {
			b.add("I4: artifact %s has the number %d, %d published revisions and shows %q", a.id, newest, len(numbers),
				a.meta.Text("cur"))
		}
		if named := a.meta.Text("draft"); len(drafts) > 1 || a.is(live) && strings.Join(drafts, " ") != named {
			b.add("I4: artifact %s names the draft %q and has the drafts %q", a.id, named, drafts)
		}
		if !a.is(live) && a.meta.Has("draft") || a.is(deleted) && a.meta.Has("share") {
			b.add("I4: the artifact %s has ended and names a draft or a share link", a.id)
		}
		if share := a.meta.Text("share"); share != "" && s.links[share].Text("art") != a.id {
			b.add("I4: artifact %s names a share link %s that is not its own", a.id, share)
		}
	}
}
