package invariant

import (
	"strings"

	"vitrine/scripts/testkit/rows"
)

// The states of bundles as they are stored.
const (
	pending = "pending"
	ready   = "ready"
)

// bundleKey returns the key of the archive of a revision.
func bundleKey(a *artifact, r string) string {
	return "b/" + a.meta.Text("home") + "/" + a.id + "/" + r + ".zip"
}

// queued reports whether an item is in a queue.
func queued(i rows.Item, kind string) bool {
	return strings.HasPrefix(i.Text("g2p"), "DUE#"+kind+"#") && i.Has("g2s")
}

// checkBundles checks the archives against the tables: I1 and I2.
func (s *snapshot) checkBundles(b *breaches) {
	reachable := map[string]bool{}
	for _, a := range s.artifacts {
		for r, i := range a.revisions {
			key, status := bundleKey(a, r), i.Text("bstat")
			size, there := s.bundles[key]
			switch {
			case status == ready && a.is(live) && i.Text("status") == published:
				if reachable[key] = true; !there || size != i.Number("bsize") || len(i.Bytes("bsha")) == 0 {
					b.add("I1: the bundle of revision %s is ready with %d bytes, its archive has %d, there: %t", r, i.Number("bsize"), size, there)
				}
			case status == ready: // until it is purged
				reachable[key] = queued(a.meta, "PURGE") || queued(i, "PURGE")
			case status == pending:
				if reachable[key] = queued(i, "BUNDLE"); !reachable[key] {
					b.add("I2: the bundle of revision %s is pending and falls due as %q", r, i.Text("g2p"))
				}
			default:
				reachable[key] = queued(i, "UNBUNDLE")
			}
			if status != pending && queued(i, "BUNDLE") {
				b.add("I2: the bundle of revision %s is %q and is to be made", r, status)
			}
			discarded := status == "failed" && i.Text("status") == retained // with its number, when its artifact was put back
			if status != "" && i.Number("no") == 0 && !discarded {
				b.add("I2: revision %s was never published and has a bundle", r)
			}
		}
	}
	for key := range s.bundles {
		if !reachable[key] {
			b.add("%w archive %s", ErrStray, key)
		}
	}
}

// checkCollectedBundles checks that no archive is left of what ended.
func (s *snapshot) checkCollectedBundles(b *breaches) {
	needed := map[string]bool{}
	for _, a := range s.artifacts {
		for r, i := range a.revisions {
			if a.is(live) && i.Text("status") == published && i.Text("bstat") == ready {
				needed[bundleKey(a, r)] = true
			}
			if queued(i, "BUNDLE") || queued(i, "UNBUNDLE") {
				b.add("the bundle of revision %s is still queued as %q", r, i.Text("g2p"))
			}
		}
	}
	for key := range s.bundles {
		if !needed[key] {
			b.add("the archive %s is still there", key)
		}
	}
}
