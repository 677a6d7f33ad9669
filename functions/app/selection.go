package app

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"vitrine/functions/app/pages"
	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/platform/async"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
	"vitrine/shared/publishing/artifact"
)

// selectionPath is the question before several artifacts change, and the form that changes them.
const selectionPath = artifactsPath + "/selected/change"

// chosenField is the prefix of the fields of that form; the id of an artifact follows.
const chosenField = "artifact-"

// change is something that can be done to artifacts. The texts are for changes of several at once.
type change struct {
	right     credential.Scope
	operation idempotency.Operation
	heading   string // of the question; the number of artifacts follows
	text      string
	button    string
	done      string
	run       func(*Host, context.Context, credential.Actor, artifact.Target) error
}

var bulkChanges = map[string]change{
	"pin": {
		right:     credential.Read,
		operation: idempotency.PinArtifact,
		heading:   "Pin",
		text:      "Pinned artifacts do not expire until you unpin them.",
		button:    "Pin them",
		done:      "Pinned.",
		run: func(h *Host, ctx context.Context, by credential.Actor, t artifact.Target) error {
			_, err := h.Artifacts.Pin(ctx, by, t)
			return err
		},
	},
	"unpin": {
		right:     credential.Read,
		operation: idempotency.UnpinArtifact,
		heading:   "Unpin",
		text: "They expire again: when they would have, but not before " + pages.Span(limits.UnpinnedLife) +
			" have passed.",
		button: "Unpin them",
		done:   "Not pinned.",
		run: func(h *Host, ctx context.Context, by credential.Actor, t artifact.Target) error {
			_, err := h.Artifacts.Unpin(ctx, by, t)
			return err
		},
	},
	"delete": {
		right:     credential.Publish,
		operation: idempotency.DeleteArtifact,
		heading:   "Delete",
		text:      "All their revisions and links end at once, for everybody and for good. " + recoverable,
		button:    "Delete them",
		done:      "Deleted.",
		run: func(h *Host, ctx context.Context, by credential.Actor, t artifact.Target) error {
			_, err := h.Artifacts.Delete(ctx, by, t)
			return err
		},
	},
}

// askSelected asks whether to change the artifacts that were chosen in the list.
func (h *Host) askSelected(w http.ResponseWriter, r *http.Request, v browserSession) error {
	asked := r.URL.Query()
	what, known := bulkChanges[asked.Get("do")]
	if !known {
		return fault.New(fault.InvalidRequest, "nothing is asked for")
	}
	if err := v.Actor.Require(what.right); err != nil {
		return err
	}
	chosen, err := selected(asked["artifact"])
	if err != nil {
		return err
	}
	found, err := h.findAll(r.Context(), v, chosen)
	if err != nil {
		return err
	}
	p := pages.Selection{
		Layout:  v.layout(artifactsPath),
		Heading: what.heading,
		Text:    what.text,
		Do:      asked.Get("do"),
		Button:  what.button,
		Danger:  what.operation == idempotency.DeleteArtifact,
		Back:    artifactsPath,
		Once:    once(),
		Missing: len(chosen),
	}
	for _, a := range found {
		if row := h.artifactRow(a); !row.Ended() {
			p.Items = append(p.Items, row)
		}
	}
	p.Missing -= len(p.Items)
	if len(p.Items) == 0 {
		return noneSelected()
	}
	return h.page(w, http.StatusOK, p)
}

// selected returns the artifacts in a form, each once.
// maxSelected is how many artifacts one form changes.
const maxSelected = limits.DefaultPage

func selected(names []string) ([]id.Artifact, error) {
	var out []id.Artifact
	for _, name := range names {
		if _, err := id.Artifact(name).Bits(); err != nil {
			return nil, fault.New(fault.InvalidRequest, "not the id of an artifact")
		}
		out = append(out, id.Artifact(name))
	}
	slices.Sort(out)
	out = slices.Compact(out)
	switch {
	case len(out) == 0:
		return nil, noneSelected()
	case len(out) > maxSelected:
		return nil, fault.New(fault.InvalidRequest, "choose at most %d artifacts", maxSelected)
	}
	return out, nil
}

func noneSelected() error {
	return explained{fault.New(fault.InvalidRequest, "no artifact is chosen"), pages.Message{
		Heading: "Nothing is selected",
		Text:    "Select artifacts in the list first. Those that have ended can no longer be changed.",
		Links:   []pages.Link{{Path: artifactsPath, Text: "Artifacts"}},
	}}
}

// findAll reads artifacts concurrently, and leaves out those that do not exist.
func (h *Host) findAll(ctx context.Context, v browserSession, chosen []id.Artifact) ([]*artifact.Artifact, error) {
	found := make([]*artifact.Artifact, len(chosen))
	steps := make([]func() error, len(chosen))
	for i, one := range chosen {
		steps[i] = func() error {
			a, err := h.Artifacts.Find(ctx, v.Actor, one)
			if absent(err) {
				return nil
			}
			found[i] = a
			return err
		}
	}
	err := async.All(steps...)
	return slices.DeleteFunc(found, func(a *artifact.Artifact) bool { return a == nil }), err
}

// changeSelected changes each artifact by a command of its own, and says what happened to each. All commands have the
// idempotency key of the form, so that a form that is sent again finds what was done.
func (h *Host) changeSelected(w http.ResponseWriter, r *http.Request, v browserSession, form web.Form) error {
	what, known := bulkChanges[form["do"]]
	if !known {
		return fault.New(fault.InvalidRequest, "nothing is asked for")
	}
	if err := v.Actor.Require(what.right); err != nil {
		return err
	}
	chosen, err := chosenIn(form)
	if err != nil {
		return err
	}
	// A bad key would fail every command, and say so once for each artifact.
	if err := idempotency.CheckClient(form["once"]); err != nil {
		return fault.New(fault.InvalidRequest, "the form is not complete; reload the page and try again")
	}
	found, err := h.findAll(r.Context(), v, chosen)
	if err != nil {
		return err
	}
	p := pages.Outcomes{Layout: v.layout(artifactsPath), Items: make([]pages.Outcome, len(found))}
	failed := make([]error, len(found))
	lanes := make([]func() error, bulkLanes)
	for lane := range lanes {
		lanes[lane] = func() error {
			for i := lane; i < len(found); i += bulkLanes {
				p.Items[i], failed[i] = h.changeOne(r.Context(), v, what, found[i], form["once"])
			}
			return nil
		}
	}
	if err := async.All(lanes...); err != nil {
		return err
	}
	if err := errors.Join(failed...); err != nil {
		web.Failed(r.Context(), fault.CodeOf(err), err)
		p.Failed = true
	}
	return h.page(w, http.StatusOK, p)
}

// bulkLanes is how many artifacts change at the same time. It is low, because all pins of a workspace contend for one
// counter.
const bulkLanes = 4

// chosenIn returns the artifacts in the fields of a form.
func chosenIn(form web.Form) ([]id.Artifact, error) {
	var names []string
	for field := range form {
		if name, is := strings.CutPrefix(field, chosenField); is {
			names = append(names, name)
		}
	}
	return selected(names)
}

// changeOne changes one artifact, and says what happened.
func (h *Host) changeOne(
	ctx context.Context, v browserSession, what change, a *artifact.Artifact, client string,
) (pages.Outcome, error) {
	o := pages.Outcome{Artifact: h.artifactRow(a), Text: what.done}
	command, err := commandOf(v, what.operation, string(a.ID), client, nil)
	if err == nil {
		err = what.run(h, ctx, v.Actor, artifact.Target{Command: command, RequestedID: a.ID, Artifact: a})
	}
	if what.operation == idempotency.DeleteArtifact && absent(err) { // it is deleted, as was asked
		err = nil
	}
	if err != nil {
		o.Failed, o.Text = true, notChanged(err)
	}
	return o, err
}

// notChanged explains why an artifact did not change.
func notChanged(err error) string {
	switch code := fault.CodeOf(err); {
	case code == fault.PinnedArtifactCap:
		return "Not changed: the workspace has pinned as many artifacts as it is allowed. Unpin another one first."
	case code == fault.ArtifactNotFound, code == fault.NotFound:
		return "Not changed: it has ended, was deleted meanwhile, or has no published revision."
	}
	return "Not changed: a part of this service did not answer in time. Go back and try again."
}
