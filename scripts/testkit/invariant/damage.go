package invariant

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"vitrine/scripts/testkit/rows"
	"vitrine/shared/adapter/dynamo"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/tree"
)

// Damage is what a restored deployment may have although no sequence of requests leaves it, and what can be repaired.
type Damage struct {
	Objects    []string    // keys of objects that nothing leads to
	Hints      []rows.Item // keys of entries of the content index that lead to no object
	Missing    []Reference // references that borrowed files need
	Unfinished []Session   // finalized sessions without a revision
	Untold     []event.Event
}

// Reference is a reference that a revision needs to an object which another session brought.
type Reference struct {
	Artifact id.Artifact
	Revision id.Revision
	Object   tree.Object
}

// Session is a finalized session whose revision is not there.
type Session struct {
	dynamo.Unfinalized
	At     time.Time   // of its finalization; zero: unknown
	Events []rows.Item // keys of the events of its finalization
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
		if _, there := s.objects[keyOf(home, h.Text("obj"))]; !there {
			found.Hints = append(found.Hints, h.Key())
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
				out[objectKey(a.meta.Text("home"), f.Object)] = true
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
				if needed := a.is(live) && a.revisions[r].Text("status") != retained; f.Referrer == "" && f.Size > 0 &&
					f.Borrowed && needed && s.references[name+" "+r] == nil {
					out = append(out, Reference{id.Artifact(a.id), id.Revision(r), f.Object})
				}
			}
		}
	}
	return out
}

// unfinished returns the sessions that were finalized without a revision: those that an artifact still names as its
// draft, and those whose artifact is not there and was never published.
func (s *snapshot) unfinished() (out []Session) {
	for session, i := range s.sessions {
		name, r := i.Text("art"), i.Text("rev")
		a := s.artifacts[name]
		if i.Text("status") != "finalized" || a != nil && (a.revisions[r] != nil || a.meta.Text("draft") != r) {
			continue
		}
		u := Session{Unfinalized: dynamo.Unfinalized{
			Session:  id.Session(session),
			Artifact: id.Artifact(name),
			Revision: id.Revision(r),
			New:      i.Has("new"),
			Named:    a != nil && a.is(live),
		}}
		if a != nil {
			u.At = time.UnixMilli(a.meta.Number("draft_at"))
		}
		if a != nil && !a.meta.Has("pin_at") && limits.Ends(time.UnixMilli(a.meta.Number("exp"))) {
			u.Ends = time.UnixMilli(a.meta.Number("exp"))
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
		action, on := event.Action(e.Text("action")), e.Text("on_id")
		switch {
		case action == event.ArtifactPublished && e.Text("art") == string(u.Artifact) && u.New:
			return false
		case action == event.ArtifactCreated && on == string(u.Artifact) && u.New,
			action == event.DraftCreated && on == string(u.Revision):
			u.Events = append(u.Events, e.Key())
		}
	}
	return true
}

// untold returns an event for each action that happened to an artifact and has none.
func (s *snapshot) untold() (out []event.Event) {
	told := map[string]bool{}
	for _, e := range s.events {
		told[e.Text("action")+" "+e.Text("on_id")] = true
	}
	add := func(e event.Event, millis int64) {
		if e.At = time.UnixMilli(millis); millis != 0 && !told[string(e.Action)+" "+e.Target.ID] {
			out = append(out, e)
		}
	}
	first := map[string]bool{}
	for u, i := range s.sessions {
		first[i.Text("rev")] = i.Has("new")
		add(event.Event{
			Workspace: id.Workspace(i.Text("ws")),
			Action:    event.SessionCreated,
			Target:    event.Target{Type: event.OnSession, ID: u},
		}, i.Number("created"))
	}
	for _, a := range s.artifacts {
		a.lived(first, add)
	}
	return out
}

// lived adds what happened to an artifact and its revisions. The draft with which it was made has the event of the
// artifact.
func (a *artifact) lived(first map[string]bool, add func(event.Event, int64)) {
	owner := id.Workspace(a.meta.Text("own"))
	e := event.Event{Workspace: owner, Target: event.Target{Type: event.OnArtifact, ID: a.id}}
	e.Action = event.ArtifactCreated
	add(e, a.meta.Number("created"))
	if e.Action = event.ArtifactDeleted; a.is(deleted) {
		add(e, a.meta.Number("deleted"))
	}
	if e.Action = event.ArtifactExpired; a.is(expired) {
		add(e, a.meta.Number("updated"))
	}
	for r, i := range a.revisions {
		e := event.Event{
			Workspace: owner,
			Action:    event.DraftCreated,
			Target:    event.Target{Type: event.OnRevision, ID: r},
			Artifact:  id.Artifact(a.id),
		}
		if i.Text("source") == "" && !first[r] {
			add(e, i.Number("created"))
		}
		if e.Number = int(i.Number("no")); e.Number > 0 {
			e.Action = event.ArtifactPublished
			add(e, i.Number("pub_at"))
		}
	}
}
