package invariant

import (
	"slices"
	"strconv"
	"strings"

	"vitrine/scripts/testkit/rows"
)

// feedbackAction begins the actions of threads, and unchanging are those that change none.
const feedbackAction = "feedback."

var unchanging = []string{"feedback.policy", "feedback.held", "feedback.dropped"}

// discussion is what is stored of the threads of an artifact.
type discussion struct {
	counts   rows.Item
	threads  map[string]rows.Item
	places   map[string][]string // threads that are listed at a change
	messages map[string]int64    // that each thread has
	text     int64
	held     int64 // what waits for a member
	newest   int64 // its highest number
}

// discussions returns the stored threads by artifact.
func (s *snapshot) discussions() map[string]*discussion {
	all := map[string]*discussion{}
	for _, i := range s.core {
		a, ok := strings.CutPrefix(i.Text("pk"), "FB#")
		if !ok {
			continue
		}
		d := all[a]
		if d == nil {
			d = &discussion{threads: map[string]rows.Item{}, places: map[string][]string{}, messages: map[string]int64{}}
			all[a] = d
		}
		switch kind, name, _ := strings.Cut(i.Text("sk"), "#"); kind {
		case "F":
			d.counts = i
		case "T":
			d.threads[name] = i
		case "S":
			at := strings.TrimLeft(name, "0")
			d.places[at] = append(d.places[at], i.Text("thr")+" "+i.Text("state"))
		case "H":
			d.held++
			n, _ := strconv.ParseInt(name, 10, 64)
			d.newest = max(d.newest, n)
		case "N":
			thread, _, _ := strings.Cut(name, "#")
			d.messages[thread]++
			d.text += int64(len(i.Text("body")))
		}
	}
	return all
}

// checkFeedback checks I9, and I6 for threads: each change has one event, and those of a publication have one together.
// Events of a gap may be of threads that were lost.
func (s *snapshot) checkFeedback(b *breaches, gap Gap) {
	all := s.discussions()
	told, lost := map[string]int64{}, map[string]int64{} // lost are those told in the gap
	for _, e := range s.events {
		if action := e.Text("action"); !strings.HasPrefix(action, feedbackAction) || slices.Contains(unchanging, action) {
			continue
		}
		changes, err := strconv.ParseInt(e.Text("detail"), 10, 64)
		if err != nil {
			changes = 1
		}
		if told[e.Text("art")] += changes; gap.has(e) {
			lost[e.Text("art")] += changes
			continue
		}
		if err == nil {
			continue
		}
		if d := all[e.Text("art")]; d != nil && d.threads[e.Text("on_id")] == nil { // a purge removes all of them
			b.add("I6: %s is of the thread %s, which %s does not have", e.Text("action"), e.Text("on_id"), e.Text("art"))
		}
	}
	for a, d := range all {
		var open, last, messages int64
		for name, t := range d.threads {
			messages += t.Number("messages")
			if has, queued := d.messages[name], queued(t, "THREAD"); t.Text("state") != "deleted" {
				if has != t.Number("messages") || queued {
					b.add("I9: thread %s of %s has %d of %d messages, queued: %t", name, a, has, t.Number("messages"), queued)
				}
			} else if has > 0 && !queued {
				b.add("I9: thread %s of %s is deleted, and nothing removes its %d messages", name, a, has)
			}
			if t.Text("state") == "open" {
				open++
			}
			last = max(last, t.Number("seq"))
			if at := d.places[strconv.FormatInt(t.Number("seq"), 10)]; len(at) != 1 || at[0] != name+" "+t.Text("state") {
				b.add("I9: thread %s of %s is %s since %d, where the order of changes has %q", name, a, t.Text("state"),
					t.Number("seq"), at)
			}
		}
		f := d.counts
		if f.Number("seq") != last || f.Number("threads") != int64(len(d.threads)) || f.Number("open") != open ||
			f.Number("messages") != messages || f.Number("text") != d.text || len(d.places) != len(d.threads) {
			b.add("I9: %s counts %d changes, %d open of %d threads, %d messages of %d bytes; there are %d, %d of %d, %d of %d, "+
				"and %d places", a, f.Number("seq"), f.Number("open"), f.Number("threads"), f.Number("messages"), f.Number("text"),
				last, open, len(d.threads), messages, d.text, len(d.places))
		}
		if f.Number("held") != d.held || f.Number("held_seq") < d.newest {
			b.add("I9: %s counts %d that wait up to %d; there are %d up to %d", a, f.Number("held"), f.Number("held_seq"), d.held,
				d.newest)
		}
		listed := strings.TrimSuffix(strings.TrimPrefix(f.Text("g1p"), "W#"), "#FB")
		if wanted := open+d.held > 0; f.Has("g1p") != wanted || wanted && s.artifacts[a] != nil &&
			s.owner(listed) != s.owner(s.artifacts[a].meta.Text("own")) {
			b.add("I9: %s has %d open threads and %d that wait, and is in the inbox %q", a, open, d.held, f.Text("g1p"))
		}
		old := s.artifacts[a] != nil && gap.forgets(s.artifacts[a].meta.Number("created"))
		if n := f.Number("seq"); told[a] < n && !old || told[a] > n+lost[a] {
			b.add("I6: the threads of %s changed %d times and have %d events", a, f.Number("seq"), told[a])
		}
	}
}

// checkCollectedFeedback checks that the messages of deleted threads are removed.
func (s *snapshot) checkCollectedFeedback(b *breaches) {
	for a, d := range s.discussions() {
		for name, t := range d.threads {
			if queued(t, "THREAD") || t.Text("state") == "deleted" && d.messages[name] > 0 {
				b.add("the deleted thread %s of %s still has %d messages, or is queued", name, a, d.messages[name])
			}
		}
	}
}
