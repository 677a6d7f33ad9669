package keyring

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Replacing a key takes three steps, so that no signature ends early. Stage adds the next key. Flip makes it sign. Drop
// removes the previous key once everything that it signed has expired. Each step needs a restart of all instances,
// because an instance knows only the keys that existed when it started.

// StageAge is how long a staged key waits until it may sign, because older instances and caches of public keys do not
// know it.
const StageAge = 15 * time.Minute

// Urgency is which of the waiting times a step may skip.
type Urgency int

// The levels of Urgency.
const (
	Patient   Urgency = iota
	Unused            // the operator knows that everything signed by keys without a known end has expired
	Emergency         // a key has leaked: it goes, and everything that it signed with it
)

// NotYet refuses a step that is too early.
type NotYet struct {
	At     time.Time // when the step becomes possible; zero: waiting does not help
	Reason string
}

// Error implements error.
func (n *NotYet) Error() string { return n.Reason }

// Stage adds a fresh key that checks but does not sign yet. It fails while another key is staged.
func (r Ring) Stage(now time.Time) (Ring, error) {
	if i := r.first(Next); i >= 0 {
		return r, fmt.Errorf("key %d is staged already: flip to it first", r.Keys[i].ID)
	}
	id, err := r.freeID()
	if err != nil {
		return r, err
	}
	out := r.clone()
	out.Keys = append(out.Keys, Key{
		ID:     id,
		Secret: newSecret(),
		State:  Next,
		Since:  stamp(now),
	})
	return out, nil
}

// Flip makes the staged key sign. The previous key goes on checking for drain, or without end if drain is zero. Flip
// fails with NotYet while instances may run that do not know the staged key, except in an emergency.
func (r Ring) Flip(now time.Time, drain time.Duration, haste Urgency) (Ring, error) {
	staged := r.first(Next)
	if staged < 0 {
		return r, errors.New("no key is staged: stage one first")
	}
	if k := r.Keys[staged]; haste != Emergency {
		switch at := k.Since.Add(StageAge); {
		case k.Since.IsZero():
			return r, &NotYet{Reason: fmt.Sprintf(
				"nobody wrote down when key %d was staged, so instances may run that do not know it", k.ID)}
		case now.Before(at):
			return r, &NotYet{
				At: at,
				Reason: fmt.Sprintf("key %d was staged less than %s ago, so instances may run that do not know it", k.ID,
					minutes(StageAge)),
			}
		}
	}
	out, now := r.clone(), stamp(now)
	for i, k := range out.Keys {
		if k.ID == r.ActiveID {
			k.State = Verify
			k.Since = now
			k.VerifyUntil = time.Time{}
			if drain > 0 {
				k.VerifyUntil = now.Add(drain)
			}
		}
		if i == staged {
			k.State, k.Since = Active, now
		}
		out.Keys[i] = k
	}
	out.ActiveID = out.Keys[staged].ID
	return out, nil
}

// Drop removes the keys that no live signature needs, and returns their ids. With Unused it also removes the keys
// without a known end, as soon as no instance signs with them. With Emergency it removes all keys but the active one,
// including a staged one. Drop fails with NotYet if no key can be removed yet.
func (r Ring) Drop(now time.Time, haste Urgency) (left Ring, dropped []byte, err error) {
	left = Ring{ActiveID: r.ActiveID}
	for _, k := range r.Keys {
		if r.droppable(k, now, haste) {
			dropped = append(dropped, k.ID)
		} else {
			left.Keys = append(left.Keys, k)
		}
	}
	if len(dropped) > 0 {
		return left, dropped, nil
	}
	return r, nil, r.nothingToDrop(haste)
}

func (r Ring) droppable(k Key, now time.Time, haste Urgency) bool {
	switch {
	case k.State == Active:
		return false
	case haste == Emergency:
		return true
	case k.State != Verify:
		return false
	case k.VerifyUntil.IsZero():
		return haste == Unused && !now.Before(k.Since.Add(restartTime))
	}
	return !now.Before(k.VerifyUntil)
}

// nothingToDrop returns why no key can be dropped, and when that changes.
func (r Ring) nothingToDrop(haste Urgency) error {
	var soonest *Key
	for i, k := range r.Keys {
		if k.State == Verify && !k.end(haste).IsZero() && (soonest == nil || k.end(haste).Before(soonest.end(haste))) {
			soonest = &r.Keys[i]
		}
	}
	switch {
	case soonest != nil:
		return &NotYet{At: soonest.end(haste), Reason: fmt.Sprintf("what key %d signed still lives", soonest.ID)}
	case r.first(Verify) >= 0:
		return &NotYet{Reason: fmt.Sprintf("what key %d signed may have no end, so that no time is enough",
			r.Keys[r.first(Verify)].ID)}
	}
	return errors.New("there is no key to drop: every key is in use")
}

// end returns when a key in state Verify can be dropped; zero: waiting does not help.
func (k Key) end(haste Urgency) time.Time {
	if k.VerifyUntil.IsZero() && haste == Unused {
		return k.Since.Add(restartTime)
	}
	return k.VerifyUntil
}

// Step is a possible next step of a ring.
type Step struct {
	Name string    // stage, flip or drop
	Key  byte      // the key it applies to; 0: a new one
	At   time.Time // the earliest time; zero: waiting does not help
}

// Steps returns the steps that a ring can take next, now or later.
func (r Ring) Steps(now time.Time) (steps []Step) {
	if staged := r.first(Next); staged < 0 {
		steps = append(steps, Step{Name: "stage", At: now})
	} else {
		k := r.Keys[staged]
		step := Step{Name: "flip", Key: k.ID}
		if !k.Since.IsZero() {
			step.At = k.Since.Add(StageAge)
		}
		steps = append(steps, step)
	}
	for _, k := range r.Keys {
		if k.State == Verify {
			steps = append(steps, Step{Name: "drop", Key: k.ID, At: k.VerifyUntil})
		}
	}
	return steps
}

// first returns the index of the first key in a state, -1 if there is none.
func (r Ring) first(state string) int {
	return slices.IndexFunc(r.Keys, func(k Key) bool { return k.State == state })
}

// freeID returns the next free id after that of the active key. It reuses an id as late as possible, because signatures
// of a dropped key still name it.
func (r Ring) freeID() (byte, error) {
	id := r.ActiveID
	for range 255 {
		if id++; id == 0 {
			id = 1
		}
		if !slices.ContainsFunc(r.Keys, func(k Key) bool { return k.ID == id }) {
			return id, nil
		}
	}
	return 0, errors.New("the ring holds as many keys as there are ids: drop some first")
}

// stamp truncates an instant to the precision of the JSON form.
func stamp(at time.Time) time.Time { return at.UTC().Truncate(time.Second) }

// minutes formats a duration in whole minutes.
func minutes(d time.Duration) string { return fmt.Sprintf("%d minutes", int(d.Minutes())) }
