package invariant

import (
	"fmt"
	"strings"
)

// volumeLen is how many bytes an export's item has for each archive.
const volumeLen = 8 + 32

// exports are the items of exports: the newest of each workspace, and those that were replaced.
func (s *snapshot) exports() (out []item) {
	for _, i := range s.core {
		if sk := i.text("sk"); sk == "EXPORT" || strings.HasPrefix(sk, "EXPORT#") && strings.Count(sk, "#") == 1 {
			out = append(out, i)
		}
	}
	return out
}

// archivesOf returns the keys of the archives that an export records, and of the one that an attempt may have left.
func archivesOf(i item) (recorded []string, further string) {
	name := func(n int) string {
		return fmt.Sprintf("x/%s/%s/%04d.zip", strings.TrimPrefix(i.text("pk"), "W#"), i.text("id"), n)
	}
	n := len(i.bytes("vols")) / volumeLen
	for v := 1; v <= n; v++ {
		recorded = append(recorded, name(v))
	}
	return recorded, name(n + 1)
}

// checkExports checks the archives of exports against the tables: I1 and I2.
func (s *snapshot) checkExports(b *breaches) {
	reachable := map[string]bool{}
	for _, i := range s.exports() {
		status, newest := i.text("status"), i.text("sk") == "EXPORT"
		recorded, further := archivesOf(i)
		waits, ends := i.queued("EXPORT"), i.queued("UNEXPORT")
		if (status == pending) != waits {
			b.add("I2: the export %s is %q and falls due as %q", i.text("id"), status, i.text("g2p"))
		}
		if (status == ready || !newest) && !ends {
			b.add("I2: the export %s is %q and is not deleted when it ends", i.text("id"), status)
		}
		for n, key := range recorded {
			reachable[key] = waits || ends
			size, there := s.archives[key]
			if newest && (status == pending || status == ready) && (!there || size == 0) {
				b.add("I1: archive %d of export %s is recorded, it has %d bytes, there: %t", n+1, i.text("id"), size, there)
			}
		}
		reachable[further] = waits || ends
	}
	for key := range s.archives {
		if !reachable[key] {
			b.add("I2: nothing leads to the archive %s", key)
		}
	}
}

// checkCollectedExports checks that no archive is left of what ended.
func (s *snapshot) checkCollectedExports(b *breaches) {
	needed := map[string]bool{}
	for _, i := range s.exports() {
		if i.text("sk") != "EXPORT" {
			b.add("the export %s was replaced and is still there", i.text("id"))
			continue
		}
		recorded, _ := archivesOf(i)
		for _, key := range recorded {
			needed[key] = i.text("status") == ready
		}
	}
	for key := range s.archives {
		if !needed[key] {
			b.add("the archive %s is still there", key)
		}
	}
}
