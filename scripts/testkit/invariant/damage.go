package invariant

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// Key names an item of table core.
type Key struct{ PK, SK string }

func (i item) key() Key { return Key{i.text("pk"), i.text("sk")} }

// Damage is what a restored deployment may have although no sequence of requests leaves it, and what can be repaired.
type Damage struct {
	Objects    []string    // keys of objects that nothing leads to
	Hints      []Key       // entries of the content index that lead to no object
	Missing    []Reference // references that borrowed files need
	Unfinished []Session   // finalized sessions without a revision
	Untold     []event.Event
}

// Reference is a reference to an object that another session brought.
type Reference struct {
	Key
	Artifact id.Artifact
}

// Session is a finalized session whose revision is not there.
type Session struct {
	Key
	Artifact id.Artifact
	Revision id.Revision
	New      bool      // it made the artifact
	Ends     time.Time // of its artifact; zero: it does not end, or there is none
	At       time.Time // of its finalization; zero: nothing tells
	Events   []Key     // in table events, of its finalization
}

// Find reads everything and returns what can be repaired. The events of Untold have no id yet, and the time at which
// the state says that the action happened. No other process may write meanwhile.
func Find(ctx context.Context, d Deployment) (Damage, error) {
	s, err := d.read(ctx)
	if err != nil {
		return Damage{}, fmt.Errorf("the deployment cannot be read: %w", err)
	}
	found := Damage{Untold: s.untold(), Unfinished: s.unfinished()}
	found.Missing = s.missing()
	reachable := s.named()
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		if !reachable[key] && !s.due(key) && !s.condemned(key) {
			found.Objects = append(found.Objects, key)
		}
	}
	for name, h := range s.hints {
		home, _, _ := strings.Cut(name, "#")
		if _, there := s.objects[keyOf(home, h.text("obj"))]; !there {
			found.Hints = append(found.Hints, h.key())
		}
	}
	return found, nil
}

// named returns the keys of all objects that revisions name.
func (s *snapshot) named() map[string]bool {
	out := map[string]bool{}
	for _, a := range s.artifacts {
		for _, files := range a.trees {
			for _, f := range files {
				out[objectKey(a.meta.text("home"), f.Object)] = true
			}
		}
	}
	return out
}

// missing returns the references of borrowed files that are not there.
func (s *snapshot) missing() (out []Reference) {
	for _, a := range s.artifacts {
		for r, files := range a.trees {
			for _, f := range files {
				name := fmt.Sprintf("%s#%d", f.Object.Session, f.Object.Entry)
				if needed := a.is(live) && a.revisions[r].text("status") != retained; f.Referrer == "" && f.Size > 0 &&
					f.Borrowed && needed && s.references[name+" "+r] == nil {
					out = append(out, Reference{Key{"O#" + name, "R#" + r}, id.Artifact(a.id)})
				}
			}
		}
	}
	return out
}

// unfinished returns the sessions that were finalized without a revision: those that an artifact still names as its
// draft, and those whose artifact is not there and was never published.
func (s *snapshot) unfinished() (out []Session) {
	for _, i := range s.sessions {
		name, r := i.text("art"), i.text("rev")
		a := s.artifacts[name]
		if i.text("status") != "finalized" || a != nil && (a.revisions[r] != nil || a.meta.text("draft") != r) {
			continue
		}
		u := Session{
			Key:      i.key(),
			Artifact: id.Artifact(name),
			Revision: id.Revision(r),
			New:      i.has("new"),
		}
		if a != nil {
			u.At = time.UnixMilli(a.meta.number("draft_at"))
		}
		if a != nil && !a.meta.has("pin_at") && limits.Ends(time.UnixMilli(a.meta.number("exp"))) {
			u.Ends = time.UnixMilli(a.meta.number("exp"))
		}
		if s.finalizations(&u) {
			out = append(out, u)
		}
	}
	return out
}

// finalizations adds the events of the finalization to a session. It returns false if the artifact was published.
func (s *snapshot) finalizations(u *Session) bool {
	for _, e := range s.events {
		action, on := event.Action(e.text("action")), e.text("on_id")
		switch {
		case action == event.ArtifactPublished && e.text("art") == string(u.Artifact) && u.New:
			return false
		case action == event.ArtifactCreated && on == string(u.Artifact) && u.New,
			action == event.DraftCreated && on == string(u.Revision):
			u.Events = append(u.Events, e.key())
		}
	}
	return true
}

// untold returns an event for each action that happened to an artifact and has none.
func (s *snapshot) untold() (out []event.Event) {
	told := map[string]bool{}
	for _, e := range s.events {
		told[e.text("action")+" "+e.text("on_id")] = true
	}
	add := func(e event.Event, millis int64) {
		if e.At = time.UnixMilli(millis); millis != 0 && !told[string(e.Action)+" "+e.Target.ID] {
			out = append(out, e)
		}
	}
	first := map[string]bool{}
	for u, i := range s.sessions {
		first[i.text("rev")] = i.has("new")
		add(event.Event{
			Workspace: id.Workspace(i.text("ws")),
			Action:    event.SessionCreated,
			Target:    event.Target{Type: event.OnSession, ID: u},
		}, i.number("created"))
	}
	for _, a := range s.artifacts {
		a.lived(first, add)
	}
	return out
}

// lived adds what happened to an artifact and its revisions. The draft with which it was made has the event of the
// artifact.
func (a *artifact) lived(first map[string]bool, add func(event.Event, int64)) {
	owner := id.Workspace(a.meta.text("own"))
	e := event.Event{Workspace: owner, Target: event.Target{Type: event.OnArtifact, ID: a.id}}
	e.Action = event.ArtifactCreated
	add(e, a.meta.number("created"))
	if e.Action = event.ArtifactDeleted; a.is(deleted) {
		add(e, a.meta.number("deleted"))
	}
	if e.Action = event.ArtifactExpired; a.is(expired) {
		add(e, a.meta.number("updated"))
	}
	for r, i := range a.revisions {
		e := event.Event{
			Workspace: owner,
			Action:    event.DraftCreated,
			Target:    event.Target{Type: event.OnRevision, ID: r},
			Artifact:  id.Artifact(a.id),
		}
		if i.text("source") == "" && !first[r] {
			add(e, i.number("created"))
		}
		if e.Number = int(i.number("no")); e.Number > 0 {
			e.Action = event.ArtifactPublished
			add(e, i.number("pub_at"))
		}
	}
}
