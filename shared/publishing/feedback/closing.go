package feedback

import (
	"context"
	"slices"
	"strconv"

	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/text"
	"vitrine/shared/publishing/artifact"
)

// Closer decides what publications do to threads.
type Closer struct{ Store Threads }

var _ artifact.Threads = Closer{}

// Threads reads threads.
type Threads interface {
	// Threads reads the counts of an artifact and threads of it strongly in one batch; nil for each that there is not.
	Threads(ctx context.Context, a id.Artifact, all []id.Thread) (Counts, []*Thread, error)
}

// Closing is what a publication writes to threads.
type Closing struct {
	Changes []Change    // each goes on from the counts of the one before
	Event   event.Event // of all; its detail is how many they are
}

// Addresses returns what a publication is asked to address, each thread once and with its note as it is kept; nil: none.
// What is no thread, and a note that is no text, is invalid_request.
func Addresses(all []artifact.Address) (kept []artifact.Address, err error) {
	for _, a := range all {
		if !a.Thread.Valid() {
			return nil, fault.New(fault.InvalidRequest, "addresses names what is no id of a thread; it begins with thr_")
		}
		if slices.ContainsFunc(kept, func(b artifact.Address) bool { return b.Thread == a.Thread }) {
			continue
		}
		if a.Note != "" {
			if a.Note, err = text.Clean(a.Note, MaxNote); err != nil {
				return nil, err
			}
		}
		kept = append(kept, a)
	}
	return kept, nil
}

// Close implements artifact.Threads.
func (c Closer) Close(
	ctx context.Context, by credential.Actor, p artifact.Publication, addresses []artifact.Address,
) (out artifact.Closing, err error) {
	ids := make([]id.Thread, len(addresses))
	for n, a := range addresses {
		ids[n] = a.Thread
	}
	counts, threads, err := c.Store.Threads(ctx, p.Artifact, ids)
	if err != nil {
		return out, err
	}
	var write Closing
	for n, a := range addresses {
		if why := refusal(threads[n], a); why != "" {
			out.Skipped = append(out.Skipped, artifact.Skip{Thread: a.Thread, Reason: why})
			continue
		}
		change, err := Apply(counts, *threads[n], Act{At: p.At, Addressed: Address{
			Revision: p.Revision.ID,
			Number:   p.Number,
			By:       ByAgent(by),
			Note:     a.Note,
			At:       p.At,
		}})
		if err != nil {
			return out, err
		}
		counts = change.After
		write.Changes = append(write.Changes, change)
		out.Addressed = append(out.Addressed, a.Thread)
	}
	out.Open = counts.Open
	if n := len(write.Changes); n > 0 {
		write.Event = by.Record(p.At, event.FeedbackAddressed, event.OnRevision, string(p.Revision.ID), strconv.Itoa(n))
		write.Event.Artifact, write.Event.Number = p.Artifact, p.Number
		out.Changes = write
	}
	return out, nil
}

// refusal returns why a publication cannot address a thread; empty: it can.
func refusal(t *Thread, a artifact.Address) artifact.Reason {
	switch {
	case t == nil || t.State == Deleted:
		return artifact.Gone
	case t.State == Resolved:
		return artifact.Resolved
	case t.Seq > a.Seq:
		return artifact.Changed
	}
	return ""
}
