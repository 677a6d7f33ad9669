package dynamo

import "vitrine/shared/event"

func eventItem(e event.Event) item {
	return newItem(eventKey(e.Workspace, e.At, e.ID)).
		str("action", string(e.Action)).str("by_type", e.Actor.Type).str("by_id", e.Actor.ID).
		str("on_type", e.Target.Type).str("on_id", e.Target.ID).str("detail", e.Detail).str("request", e.RequestID)
}
