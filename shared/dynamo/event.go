package dynamo

import "vitrine/shared/event"

// eventItem is an event in the record of its workspace, and in the index of all of them.
func eventItem(e event.Event) item {
	k := eventKey(e.Workspace, e.At, e.ID)
	return newItem(k).str("g1p", eventsOn(e.At, eventPart(e.ID))).str("g1s", k.sk).
		str("action", string(e.Action)).str("by_type", e.Actor.Type).str("by_id", e.Actor.ID).
		str("on_type", e.Target.Type).str("on_id", e.Target.ID).str("detail", e.Detail).str("request", e.RequestID)
}
