package invariant

import (
	"fmt"
	"strings"

	"vitrine/scripts/testkit/rows"
)

// volumeLen is how many bytes an export's item has for each archive.
const volumeLen = 8 + 32

// exports are the items of exports: the newest of each workspace, and those that were replaced.
func (s *snapshot) exports() (out []rows.Item) {
	for _, i := range s.core {
		if sk := i.Text("sk"); sk == "EXPORT" || strings.HasPrefix(sk, "EXPORT#") && strings.Count(sk, "#") == 1 {
			out = append(out, i)
		}
	}
	return out
}

// archivesOf returns what the keys of an export's archives begin with, and the keys of those that it records.
func archivesOf(i rows.Item) (folder string, recorded []string) {
	folder = fmt.Sprintf("x/%s/%s/", strings.TrimPrefix(i.Text("pk"), "W#"), i.Text("id"))
	for v := 1; v <= len(i.Bytes("vols"))/volumeLen; v++ {
		recorded = append(recorded, fmt.Sprintf("%s%04d.zip", folder, v))
	}
	return folder, recorded
}

// checkExports checks the archives of exports against the tables: I1 and I2. An attempt that died, or an export that
// began anew, leaves archives that are not recorded; all of an export are deleted when it ends.
func (s *snapshot) checkExports(b *breaches) {
	reachable := map[string]bool{}
	for _, i := range s.exports() {
		status, newest := i.Text("status"), i.Text("sk") == "EXPORT"
		folder, recorded := archivesOf(i)
		waits, ends := queued(i, "EXPORT"), queued(i, "UNEXPORT")
		if (status == pending) != waits {
			b.add("I2: the export %s is %q and falls due as %q", i.Text("id"), status, i.Text("g2p"))
		}
		if (status == ready || !newest) && !ends {
			b.add("I2: the export %s is %q and is not deleted when it ends", i.Text("id"), status)
		}
		for n, key := range recorded {
			size, there := s.archives[key]
			if newest && (status == pending || status == ready) && (!there || size == 0) {
				b.add("I1: archive %d of export %s is recorded, it has %d bytes, there: %t", n+1, i.Text("id"), size, there)
			}
		}
		reachable[folder] = waits || ends
	}
	for key := range s.archives {
		if folder := key[:strings.LastIndexByte(key, '/')+1]; !reachable[folder] {
			b.add("%w archive %s", ErrStray, key)
		}
	}
}

// checkCollectedExports checks that no archive is left of what ended.
func (s *snapshot) checkCollectedExports(b *breaches) {
	needed := map[string]bool{}
	for _, i := range s.exports() {
		if i.Text("sk") != "EXPORT" {
			b.add("the export %s was replaced and is still there", i.Text("id"))
			continue
		}
		_, recorded := archivesOf(i)
		for _, key := range recorded {
			needed[key] = i.Text("status") == ready
		}
	}
	for key := range s.archives {
		if !needed[key] {
			b.add("the archive %s is still there", key)
		}
	}
}
