package dynamo

import (
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/limits"
)

// eventItem is an event in the record of its workspace, and in the index of all of them.
func eventItem(e event.Event) item {
	k := eventKey(e.Workspace, e.At, e.ID)
	return newItem(k).str("g1p", eventsOn(e.At, eventPart(e.ID))).str("g1s", k.sk).
		str("action", string(e.Action)).str("by_type", e.Actor.Type).str("by_id", e.Actor.ID).
		str("on_type", e.Target.Type).str("on_id", e.Target.ID).str("detail", e.Detail).str("request", e.RequestID).
		ttl(e.At.Add(limits.EventLife))
}

func readEvent(i item, w id.Workspace) event.Event {
	at, name := readStamped[id.Event](i.key().sk)
	return event.Event{
		ID:        name,
		Workspace: w,
		At:        at,
		Action:    event.Action(i.getStr("action")),
		Actor:     event.Actor{Type: i.getStr("by_type"), ID: i.getStr("by_id")},
		Target:    event.Target{Type: i.getStr("on_type"), ID: i.getStr("on_id")},
		Detail:    i.getStr("detail"),
		RequestID: i.getStr("request"),
	}
}
