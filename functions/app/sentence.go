package app

import (
	"slices"
	"strconv"
	"strings"

	"vitrine/functions/app/pages"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/event"
	"vitrine/shared/platform/id"
)

// sentences say what each action did. {by} stands for the actor, and the other blanks are in fillings. Sentences about
// what the service does by itself have no actor.
var sentences = map[event.Action]string{
	event.WorkspaceCreated:     "{by} made the workspace",
	event.SettingsUpdated:      "{by} changed the settings: {detail}",
	event.ExportCreated:        "{by} asked for an export of the workspace",
	event.WorkspaceProvisioned: "An agent made the workspace, without an account",
	event.WorkspaceClaimed:     "{by} claimed a workspace that was made without an account, {target}",
	event.KeyCreated:           "{by} made the API key {name}",
	event.KeyRevoked:           "{by} revoked the API key {name}",
	event.RegistrationCreated:  "An agent registered, {target}",
	event.ClaimCompleted:       "{by} let in the agent {target}, with its workspace",
	event.TokenIssued:          "The agent {target} got an access token",
	event.TokenRevoked:         "An access token of the agent {target} was revoked",
	event.DelegationCreated:    "An agent from {detail} got access",
	event.DelegationRevoked:    "Agents from {detail} no longer have access",
	event.SessionCreated:       "{by} began to upload {name}",
	event.ArtifactCreated:      "{by} uploaded a first draft of {artifact}",
	event.ArtifactPublished:    "{by} published {artifact}{revision}",
	event.ArtifactDeleted:      "{by} deleted {artifact}",
	event.LinksLocked:          "{by} turned off the access links of {artifact}",
	event.LinksUnlocked:        "{by} turned the access links of {artifact} back on",
	event.ArtifactExpired:      "{artifact} expired",
	event.ArtifactPinned:       "{by} pinned {artifact}",
	event.ArtifactUnpinned:     "{by} unpinned {artifact}",
	event.LockdownSet:          "The operator locked {target}: {detail}",
	event.LockdownLifted:       "The operator lifted the lock of {target}: {detail}",
	event.RevisionRetained:     "A draft of {artifact} was discarded, because nobody published it",
	event.DraftCreated:         "{by} uploaded a draft of {artifact}",
	event.MemberConfirmed:      "{by} took the workspace over from the agents that made it",
	event.ClaimLocked:          "The agent {target} was refused for good after too many wrong codes",
	event.SessionStarted:       "{by} signed in",
	event.SessionEnded:         "{by} ended a session",
	event.SessionsEnded:        "{by} signed out everywhere",
	event.ConsentGranted:       "{by} allowed the app {client}",
	event.GrantRevoked:         "The app {client} was disconnected{reason}",
	event.RefreshReused:        "The app {client} was disconnected, because a refresh token was used twice",
	event.DeviceApproved:       "{by} let a device in",
	event.DeviceDenied:         "{by} refused a device",
	event.LinkCreated:          "{by} made an access link {detail}",
	event.LinkUpdated:          "{by} set an access link {detail}",
	event.LinkRevoked:          "{by} revoked an access link {detail}",
	event.VisibilityUpdated:    "{by} made {artifact} private, which ended all its access links",
	event.ArtifactRenamed:      "{by} renamed an artifact to {artifact}",
	event.FeedbackCreated:      "{by} wrote about {artifact}",
	event.FeedbackReplied:      "{by} replied in a thread about {artifact}",
	event.FeedbackAddressed:    "{by} dealt with {threads} about {artifact}{revision}",
	event.FeedbackResolved:     "{by} resolved a thread about {artifact}",
	event.FeedbackReopened:     "{by} opened a thread about {artifact} again",
	event.FeedbackDeleted:      "{by} deleted a thread about {artifact}",

	event.FeedbackHeld:       "A guest wrote about {artifact}, and it waits for a member",
	event.FeedbackLetThrough: "{by} let through what a guest wrote about {artifact}",
	event.FeedbackDropped:    "{by} dropped what a guest wrote about {artifact}",

	event.FeedbackMessageDeleted: "{by} deleted a message about {artifact}",
	event.FeedbackPolicy:         "{by} set feedback about {artifact}: {detail}",
	event.ArtifactReported:       "{artifact} was reported",
	event.ReportHandled:          "The operator handled a report of {target}",
	event.LookedUp:               "The operator looked up {target}",
	event.ContentOpened:          "The operator opened content of {artifact}: {detail}",
	event.QuotaUpdated:           "The operator set how many workspaces are made in a minute: {detail}",
	event.PlanUpdated:            "The plan of the workspace changed: {detail}",
	event.DeletionRequested:      "{by} asked to delete the workspace {detail}",
	event.DeletionCancelled:      "{by} kept the workspace, which was to be deleted {detail}",
	event.DeletionDone:           "The workspace was deleted",

	event.DeploymentRestored: "The operator brought the deployment back from a copy: {detail}",
	event.ArtifactRestored:   "The operator brought {artifact} back from a copy: {detail}",
}

// story turns events into sentences. names has the names of the live API keys.
type story struct {
	self  id.Member
	names map[id.Key]string
}

// sentence returns an event as a sentence. An action that this version does not know is named as it is stored.
func (s story) sentence(e event.Event) []pages.Part {
	form, known := sentences[e.Action]
	if !known {
		form = "{by} did: {action}"
	}
	var out []pages.Part
	for form != "" {
		words, rest, filled := strings.Cut(form, "{")
		if words != "" {
			out = append(out, pages.Part{Text: words})
		}
		if !filled {
			break
		}
		var blank string
		blank, form, _ = strings.Cut(rest, "}")
		if fill := fillings[blank]; fill != nil {
			out = append(out, fill(s, e)...)
		}
	}
	return out
}

// fillings fill in the blanks of sentences.
var fillings = map[string]func(story, event.Event) []pages.Part{
	"by":       story.actor,
	"name":     func(_ story, e event.Event) []pages.Part { return quoted(e.Detail) },
	"action":   func(_ story, e event.Event) []pages.Part { return []pages.Part{{Text: string(e.Action), Code: true}} },
	"detail":   func(_ story, e event.Event) []pages.Part { return detail(e.Detail) },
	"artifact": func(_ story, e event.Event) []pages.Part { return titled(e) },
	"target":   func(_ story, e event.Event) []pages.Part { return []pages.Part{{Text: e.Target.ID, Code: true}} },
	"client":   func(_ story, e event.Event) []pages.Part { return client(id.Client(e.Target.ID)) },
	"reason": func(_ story, e event.Event) []pages.Part {
		if e.Detail == "" {
			return nil
		}
		return []pages.Part{{Text: ", because " + e.Detail}}
	},
	"threads": func(_ story, e event.Event) []pages.Part {
		if e.Detail == "" || e.Detail == "1" {
			return []pages.Part{{Text: "a thread"}}
		}
		return []pages.Part{{Text: pages.Plain(e.Detail) + " threads"}}
	},
	"revision": func(_ story, e event.Event) []pages.Part {
		if e.Number == 0 {
			return nil
		}
		return []pages.Part{{Text: ", revision " + strconv.Itoa(e.Number)}}
	},
}

// actor returns the subject of a sentence.
func (s story) actor(e event.Event) []pages.Part {
	switch {
	case e.Actor.Type == event.Member && e.Actor.ID == string(s.self):
		return []pages.Part{{Text: "You"}}
	case e.Actor.Type == event.Member:
		return []pages.Part{{Text: "A member"}}
	case e.Actor.Type == event.Key:
		if name := s.names[id.Key(e.Actor.ID)]; name != "" {
			return append([]pages.Part{{Text: "The API key "}}, quoted(name)...)
		}
		return []pages.Part{{Text: "The API key "}, {Text: e.Actor.ID, Code: true}}
	case e.Actor.Guest():
		return []pages.Part{{Text: "A guest"}}
	case e.Actor.Type == event.System:
		return []pages.Part{{Text: "This service"}}
	}
	return []pages.Part{{Text: "A manager"}}
}

func quoted(name string) []pages.Part { return []pages.Part{{Text: name, Quoted: true}} }

// untitled are the actions whose detail is not the title of the artifact.
var untitled = []event.Action{
	event.VisibilityUpdated, event.ArtifactReported, event.FeedbackAddressed, event.FeedbackPolicy,
	event.ContentOpened,
}

// titled returns the artifact of an event by its title, with a link to its page if the event has its id.
func titled(e event.Event) []pages.Part {
	a := e.Artifact
	if e.Target.Type == event.OnArtifact {
		a = id.Artifact(e.Target.ID)
	}
	part := pages.Part{Text: e.Detail, Quoted: true}
	if e.Target.Type == event.OnThread || slices.Contains(untitled, e.Action) {
		part = pages.Part{Text: string(a), Code: true}
	}
	if a != "" {
		part.Path = artifactPath(a)
	}
	return []pages.Part{part}
}

// detail returns the detail of an event. If its last word is the id of an artifact, that is a link.
func detail(said string) []pages.Part {
	words, last := said[:strings.LastIndexByte(said, ' ')+1], said[strings.LastIndexByte(said, ' ')+1:]
	if _, err := id.Artifact(last).Bits(); err == nil {
		return []pages.Part{{Text: words}, {Text: last, Code: true, Path: artifactPath(id.Artifact(last))}}
	}
	return []pages.Part{{Text: pages.Plain(said)}}
}

// client returns our own command line and helper by their names, and other OAuth clients by their id.
func client(c id.Client) []pages.Part {
	switch c {
	case oauth.CLI:
		return []pages.Part{{Text: "Vitrine command line"}}
	case oauth.Helper:
		return []pages.Part{{Text: "Vitrine helper"}}
	}
	return []pages.Part{{Text: string(c), Code: true}}
}
