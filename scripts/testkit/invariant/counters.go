package invariant

import (
	"strings"
	"time"

	"vitrine/shared/platform/limits"
	"vitrine/shared/platform/rate"
)

// checkCounters checks I5.
func (s *snapshot) checkCounters(b *breaches, l *limits.Limits) {
	leased := func(limit int) int { return limit + rate.LargestBlock(limit) - 1 }
	caps := map[string]int{
		"actor":     leased(l.Actor.Limit),
		"workspace": leased(l.Workspace.Limit),
		"artifact":  leased(l.Tiers[limits.Pro].ReadsOf(limits.FilesPerTree)),
		"refused":   l.Refused.Limit,
		"address":   l.ProvisionAddress.Limit,
		"provision": l.ProvisionGlobal.Limit,
		"gate":      max(int(s.gate.Number("per_minute")), limits.ProvisionQuota),
	}
	used := map[string]int64{} // by workspace and day
	for _, i := range s.hot {
		name, c := i.Text("pk"), i.Number("c")
		if ttl := i.Number("ttl"); ttl < 1e9 || ttl > 1e10 {
			b.add("I5: ttl of %s is %d, which is no time in seconds", name, ttl)
		}
		parts := strings.Split(name, ":")
		switch parts[0] {
		case "r":
			if most, ok := caps[parts[1]]; ok && c > int64(most) {
				b.add("I5: the counter %s holds %d of %d", name, c, most)
			}
		case "d":
			used[parts[1]+" "+parts[2]] += c
			most := (l.Tiers[s.tier(parts[1])].NewArtifactsPerDay + limits.AllowanceShards - 1) / limits.AllowanceShards
			if c > int64(most) {
				b.add("I5: the counter %s holds %d of %d", name, c, most)
			}
		case "b":
			if most := l.Tiers[s.tier(parts[1])].UploadBytes() / limits.AllowanceShards; c > most {
				b.add("I5: the counter %s holds %d of %d bytes", name, c, most)
			}
		}
	}
	s.checkPins(b, l)
	if l.Off {
		return // the limits are off
	}
	first := s.firstPublished()
	for day, n := range first {
		if used[day] != n {
			b.add("%w: %d on %s, and %d counted", ErrCounted, n, day, used[day])
		}
	}
	for day, n := range used {
		if first[day] == 0 && n != 0 {
			b.add("%w: none on %s, and %d counted", ErrCounted, day, n)
		}
	}
}

// checkPins checks the counters of pins against the artifacts.
func (s *snapshot) checkPins(b *breaches, l *limits.Limits) {
	pinned := map[string]int64{}
	for _, a := range s.artifacts {
		if a.meta.Has("pin_at") {
			pinned[a.meta.Text("own")]++
		}
		if a.meta.Has("pin_at") && !a.is(live) {
			b.add("I5: artifact %s is %s and pinned", a.id, a.meta.Text("status"))
		}
	}
	for w := range s.workspaces {
		n := s.pins[w].Number("n")
		if most := l.Tiers[s.tier(w)].LiveArtifacts; n != pinned[w] || n > int64(most) {
			b.add("I5: workspace %s counts %d pins of %d and has %d", w, n, most, pinned[w])
		}
	}
}

// firstPublished counts first publications by workspace and day. The workspace is that of the
// event, because the artifact may have been claimed before or after.
func (s *snapshot) firstPublished() map[string]int64 {
	days, where := map[string]int64{}, map[string]string{}
	for _, e := range s.events {
		if e.Text("action") == "artifact.published" {
			where[e.Text("on_id")] = strings.TrimPrefix(e.Text("pk"), "W#")
		}
	}
	for _, a := range s.artifacts {
		for name, r := range a.revisions {
			if r.Number("no") == 1 {
				days[where[name]+" "+time.UnixMilli(r.Number("pub_at")).UTC().Format("20060102")]++
			}
		}
	}
	return days
}

// tier returns the tier whose caps hold for a workspace.
func (s *snapshot) tier(w string) limits.Tier {
	switch i := s.workspaces[w]; {
	case !i.Has("claimed_at"):
		return limits.Ephemeral
	case i.Text("plan") == "pro":
		return limits.Pro
	}
	return limits.Free
}
