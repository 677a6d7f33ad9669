package app

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"

	"vitrine/shared/identity/pow"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/feedback"
)

const guestToken = "0123456789abcdefghijklmnopqrstuv"

// fakeGuests take what guests of one link write. Its zero value lets nobody write.
type fakeGuests struct {
	mu       sync.Mutex
	letters  []feedback.Letter
	refusal  error
	bits     int           // of the work that is asked for; 0: none
	wait     time.Duration // that comes with it
	atOnce   bool
	shows    feedback.Correspondence
	reads    int
	gone     bool // the link opens nothing
	comments bool // links take them
}

// seals are what guests of the bay wrote, and what waits of one of them.
func (f *fakeGuests) seals() {
	f.set(func() {
		f.comments = true
		robot := feedback.Author{Kind: feedback.Agent, Name: "Night \u202eDesk"}
		member := feedback.Author{Kind: feedback.Member, Name: "ada"}
		guest := feedback.Author{Kind: feedback.Guest, Name: "Grace \u202eof the bay"}
		f.shows = feedback.Correspondence{
			Seq:    9,
			Writes: true,
			Threads: []feedback.Talk{
				{
					Thread: feedback.Thread{
						ID:     openThread,
						State:  feedback.Open,
						Path:   "data/" + longName + ".csv",
						Anchor: feedback.Anchor{Kind: feedback.OnLines, From: 12, To: 14},
					},
					Own:    true,
					Hidden: 7,
					Said: []feedback.Message{
						{Author: guest, Body: hostileWords, At: noon},
						{Author: robot, Body: "It is metres. Fixed in the next revision.", At: noon},
						{Author: member, At: noon, Deleted: true},
					},
				},
				{
					Thread: feedback.Thread{
						ID:     resolvedThread,
						State:  feedback.Resolved,
						Path:   "report.html",
						Anchor: feedback.Anchor{Kind: feedback.OnText, Exact: "harbour\u202e seals"},
					},
					Said: []feedback.Message{{Author: guest, Body: "Which ones?", At: noon}},
				},
			},
			Waiting: []feedback.Held{
				{
					Thread: heldThread,
					Anchor: feedback.Anchor{Kind: feedback.OnArtifact},
					Author: guest,
					Body:   "And two pups.",
					At:     noon,
				},
				{
					Thread: openThread,
					Reply:  true,
					Path:   "report.html",
					Anchor: feedback.Anchor{Kind: feedback.OnFile},
					Author: guest,
					Body:   "Thank you.",
					At:     noon,
				},
			},
		}
	})
}

// longName fills more than a line.
const longName = "counts-of-the-harbour-seals-between-the-northern-hook-and-the-great-sandbank"

// set changes what it answers.
func (f *fakeGuests) set(change func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	change()
}

func (f *fakeGuests) Write(_ context.Context, l feedback.Letter) (feedback.Sent, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.letters = append(f.letters, l)
	switch {
	case f.refusal != nil:
		return feedback.Sent{}, f.refusal
	case l.Proof != nil && !solved(l.Proof):
		return feedback.Sent{}, fault.NewCode(fault.PowInvalid)
	case l.Proof == nil && f.bits > 0:
		return feedback.Sent{}, &pow.Required{
			Fault:     fault.NewCode(fault.PowRequired).After(f.wait),
			Challenge: contract.Challenge{Nonce: "0123456789_abcdefghi-A", Difficulty: f.bits},
		}
	}
	thread := l.Thread
	if thread == "" {
		thread = id.NewThread()
	}
	f.shows.Waiting = append(f.shows.Waiting, feedback.Held{
		Thread: thread,
		Reply:  l.Thread != "",
		Path:   l.Path,
		Anchor: l.Anchor,
		Author: feedback.Author{Kind: feedback.Guest, Name: l.Name},
		Body:   l.Body,
		At:     noon,
	})
	return feedback.Sent{Token: guestToken, Thread: thread, Held: !f.atOnce}, nil
}

func (f *fakeGuests) Read(
	_ context.Context, public id.Public, _, token string, _ netip.Addr,
) (feedback.Correspondence, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reads++
	if f.gone || public != publicID {
		return feedback.Correspondence{}, fault.NewCode(fault.NotFound)
	}
	c := f.shows
	c.Threads = slices.Clone(c.Threads)
	if token != guestToken {
		c.Waiting = nil
	}
	return c, nil
}

// sent returns the last letter.
func (f *fakeGuests) sent() feedback.Letter {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.letters[len(f.letters)-1]
}
