package dynamo

import (
	"context"
	"strconv"
	"strings"

	"vitrine/shared/platform/id"
	"vitrine/shared/publishing/feedback"
)

func heldItem(h feedback.Held) item { return encode(heldKey(h.Artifact, h.Number), &h, heldFields) }

func heldFields(f fields, h *feedback.Held) {
	text(f, "thr", &h.Thread)
	f.flag("reply", &h.Reply)
	text(f, "rev", &h.Revision)
	text(f, "path", &h.Path)
	anchorFields(f, &h.Anchor)
	author(f, "by", &h.Author)
	text(f, "body", &h.Body)
	f.time("at", &h.At)
}

// Waiting implements feedback.Store.
func (s Feedback) Waiting(ctx context.Context, a id.Artifact) (all []feedback.Held, err error) {
	err = s.between(ctx, heldKey(a, 0), heldKey(a, maxSeq), messagesRead, func(i item) bool {
		n, _ := strconv.ParseInt(strings.TrimPrefix(i.key().sk, heldPrefix), 10, 64)
		all = append(all, *decode(i, &feedback.Held{Artifact: a, Number: n}, heldFields))
		return true
	})
	return all, err
}

// Guests implements feedback.Store.
func (s Feedback) Guests(ctx context.Context, a id.Artifact, most int) ([]feedback.Thread, error) {
	var places []turn
	err := s.between(ctx, placeKey(a, 0), placeKey(a, maxSeq), maxExamined, func(i item) bool {
		if p := readPlace(i); i.getStr("by") == string(feedback.Guest) && p.state != feedback.Deleted {
			places = append(places, p)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	places = places[max(0, len(places)-most):]
	read, err := s.placed(ctx, a, places)
	var threads []feedback.Thread
	for n, t := range read {
		if t != nil && t.State != feedback.Deleted && t.Seq == places[n].seq {
			threads = append(threads, *t)
		}
	}
	return threads, err
}

// wait puts what a guest wrote, and removes what waits no longer.
func (t *transaction) wait(c feedback.Change) {
	if c.Waits != nil {
		t.create(heldItem(*c.Waits))
	}
	for _, h := range c.Released {
		t.remove(heldKey(h.Artifact, h.Number), "attribute_exists(#pk)", nil, raced)
	}
}

// sameHeld is the condition that what waits is what counts say.
const sameHeld = "(attribute_not_exists(#held_seq) OR #held_seq = :held_seq_was AND #held = :held_was)"
