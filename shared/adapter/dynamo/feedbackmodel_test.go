package dynamo

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/feedback"
)

// deed is an act on a thread that was acknowledged.
type deed struct {
	by     feedback.Author
	answer feedback.Answer // of a new thread its first message, as a reply
	begins bool
	number int      // of the revision that addresses the thread
	takes  int      // number of the message that is deleted; 0: none
	seen   int64    // up to which letters of guests are let through; 0: none are
	waited []string // the letters of the thread up to it, of which some may have been let through or dropped before
	asked  [2]int64 // when it was asked for and answered, by the clock of the history

	thread feedback.Thread // as it was answered
}

func (d deed) String() string {
	return fmt.Sprintf("%s %+v begins %t takes %d addresses %d: %s at %d",
		d.by.Kind, d.answer, d.begins, d.takes, d.number, d.thread.State, d.thread.Seq)
}

// modelledThread is a thread as it has to be. Its zero value is one that was not begun.
type modelledThread struct {
	state     feedback.State
	addressed int      // number of the revision
	bodies    []string // of messages; empty: deleted
	authors   []feedback.Author
}

// after returns what a deed makes of a thread, whether it changes it, and whether it may be done at all. resolvable
// reports that agents may have been allowed to resolve.
func (m modelledThread) after(d deed, resolvable bool) (_ modelledThread, changed, allowed bool) {
	member := d.by.Kind == feedback.Member
	switch {
	case d.begins:
		m.state = feedback.Open
		return m.with(d), true, len(m.bodies) == 0
	case d.seen > 0:
		return m.released(d)
	case m.state == "" || m.state == feedback.Deleted:
		return m, false, false
	case d.takes > 0:
		return m.without(d)
	case d.answer.Delete:
		return modelledThread{state: feedback.Deleted, bodies: make([]string, len(m.bodies))}, true, member
	}
	if d.answer.Reopen {
		changed = m.state != feedback.Open
		m.state = feedback.Open
		if !member {
			return m, false, false
		}
	}
	if d.answer.Reply != "" {
		if m.state == feedback.Resolved {
			return m, false, false
		}
		if member {
			m.state = feedback.Open
		}
		m, changed = m.with(d), true
	}
	if d.number > 0 {
		again := m.state == feedback.Addressed
		if m.state == feedback.Resolved || again && d.number < m.addressed {
			return m, false, false
		}
		changed = changed || !again || d.number > m.addressed
		m.state, m.addressed = feedback.Addressed, d.number
	}
	if d.answer.Resolve && m.state != feedback.Resolved {
		if !member && !resolvable {
			return m, false, false
		}
		m.state, changed = feedback.Resolved, true
	}
	return m, changed, true
}

func (m modelledThread) with(d deed) modelledThread {
	m.bodies = append(slices.Clone(m.bodies), d.answer.Reply)
	m.authors = append(slices.Clone(m.authors), d.by)
	return m
}

// released appends the last of the letters that waited, which are as many as the thread has more.
func (m modelledThread) released(d deed) (_ modelledThread, changed, allowed bool) {
	n := d.thread.Messages - len(m.bodies)
	if n < 1 || n > len(d.waited) || m.state == feedback.Resolved || m.state == feedback.Deleted {
		return m, false, false
	}
	m.state = feedback.Open
	for _, words := range d.waited[len(d.waited)-n:] {
		m = m.with(deed{by: stranger, answer: feedback.Answer{Reply: words}})
	}
	return m, true, true
}

// without takes the words of a message away, and ends a thread that has no other.
func (m modelledThread) without(d deed) (_ modelledThread, changed, allowed bool) {
	n := d.takes - 1
	allowed = m.authors[n].Kind == feedback.Member && m.authors[n].ID == d.by.ID
	if len(m.bodies) == 1 {
		return modelledThread{state: feedback.Deleted, bodies: []string{""}}, true, allowed
	}
	changed = m.bodies[n] != ""
	m.bodies = slices.Clone(m.bodies)
	m.bodies[n] = ""
	return m, changed, allowed
}

// storedThreads is what the items of an artifact's threads say together.
type storedThreads struct {
	feedback.Counts // as they are stored
	threads         map[id.Thread]feedback.Thread
	places          map[int64]turn
	bodies          map[id.Thread][]string
	waiting         map[int64]feedback.Held
}

func (h *history) stored() storedThreads {
	s := storedThreads{
		threads: map[id.Thread]feedback.Thread{},
		places:  map[int64]turn{},
		bodies:  map[id.Thread][]string{},
		waiting: map[int64]feedback.Held{},
	}
	for _, one := range must(h.Feedback.Waiting(ctx, h.artifact))(h.t) {
		s.waiting[one.Number] = one
	}
	for _, i := range itemsOf(h.t, h.Stores, feedbackOf(h.artifact)) {
		switch kind, rest, _ := strings.Cut(i.key().sk, "#"); kind {
		case "F":
			s.Counts = readCounts(i)
		case "T":
			s.threads[id.Thread(rest)] = *readThread(i, h.artifact, id.Thread(rest))
		case "S":
			p := readPlace(i)
			s.places[p.seq] = p
		case "N":
			m := readMessage(i)
			s.bodies[m.Thread] = append(s.bodies[m.Thread], m.Body)
		}
	}
	return s
}

// wantModelled does what was acknowledged again in the order of changes, by the model, and compares.
func (h *history) wantModelled(s storedThreads) {
	h.t.Helper()
	at := map[int64][]deed{}
	for _, d := range h.done {
		d.waited = h.lettersTo(d.thread.ID, d.seen)
		at[d.thread.Seq] = append(at[d.thread.Seq], d)
	}
	all := map[id.Thread]modelledThread{}
	last := map[id.Thread]int64{}
	for seq := int64(1); seq <= s.Seq; seq++ {
		deeds := at[seq]
		if len(deeds) == 0 {
			h.t.Errorf("nobody was told of change %d", seq)
			continue
		}
		thread := deeds[0].thread.ID
		after, ok := h.only(all[thread], deeds)
		if !ok {
			h.t.Errorf("change %d of %+v is not one of %v", seq, all[thread], deeds)
		}
		all[thread], last[thread] = after, seq
		delete(at, seq)
	}
	if len(at) > 0 {
		h.t.Errorf("after the last change %d some were told of %v", s.Seq, at)
	}
	want := feedback.Counts{
		Seq:      s.Seq,
		Threads:  len(all),
		Held:     len(s.waiting),
		HeldSeq:  int64(len(h.letters)) + h.decided,
		Settings: h.policies[len(h.policies)-1].Settings,
	}
	h.wantLetters(s, all)
	places := map[int64]turn{}
	for name, m := range all {
		got := s.threads[name]
		if got.State != m.state || got.Seq != last[name] || got.Messages != len(m.bodies) ||
			m.state == feedback.Addressed && got.Addressed.Number != m.addressed {
			h.t.Errorf("%s is %+v, want %+v of %d", name, got, m, last[name])
		}
		places[got.Seq] = turn{got.Seq, name, got.State}
		want.Messages += len(m.bodies)
		if m.state == feedback.Open {
			want.Open++
		}
		if m.state == feedback.Deleted {
			m.bodies = nil // they are collected
		}
		if !slices.Equal(s.bodies[name], m.bodies) {
			h.t.Errorf("%s has the words %q, want %q", name, s.bodies[name], m.bodies)
		}
		for _, body := range m.bodies {
			want.Text += int64(len(body))
		}
	}
	if s.Counts != want || len(s.threads) != len(all) || !maps.Equal(s.places, places) {
		h.t.Errorf("%+v of %d threads: %v, want %+v of %d: %v", s.Counts, len(s.threads), s.places, want, len(all), places)
	}
}

// only returns what the one deed that changed a thread made of it. Each of the others that were answered with the same
// change found nothing to do after it.
func (h *history) only(before modelledThread, deeds []deed) (after modelledThread, ok bool) {
	for n, d := range deeds {
		after, changed, allowed := before.after(d, h.could(d, func(p feedback.Settings) bool { return p.AgentsResolve }))
		if !changed || !allowed || after.state != d.thread.State ||
			d.begins && !h.could(d, func(p feedback.Settings) bool { return !p.Off }) {
			continue
		}
		others := slices.Delete(slices.Clone(deeds), n, n+1)
		if !slices.ContainsFunc(others, func(other deed) bool {
			_, changed, allowed := after.after(other, true)
			return changed || !allowed || other.thread.ID != d.thread.ID
		}) {
			return after, true
		}
	}
	return before, false
}

// could reports whether the settings may have been such that they allowed a deed at some time while it was done.
func (h *history) could(d deed, allows func(feedback.Settings) bool) bool {
	for n, p := range h.policies {
		ends := d.asked[1]
		if n+1 < len(h.policies) {
			ends = h.policies[n+1].asked[1]
		}
		if allows(p.Settings) && p.asked[0] <= d.asked[1] && d.asked[0] <= ends {
			return true
		}
	}
	return false
}

// wantSeen compares what a reader who followed knows.
func (h *history) wantSeen(seen map[id.Thread]feedback.Thread, s storedThreads) {
	h.t.Helper()
	if diff := cmp.Diff(seen, s.threads); diff != "" {
		h.t.Errorf("the reader knows otherwise: %s", diff)
	}
}
